"""The index brought up to date: of every source, only the units that changed are read.

A unit (a file, or one session of a database) has changed when its fingerprint has. A database is
not even opened while its file is as it was; and because fingerprints of its sessions do not see an
edit in place, their sizes are compared where the file changed and no fingerprint did, and once an
hour. Some formats repeat messages in several files, and a message counts in the first of them, so a
unit is also read again when another one that shares an id with it has changed. What an interrupted
run has stored stays; the rest is read next time.
"""

from __future__ import annotations

import sqlite3
import time
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, Self

from warmstart.errors import SourceError
from warmstart.facts.collector import gc_paused
from warmstart.facts.derive import derive_facts
from warmstart.facts.index import IndexUnavailableError, open_index
from warmstart.facts.pool import MAX_WORKERS, can_fork, run_shares
from warmstart.facts.writing import (
    Mask,
    Reading,
    SourceState,
    UnitRow,
    delete_units,
    ensure_sources,
    mark_units,
    move_units,
    store_path,
    write_readings,
    write_source,
)
from warmstart.sources import FoundUnit, ReadLog, UnitReader

__all__ = ["Index", "Progress", "Source", "refresh_sources"]

FLUSH_SECONDS = 0.5
FLUSH_SESSIONS = 250
POOL_UNITS = 400
"""Sessions of a database from which on two processes pay."""
MEASURE_SECONDS = 3600.0
RACY_SECONDS = 2.0
"""A file changed this shortly before it was looked at may change again without showing it."""
RACY = "?"
"""Opens a stamp that proves nothing when it is met again."""
Identity = tuple[int, str, str | bytes, str]
Progress = Callable[[int, int], None]
"""Called with how many units of how many have been read."""


class Index(NamedTuple):
    """An open index, and the set of sources that is asked for."""

    connection: sqlite3.Connection
    path: Path
    source_set: int


class Source(NamedTuple):
    """A store or path that was asked for."""

    path: Path
    list_units: Callable[[ReadLog], list[FoundUnit] | None]
    """What is there; None where it cannot be listed, which the caller reports."""
    is_alone: bool = False
    """It is all that was asked for, so failing to read it is fatal."""
    is_database: bool = False
    """It is one file, which changes whenever one of its sessions does."""


class _Entry(NamedTuple):
    """A unit that was listed."""

    identity: Identity
    row: UnitRow
    found: FoundUnit
    is_alone: bool


class _Known(NamedTuple):
    """A unit as the index has it."""

    id: int
    fingerprint: str
    size: str | None
    position: int
    seen: bytes | None


class _Listing(NamedTuple):
    """A source whose units were listed, and what to remember of it once they are read."""

    number: int
    entries: list[_Entry]
    known: dict[Identity, _Known]
    log: ReadLog
    stamp: str
    measured_at: float


def refresh_sources(
    index: Index,
    sources: Sequence[Source],
    log: ReadLog,
    mask: Mask,
    progress: Progress | None = None,
) -> list[int]:
    """Read what changed in some sources; returns the numbers of those that could be listed.

    Texts are stored masked.

    Raises:
        SourceError: the one source asked for cannot be read.
    """
    listings, listed = _list_all(index, sources, log)
    if listings:
        with gc_paused():
            _Run(index, mask, progress).go(listings)
    for listing in listings:
        if listing.stamp:
            write_source(
                index.connection,
                listing.number,
                stamp=listing.stamp,
                measured_at=listing.measured_at,
                log=listing.log,
            )
    return listed


def _list_all(
    index: Index, sources: Sequence[Source], log: ReadLog
) -> tuple[list[_Listing], list[int]]:
    """The sources that may have changed, and the numbers of all that could be listed."""
    states = ensure_sources(index.connection, index.source_set, [one.path for one in sources])
    listings: list[_Listing] = []
    listed: list[int] = []
    for source, state in zip(sources, states, strict=True):
        stamp = stamp_file(source.path) if source.is_database else ""
        if not stamp or stamp != state.stamp or stamp.startswith(RACY):
            listing = _list(index.connection, source, state, stamp, log)
            if listing is None:
                continue
            listings.append(listing)
        listed.append(state.number)
    return listings, listed


