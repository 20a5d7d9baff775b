"""The tables of ``facts.db``, each defined once; statements and conversions are derived from that.

What a session and a call keep is defined by the records ``SessionFacts`` and ``CallFact``: every
field is a column, the fields of a record inside them are columns with its name before theirs
(``tokens_input``), and a tuple of numbers is a JSON list. The remaining tables are written out in
``OTHER_TABLES``. Enumerations are stored as their text, so that any SQLite tool can read a row.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import StrEnum
from functools import cache, partial
from itertools import repeat
from operator import attrgetter
from types import NoneType
from typing import Any, NamedTuple, get_args, get_type_hints

from msgspec.structs import astuple

from warmstart.model import CallFact, SessionFacts

__all__ = ["CALL", "CREATE", "SESSION", "CallTable", "SessionTable", "clean"]

MAX_INTEGER = 2**63 - 1
UNMASKED = frozenset({"id", "origin", "path", "parent_id", "evidence"})
"""Texts that are kept as they are: what sessions are found by, and names of the judge's rules."""
IN_OTHER_TABLES = frozenset({"calls", "markers"})
_SQL_TYPES = {int: "INTEGER", bool: "INTEGER", float: "REAL", str: "TEXT", tuple: "TEXT"}
ConvertAll = Callable[[Sequence[Any]], Iterable[Any]]


class FactColumn(NamedTuple):
    """One column."""

    name: str
    kind: type
    is_optional: bool

    @property
    def sql(self) -> str:
        """Its part of the table's definition."""
        kind = str if issubclass(self.kind, StrEnum) else self.kind
        return f"{self.name} {_SQL_TYPES[kind]}{'' if self.is_optional else ' NOT NULL'}"

    @property
    def is_masked(self) -> bool:
        """Whether it holds words of a transcript, which may hold a secret."""
        return self.kind is str and self.name not in UNMASKED

    def encode(self, values: Sequence[Any]) -> Iterable[Any]:
        """Values of the field as they are stored."""
        if issubclass(self.kind, StrEnum):
            return map(_list_texts(self.kind).__getitem__, values)
        return _ENCODERS[self.kind](values)

    def decode(self, values: Sequence[Any]) -> Iterable[Any]:
        """Stored values as the field has them; equal texts become one object."""
        if issubclass(self.kind, StrEnum):
            return map(_list_members(self.kind).__getitem__, values)
        decode = _DECODERS.get(self.kind)
        return values if decode is None else decode(values)


@cache
def _list_texts(kind: type[StrEnum]) -> dict[Any, str | None]:
    return {None: None, **{member: str(member.value) for member in kind}}


@cache
def _list_members(kind: type[StrEnum]) -> dict[Any, Any]:
    return {None: None, **{str(member.value): member for member in kind}}


def clean(text: str | None) -> str | None:
    """Text that can be stored: half characters, which a file name may hold, are replaced."""
    if text is None or text.isascii():
        return text
    return text.encode("utf-8", "replace").decode("utf-8")


def _clean_all(texts: Sequence[str | None]) -> Iterable[str | None]:
    return texts if all(map(str.isascii, filter(None, texts))) else map(clean, texts)


def _fit_all(numbers: Sequence[int | None]) -> Iterable[int | None]:
    """Numbers that SQLite can hold."""
    try:
        array("q", filter(None, numbers))
    except OverflowError:
        return [one if one is None else max(-MAX_INTEGER, min(one, MAX_INTEGER)) for one in numbers]
    return numbers


def _share(values: Sequence[Any]) -> Iterable[Any]:
    """Equal values as one object: a session's calls name few tools."""
    known: dict[Any, Any] = {}
    return map(known.setdefault, values, values)


def _dump_all(lists: Sequence[Iterable[int]]) -> Iterable[str]:
    return [json.dumps(list(one)) for one in lists]


def _load_all(texts: Sequence[str]) -> Iterable[tuple[int, ...]]:
    return [tuple(json.loads(text)) for text in texts]


def _keep(values: Sequence[Any]) -> Iterable[Any]:
    return values


_ENCODERS: dict[type, ConvertAll] = {
    int: _fit_all,
    float: _keep,
    bool: partial(map, int),
    str: _clean_all,
    tuple: _dump_all,
}
_DECODERS: dict[type, ConvertAll] = {
    bool: partial(map, bool),
    int: _share,
    str: _share,
    tuple: _load_all,
}


