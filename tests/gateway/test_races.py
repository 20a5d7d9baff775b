"""Several gateways on one database at the same instant, on both databases."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import pytest

from warmstart.gateway import (
    ExpiryWatcher,
    GatewayConfig,
    SessionEntry,
    SessionSource,
    SessionStore,
)
from warmstart.gateway.expiry import CLAIM_SECONDS, Round
from warmstart.store import SessionDB

from .conftest import Clock

GATEWAYS = 4
DYING_WATCHER = """
import os, sys
from datetime import datetime
from warmstart.gateway import ExpiryWatcher, GatewayConfig, SessionStore
config, now = GatewayConfig(database=sys.argv[1]), datetime.fromisoformat(sys.argv[2])
ExpiryWatcher(SessionStore(".", config, now=lambda: now), lambda _: os._exit(9)).check()
"""
T = TypeVar("T")


def at_once(address: str, folder: Path, clock: Clock, work: Callable[[SessionStore], T]) -> list[T]:
    """What each of several gateways, each with a connection of its own, makes of the same work."""
    ready = threading.Barrier(GATEWAYS)

    def run(number: int) -> T:
        with SessionDB.open(address) as db:
            store = SessionStore(folder / str(number), GatewayConfig(), db=db, now=clock)
            ready.wait()
            return work(store)

    with ThreadPoolExecutor(GATEWAYS) as pool:
        return list(pool.map(run, range(GATEWAYS)))


def test_gateways_that_hear_of_a_new_chat_at_once_start_one_session(
    address: str, db: SessionDB, tmp_path: Path, clock: Clock, source: SessionSource
) -> None:
    entries = at_once(address, tmp_path, clock, lambda one: one.get_or_create_session(source))
    assert len({entry.session_id for entry in entries}) == 1
    assert db.count_chats("main") == 1


def test_no_tokens_are_lost_between_gateways(
    address: str, tmp_path: Path, clock: Clock, source: SessionSource, store: SessionStore
) -> None:
    key = store.get_or_create_session(source).session_key

    def use(one: SessionStore) -> None:
        for _ in range(20):
            one.update_session(key, input_tokens=1, output_tokens=2)

    at_once(address, tmp_path, clock, use)
    entry = store.find_entry(key)
    assert entry is not None
    assert (entry.input_tokens, entry.output_tokens) == (20 * GATEWAYS, 40 * GATEWAYS)


def test_watchers_on_one_database_flush_a_session_once(
    address: str, tmp_path: Path, clock: Clock, source: SessionSource, store: SessionStore
) -> None:
    entry = store.get_or_create_session(source)
    clock.turn(days=3)
    flushed: list[SessionEntry] = []
    rounds = at_once(
        address, tmp_path, clock, lambda one: ExpiryWatcher(one, flushed.append).check()
    )
    assert [one.session_id for one in flushed] == [entry.session_id]
    assert sum(len(one.flushed) for one in rounds) == 1


def test_a_flush_that_died_is_taken_over_when_its_claim_is_over(
    address: str, tmp_path: Path, source: SessionSource, store: SessionStore, clock: Clock
) -> None:
    store.get_or_create_session(source)
    clock.turn(days=3)

    command = [sys.executable, "-c", DYING_WATCHER, address, clock().isoformat()]
    assert subprocess.run(command, cwd=tmp_path, check=False).returncode == 9
    flushed: list[SessionEntry] = []
    watcher = ExpiryWatcher(store, flushed.append)
    assert (watcher.check(), flushed) == (Round(), [])
    clock.turn(seconds=CLAIM_SECONDS + 1)
    assert (len(watcher.check().flushed), len(flushed)) == (1, 1)


@pytest.mark.parametrize("looks_at", ["nothing", "another key", "its own key", "all keys"])
def test_a_reset_by_another_process_wins_whatever_the_callback_looks_at(
    address: str,
    tmp_path: Path,
    clock: Clock,
    source: SessionSource,
    db: SessionDB,
    looks_at: str,
) -> None:
    """The callback stands between the look at a key and the change that is decided by it."""
    moved: list[str] = []

    def is_running(session_key: str) -> bool:
        if not moved:
            # Another process: its own connection, its own store.
            with SessionDB.open(address) as other:
                elsewhere = SessionStore(tmp_path / "b", config, db=other, now=clock)
                entry = elsewhere.reset_session(session_key)
                assert entry is not None
                moved.append(entry.session_id)
        if looks_at == "another key":
            here.find_entry("agent:main:telegram:dm:2")
        elif looks_at == "its own key":
            here.find_entry(session_key)
        elif looks_at == "all keys":
            here.list_sessions()
        return True

    config = GatewayConfig()
    here = SessionStore(tmp_path / "a", config, is_running, db=db, now=clock)
    for one in (source, replace(source, chat_id="2")):
        entry = here.get_or_create_session(one)
        here.append_to_transcript(entry.session_id, {"role": "user", "content": "hello"})
    old = here.find_entry("agent:main:telegram:dm:99")
    clock.turn(days=3)
    assert here.get_or_create_session(source).session_id == moved[0]
    row = db.get_session(old.session_id) if old else None
    assert row is not None
    assert row["end_reason"] == "session_reset"
    assert lead_to_ended(here, db) == []


def test_a_session_two_keys_lead_to_is_not_ended_by_the_reset_of_one(
    store: SessionStore, source: SessionSource, db: SessionDB
) -> None:
    first = store.get_or_create_session(source)
    store.append_to_transcript(first.session_id, {"role": "user", "content": "hello"})
    second = store.get_or_create_session(replace(source, chat_id="2"))
    store.switch_session(second.session_key, first.session_id)
    store.reset_session(first.session_key)
    assert lead_to_ended(store, db) == []


def test_no_chat_leads_to_an_ended_session_however_gateways_race(
    address: str, db: SessionDB, tmp_path: Path, clock: Clock, source: SessionSource
) -> None:
    def use(one: SessionStore) -> None:
        for number in range(12):
            entry = one.get_or_create_session(source, force_new=number % 3 == 0)
            one.append_to_transcript(entry.session_id, {"role": "user", "content": str(number)})
            one.reset_session(entry.session_key)
            one.switch_session(entry.session_key, entry.session_id)

    at_once(address, tmp_path, clock, use)
    store = SessionStore(tmp_path, GatewayConfig(), db=db, now=clock)
    assert len(store.list_sessions()) == 1
    assert lead_to_ended(store, db) == []


def lead_to_ended(store: SessionStore, db: SessionDB) -> list[str]:
    """The keys that lead to a session that has ended."""
    rows = {entry.session_key: db.get_session(entry.session_id) for entry in store.list_sessions()}
    return [key for key, row in rows.items() if row is not None and row["ended_at"] is not None]
