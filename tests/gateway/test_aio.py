"""The store for programs with an event loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from warmstart.gateway import AsyncSessionStore, SessionSource, SessionStore, UnsafeNameError

Open = Callable[..., SessionStore]
APP = """
from warmstart.gateway import AsyncExpiryWatcher, AsyncSessionStore, ExpiryWatcher, SessionEntry
from warmstart.gateway import SessionSource, SessionStore
from warmstart.store import SessionDB

async def aflush(entry: SessionEntry) -> None: ...
def flush(entry: SessionEntry) -> None: ...

async def talk(store: AsyncSessionStore, source: SessionSource) -> str:
    entry = await store.get_or_create_session(source)
    await store.get_or_create_sesion(source)  # wrong
    await store.get_or_create_session(5)  # wrong
    AsyncExpiryWatcher(store, aflush)
    AsyncExpiryWatcher(store, flush)  # wrong
    ExpiryWatcher(store.store, flush)
    return entry.session_id

def keep(db: SessionDB) -> int:
    db.append_mesage("s1", "user", "hello")  # wrong
    db.append_message("s1", 5)  # wrong
    db.list_sessions(min_message_count="3")  # wrong
    return db.append_message("s1", "tool", "ok", tool_call_id="c1")
"""


def test_methods_are_awaited_and_attributes_are_not(
    store: SessionStore, source: SessionSource
) -> None:
    async def talk() -> list[dict[str, object]]:
        async with AsyncSessionStore(store) as proxy:
            entry = await proxy.get_or_create_session(source)
            await proxy.append_to_transcript(entry.session_id, {"role": "user", "content": "hi"})
            assert proxy.config is store.config
            said: list[dict[str, object]] = await proxy.load_transcript(entry.session_id)
            return said

    assert asyncio.run(talk())[0]["content"] == "hi"


def test_the_loop_goes_on_while_the_store_waits(open_store: Open, source: SessionSource) -> None:
    released = threading.Event()

    def is_active(_: str) -> bool:
        return released.wait(10)

    async def talk() -> bool:
        settings = {"default_reset_policy": {"mode": "idle", "idle_minutes": 1}}
        store = open_store(settings, has_active_processes_fn=is_active)
        entry = store.get_or_create_session(source)
        entry.updated_at = entry.updated_at.replace(year=2025)
        store.save_entry(entry)
        waiting = asyncio.create_task(AsyncSessionStore(store).get_or_create_session(source))
        await asyncio.sleep(0)
        released.set()  # only a loop that is not blocked gets here
        return (await waiting).session_id == entry.session_id

    assert asyncio.run(talk())


def test_errors_reach_the_caller(store: SessionStore) -> None:
    with pytest.raises(UnsafeNameError):
        asyncio.run(AsyncSessionStore(store).load_transcript("../up"))


def test_what_the_store_does_not_have_the_proxy_does_not_have(store: SessionStore) -> None:
    proxy = AsyncSessionStore(store)
    for name in ("_db", "no_such_method"):
        with pytest.raises(AttributeError):
            getattr(proxy, name)


def test_every_method_of_the_store_is_there(store: SessionStore) -> None:
    methods = {name for name in dir(SessionStore) if not name.startswith("_")}
    assert methods <= set(dir(AsyncSessionStore(store)))


def test_a_misspelled_method_or_argument_is_found_by_a_type_checker(tmp_path: Path) -> None:
    api = pytest.importorskip("mypy.api")
    path = tmp_path / "app.py"
    path.write_text(APP)
    told, _, _ = api.run([str(path), "--strict", "--no-incremental", "--follow-imports=silent"])
    lines = [line.split(":")[1] for line in told.splitlines() if ": error:" in line]
    wrong = [str(n) for n, line in enumerate(APP.splitlines(), 1) if "# wrong" in line]
    assert lines == wrong, told
