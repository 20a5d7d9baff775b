"""Which session each chat leads to now: one row per session key, apart for each scope.

Every change counts the row's ``revision`` up and names the revision it was decided on: it happens
only if the row still has that one. Of several processes that change a row at once exactly one
succeeds, and the others read it again. What ``state`` means is the gateway's business. The store of
an older warmstart that was opened for reading alone is read as it is.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import orjson

from warmstart.store.backend import Backend, Row
from warmstart.store.encoding import encode_text
from warmstart.store.migrations import find_version
from warmstart.store.part import Part, find_one
from warmstart.store.values import check_id

CHATS_SCHEMA = 5
"""The store has this table from this version of its schema on."""
MAX_KEY_LENGTH = 512
"""Characters of a session key; longer ones do not fit into an index of PostgreSQL."""
PAGE = 500
COLUMNS = "session_key, session_id, created_at, updated_at, state, revision"
FIND = f"SELECT {COLUMNS} FROM chats WHERE scope = ? AND session_key = ?"
FIND_SESSION = f"""SELECT {COLUMNS} FROM chats WHERE session_id = ? AND scope = ?
    ORDER BY updated_at DESC LIMIT 1"""
LIST = f"""SELECT {COLUMNS} FROM chats WHERE scope = ? AND session_key > ?
    ORDER BY session_key LIMIT ?"""
ADD = f"""INSERT INTO chats ({COLUMNS}, scope) VALUES (?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (scope, session_key) DO NOTHING"""
CHANGE = """UPDATE chats SET session_id = ?, created_at = ?, updated_at = ?, state = ?,
    revision = revision + 1 WHERE scope = ? AND session_key = ? AND revision = ?"""
TOUCH = """UPDATE chats SET updated_at = ?, revision = revision + 1
    WHERE scope = ? AND session_key = ? AND revision = ?"""
DELETE = "DELETE FROM chats WHERE scope = ? AND session_key = ? AND revision = ?"
REOPEN = "UPDATE sessions SET ended_at = NULL, end_reason = NULL WHERE id = ?"
LOCK = "UPDATE sessions SET archived = archived WHERE id = ?"
END = """UPDATE sessions SET ended_at = ?, end_reason = ? WHERE id = ? AND ended_at IS NULL
    AND NOT EXISTS (SELECT 1 FROM chats WHERE chats.session_id = sessions.id)"""


class Chat(NamedTuple):
    """A row: a session key, the session it leads to, and what else the gateway keeps about it."""

    session_key: str
    session_id: str
    created_at: float
    updated_at: float
    state: str
    """JSON text."""
    revision: int = 0
    """Which version of the row this is; 0 where there is no row yet."""


class Chats(Part):
    """Session keys and the sessions they lead to."""

    def find_chat(self, scope: str, session_key: str) -> Chat | None:
        """The row of a key, or None."""
        if self._is_older:
            rows = (chat for chat in self.list_chats(scope) if chat.session_key == session_key)
            return next(rows, None)
        row = find_one(self._backend, FIND, scope, session_key)
        return None if row is None else _read(row)

    def find_session_chat(self, scope: str, session_id: str) -> Chat | None:
        """The row that leads to a session, the latest active one if there are several, or None."""
        if self._is_older:
            rows = [chat for chat in self.list_chats(scope) if chat.session_id == session_id]
            return max(rows, key=lambda chat: chat.updated_at, default=None)
        row = find_one(self._backend, FIND_SESSION, session_id, scope)
        return None if row is None else _read(row)

    def list_chats(self, scope: str) -> Iterator[Chat]:
        """Every row of a scope in the order of the keys, a page at a time."""
        if self._is_older:
            yield from (chat for one, chat in self.iterate_chats() if one == scope)
            return
        after = ""
        while rows := self._backend.query(LIST, (scope, after, PAGE)):
            yield from map(_read, rows)
            after = rows[-1]["session_key"]

    def count_chats(self, scope: str) -> int:
        """How many keys the scope has."""
        if self._is_older:
            return sum(1 for _ in self.list_chats(scope))
        rows = self._backend.query("SELECT count(*) AS n FROM chats WHERE scope = ?", (scope,))
        return int(rows[0]["n"])

    def put_chat(self, scope: str, chat: Chat, *, reopen: bool = False) -> int:
        """Write a row over the revision it carries; the new revision, 0 if that one is no more.

        With ``reopen`` the session it leads to goes on if it had ended, in the same transaction.
        """

        def work() -> int:
            revision = _write(self._backend, scope, chat)
            if revision and reopen:
                self._backend.execute(REOPEN, (chat.session_id,))
            return revision

        _check(scope, chat)
        # The message that follows makes it durable too; a change alone may be lost with the power.
        return self._backend.write(work, durable=False)

    def touch_chat(self, scope: str, chat: Chat, updated_at: float) -> int:
        """Set only the time of the last activity; the new revision, 0 if ``chat``'s is no more."""
        values = (updated_at, scope, chat.session_key, chat.revision)
        is_done = self._backend.write(lambda: self._backend.execute(TOUCH, values), durable=False)
        return chat.revision + 1 if is_done else 0

    def delete_chat(self, scope: str, chat: Chat) -> bool:
        """Forget a key, unless its row was changed; whether it was there."""
        values = (scope, chat.session_key, chat.revision)
        return bool(self._backend.write(lambda: self._backend.execute(DELETE, values)))

    def end_left_session(self, session_id: str, end_reason: str) -> None:
        """Mark a session as ended unless some chat still leads to it."""
        values = (time.time(), encode_text(end_reason), session_id)

        def work() -> None:
            # A server decides a statement by what it saw at its start: first wait for whoever is
            # leading a chat to this very session, then look.
            self._backend.execute(LOCK, (session_id,))
            self._backend.execute(END, values)

        self._backend.write(work)

    def iterate_chats(self) -> Iterator[tuple[str, Chat]]:
        """Scope and row of every chat there is."""
        if self._is_older:
            from warmstart.store.routes_to_chats import read_routes  # noqa: PLC0415 - seldom

            yield from read_routes(self._backend)
            return
        for row in self._backend.query("SELECT DISTINCT scope FROM chats ORDER BY scope"):
            for chat in self.list_chats(row["scope"]):
                yield row["scope"], chat

    @property
    def _is_older(self) -> bool:
        """Whether this store was opened for reading alone and has no such table yet."""
        return self._backend.options.read_only and find_version(self._backend) < CHATS_SCHEMA

    def take_chats(self, chats: Iterable[tuple[str, Chat]]) -> None:
        """Add many rows, as they are in another store, in one transaction."""

        def work() -> None:
            for scope, chat in chats:
                self._backend.execute(ADD, (*chat, scope))

        self._backend.write(work)


def decode_state(text: str) -> Any:
    """What the JSON text of a row says.

    Raises:
        ValueError: it is not valid JSON.
    """
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:  # lone surrogates, which only the slower decoder reads
        return json.loads(text)


def _write(backend: Backend, scope: str, chat: Chat) -> int:
    if chat.revision:
        values = (*chat[1:5], scope, chat.session_key, chat.revision)
        return chat.revision + 1 if backend.execute(CHANGE, values) else 0
    # From the clock: a key that was forgotten and comes back never repeats a revision.
    first = time.time_ns() // 1000
    return first if backend.execute(ADD, (*chat[:5], first, scope)) else 0


def _check(scope: str, chat: Chat) -> None:
    check_id(scope, "scope")
    check_id(chat.session_key, "session key", MAX_KEY_LENGTH)
    check_id(chat.session_id)


def _read(row: Row) -> Chat:
    return Chat(**row)
