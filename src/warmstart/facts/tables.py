"""The tables of ``facts.db``, each defined once; statements and conversions are derived from that.

What a session and a call keep is defined by the records ``SessionFacts`` and ``CallFact``: every
field is a column, the fields of a record inside them are columns with its name before theirs
(``tokens_input``), and a tuple of numbers is a JSON list. The remaining tables are written out in
``OTHER_TABLES``. Enumerations are stored as their text, so that any SQLite tool can read a row.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import StrEnum
from functools import partial
from itertools import repeat
from operator import attrgetter
from types import NoneType
from typing import Any, NamedTuple, get_args, get_type_hints

from warmstart.model.facts import CallFact, SessionFacts

__all__ = ["CALL", "CREATE", "SESSION", "CallTable", "SessionTable", "clean"]

MAX_INTEGER = 2**63 - 1
UNMASKED = frozenset({"id", "origin", "path", "parent_id", "evidence"})
"""Texts that are kept as they are: what sessions are found by, and names of the judge's rules."""
IN_OTHER_TABLES = frozenset({"calls", "markers"})
_SQL_TYPES = {int: "INTEGER", bool: "INTEGER", float: "REAL", str: "TEXT", tuple: "TEXT"}
Convert = Callable[[Any], Any]


class Column(NamedTuple):
    """One column, and the field it comes from."""

    name: str
    field: str
    """Path to the value: ``tokens.input``."""
    kind: type
    is_optional: bool
    doc: str = ""

    @property
    def sql(self) -> str:
        """Its part of the table's definition."""
        kind = str if issubclass(self.kind, StrEnum) else self.kind
        return f"{self.name} {_SQL_TYPES[kind]}{'' if self.is_optional else ' NOT NULL'}"

    @property
    def is_masked(self) -> bool:
        """Whether it holds words of a transcript, which may hold a secret."""
        return self.kind is str and self.name not in UNMASKED

    @property
    def encode(self) -> Convert | None:
        """From a field's value to what is stored; None where both are the same."""
        if issubclass(self.kind, StrEnum):
            texts: dict[Any, str | None] = {member: str(member.value) for member in self.kind}
            return {**texts, None: None}.__getitem__
        return _ENCODERS.get(self.kind)

    @property
    def decode(self) -> Convert | None:
        """From what is stored to a field's value; None where both are the same."""
        if issubclass(self.kind, StrEnum):
            members: dict[Any, Any] = {str(member.value): member for member in self.kind}
            return {**members, None: None}.__getitem__
        return _DECODERS.get(self.kind)


def clean(text: str | None) -> str | None:
    """Text that can be stored: half characters, which a file name may hold, are replaced."""
    if text is None or text.isascii():
        return text
    return text.encode("utf-8", "replace").decode("utf-8")


def _fit(number: int | None) -> int | None:
    """A number that SQLite can hold."""
    if number is None or -MAX_INTEGER <= number <= MAX_INTEGER:
        return number
    return MAX_INTEGER if number > 0 else -MAX_INTEGER


def _dump(numbers: Iterable[int]) -> str:
    return json.dumps(list(numbers))


def _load(text: str) -> tuple[int, ...]:
    return tuple(json.loads(text))


_ENCODERS: dict[type, Convert] = {int: _fit, bool: int, str: clean, tuple: _dump}
_DECODERS: dict[type, Convert] = {bool: bool, tuple: _load}


class _Field(NamedTuple):
    """A field of a record: its columns, and the record inside it where there is one."""

    name: str
    columns: tuple[Column, ...]
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
            yield _Field(name, (Column(name, name, kind, is_optional),))
            continue
        inner = [column for field in _list_fields(kind) for column in field.columns]
        columns = [
            Column(f"{name}_{one.name}", f"{name}.{one.field}", one.kind, is_optional)
            for one in inner
        ]
        yield _Field(name, tuple(columns), kind)


