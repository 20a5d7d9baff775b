"""The seam between the store and a database: five methods, two implementations.

Statements are written once, with ``?`` for values, in the SQL that SQLite and PostgreSQL share.
Whatever a driver raises leaves a backend as a ``StoreError``. Rows are plain dicts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Literal, Protocol, TypeVar

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
    """How long a write may wait for other writers, and a lost server be waited for."""
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
        """Run a statement; how many rows it changed."""
        ...

    def insert(self, sql: str, parameters: Sequence[Value] = ()) -> int | None:
        """Insert one row into a table with a running ``id``; the id, None if it was there."""
        ...

    def write(self, work: Callable[[], T], *, wait: bool = True, durable: bool = True) -> T:
        """Run ``work`` in one transaction (the enclosing one, if there is one).

        ``work`` may be run again when the transaction is known not to have happened. Without
        ``wait`` a store that is being written by someone else is an error at once. What need not
        be ``durable`` by itself reaches the disk with the next write that is.
        """
        ...

    def close(self) -> None:
        """Let go of the database; closing twice is nothing."""
        ...