def _list(
    connection: sqlite3.Connection, source: Source, state: SourceState, stamp: str, log: ReadLog
) -> _Listing | None:
    """The units of a source; None where it cannot be listed.

    What the listing of a database leaves out is remembered with it, because it is not listed again
    until its file changes; what any other leaves out goes to ``log`` each time.
    """
    own_log = ReadLog() if source.is_database else log
    units = source.list_units(own_log)
    if units is None:
        return None
    entries = list(_make_entries(state.number, source, units))
    databases = _find_measured(entries)
    stamp = stamp or " ".join(map(stamp_file, sorted(databases)))
    known = _load_known(connection, state.number)
    measured_at = state.measured_at
    if databases:
        measured_at, only = _choose_measured(entries, known, state, stamp)
        entries = _measure(entries, databases, only)
    skips = own_log if source.is_database else ReadLog()
    return _Listing(state.number, entries, known, skips, stamp, measured_at)


def stamp_file(path: Path) -> str:
    """Changes whenever something is written to a database; nothing is opened for it."""
    newest = 0
    marks = []
    for suffix in ("", "-wal"):
        try:
            stat = path.with_name(path.name + suffix).stat()
        except OSError:
            continue
        marks.append(f"{stat.st_ino}-{stat.st_size}-{stat.st_mtime_ns}")
        newest = max(newest, stat.st_mtime_ns)
    is_racy = time.time_ns() - newest < RACY_SECONDS * 1e9
    return (RACY if is_racy else "") + " ".join(marks)


def _make_entries(number: int, source: Source, units: Iterable[FoundUnit]) -> Iterator[_Entry]:
    """The units of a source, each once."""
    met: set[Identity] = set()
    for position, found in enumerate(units):
        reader, unit = found.reader.name, found.unit
        identity = (number, reader, store_path(unit.path), unit.key)
        if identity not in met:
            met.add(identity)
            row = UnitRow(number, reader, unit.path, unit.key, position, unit.fingerprint)
            is_whole = unit.path == source.path and not unit.key
            yield _Entry(identity, row, found, source.is_alone and is_whole)


def _load_known(connection: sqlite3.Connection, source: int) -> dict[Identity, _Known]:
    """Every unit of a source that the index has."""
    rows = connection.execute(
        """SELECT source, reader, path, key, id, fingerprint, size, position, seen FROM unit
            WHERE source = ?""",
        (source,),
    )
    return {(row[0], row[1], row[2], row[3]): _Known(*row[4:]) for row in rows}


def _find_measured(entries: Iterable[_Entry]) -> dict[Path, Any]:
    """The databases of a source whose sessions may be edited in place, with their readers."""
    return {
        entry.row.path: entry.found.reader
        for entry in entries
        if entry.row.key and hasattr(entry.found.reader, "measure")
    }


def _choose_measured(
    entries: Sequence[_Entry], known: dict[Identity, _Known], state: SourceState, stamp: str
) -> tuple[float, list[_Entry] | None]:
    """When all units of a source were last measured, and which ones to measure now.

    None stands for all: at first, after an hour, and where a file was written to and no fingerprint
    changed.
    """
    if not known or time.time() - state.measured_at > MEASURE_SECONDS:
        return time.time(), None
    changed = [entry for entry in entries if _has_changed(entry, known)]
    was_written = stamp.replace(RACY, "") != state.stamp.replace(RACY, "")
    if was_written and not changed and len(known) == len(entries):
        return state.measured_at, None
    return state.measured_at, changed


def _measure(
    entries: list[_Entry], databases: Mapping[Path, Any], only: Sequence[_Entry] | None
) -> list[_Entry]:
    """The entries of databases with their sizes; with ``only``, just those are measured."""
    sizes: dict[tuple[Path, str], str] = {}
    for path, reader in databases.items():
        keys = None
        if only is not None:
            keys = [entry.row.key for entry in only if entry.row.path == path]
        with suppress(SourceError):  # reading it will say why
            found = reader.measure(path, keys)
            sizes |= {(path, key): size for key, size in found.items()}
    return [_set_size(entry, sizes) for entry in entries]


