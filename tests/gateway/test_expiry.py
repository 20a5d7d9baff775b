"""The expiry watchers: once for each session that is over, and not before the flush is done."""

from __future__ import annotations

import asyncio
import functools
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from warmstart.gateway import (
    AsyncExpiryWatcher,
    AsyncSessionStore,
    ExpiryWatcher,
    GatewayError,
    SessionEntry,
    SessionSource,
    SessionStore,
)
from warmstart.gateway.expiry import MAX_ATTEMPTS, Round

Open = Callable[..., SessionStore]
IDLE = {"default_reset_policy": {"mode": "idle", "idle_minutes": 30}}


class Flushes:
    """A flush callback that remembers, and fails for the chats it is told to."""

    def __init__(self, *failing: str) -> None:
        self.seen: list[str] = []
        self.failing = failing

    def __call__(self, entry: SessionEntry) -> None:
        chat = entry.session_key.rpartition(":")[2]
        self.seen.append(chat)
        if chat in self.failing:
            raise OSError("the memory is full")


@pytest.fixture
def chats(open_store: Open, source: SessionSource, clock: Any) -> SessionStore:
    """Two sessions that are over and one that is not."""
    store = open_store(IDLE)
    for chat in ("1", "2", "3"):
        store.get_or_create_session(replace(source, chat_id=chat))
        clock.turn(minutes=20)
    return store


def test_only_sessions_past_their_policy_are_flushed(chats: SessionStore) -> None:
    flushes = Flushes()
    done = ExpiryWatcher(chats, flushes).check()
    assert sorted(flushes.seen) == ["1", "2"]
    assert (len(done.flushed), done.failed) == (2, ())


def test_each_is_flushed_once_also_after_a_restart(chats: SessionStore, open_store: Open) -> None:
    flushes = Flushes()
    ExpiryWatcher(chats, flushes).check()
    ExpiryWatcher(chats, flushes).check()
    ExpiryWatcher(open_store(IDLE), flushes).check()
    assert sorted(flushes.seen) == ["1", "2"]


def test_a_flush_that_raises_stops_no_other_and_is_tried_again(
    chats: SessionStore, open_store: Open
) -> None:
    flushes = Flushes("1")
    done = ExpiryWatcher(chats, flushes).check()
    assert (len(done.flushed), len(done.failed)) == (1, 1)
    for _ in range(5):
        ExpiryWatcher(open_store(IDLE), flushes).check()
    assert flushes.seen.count("1") == MAX_ATTEMPTS
    assert flushes.seen.count("2") == 1


def test_a_session_with_running_processes_waits(chats: SessionStore, open_store: Open) -> None:
    running = open_store(IDLE, has_active_processes_fn=lambda key: key.endswith("1"))
    flushes = Flushes()
    ExpiryWatcher(running, flushes).check()
    assert flushes.seen == ["2"]
    ExpiryWatcher(chats, flushes).check()
    assert flushes.seen == ["2", "1"]


def test_activity_after_a_flush_makes_it_due_again(
    chats: SessionStore, source: SessionSource, clock: Any
) -> None:
    flushes = Flushes()
    watcher = ExpiryWatcher(chats, flushes)
    watcher.check()
    entry = chats.get_or_create_session(replace(source, chat_id="1"))
    assert not entry.expiry_finalized
    clock.turn(minutes=31)
    watcher.check()
    assert flushes.seen.count("1") == 2


def test_a_key_that_moved_on_meanwhile_is_not_marked(chats: SessionStore) -> None:
    def flush(entry: SessionEntry) -> None:
        chats.reset_session(entry.session_key)

    ExpiryWatcher(chats, flush).check()
    entry = chats.find_entry("agent:main:telegram:dm:1")
    assert entry is not None
    assert not entry.expiry_finalized


