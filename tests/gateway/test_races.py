"""Several gateways on one database at the same instant, on both databases."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from warmstart.gateway import (
    ExpiryWatcher,
    GatewayConfig,
    SessionEntry,
    SessionSource,
    SessionStore,
)
from warmstart.store import SessionDB

from .conftest import Clock

GATEWAYS = 4
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
    assert db.count_routes("main") == 1


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
    source: SessionSource, store: SessionStore, clock: Clock
) -> None:
    entry = store.get_or_create_session(source)
    clock.turn(days=3)
    assert store.claim_flush(entry, seconds=600)
    assert not store.claim_flush(entry, seconds=600)
    clock.turn(seconds=601)
    assert store.claim_flush(entry, seconds=600)


def test_a_row_that_cannot_be_read_gives_way_to_a_new_session(
    db: SessionDB, store: SessionStore, source: SessionSource
) -> None:
    key = store.get_or_create_session(source).session_key
    db.put_route("main", key, {"damaged": True})
    assert store.get_or_create_session(source).session_id
    assert db.count_routes("main") == 1
