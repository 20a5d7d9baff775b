"""What the parts of ``SessionDB`` share: the backend under them, and small common queries.

Each part is one topic with its own statements. A part may use another part's public methods only
through the functions here or in that part's module, so that each can be read alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from warmstart.store.backend import Backend, Row, Value

Clause = tuple[str, list[Value]]
"""A condition in SQL and its values."""


class Part:
    """One topic of the store's interface."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend


def find_one(backend: Backend, sql: str, *parameters: Value) -> Row | None:
    """The first row, or None."""
    rows = backend.query(sql, parameters)
    return rows[0] if rows else None


def read_meta(backend: Backend, key: str) -> str | None:
    """A value the store keeps about itself."""
    row = find_one(backend, "SELECT value FROM meta WHERE key = ?", key)
    return row["value"] if row else None


def write_meta(backend: Backend, key: str, value: str) -> None:
    """Keep a value about the store itself."""
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
    """All of the conditions; no conditions hold always."""
    sql = " AND ".join(f"({text})" for text, _ in clauses) or "1 = 1"
    return sql, [value for _, values in clauses for value in values]


def reject_unknown(given: Mapping[str, Any], known: frozenset[str], what: str) -> None:
    """Refuse a keyword nobody reads, as a function that names its parameters would."""
    if not given.keys() <= known:
        unknown = sorted(given.keys() - known)
        raise TypeError(f"{what} got an unexpected keyword argument {unknown[0]!r}")