def test_a_flushed_session_is_still_replaced_by_the_next_message(
    chats: SessionStore, source: SessionSource
) -> None:
    old = chats.find_entry("agent:main:telegram:dm:1")
    ExpiryWatcher(chats, Flushes()).check()
    new = chats.get_or_create_session(replace(source, chat_id="1"))
    assert old is not None
    assert (new.session_id != old.session_id, new.auto_reset_reason) == (True, "idle")


def test_it_runs_until_it_is_stopped(chats: SessionStore) -> None:
    flushed = threading.Event()
    watcher = ExpiryWatcher(chats, lambda _: flushed.set(), interval_seconds=0.01)
    thread = threading.Thread(target=watcher.run)
    thread.start()
    assert flushed.wait(10)
    watcher.stop()
    thread.join(10)
    assert not thread.is_alive()


async def flush_later(entry: SessionEntry) -> None:
    """What an asyncio program writes."""


async def flush_as_stream(entry: SessionEntry) -> AsyncIterator[str]:
    yield entry.session_id


def flush_as_generator(entry: SessionEntry) -> Iterator[str]:
    yield entry.session_id


class AsyncFlush:
    """An object that is called as a coroutine function."""

    async def __call__(self, entry: SessionEntry) -> None:
        """Nothing."""

    async def flush(self, entry: SessionEntry) -> None:
        """Nothing."""


LATE: list[Any] = [
    flush_later, flush_as_stream, flush_as_generator, AsyncFlush(), AsyncFlush().flush,
    functools.partial(flush_later), functools.partial(AsyncFlush()),
]  # fmt: skip


def finalized(store: SessionStore) -> list[str]:
    entries = store.list_sessions()
    return sorted(entry.session_key[-1] for entry in entries if entry.expiry_finalized)


@pytest.mark.parametrize("flush", LATE)
def test_a_flush_that_a_call_does_not_run_is_refused(store: SessionStore, flush: Any) -> None:
    with pytest.raises(GatewayError, match="must be a plain function") as caught:
        ExpiryWatcher(store, flush)
    assert "AsyncExpiryWatcher" in str(caught.value.hint)


@pytest.mark.parametrize("flush", LATE)
def test_a_result_that_is_still_to_be_awaited_finalises_nothing(
    chats: SessionStore, flush: Any
) -> None:
    watcher = ExpiryWatcher(chats, lambda entry: flush(entry))  # noqa: PLW0108 - not seen by a look at it
    for _ in range(MAX_ATTEMPTS + 1):
        with pytest.raises(GatewayError, match="its work is not done"):
            watcher.check()
    assert finalized(chats) == []
    flushes = Flushes()
    assert len(ExpiryWatcher(chats, flushes).check().flushed) == 2


def test_an_interrupt_in_a_flush_leaves_it_to_be_tried_again(chats: SessionStore) -> None:
    def interrupt(_: SessionEntry) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ExpiryWatcher(chats, interrupt).check()
    assert finalized(chats) == []
    assert len(ExpiryWatcher(chats, Flushes()).check().flushed) == 2


def test_what_is_said_during_a_flush_is_flushed_later(chats: SessionStore, clock: Any) -> None:
    def talk(entry: SessionEntry) -> None:
        clock.turn(seconds=1)
        chats.update_session(entry.session_key, input_tokens=1)

    ExpiryWatcher(chats, talk).check()
    assert finalized(chats) == []


@pytest.mark.parametrize("name", ["has_active_processes_fn", "on_auto_reset", "now"])
@pytest.mark.parametrize("callback", [flush_later, flush_as_generator, AsyncFlush()])
def test_no_callback_of_the_store_may_be_async(open_store: Open, name: str, callback: Any) -> None:
    with pytest.raises(GatewayError, match=f"{name} must be a plain function"):
        open_store(**{name: callback})


def test_a_guard_that_returns_something_to_await_counts_as_unable_to_say(
    open_store: Open, source: SessionSource, clock: Any, caplog: pytest.LogCaptureFixture
) -> None:
    store = open_store(IDLE, has_active_processes_fn=lambda _: flush_later(entry))
    entry = store.get_or_create_session(source)
    clock.turn(minutes=31)
    assert store.get_or_create_session(source).session_id == entry.session_id
    assert "has_active_processes_fn returned a coroutine" in caplog.text


