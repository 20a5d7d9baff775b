"""The routing index: which session a chat's messages go to now.

One small row per key, so touching one costs the same however many there are. What an entry holds
is the gateway's business; only its ``session_id`` is read here, to find a key by it.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import orjson

from warmstart.store.part import Part, find_one
from warmstart.store.values import check_id, encode_json

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
"""The same for an entry that still leads to its session: the index of sessions is left alone."""


class Routes(Part):
    """Session keys and the entries they lead to, apart for each scope."""

    def put_route(self, scope: str, session_key: str, entry: Mapping[str, Any]) -> None:
        """Set the entry of a key."""
        values = _row_of(scope, session_key, entry)
        # The message that follows makes it durable too; a touch alone may be lost with the power.
        self._backend.write(lambda: self._backend.execute(PUT, values), durable=False)

    def swap_route(
        self,
        scope: str,
        session_key: str,
        known: Mapping[str, Any] | None,
        entry: Mapping[str, Any],
    ) -> bool:
        """Set the entry of a key that still has the ``known`` one (None: has none); whether it did.

        Of several processes that try at once, exactly one is told that it did.
        """
        row = _row_of(scope, session_key, entry)
        if known is None:
            work = lambda: self._backend.execute(ADD, row)  # noqa: E731
        else:
            work = lambda: self._swap(row, known)  # noqa: E731
        return bool(self._backend.write(work, durable=False))

    def _swap(self, row: _Row, known: Mapping[str, Any]) -> int:
        """How many rows still had the known entry, however its text was written."""
        where = row[:2]
        stays = known.get("session_id") == row[2]
        sql, values = (TOUCH, row[3:]) if stays else (LEAD, row[2:])
        changed = self._backend.execute(sql, (*values, *where, encode_json(dict(known))))
        if changed:
            return changed
        found = find_one(self._backend, GET, *where)
        if found is None or _decode(found["entry"]) != known:
            return 0
        return self._backend.execute(sql, (*values, *where, found["entry"]))

    def get_route(self, scope: str, session_key: str) -> dict[str, Any] | None:
        """The entry of a key, or None."""
        row = find_one(self._backend, GET, scope, session_key)
        return _decode(row["entry"]) if row else None

    def find_route(self, scope: str, session_id: str) -> tuple[str, dict[str, Any]] | None:
        """The key and entry that lead to a session, or None."""
        row = find_one(
            self._backend,
            "SELECT session_key, entry FROM routes WHERE scope = ? AND session_id = ?"
            " ORDER BY updated_at DESC LIMIT 1",
            scope, session_id,
        )  # fmt: skip
        return (row["session_key"], _decode(row["entry"])) if row else None

    def list_routes(self, scope: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """Every key with its entry, in the order of the keys, a page at a time."""
        after = ""
        while rows := self._backend.query(
            "SELECT session_key, entry FROM routes WHERE scope = ? AND session_key > ?"
            " ORDER BY session_key LIMIT ?",
            (scope, after, PAGE),
        ):
            for row in rows:
                yield row["session_key"], _decode(row["entry"])
            after = rows[-1]["session_key"]

    def iterate_routes(self) -> Iterator[tuple[str, str, dict[str, Any]]]:
        """Scope, key and entry of every route there is."""
        for row in self._backend.query("SELECT DISTINCT scope FROM routes ORDER BY scope"):
            for session_key, entry in self.list_routes(row["scope"]):
                yield row["scope"], session_key, entry

    def take_routes(self, routes: Iterable[tuple[str, str, Mapping[str, Any]]]) -> None:
        """Put many routes in one transaction."""

        def work() -> None:
            for scope, session_key, entry in routes:
                self.put_route(scope, session_key, entry)

        self._backend.write(work)

    def delete_route(self, scope: str, session_key: str) -> bool:
        """Forget a key; whether it was there."""
        sql = "DELETE FROM routes WHERE scope = ? AND session_key = ?"
        work = lambda: self._backend.execute(sql, (scope, session_key))  # noqa: E731
        return bool(self._backend.write(work))

    def count_routes(self, scope: str) -> int:
        """How many keys the scope has."""
        rows = self._backend.query("SELECT count(*) AS n FROM routes WHERE scope = ?", (scope,))
        return int(rows[0]["n"])


def _decode(text: str) -> Any:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:  # lone surrogates, which only the slower decoder reads
        return json.loads(text)


def _row_of(scope: str, session_key: str, entry: Mapping[str, Any]) -> _Row:
    session_id = entry.get("session_id")
    return (
        check_id(scope, "scope"),
        check_id(session_key, "session key", MAX_KEY_LENGTH),
        None if session_id is None else check_id(session_id),
        encode_json(dict(entry)),
        time.time(),
    )
