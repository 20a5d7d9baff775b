"""What a foreign database may make us do: give out stored rows of ordinary tables, and stop there.

A database is a program as much as a file. A view can be endless, a computed column can be as slow
as its author likes, a virtual table runs a module, and a b-tree whose pages point at each other
has more rows than any disk. So only ordinary tables are read, values have a largest size, and a
query may take a number of steps that grows with the file: what reads every row of it a few times
stays far below, and no slow disk or busy machine ever counts as an attack.
"""

from __future__ import annotations

import marshal
import sqlite3
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from warmstart.errors import SourceError

MAX_VALUE_BYTES = 64 * 1024 * 1024
"""Of a row, as of a line in a file of lines."""
LEAST_VALUE_BYTES = 1024 * 1024
"""What a row may have in any file, however small."""
MAX_SQL_BYTES = 1_000_000
STEPS_AT_LEAST = 5_000_000
"""Steps of SQLite's virtual machine that any query may take: a fraction of a second."""
STEPS_PER_BYTE = 16
"""More steps for each byte of the file. A row has four bytes or more and takes about forty."""
STEPS_BETWEEN_CHECKS = 100_000
BYTES_PER_BYTE = 16
"""What the rows of one query may hold, in bytes for each byte of the file."""
ROWS_BETWEEN_CHECKS = 64
SESSION_TABLES = frozenset(
    {
        "agent_messages", "agent_sessions", "message", "message_structure", "messages", "part",
        "routes", "schema_version", "session", "sessions", "turn_usage",
    }
)  # fmt: skip
"""Tables that readers look for: one of them that cannot be read is why the file cannot be."""
ENDLESS = "a query found no end, so the database is damaged or made to hang readers"
_ACTIONS = frozenset(
    {
        sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION,
        sqlite3.SQLITE_TRANSACTION, sqlite3.SQLITE_PRAGMA,
    }
)  # fmt: skip
"""What our own queries consist of; a recursive one is not among them."""
_PRAGMAS = frozenset({"table_xinfo", "database_list"})
STORED = frozenset({0, 3})
"""``hidden`` of columns whose values are in the file, generated or not."""
_COMPUTED = 2
"""``hidden`` of a generated column that is computed whenever it is read."""


class UnsafeDatabaseError(sqlite3.DatabaseError):
    """The database asks for more than reading stored rows."""


Row = tuple[Any, ...]