def _set_size(entry: _Entry, sizes: Mapping[tuple[Path, str], str]) -> _Entry:
    """An entry with its size, where it was measured."""
    size = sizes.get((entry.row.path, entry.row.key))
    return entry if size is None else entry._replace(row=entry.row._replace(size=size))


def _has_changed(entry: _Entry, known: dict[Identity, _Known]) -> bool:
    old = known.get(entry.identity)
    if old is None or not old.fingerprint or old.fingerprint != entry.row.fingerprint:
        return True
    return entry.row.size is not None and old.size != entry.row.size


class _Run:
    """One refresh of some sources."""

    def __init__(self, index: Index, mask: Mask, progress: Progress | None) -> None:
        self._index = index
        self._mask = mask
        self._writer = _Writer(index.connection, mask)
        self._progress = progress
        self._known: dict[Identity, _Known] = {}
        self._keys: dict[Identity, list[int]] = {}
        """The message ids that each unit asked about."""
        self._done = self._total = 0

    def go(self, listings: Sequence[_Listing]) -> None:
        """Read what changed, then whatever repeats something of it."""
        for listing in listings:
            self._known |= listing.known
        self._keys = {name: _unpack(old.seen) for name, old in self._known.items() if old.seen}
        units = [entry for listing in listings for entry in listing.entries]
        listed = {entry.identity for entry in units}
        gone = [old for name, old in self._known.items() if name not in listed]
        dirty = {entry.identity for entry in units if _has_changed(entry, self._known)}
        if dirty or gone:
            self._read_changes(units, dirty, gone)
        self._move(units)

    def _read_changes(
        self, units: Sequence[_Entry], dirty: set[Identity], gone: Sequence[_Known]
    ) -> None:
        self._total = len(dirty)
        clean = [entry for entry in units if entry.identity not in dirty]
        sharers = _map_keys(self._keys, clean)
        touched = {key for old in gone for key in _unpack(old.seen)}
        self._disturb(gone, sharers)
        left = self._read_alone(units, dirty)
        with _Writer(self._index.connection, self._mask) as self._writer:
            touched |= self._read_in_order(units, left, sharers)
            self._read_sharers(units, clean, touched)

    def _disturb(self, gone: Sequence[_Known], sharers: dict[int, list[Identity]]) -> None:
        """Mark what shares an id with units that are gone, and delete those."""
        keys = {key for old in gone for key in _unpack(old.seen)}
        marked = {name for key in keys for name in sharers.get(key, ())}
        connection = self._index.connection
        mark_units(connection, [self._known[name].id for name in marked if name in self._known])
        if gone:
            delete_units(connection, [old.id for old in gone])

    def _read_alone(self, units: Sequence[_Entry], dirty: set[Identity]) -> set[Identity]:
        """Read sessions of databases in two processes where they are many; returns the rest.

        Each process stores what it reads. What a process that died left undone is among the rest.
        """
        alone = [e for e in units if e.row.size is not None and e.identity in dirty]
        if len(alone) < POOL_UNITS or not can_fork():
            return dirty
        self._mask([])  # what it loads is then there for both
        work = partial(_read_share, self._index.path, _identify(self._index.path), self._mask)
        shares = [alone[start::MAX_WORKERS] for start in range(MAX_WORKERS)]
        with suppress(ChildProcessError), closing(run_shares(work, shares)) as done:
            for _ in done:
                self._count()
        for source in {entry.row.source for entry in alone}:
            self._known |= _load_known(self._index.connection, source)
        left = {entry.identity for entry in units if _has_changed(entry, self._known)}
        self._done = len(dirty) - len(left)
        return left & dirty

    def _read_in_order(
        self, units: Sequence[_Entry], dirty: set[Identity], sharers: dict[int, list[Identity]]
    ) -> set[int]:
        """Read the changed units, each after all that stand before it; returns their ids."""
        seen: set[int] = set()
        touched: set[int] = set()
        for entry in units:
            name = entry.identity
            before = self._keys.get(name, ())
            if name not in dirty:
                seen.update(before)
                continue
            asked = self._read(entry, seen, before, sharers)
            touched.update(before, asked)
            self._keys[name] = asked
        return touched

    def _read(
        self,
        entry: _Entry,
        seen: set[int],
        before: Iterable[int],
        sharers: dict[int, list[Identity]],
    ) -> list[int]:
        log = ReadLog(seen=seen)

        def find_disturbed() -> list[int]:
            names = {name for key in {*before, *log.asked} for name in sharers.get(key, ())}
            names.discard(entry.identity)
            return [self._known[name].id for name in names if name in self._known]

        self._writer.read(entry, log, find_disturbed if sharers else None)
        self._count()
        return log.asked

    def _read_sharers(
        self, units: Sequence[_Entry], clean: Sequence[_Entry], touched: set[int]
    ) -> None:
        """Read again what repeats an id of a unit that changed."""
        again = [
            entry for entry in clean if not touched.isdisjoint(self._keys.get(entry.identity, ()))
        ]
        if not again:
            return
        first: dict[int, Identity] = {}
        for entry in units:
            for key in self._keys.get(entry.identity, ()):
                first.setdefault(key, entry.identity)
        self._total += len(again)
        for entry in again:
            keys = self._keys.get(entry.identity, [])
            self._read(entry, {key for key in keys if first[key] != entry.identity}, (), {})

    def _count(self) -> None:
        self._done += 1
        if self._progress is not None:
            self._progress(self._done, self._total)

    def _move(self, units: Sequence[_Entry]) -> None:
        """Store where units stand that were not read."""
        moves = [
            (entry.row.position, old.id)
            for entry in units
            if (old := self._known.get(entry.identity)) and old.position != entry.row.position
        ]
        move_units(self._index.connection, moves)


