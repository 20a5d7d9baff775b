"""The expiry watcher: once for each session that is over."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from warmstart.gateway import ExpiryWatcher, SessionEntry, SessionSource, SessionStore
from warmstart.gateway.expiry import MAX_ATTEMPTS

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
