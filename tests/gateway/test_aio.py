"""The store for programs with an event loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

import pytest

from warmstart.gateway import AsyncSessionStore, SessionSource, SessionStore, UnsafeNameError

Open = Callable[..., SessionStore]


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
        waiting = asyncio.create_task(AsyncSessionStore(store).get_or_create_session(source))
        await asyncio.sleep(0)
        released.set()  # only a loop that is not blocked gets here
        return (await waiting).session_id == entry.session_id  # type: ignore[no-any-return]

    assert asyncio.run(talk())


def test_errors_reach_the_caller(store: SessionStore) -> None:
    with pytest.raises(UnsafeNameError):
        asyncio.run(AsyncSessionStore(store).load_transcript("../up"))


def test_what_the_store_does_not_have_the_proxy_does_not_have(store: SessionStore) -> None:
    proxy = AsyncSessionStore(store)
    for name in ("_db", "no_such_method"):
        with pytest.raises(AttributeError):
            getattr(proxy, name)