class _Writer:
    """Reads units and stores their facts, some at a time and the last ones when it is closed."""

    def __init__(self, connection: sqlite3.Connection, mask: Mask) -> None:
        self._units = UnitReader()
        self._connection = connection
        self._mask = mask
        self._waiting: list[Reading] = []
        self._sessions = 0
        self._flushed = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._units.__exit__()
        self._flush()

    def read(
        self, entry: _Entry, log: ReadLog, find_disturbed: Callable[[], list[int]] | None = None
    ) -> None:
        """Read a unit; one that cannot be read is counted in its log, unless it is alone."""
        read = self._units.read(entry.found, log, alone=entry.is_alone)
        sessions = [derive_facts(session) for session in read]
        disturbed = find_disturbed() if find_disturbed else ()
        self._waiting.append(Reading(entry.row, sessions, log, disturbed))
        self._sessions += len(sessions)
        is_late = time.monotonic() - self._flushed > FLUSH_SECONDS
        if is_late or self._sessions >= FLUSH_SESSIONS:
            self._flush()

    def _flush(self) -> None:
        """Store what was read."""
        waiting, self._waiting = self._waiting, []
        if waiting:
            write_readings(self._connection, waiting, self._mask)
        self._sessions = 0
        self._flushed = time.monotonic()


def _read_share(path: Path, file: int | None, mask: Mask, share: Sequence[_Entry]) -> Iterator[int]:
    """Read and store some units in a worker; ``file`` is the index that the parent has open.

    What stops a worker stops the parent too, which reports it.
    """
    with suppress(IndexUnavailableError, sqlite3.Error), open_index(path) as connection:
        if _identify(path) != file:
            return  # another process has replaced the index
        with _Writer(connection, mask) as writer:
            for entry in share:
                writer.read(entry, ReadLog())
                yield 1


def _identify(path: Path) -> int | None:
    try:
        return path.stat().st_ino
    except OSError:
        return None


def _unpack(seen: bytes | None) -> list[int]:
    keys: array[int] = array("q")
    keys.frombytes(seen or b"")
    return keys.tolist()


def _map_keys(
    keys: dict[Identity, list[int]], clean: Iterable[_Entry]
) -> dict[int, list[Identity]]:
    """Which unchanged units have an id."""
    sharers: dict[int, list[Identity]] = {}
    for entry in clean:
        for key in keys.get(entry.identity, ()):
            sharers.setdefault(key, []).append(entry.identity)
    return sharers