class _Field(NamedTuple):
    """A field of a record: its columns, and the record inside it where there is one."""

    name: str
    columns: tuple[FactColumn, ...]
    record: Any = None


def _list_fields(record: Any) -> Iterator[_Field]:
    """The fields of a record that are columns of its table."""
    for name, hint in get_type_hints(record).items():
        if name in IN_OTHER_TABLES:
            continue
        options = [kind for kind in get_args(hint) if kind is not NoneType]
        is_optional = NoneType in get_args(hint)
        kind = options[0] if is_optional else hint
        kind = getattr(kind, "__origin__", kind)
        if kind in _SQL_TYPES or issubclass(kind, StrEnum):
            yield _Field(name, (FactColumn(name, kind, is_optional),))
            continue
        columns = [
            FactColumn(f"{name}_{one.name}", one.kind, is_optional)
            for field in _list_fields(kind)
            for one in field.columns
        ]
        yield _Field(name, tuple(columns), kind)


class _Table:
    """A table whose rows are records, converted column by column: a third of the time."""

    def __init__(self, record: Any) -> None:
        self.fields = tuple(_list_fields(record))
        self.columns = [column for field in self.fields for column in field.columns]
        self.masked = [place for place, column in enumerate(self.columns) if column.is_masked]
        """Places of the columns that hold words of the transcript."""
        self.names = ", ".join(column.name for column in self.columns)
        self.marks = ", ".join("?" * len(self.columns))
        self.definitions = ", ".join(column.sql for column in self.columns)

    def _encode(self, columns: Iterable[Sequence[Any]]) -> list[Iterable[Any]]:
        return [column.encode(values) for column, values in zip(self.columns, columns, strict=True)]

    def _decode(self, rows: Sequence[tuple[Any, ...]]) -> list[Iterable[Any]]:
        columns = zip(*rows, strict=True)
        return [column.decode(values) for column, values in zip(self.columns, columns, strict=True)]


class SessionTable(_Table):
    """``session_fact``: one row per session."""

    def __init__(self) -> None:
        super().__init__(SessionFacts)
        self._get = attrgetter(*(field.name for field in self.fields))
        self.create = f"""CREATE TABLE session_fact (
            number INTEGER PRIMARY KEY, unit INTEGER NOT NULL REFERENCES unit ON DELETE CASCADE,
            position INTEGER NOT NULL, revision INTEGER NOT NULL, {self.definitions},
            UNIQUE (unit, position))"""

    def encode(self, sessions: Sequence[SessionFacts]) -> Iterator[tuple[Any, ...]]:
        """The rows of some sessions."""
        columns = zip(*map(self._flatten, sessions), strict=True)
        return zip(*self._encode(columns), strict=True)

    def _flatten(self, facts: SessionFacts) -> list[Any]:
        """A value for each column."""
        values: list[Any] = []
        for value, field in zip(self._get(facts), self.fields, strict=True):
            if field.record is None:
                values.append(value)
            elif value is None:
                values += [None] * len(field.columns)
            else:
                values += value if isinstance(value, tuple) else astuple(value)
        return values

    def decode(self, rows: Sequence[tuple[Any, ...]]) -> list[dict[str, Any]]:
        """The fields of some sessions from their rows, apart from calls and markers."""
        if not rows:
            return []
        columns = iter(self._decode(rows))
        fields = [
            next(columns)
            if field.record is None
            else _build(field, [next(columns) for _ in field.columns])
            for field in self.fields
        ]
        names = [field.name for field in self.fields]
        return [dict(zip(names, values, strict=True)) for values in zip(*fields, strict=True)]


def _build(field: _Field, columns: list[Iterable[Any]]) -> Iterator[Any]:
    """The records inside a field, from their columns."""
    is_optional = field.columns[0].is_optional
    names = get_type_hints(field.record)
    known: dict[Any, Any] = {}
    for values in zip(*columns, strict=True):
        if is_optional and values[0] is None:
            yield None
            continue
        record = known.get(values)
        if record is None:
            record = known[values] = field.record(**dict(zip(names, values, strict=True)))
        yield record


