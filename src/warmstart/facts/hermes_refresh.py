"""A Hermes database brought up to date in the index: only sessions that changed are read."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from itertools import islice
from typing import Any

import orjson

from warmstart.facts.collector import without_collector
from warmstart.facts.hermes_book import (
    Book,
    SessionKey,
    SessionRows,
    find_changes,
    find_orphans,
    is_unchanged,
    read_session_table,
    stamp_database,
)
from warmstart.facts.hermes_build import Builder, Built, Sent, open_plainly
from warmstart.facts.index import transaction
from warmstart.facts.packing import Mask
from warmstart.facts.pool import can_fork, run_shares, split_evenly
from warmstart.facts.skips import Skips
from warmstart.facts.writing import Source, ensure_unit, write_sessions, write_state

READERS = frozenset({"hermes", "live_store"})
"""Readers of databases with Hermes' tables."""
POOL_MESSAGES = 20_000
BATCH = 256
_IDENTITY = "place = ? AND reader = ? AND path = ? AND key = ?"
Progress = Callable[[int, int], None]


def refresh_database(
    connection: sqlite3.Connection,
    place: int,
    source: Source,
    mask: Mask,
    progress: Progress | None = None,
) -> None:
    """Read what changed in one database since it was last looked at; texts are kept masked.

    Raises:
        SourceError: it cannot be read.
        Unusual: it is no database for this lane.
    """
    stamp = stamp_database(source.path)
    if not is_unchanged(stamp, _load_stamp(connection, place, source)):
        with without_collector():
            _refresh_changed(connection, place, source, stamp, mask, progress)


def _refresh_changed(
    connection: sqlite3.Connection,
    place: int,
    source: Source,
    stamp: str,
    mask: Mask,
    progress: Progress | None,
) -> None:
    unit, state, skips, position = _load_state(connection, place, source)
    with ExitStack() as stack:
        database = open_plainly(stack, source.path)
        rows = read_session_table(database)
        book, changes = find_changes(database, rows, state, stamp)
        if unit is None or position != source.position:
            with transaction(connection):
                unit = ensure_unit(connection, place, source)
        job = _Job(connection, unit, book, changes.changed, skips)
        job.forget(changes.gone)
        is_first = not state.stamp
        try:
            job.run(_build(source, rows, changes.changed, mask), len(changes.changed), progress)
            if is_first and sum(extent[0] for extent in book.extents.values()) != book.count:
                orphans = find_orphans(database, rows)
                job.run(_build(source, rows, orphans, mask), len(orphans), progress)
            job.is_complete = True
        finally:
            job.save()


class _Job:
    """One refresh: takes sessions as they are built and remembers what is done."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        unit: int,
        book: Book,
        changed: Iterable[SessionKey],
        skips: dict[str, Skips],
    ) -> None:
        self._connection = connection
        self._unit = unit
        self._book = book
        self._skips = skips
        self._changed = set(changed)
        self._done: set[SessionKey] = set()
        self.is_complete = False

    def forget(self, keys: Sequence[SessionKey]) -> None:
        """Sessions that are gone."""
        for key in keys:
            self._book.extents.pop(key, None)
            self._skips.pop(key, None)
        if keys:
            write_sessions(self._connection, self._unit, keys, ())

    def run(self, built: Iterable[Sent], total: int, progress: Progress | None) -> None:
        """Store sessions, a batch at a time."""
        stream = iter(built)
        while batch := list(islice(stream, BATCH)):
            rows = [row for _, row, _, _ in batch if row is not None]
            write_sessions(self._connection, self._unit, [one[0] for one in batch], rows)
            for key, _, extent, skips in batch:
                self._book.extents[key] = extent
                self._skips.pop(key, None)
                if skips:
                    self._skips[key] = skips
                self._done.add(key)
            if progress is not None:
                progress(len(self._done), total)

    def save(self) -> None:
        """Remember the state; of an interrupted run, without what it did not come to."""
        if not self.is_complete:
            for key in self._changed - self._done:
                self._book.hashes.pop(key, None)
            self._book.count = -1
        stamp = self._book.stamp if self.is_complete else ""
        state = self._book.encode()
        write_state(self._connection, self._unit, state, self._skips, fingerprint=stamp)


def _load_stamp(connection: sqlite3.Connection, place: int, source: Source) -> str:
    row = connection.execute(
        f"SELECT fingerprint FROM units WHERE {_IDENTITY}", _identify(place, source)
    ).fetchone()
    return row[0] if row else ""


def _identify(place: int, source: Source) -> tuple[int, str, bytes, str]:
    return place, source.reader, os.fsencode(source.path), source.key


def _load_state(
    connection: sqlite3.Connection, place: int, source: Source
) -> tuple[int | None, Book, dict[str, Skips], int]:
    row = connection.execute(
        f"SELECT id, state, skips, position FROM units WHERE {_IDENTITY}",
        _identify(place, source),
    ).fetchone()
    if row is None:
        return None, Book(), {}, -1
    return row[0], Book.decode(row[1]), orjson.loads(row[2] or b"{}"), row[3]


def _build(
    source: Source, rows: SessionRows, keys: Sequence[SessionKey], mask: Mask
) -> Iterator[Sent]:
    def work(share: Sequence[SessionKey]) -> Iterator[Sent]:
        with Builder(source.path, source.reader, rows, mask) as builder:
            yield from map(Built.strip, builder.build(share))

    counts = rows.column("message_count", keys)
    weights = {key: 1 + _as_count(count) for key, count in zip(keys, counts, strict=True)}
    if sum(weights.values()) >= POOL_MESSAGES and len(keys) > 1 and can_fork():
        mask([])  # what it loads is then there for both workers
        yield from run_shares(work, split_evenly(keys, weights.__getitem__))
    elif keys:
        yield from work(keys)


def _as_count(value: Any) -> int:
    return value if isinstance(value, int) and value > 0 else 0