class GuardedConnection(sqlite3.Connection):
    """A connection to a database that cannot be trusted; ``select`` is how it is read."""

    path: Path
    """As the user named it, for messages."""
    is_immutable = False
    """It was opened as a file that nobody writes to."""
    is_endless = False
    """A query took all the steps it may take."""
    _steps_left = 0
    _steps_allowed = STEPS_AT_LEAST
    _bytes_allowed = 0
    _columns: dict[str, frozenset[str]]
    _refused: dict[str, str]
    _reason: str | None = None

    def guard(self, size: int) -> None:
        """Begin to watch; ``size`` is that of the file in bytes.

        Raises:
            UnsafeDatabaseError: a table of sessions is not an ordinary table.
        """
        self._steps_allowed = STEPS_AT_LEAST + STEPS_PER_BYTE * size
        self._bytes_allowed = STEPS_AT_LEAST + BYTES_PER_BYTE * size
        self._columns, self._refused = {}, {}
        _set_limits(self, size)
        self.set_progress_handler(self._count_steps, STEPS_BETWEEN_CHECKS)
        self._refused = _find_refused(self)
        self.set_authorizer(self._authorize)
        for name in sorted(SESSION_TABLES & self._refused.keys()):
            raise UnsafeDatabaseError(self._name_kind(name))

    def execute(self, *args: object) -> sqlite3.Cursor:
        """Run a query with a budget of steps of its own."""
        self._steps_left = self._steps_allowed
        return super().execute(*args)  # type: ignore[arg-type]

    def select(self, query: str, *values: object) -> list[Row]:
        """The rows of a query; text that is not UTF-8 comes with its damage marked.

        Raises:
            SourceError: the query failed, was refused, or found no end.
        """
        try:
            if self.is_endless:
                raise UnsafeDatabaseError(ENDLESS)
            try:
                return self._fetch(query, values)
            except (sqlite3.OperationalError, UnicodeDecodeError) as error:
                if self.text_factory is not str or "decode" not in str(error):
                    raise
            self.text_factory = partial(str, encoding="utf-8", errors="replace")
            return self._fetch(query, values)
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise self.explain(error) from error

    def _fetch(self, query: str, values: tuple[object, ...]) -> list[Row]:
        rows: list[Row] = []
        left = self._bytes_allowed
        cursor = self.execute(query, values)
        while some := cursor.fetchmany(ROWS_BETWEEN_CHECKS):
            # No other way to measure values of all kinds takes as little time.
            left -= len(marshal.dumps(some))
            if left < 0:
                self._reason, self.is_endless = ENDLESS, True
                raise UnsafeDatabaseError(ENDLESS)
            rows += some
        return rows

    def columns(self, table: str) -> frozenset[str]:
        """Names of a table's columns that hold stored values; empty when there is no such table."""
        found = self._columns.get(table)
        if found is None:
            found = self._columns[table] = frozenset(
                name for name, hidden in describe_columns(self, table) if hidden in STORED
            )
        return found

    def known_columns(self, table: str, wanted: tuple[str, ...]) -> str:
        """A column list for SELECT in which a column the table does not have reads as NULL."""
        have = self.columns(table)
        return ", ".join(name if name in have else f"NULL AS {name}" for name in wanted)

    def explain(self, error: Exception) -> SourceError:
        """The error to raise for a failed query: what was refused, or SQLite's own words."""
        hint = None
        if "locked" in str(error) or "busy" in str(error):
            hint = "close the program that is using it, or try again"
        why = self._reason or str(error)
        return SourceError(f"cannot read {str(self.path)!r}: {why}", path=self.path, hint=hint)

    def _count_steps(self) -> int:
        self._steps_left -= STEPS_BETWEEN_CHECKS
        if self._steps_left > 0:
            return 0
        self._reason, self.is_endless = ENDLESS, True
        return 1

    def _authorize(
        self, action: int, name: str | None, _: str | None, __: str | None, source: str | None
    ) -> int:
        """Asked about each part of a query; ``source`` is the view or trigger it comes from."""
        table = (name or "").lower()
        if source is not None:
            self._reason = self._name_kind(source)
        elif action == sqlite3.SQLITE_READ and table in self._refused:
            self._reason = self._name_kind(table)
        elif action == sqlite3.SQLITE_PRAGMA and table not in _PRAGMAS:
            self._reason = f"PRAGMA {table} is not allowed"
        elif action not in _ACTIONS:
            self._reason = "a foreign database is readonly"
        else:
            return sqlite3.SQLITE_OK
        return sqlite3.SQLITE_DENY

    def _name_kind(self, name: str) -> str:
        kind = self._refused.get(name.lower(), "view")
        return f"{name!r} is a {kind}; only ordinary tables are read"


def _set_limits(connection: sqlite3.Connection, size: int) -> None:
    # A row that is longer than its file is a trick: its pages follow each other in a circle.
    longest = min(max(size, LEAST_VALUE_BYTES), MAX_VALUE_BYTES)
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, longest)
    connection.setlimit(sqlite3.SQLITE_LIMIT_SQL_LENGTH, MAX_SQL_BYTES)
    connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
    connection.setlimit(sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH, 1)
    for pragma in ("query_only = 1", "trusted_schema = 0", "cell_size_check = 1"):
        connection.execute(f"PRAGMA {pragma}")
    for name, value in (("DEFENSIVE", True), ("ENABLE_VIEW", False), ("ENABLE_TRIGGER", False)):
        option = getattr(sqlite3, f"SQLITE_DBCONFIG_{name}", None)
        if option is not None:  # from Python 3.12 on, and as far as its SQLite knows it
            with suppress(sqlite3.Error):
                connection.setconfig(option, value)  # type: ignore[attr-defined,unused-ignore]


def _find_refused(connection: GuardedConnection) -> dict[str, str]:
    """Names that are not ordinary tables, in lower case, and what they are instead."""
    rows = connection.select(
        "SELECT name, type, sql FROM sqlite_master WHERE type IN ('table', 'view')"
    )
    refused = {}
    for name, kind, sql in rows:
        # SQLite goes by the text alone, and has written its beginning itself.
        text = str(sql).lower()
        if kind == "view" or text.startswith("create view"):
            refused[str(name).lower()] = "view"
        elif not text.startswith("create table"):
            refused[str(name).lower()] = "virtual table"
        elif " as" in text and _has_computed_columns(connection, name):
            refused[str(name).lower()] = "table with computed columns"
    return refused


def _has_computed_columns(connection: GuardedConnection, table: str) -> bool:
    return any(hidden == _COMPUTED for _, hidden in describe_columns(connection, table))


def describe_columns(connection: GuardedConnection, table: str) -> list[tuple[str, int]]:
    """Each column of a table with its ``hidden``."""
    quoted = '"' + table.replace('"', '""') + '"'
    return [(row[1], row[6]) for row in connection.select(f"PRAGMA table_xinfo({quoted})")]