class CallTable(_Table):
    """``call_fact``: one row per call."""

    def __init__(self) -> None:
        super().__init__(CallFact)
        self.create = f"""CREATE TABLE call_fact (
            session INTEGER NOT NULL, {self.definitions},
            PRIMARY KEY (session, position)) WITHOUT ROWID"""

    def encode(
        self, sessions: Iterable[tuple[int, Sequence[CallFact]]]
    ) -> Iterator[tuple[Any, ...]]:
        """The rows of the calls of sessions, given by their numbers."""
        numbers: list[int] = []
        calls: list[CallFact] = []
        for number, some in sessions:
            numbers += repeat(number, len(some))
            calls += some
        if not calls:
            return iter(())
        return zip(numbers, *self._encode(zip(*calls, strict=True)), strict=True)

    def decode(self, rows: Sequence[tuple[Any, ...]]) -> list[CallFact]:
        """The calls of rows without the number of their session."""
        return list(map(_make_call, zip(*self._decode(rows), strict=True))) if rows else []


_make_call = partial(tuple.__new__, CallFact)
"""From a tuple of all fields; a named tuple's own constructor takes three times as long."""
SESSION = SessionTable()
CALL = CallTable()
OTHER_TABLES = (
    "CREATE TABLE meta (schema TEXT NOT NULL, revision INTEGER NOT NULL)",
    """CREATE TABLE source_set (
        id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, used_at REAL NOT NULL)""",
    """CREATE TABLE source (
        id INTEGER PRIMARY KEY, source_set INTEGER NOT NULL REFERENCES source_set ON DELETE CASCADE,
        path TEXT NOT NULL, position INTEGER NOT NULL, stamp TEXT NOT NULL DEFAULT '',
        measured_at REAL NOT NULL DEFAULT 0, UNIQUE (source_set, path))""",
    """CREATE TABLE unit (
        id INTEGER PRIMARY KEY, source INTEGER NOT NULL REFERENCES source ON DELETE CASCADE,
        reader TEXT NOT NULL, path TEXT NOT NULL, key TEXT NOT NULL, position INTEGER NOT NULL,
        fingerprint TEXT NOT NULL, size TEXT, seen BLOB, UNIQUE (source, reader, path, key))""",
    """CREATE TABLE session_tool (
        session INTEGER NOT NULL, tool TEXT NOT NULL, ok INTEGER NOT NULL, error INTEGER NOT NULL,
        rejected INTEGER NOT NULL, cancelled INTEGER NOT NULL, unanswered INTEGER NOT NULL,
        unknown INTEGER NOT NULL, PRIMARY KEY (session, tool)) WITHOUT ROWID""",
    """CREATE TABLE marker (
        session INTEGER NOT NULL, position INTEGER NOT NULL, kind TEXT NOT NULL,
        value TEXT NOT NULL, uses INTEGER NOT NULL,
        PRIMARY KEY (session, position)) WITHOUT ROWID""",
    """CREATE TABLE skip (
        source INTEGER NOT NULL REFERENCES source ON DELETE CASCADE,
        unit INTEGER REFERENCES unit ON DELETE CASCADE, reason TEXT NOT NULL,
        count INTEGER NOT NULL, path TEXT NOT NULL, line INTEGER)""",
    "CREATE INDEX skip_of_unit ON skip (unit)",
    "CREATE INDEX skip_of_source ON skip (source)",
    """CREATE TABLE summary (
        source_set INTEGER NOT NULL REFERENCES source_set ON DELETE CASCADE,
        version TEXT NOT NULL, chunk INTEGER NOT NULL, stamp BLOB NOT NULL, data BLOB NOT NULL,
        PRIMARY KEY (source_set, version, chunk)) WITHOUT ROWID""",
    # Faster than a foreign key, which would be looked up for every call that is written.
    """CREATE TRIGGER session_deleted AFTER DELETE ON session_fact BEGIN
        DELETE FROM call_fact WHERE session = old.number;
        DELETE FROM session_tool WHERE session = old.number;
        DELETE FROM marker WHERE session = old.number;
    END""",
)
CREATE = (OTHER_TABLES[0], *OTHER_TABLES[1:4], SESSION.create, CALL.create, *OTHER_TABLES[4:])
"""Every statement that makes an empty index, in order."""
