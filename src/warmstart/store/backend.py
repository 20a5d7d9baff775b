"""The seam between the store and a database: five methods, two implementations.

Statements are written once, with ``?`` for values, in the SQL that SQLite and PostgreSQL share.
Every driver error leaves a backend as a ``StoreError``. Rows are plain dicts.

The other modules of this package each hold one table. Their functions whose first parameter is
``db`` are the methods of ``SessionDB``; those that take a ``backend`` run inside a transaction that
the caller has begun.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Literal, Protocol, Self, TypeVar

Row = dict[str, Any]
Value = str | int | float | None
T = TypeVar("T")


class Dialect(StrEnum):
    """Which SQL a backend speaks, for the few places where it matters."""

    SQLITE = "sqlite"
    POSTGRESQL = "postgresql"


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How a store is opened."""

    read_only: bool = False
    deadline_seconds: float = 30.0
    """How long a write waits for other writers, and for a server that is away."""
    durability: Literal["normal", "full"] = "normal"
    """``normal`` survives the death of the process, ``full`` that of the machine."""


class Backend(Protocol):
    """One open database."""

    dialect: Dialect
    location: str
    options: Options

    def query(self, sql: str, parameters: Sequence[Value] = ()) -> list[Row]:
        """Rows of a statement that returns rows."""
        ...

    def execute(self, sql: str, parameters: Sequence[Value] = ()) -> int:
        """Run a statement; the number of rows it changed."""
        ...

    def insert(self, sql: str, parameters: Sequence[Value] = ()) -> int | None:
        """Insert one row into a table with a running ``id``; its id, or None if it exists."""
        ...

    def write(self, work: Callable[[], T], *, wait: bool = True, durable: bool = True) -> T:
        """Run ``work`` in one transaction (the enclosing one, if there is one).

        ``work`` is run again when the transaction is known not to have committed. Without ``wait``
        a store that another process is writing is an error at once. A write that is not ``durable``
        reaches the disk with the next one that is.
        """
        ...

    def close(self) -> None:
        """Close the database; a second call does nothing."""
        ...


class OpenStore:
    """An open database; the base of ``SessionDB`` and ``TemplateDB``."""

    def __init__(self, backend: Backend) -> None:
        self.backend = backend
        self.unindexed = 0
        """Messages appended since the search index was last brought up to date."""

    def change(self, sql: str, parameters: Sequence[Value]) -> int:
        """Run one statement in a transaction; the number of rows it changed."""
        return self.backend.write(lambda: self.backend.execute(sql, parameters))

    def close(self) -> None:
        """Close the database; a second call does nothing."""
        self.backend.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()


Clause = tuple[str, list[Value]]
"""A condition in SQL and its values."""


def find_one(backend: Backend, sql: str, *parameters: Value) -> Row | None:
    """The first row, or None."""
    rows = backend.query(sql, parameters)
    return rows[0] if rows else None


def read_meta(backend: Backend, key: str) -> str | None:
    """A value that the store keeps about itself, or None."""
    row = find_one(backend, "SELECT value FROM meta WHERE key = ?", key)
    return row["value"] if row else None


def write_meta(backend: Backend, key: str, value: str) -> None:
    """Store a value about the store itself."""
    backend.execute(
        "INSERT INTO meta (key, value) VALUES (?, ?)"
        " ON CONFLICT (key) DO UPDATE SET value = excluded.value",
        (key, value),
    )


def escape_like(text: str) -> str:
    """The text as a LIKE pattern that matches only itself."""
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


def one_of(column: str, values: list[str], *, negated: bool = False) -> Clause:
    """The column is (not) one of the values."""
    marks = ", ".join("?" * len(values))
    return f"{column} {'NOT IN' if negated else 'IN'} ({marks})", list(values)


def join_clauses(clauses: list[Clause]) -> Clause:
    """All of the conditions; an empty list is always true."""
    sql = " AND ".join(f"({text})" for text, _ in clauses) or "1 = 1"
    return sql, [value for _, values in clauses for value in values]


def reject_unknown(given: Mapping[str, Any], known: frozenset[str], what: str) -> None:
    """Refuse an unknown keyword, as a function that names its parameters would."""
    if not given.keys() <= known:
        unknown = sorted(given.keys() - known)
        raise TypeError(f"{what} got an unexpected keyword argument {unknown[0]!r}")