def test_a_listener_that_returns_something_to_await_is_reported(
    open_store: Open, source: SessionSource, clock: Any, caplog: pytest.LogCaptureFixture
) -> None:
    store = open_store(IDLE, on_auto_reset=lambda entry: flush_later(entry))  # noqa: PLW0108 - same
    store.get_or_create_session(source)
    clock.turn(minutes=31)
    assert store.get_or_create_session(source).was_auto_reset
    assert "on_auto_reset returned a coroutine" in caplog.text


def check_async(
    store: SessionStore, flush: Callable[[SessionEntry], Awaitable[object]], rounds: int = 1
) -> list[Round]:
    async def check() -> list[Round]:
        watcher = AsyncExpiryWatcher(AsyncSessionStore(store), flush)
        return [await watcher.check() for _ in range(rounds)]

    return asyncio.run(check())


def test_an_async_flush_is_awaited_before_anything_is_finalised(chats: SessionStore) -> None:
    seen: list[tuple[str, list[str]]] = []

    async def flush(entry: SessionEntry) -> None:
        before = await asyncio.to_thread(finalized, chats)
        await asyncio.sleep(0)
        seen.append((entry.session_key[-1], before))

    first, second = check_async(chats, flush, rounds=2)
    assert seen == [("2", []), ("1", ["2"])]
    assert (len(first.flushed), second) == (2, Round())
    assert finalized(chats) == ["1", "2"]


def test_an_async_flush_that_raises_stops_no_other_and_is_tried_again(chats: SessionStore) -> None:
    flushes = Flushes("1")

    async def flush(entry: SessionEntry) -> None:
        await asyncio.sleep(0)
        flushes(entry)

    first = check_async(chats, flush, rounds=5)[0]
    assert (len(first.flushed), len(first.failed)) == (1, 1)
    assert flushes.seen.count("1") == MAX_ATTEMPTS
    assert finalized(chats) == ["2"]


def test_a_flush_cancelled_with_its_watcher_is_tried_again_at_once(chats: SessionStore) -> None:
    async def cancel() -> None:
        started = asyncio.Event()

        async def flush(_: SessionEntry) -> None:
            started.set()
            await asyncio.Event().wait()

        task = asyncio.create_task(AsyncExpiryWatcher(AsyncSessionStore(chats), flush).run())
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    for _ in range(MAX_ATTEMPTS + 1):
        asyncio.run(cancel())
    assert finalized(chats) == []
    assert len(ExpiryWatcher(chats, Flushes()).check().flushed) == 2


def test_a_flush_cancelled_by_itself_has_failed(chats: SessionStore) -> None:
    async def flush(entry: SessionEntry) -> None:
        if entry.session_key.endswith("1"):
            raise asyncio.CancelledError

    (done,) = check_async(chats, flush)
    assert (len(done.flushed), len(done.failed)) == (1, 1)
    assert finalized(chats) == ["2"]


def test_a_flush_that_forgot_to_await_finalises_nothing(chats: SessionStore) -> None:
    async def forgetful(entry: SessionEntry) -> object:
        return flush_later(entry)

    with pytest.raises(GatewayError, match="its work is not done"):
        check_async(chats, forgetful)
    assert finalized(chats) == []


def test_the_async_watcher_runs_until_it_is_stopped(chats: SessionStore) -> None:
    async def run() -> list[str]:
        seen: list[str] = []

        async def flush(entry: SessionEntry) -> None:
            seen.append(entry.session_key[-1])
            if len(seen) == 2:
                watcher.stop()

        watcher = AsyncExpiryWatcher(AsyncSessionStore(chats), flush, interval_seconds=0.01)
        async with asyncio.timeout(30):
            await watcher.run()
        assert await watcher.find_expired() == []
        return seen

    assert asyncio.run(run()) == ["2", "1"]
