"""What a Hermes database held when it was read, and which of its sessions have changed since.

One cheap look decides: the rows of ``sessions`` as they were, the highest message id, and how many
messages there are. Messages are only ever added, flagged or deleted by their agent; a flag comes
with a new row or a counter. A file that changed while nothing of that did has been edited in
place, and then every session's extent is measured again; so it is once an hour in any case.
"""

from __future__ import annotations

import sqlite3
import struct
import time
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain, repeat
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

import orjson

from warmstart.facts.hermes_lane import odd_test
from warmstart.facts.lanes import Unusual
from warmstart.model import Parent
from warmstart.sources.readers.hermes import READ, find_parent
from warmstart.sources.sqlite import list_columns

COUNTERS = ("message_count", "tool_call_count", "rewind_count", "last_message_at")
"""Columns that change with a session's messages."""
COLUMNS = (*READ, *COUNTERS)
_PARENT = "parent_session_id"
MEASURE_SECONDS = 3600.0
RACY_SECONDS = 2.0
"""A file changed this shortly before it was looked at may change again without showing it."""
_LENGTH = struct.Struct("<I")

SessionKey = str


Extent = tuple[int, int, int, int]
"""How much a session holds: rows, highest id, characters, and rows that are flagged."""
NOTHING: Extent = (0, 0, 0, 0)


class SessionRows:
    """The table of sessions: the columns it has of those that matter, and each session's values."""

    __slots__ = ("_absent", "_names", "columns", "values")

    def __init__(self, columns: Sequence[str], values: dict[SessionKey, tuple[Any, ...]]) -> None:
        self.columns = columns
        self.values = values
        absent = [name for name in COLUMNS if name not in columns]
        self._names = (*columns, *absent)
        self._absent = (None,) * len(absent)

    def get(self, key: SessionKey) -> dict[str, Any]:
        """A session's row by name, None where its table has no such column; empty if unknown."""
        values = self.values.get(key)
        if values is None:
            return {}
        return dict(zip(self._names, values + self._absent, strict=True))

    def column(self, name: str, keys: Iterable[SessionKey]) -> list[Any]:
        """One value of each of some sessions; None where there is no such column or session."""
        if name not in self.columns:
            return [None for _ in keys]
        place, values = self.columns.index(name), self.values
        return [values[key][place] if key in values else None for key in keys]

    def children_of(self, parents: set[SessionKey]) -> set[SessionKey]:
        """Sessions whose parent is one of these."""
        if _PARENT not in self.columns:
            return set()
        place = self.columns.index(_PARENT)
        return {key for key, values in self.values.items() if values[place] in parents}

    def hash(self) -> dict[SessionKey, int]:
        """A number of every row, by which a change is noticed."""
        start = crc32(orjson.dumps(self.columns))
        dumped = map(orjson.dumps, self.values.values(), repeat(repr))
        return dict(zip(self.values, map(crc32, dumped, repeat(start)), strict=True))


@dataclass(slots=True)
class Book:
    """The state of a database at one moment."""

    stamp: str = ""
    measured_at: float = 0.0
    top: int = 0
    """The highest message id."""
    count: int = 0
    hashes: dict[SessionKey, int] = field(default_factory=dict)
    """Of each session's own row."""
    extents: dict[SessionKey, Extent] = field(default_factory=dict)

    def encode(self) -> bytes:
        """As stored."""
        sizes: array[int] = array("q", chain.from_iterable(self.extents.values()))
        hashes = array("q", self.hashes.values())
        names = [list(self.hashes), list(self.extents)]
        head = orjson.dumps([self.stamp, self.measured_at, self.top, self.count, *names])
        return b"".join((_LENGTH.pack(len(head)), head, hashes.tobytes(), sizes.tobytes()))

    @classmethod
    def decode(cls, data: bytes | None) -> Book:
        """From what was stored; an empty one where that cannot be read."""
        try:
            (size,) = _LENGTH.unpack_from(data or b"")
            start = _LENGTH.size + size
            stamp, measured_at, top, count, hashed, measured = orjson.loads(
                memoryview(data or b"")[_LENGTH.size : start]
            )
            numbers: array[int] = array("q", (data or b"")[start:])
            sizes = iter(numbers[len(hashed) :])
            extents = zip(sizes, sizes, sizes, sizes, strict=True)
            return cls(
                stamp,
                measured_at,
                top,
                count,
                dict(zip(hashed, numbers[: len(hashed)], strict=True)),
                dict(zip(measured, extents, strict=True)),
            )
        except (ValueError, struct.error):
            return cls()


class Changes(NamedTuple):
    """What to read again and what to forget."""

    changed: list[SessionKey]
    gone: list[SessionKey]


RACY = "?"
"""Opens a stamp that proves nothing when it is met again."""


def stamp_database(path: Path) -> str:
    """Changes whenever something is written to the database; nothing is opened for it."""
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


def is_unchanged(stamp: str, old: str) -> bool:
    """Whether two stamps prove that nothing was written between them."""
    return stamp == old and bool(stamp) and not stamp.startswith(RACY)