class SessionTable:
    """``session_fact``: one row per session."""

    def __init__(self) -> None:
        self.fields = tuple(_list_fields(SessionFacts))
        self.columns = [column for field in self.fields for column in field.columns]
        self.masked = [column.name for column in self.columns if column.is_masked]
        """Fields that hold words of the transcript."""
        self._encode = [(_get(one.field), one.encode) for one in self.columns]
        self._decode = [
            (field.name, len(field.columns), self._make_builder(field)) for field in self.fields
        ]
        self._has_builder = any(build for _, _, build in self._decode)

    @property
    def names(self) -> list[str]:
        """The columns, without the row's number and where it came from."""
        return [column.name for column in self.columns]

    @property
    def create(self) -> str:
        """Its definition."""
        return f"""CREATE TABLE session_fact (
            number INTEGER PRIMARY KEY, unit INTEGER NOT NULL REFERENCES unit ON DELETE CASCADE,
            position INTEGER NOT NULL, revision INTEGER NOT NULL,
            {", ".join(column.sql for column in self.columns)}, UNIQUE (unit, position))"""

    def encode(self, facts: SessionFacts) -> list[Any]:
        """The row of a session."""
        return [
            get(facts) if convert is None else convert(get(facts)) for get, convert in self._encode
        ]

    def decode(self, row: Sequence[Any]) -> dict[str, Any]:
        """The fields of a session from its row."""
        values: dict[str, Any] = {}
        at = 0
        for name, width, build in self._decode:
            value = row[at] if width == 1 else row[at : at + width]
            values[name] = value if build is None else build(value)
            at += width
        return values

    @staticmethod
    def _make_builder(field: _Field) -> Convert | None:
        if field.record is None:
            return field.columns[0].decode
        names = [column.field.partition(".")[2] for column in field.columns]
        decoders = [column.decode for column in field.columns]
        is_optional = field.columns[0].is_optional

        def build(values: Sequence[Any]) -> Any:
            if is_optional and values[0] is None:
                return None
            pairs = zip(names, decoders, values, strict=True)
            return field.record(
                **{
                    name: value if decode is None else decode(value)
                    for name, decode, value in pairs
                }
            )

        return build


def _get(path: str) -> Convert:
    """What reads a field, also of a record that may be None."""
    get = attrgetter(path)
    if "." not in path:
        return get
    outer = attrgetter(path.partition(".")[0])
    return lambda facts: None if outer(facts) is None else get(facts)


class CallTable:
    """``call_fact``: one row per call. Converted column by column, which takes a third as long."""

    def __init__(self) -> None:
        self.columns = [column for field in _list_fields(CallFact) for column in field.columns]
        self.masked = [place for place, column in enumerate(self.columns) if column.is_masked]
        """Places of the fields that hold words of the transcript."""
        self._encode = [None if one.kind is int and not one.is_optional else one.encode
                        for one in self.columns]  # fmt: skip
        self._decode = [column.decode for column in self.columns]
        self.insert = f"INSERT INTO call_fact VALUES (?{', ?' * len(self.columns)})"

    @property
    def create(self) -> str:
        """Its definition."""
        return f"""CREATE TABLE call_fact (
            session INTEGER NOT NULL, {", ".join(column.sql for column in self.columns)},
            PRIMARY KEY (session, position)) WITHOUT ROWID"""

    def encode(self, session: int, calls: Sequence[CallFact]) -> Iterator[tuple[Any, ...]]:
        """The rows of a session's calls."""
        pairs = zip(self._encode, zip(*calls, strict=True), strict=False)
        columns = [column if convert is None else map(convert, column) for convert, column in pairs]
        return zip(repeat(session), *columns, strict=False)

    def decode(self, rows: Sequence[tuple[Any, ...]]) -> list[CallFact]:
        """The calls of rows without the number of their session."""
        pairs = zip(self._decode, zip(*rows, strict=True), strict=False)
        columns = [column if convert is None else map(convert, column) for convert, column in pairs]
        return list(map(_make_call, zip(*columns, strict=True)))


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
