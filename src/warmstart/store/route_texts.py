"""The rows of the routing index: a key, the session it leads to, and an entry as JSON text.

One small row per key, so touching one costs the same however many there are. An entry is compared
and kept as the text it is: whoever has read a row's text can replace it, unless it was changed.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import NamedTuple

from warmstart.store.part import Part, find_one
from warmstart.store.values import check_id

_Row = tuple[str, str, str | None, str, float]
"""Scope, key, session id, entry, time."""
PAGE = 500
MAX_KEY_LENGTH = 512
PUT = """INSERT INTO routes (scope, session_key, session_id, entry, updated_at)
    VALUES (?, ?, ?, ?, ?) ON CONFLICT (scope, session_key) DO UPDATE SET
    session_id = excluded.session_id, entry = excluded.entry, updated_at = excluded.updated_at"""
GET = "SELECT entry FROM routes WHERE scope = ? AND session_key = ?"
ADD = """INSERT INTO routes (scope, session_key, session_id, entry, updated_at)
    VALUES (?, ?, ?, ?, ?) ON CONFLICT (scope, session_key) DO NOTHING"""
LEAD = """UPDATE routes SET session_id = ?, entry = ?, updated_at = ?
    WHERE scope = ? AND session_key = ? AND entry = ?"""
TOUCH = """UPDATE routes SET entry = ?, updated_at = ?
    WHERE scope = ? AND session_key = ? AND entry = ?"""
"""Where the session stays, its index is left alone."""
FIND = """SELECT session_key, entry FROM routes WHERE scope = ? AND session_id = ?
    ORDER BY updated_at DESC LIMIT 1"""
LIST = """SELECT session_key, entry FROM routes WHERE scope = ? AND session_key > ?
    ORDER BY session_key LIMIT ?"""


class RouteText(NamedTuple):
    """An entry as it is kept, and the session it leads to."""

    session_id: str | None
    text: str


class RouteTexts(Part):
    """Session keys and the texts of their entries, apart for each scope."""

    def find_route_text(self, scope: str, session_key: str) -> str | None:
        """The entry of a key, or None."""
        row = find_one(self._backend, GET, scope, session_key)
        return row["entry"] if row else None

    def put_route_text(self, scope: str, session_key: str, entry: RouteText) -> None:
        """Set the entry of a key."""
        values = _make_row(scope, session_key, entry)
        # The message that follows makes it durable too; a touch alone may be lost with the power.
        self._backend.write(lambda: self._backend.execute(PUT, values), durable=False)

    def swap_route_text(
        self, scope: str, session_key: str, known: str | None, entry: RouteText
    ) -> bool:
        """Set the entry of a key that still has the ``known`` one (None: has none); whether it did.

        Of several processes that try at once, exactly one is told that it did.
        """
        row = _make_row(scope, session_key, entry)
        if known is None:
            work = lambda: self._backend.execute(ADD, row)  # noqa: E731
        else:
            values = (*row[2:], scope, session_key, known)
            work = lambda: self._backend.execute(LEAD, values)  # noqa: E731
        return bool(self._backend.write(work, durable=False))

    def touch_route_text(self, scope: str, session_key: str, known: str, text: str) -> bool:
        """The same for an entry that goes on leading to its session."""
        values = (text, time.time(), scope, session_key, known)
        work = lambda: self._backend.execute(TOUCH, values)  # noqa: E731
        return bool(self._backend.write(work, durable=False))

    def find_session_route(self, scope: str, session_id: str) -> tuple[str, str] | None:
        """The key that leads to a session, and its entry, or None."""
        row = find_one(self._backend, FIND, scope, session_id)
        return (row["session_key"], row["entry"]) if row else None

    def list_route_texts(self, scope: str) -> Iterator[tuple[str, str]]:
        """Every key with its entry, in the order of the keys, a page at a time."""
        after = ""
        while rows := self._backend.query(LIST, (scope, after, PAGE)):
            for row in rows:
                yield row["session_key"], row["entry"]
            after = rows[-1]["session_key"]

    def delete_route(self, scope: str, session_key: str) -> bool:
        """Forget a key; whether it was there."""
        sql = "DELETE FROM routes WHERE scope = ? AND session_key = ?"
        work = lambda: self._backend.execute(sql, (scope, session_key))  # noqa: E731
        return bool(self._backend.write(work))

    def count_routes(self, scope: str) -> int:
        """How many keys the scope has."""
        rows = self._backend.query("SELECT count(*) AS n FROM routes WHERE scope = ?", (scope,))
        return int(rows[0]["n"])


def _make_row(scope: str, session_key: str, entry: RouteText) -> _Row:
    session_id = entry.session_id
    return (
        check_id(scope, "scope"),
        check_id(session_key, "session key", MAX_KEY_LENGTH),
        None if session_id is None else check_id(session_id),
        entry.text,
        time.time(),
    )