def find_changes(
    connection: sqlite3.Connection, rows: SessionRows, old: Book, stamp: str
) -> tuple[Book, Changes]:
    """The database's state now, its sessions' rows being these, and how it differs from before."""
    top, count = _measure_all(connection)
    hashes = rows.hash()
    new = Book(stamp, old.measured_at, top, count, hashes, dict(old.extents))
    if not old.stamp:
        new.measured_at = time.time()
        return new, Changes(sorted(hashes), [])
    grown = _count_new(connection, old.top) if top > old.top else {}
    known = old.hashes
    changed = {key for key, number in hashes.items() if known.get(key) != number}
    changed.update(grown)
    lost = known.keys() - hashes.keys()
    is_smaller = count - sum(grown.values()) != old.count or top < old.top
    was_edited = _was_written(stamp, old.stamp) and not changed and not lost
    if is_smaller or was_edited or time.time() - old.measured_at > MEASURE_SECONDS:
        changed |= _compare_extents(connection, new)
        new.measured_at = time.time()
    return new, _settle(connection, new, rows, changed.union(lost))


def _was_written(stamp: str, old: str) -> bool:
    return stamp.removeprefix(RACY) != old.removeprefix(RACY)


def _settle(
    connection: sqlite3.Connection, book: Book, rows: SessionRows, changed: set[SessionKey]
) -> Changes:
    """What is gone for good, and what else changes with the rest."""
    absent = book.extents.keys() - rows.values.keys()
    gone = [key for key in sorted(absent) if not _has_rows(connection, key)]
    # How a parent ended and what it held decides what of a session is a copy.
    heirs = rows.children_of(changed.union(gone)) if changed or gone else set()
    return Changes(sorted((changed | heirs).difference(gone)), gone)


def _has_rows(connection: sqlite3.Connection, key: SessionKey) -> bool:
    found = connection.execute("SELECT 1 FROM messages WHERE session_id = ? LIMIT 1", (key,))
    return found.fetchone() is not None


def find_orphans(connection: sqlite3.Connection, rows: SessionRows) -> list[SessionKey]:
    """Sessions of which only messages are left."""
    found = connection.execute("SELECT DISTINCT session_id FROM messages")
    return sorted(str(row[0]) for row in found if row[0] and str(row[0]) not in rows.values)


def read_session_table(connection: sqlite3.Connection) -> SessionRows:
    """Every session's own row.

    Raises:
        Unusual: one has an id that is no text.
    """
    have = list_columns(connection, "sessions")
    columns = [name for name in COLUMNS if name in have]
    query = f"SELECT {', '.join(map(_as_expression, columns))} FROM sessions"
    values = {row[0]: row for row in connection.execute(query)}
    if not {str}.issuperset(map(type, values)) or "" in values:
        raise Unusual
    return SessionRows(columns, values)


def _as_expression(column: str) -> str:
    """Of a prompt, which may be long, only whether there is one."""
    if column == "system_prompt":
        return "typeof(system_prompt) = 'text' AND system_prompt <> ''"
    return column


def _measure_all(connection: sqlite3.Connection) -> tuple[int, int]:
    # Asked for together: a count alone is one step to SQLite, which nothing could interrupt.
    top, count = connection.execute("SELECT max(id), count(*) FROM messages").fetchone()
    return top or 0, count


def _count_new(connection: sqlite3.Connection, top: int) -> dict[SessionKey, int]:
    # The sign keeps SQLite from going through an index of all messages to group a few.
    rows = connection.execute(
        "SELECT session_id, count(*) FROM messages WHERE id > ? GROUP BY +session_id", (top,)
    )
    return {str(row[0]): row[1] for row in rows}


def measure_sessions(
    connection: sqlite3.Connection, keys: Iterable[SessionKey] | None = None
) -> dict[SessionKey, Extent]:
    """The extent of every session, or of some; this reads all of their rows."""
    query = (
        "SELECT session_id, count(*), max(id), total(length(tool_calls))"
        " + total(CASE WHEN role = 'assistant' THEN 0 ELSE length(content) END),"
        f" total({odd_test(connection)}) FROM messages"
    )
    if keys is None:
        rows = list(connection.execute(f"{query} GROUP BY session_id"))
    else:
        one = f"{query} WHERE session_id = ?"
        rows = [row for key in keys for row in connection.execute(one, (key,)) if row[1]]
    return {str(row[0]): (row[1], row[2], int(row[3]), int(row[4])) for row in rows}


def _compare_extents(connection: sqlite3.Connection, book: Book) -> set[SessionKey]:
    now = measure_sessions(connection)
    book.measured_at = time.time()
    known = book.extents
    return {
        key
        for key in now.keys() | (known.keys() & book.hashes.keys())
        if known.get(key) != now.get(key, NOTHING)
    }


def parent_of(row: dict[str, Any], rows: SessionRows) -> tuple[Parent | None, dict[str, Any]]:
    """The parent of a session and the parent's row."""
    parent_row = rows.get(row[_PARENT] or "")
    return find_parent(row, parent_row), parent_row
