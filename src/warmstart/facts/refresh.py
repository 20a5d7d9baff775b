"""Files and other units brought up to date in the index: only those that changed are read.

Some formats repeat messages in several files, and a message counts in the first of them. So a unit
is also read again when another one that shares an id with it has changed; each unit's ids are
remembered for that. Where a run is interrupted, such units stay marked and are read next time.
"""

from __future__ import annotations

import os
import sqlite3
import time
from array import array
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from warmstart.facts.packing import Mask
from warmstart.facts.skips import note_skips
from warmstart.facts.units import read_rows
from warmstart.facts.writing import (
    Reading,
    Source,
    forget_units,
    move_units,
    write_readings,
)
from warmstart.sources import Found, ReadLog

FLUSH_SECONDS = 0.5
FLUSH_SESSIONS = 500
Identity = tuple[str, bytes, str]
Progress = Callable[[int, int], None]


class Entry(NamedTuple):
    """A unit that was listed, and how to read it; nothing to read it by for a whole database."""

    source: Source
    found: Found | None = None
    alone: bool = False
    """It is all that was asked for, so failing to read it is fatal."""

    @property
    def identity(self) -> Identity:
        """What it is known by."""
        return self.source.reader, os.fsencode(self.source.path), self.source.key


class _Known(NamedTuple):
    """A unit as the index has it."""

    id: int
    fingerprint: str
    position: int
    root: str
    seen: bytes | None


def load_known(connection: sqlite3.Connection, place: int) -> dict[Identity, _Known]:
    """Every unit of a place."""
    rows = connection.execute(
        """SELECT reader, path, key, id, fingerprint, position, root, seen FROM units
            WHERE place = ?""",
        (place,),
    )
    return {(row[0], row[1], row[2]): _Known(*row[3:]) for row in rows}


def refresh_units(
    connection: sqlite3.Connection,
    place: int,
    entries: Sequence[Entry],
    roots: Iterable[str],
    mask: Mask,
    progress: Progress | None = None,
) -> None:
    """Read what changed among units, and forget those that are gone from the roots listed.

    Texts are kept masked.

    Raises:
        SourceError: the one unit asked for cannot be read.
    """
    known = load_known(connection, place)
    listed = {entry.identity for entry in entries}
    scope = set(roots)
    gone = [old for name, old in known.items() if name not in listed and old.root in scope]
    units = [entry for entry in entries if entry.found is not None]
    dirty = [entry for entry in units if _has_changed(entry, known)]
    if dirty or gone:
        _Run(connection, place, known, mask, progress).go(units, dirty, gone)
    moves = [
        (entry.source.position, known[entry.identity].id)
        for entry in entries
        if entry.identity in known and known[entry.identity].position != entry.source.position
    ]
    move_units(connection, moves)


def _has_changed(entry: Entry, known: dict[Identity, _Known]) -> bool:
    old = known.get(entry.identity)
    return old is None or not old.fingerprint or old.fingerprint != entry.source.fingerprint


class _Run:
    """One refresh of a place's units."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        place: int,
        known: dict[Identity, _Known],
        mask: Mask,
        progress: Progress | None,
    ) -> None:
        self._connection = connection
        self._place = place
        self._known = known
        self._mask = mask
        self._progress = progress
        self._waiting: list[Reading] = []
        self._sessions = 0
        self._flushed = time.monotonic()
        self._keys = {name: _unpack(old.seen) for name, old in known.items() if old.seen}
        self._done = self._total = 0

    def go(self, units: Sequence[Entry], dirty: Sequence[Entry], gone: Sequence[_Known]) -> None:
        """Read what changed, then whatever repeats something of it."""
        self._total = len(dirty)
        names = {entry.identity for entry in dirty}
        clean = [entry for entry in units if entry.identity not in names]
        sharers = _map_keys(self._keys, clean)
        touched = {key for old in gone for key in _unpack(old.seen)}
        self._disturb(gone, sharers)
        try:
            touched |= self._read_all(units, names, sharers)
            self._read_sharers(units, clean, touched)
        finally:
            self._flush()

    def _disturb(self, gone: Sequence[_Known], sharers: dict[int, list[Identity]]) -> None:
        """Mark what shares an id with units that are gone, and forget those."""
        keys = {key for old in gone for key in _unpack(old.seen)}
        marked = {name for key in keys for name in sharers.get(key, ())}
        ids = [(self._known[name].id,) for name in marked if name in self._known]
        if ids:
            self._connection.executemany("UPDATE units SET fingerprint = '' WHERE id = ?", ids)
        if gone:
            forget_units(self._connection, [old.id for old in gone])

    def _read_all(
        self, units: Sequence[Entry], names: set[Identity], sharers: dict[int, list[Identity]]
    ) -> set[int]:
        """Read the changed units, each after all that stand before it; returns their ids."""
        seen: set[int] = set()
        touched: set[int] = set()
        for entry in units:
            name = entry.identity
            if name not in names:
                seen.update(self._keys.get(name, ()))
                continue
            before = set(self._keys.get(name, ()))
            asked = self._read(entry, seen, before, sharers)
            touched |= before.union(asked)
            self._keys[name] = asked
        return touched

    def _read(
        self,
        entry: Entry,
        seen: set[int],
        before: set[int],
        sharers: dict[int, list[Identity]],
    ) -> list[int]:
        log = ReadLog(seen=seen)
        found = entry.found
        if found is None:
            return []
        rows = read_rows(found, log, alone=entry.alone, mask=self._mask)
        names = {name for key in before.union(log.asked) for name in sharers.get(key, ())} - {
            entry.identity
        }
        disturbed = [self._known[name].id for name in names if name in self._known]
        self._waiting.append(
            Reading(entry.source, rows, note_skips(log), tuple(log.asked), disturbed)
        )
        self._sessions += len(rows)
        self._done += 1
        if self._progress is not None:
            self._progress(self._done, self._total)
        is_late = time.monotonic() - self._flushed > FLUSH_SECONDS
        if is_late or self._sessions >= FLUSH_SESSIONS:
            self._flush()
        return list(log.asked)

    def _read_sharers(
        self, units: Sequence[Entry], clean: Sequence[Entry], touched: set[int]
    ) -> None:
        """Read again what repeats an id of a unit that changed."""
        again = [
            entry for entry in clean if not touched.isdisjoint(self._keys.get(entry.identity, ()))
        ]
        if not again:
            return
        first = _first_places(units, self._keys)
        self._total += len(again)
        for entry in again:
            place = entry.source.position
            keys = self._keys.get(entry.identity, [])
            self._read(entry, {key for key in keys if first[key] < place}, set(), {})

    def _flush(self) -> None:
        if self._waiting:
            write_readings(self._connection, self._place, self._waiting)
        self._waiting = []
        self._sessions = 0
        self._flushed = time.monotonic()


def _unpack(seen: bytes | None) -> list[int]:
    keys: array[int] = array("q")
    keys.frombytes(seen or b"")
    return keys.tolist()


def _map_keys(keys: dict[Identity, list[int]], clean: Iterable[Entry]) -> dict[int, list[Identity]]:
    """Which unchanged units have an id."""
    sharers: dict[int, list[Identity]] = {}
    for entry in clean:
        for key in keys.get(entry.identity, ()):
            sharers.setdefault(key, []).append(entry.identity)
    return sharers


def _first_places(units: Iterable[Entry], keys: dict[Identity, list[int]]) -> dict[int, int]:
    first: dict[int, int] = {}
    for entry in units:
        for key in keys.get(entry.identity, ()):
            first.setdefault(key, entry.source.position)
    return first
