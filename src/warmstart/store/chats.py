"""The table of chats: which session each session key leads to now, separate for each scope.

Every change raises the row's ``revision`` and names the revision it was decided on: it happens only
if the row still has that one. Of several processes that change a row at once exactly one succeeds,
and the others read it again. The gateway defines what ``state`` means. An older store that was
opened for reading alone is read as it is.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import orjson

from warmstart.store.backend import Backend, OpenStore, Row, find_one
from warmstart.store.encoding import encode_text
from warmstart.store.migrations import CHATS_VERSION, find_version, read_routes
from warmstart.store.values import check_id

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
    """One chat: its session key, the session that leads to, and the gateway's own state."""

    session_key: str
    session_id: str
    created_at: float
    updated_at: float
    state: str
    """JSON text."""
    revision: int = 0
    """The version of the row; 0 if there is no row yet."""


def find_chat(db: OpenStore, scope: str, session_key: str) -> Chat | None:
    """The row of a key, or None."""
    if _is_older(db):
        rows = (chat for chat in list_chats(db, scope) if chat.session_key == session_key)
        return next(rows, None)
    row = find_one(db.backend, FIND, scope, session_key)
    return None if row is None else _read(row)


def find_session_chat(db: OpenStore, scope: str, session_id: str) -> Chat | None:
    """The row that leads to a session, the latest active one if there are several, or None."""
    if _is_older(db):
        rows = [chat for chat in list_chats(db, scope) if chat.session_id == session_id]
        return max(rows, key=lambda chat: chat.updated_at, default=None)
    row = find_one(db.backend, FIND_SESSION, session_id, scope)
    return None if row is None else _read(row)


def list_chats(db: OpenStore, scope: str) -> Iterator[Chat]:
    """Every row of a scope in the order of the keys, a page at a time."""
    if _is_older(db):
        yield from (chat for one, chat in iterate_chats(db) if one == scope)
        return
    after = ""
    while rows := db.backend.query(LIST, (scope, after, PAGE)):
        yield from map(_read, rows)
        after = rows[-1]["session_key"]


def count_chats(db: OpenStore, scope: str) -> int:
    """The number of keys in the scope."""
    if _is_older(db):
        return sum(1 for _ in list_chats(db, scope))
    rows = db.backend.query("SELECT count(*) AS n FROM chats WHERE scope = ?", (scope,))
    return int(rows[0]["n"])


def put_chat(db: OpenStore, scope: str, chat: Chat, *, reopen: bool = False) -> int:
    """Write a row over the revision it carries; the new revision, or 0 if it has changed since.

    With ``reopen`` the session it leads to goes on if it had ended, in the same transaction.
    """

    def work() -> int:
        revision = _write(db.backend, scope, chat)
        if revision and reopen:
            db.backend.execute(REOPEN, (chat.session_id,))
        return revision

    _check(scope, chat)
    # The message that follows makes it durable too; a change alone may be lost with the power.
    return db.backend.write(work, durable=False)


def touch_chat(db: OpenStore, scope: str, chat: Chat, updated_at: float) -> int:
    """Set only the time of the last activity; the new revision, or 0 if the row has changed."""
    values = (updated_at, scope, chat.session_key, chat.revision)
    is_done = db.backend.write(lambda: db.backend.execute(TOUCH, values), durable=False)
    return chat.revision + 1 if is_done else 0


def delete_chat(db: OpenStore, scope: str, chat: Chat) -> bool:
    """Delete a row unless it was changed; True if it was deleted."""
    values = (scope, chat.session_key, chat.revision)
    return bool(db.change(DELETE, values))


def end_left_session(db: OpenStore, session_id: str, end_reason: str) -> None:
    """Mark a session as ended unless some chat still leads to it."""
    values = (time.time(), encode_text(end_reason), session_id)

    def work() -> None:
        # A server decides a statement by what it saw at its start: wait for a writer that leads a
        # chat to this session, then look.
        db.backend.execute(LOCK, (session_id,))
        db.backend.execute(END, values)

    db.backend.write(work)


def iterate_chats(db: OpenStore) -> Iterator[tuple[str, Chat]]:
    """Scope and row of every chat."""
    if _is_older(db):
        for scope, row in read_routes(db.backend):
            yield scope, _read(row)
        return
    for row in db.backend.query("SELECT DISTINCT scope FROM chats ORDER BY scope"):
        for chat in list_chats(db, row["scope"]):
            yield row["scope"], chat


def take_chats(db: OpenStore, chats: Iterable[tuple[str, Chat]]) -> None:
    """Add many rows, as they are in another store, in one transaction."""

    def work() -> None:
        for scope, chat in chats:
            db.backend.execute(ADD, (*chat, scope))

    db.backend.write(work)


def decode_state(text: str) -> Any:
    """The value of a row's JSON text.

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
    # From the clock: a key that was deleted and comes back never repeats a revision.
    first = time.time_ns() // 1000
    return first if backend.execute(ADD, (*chat[:5], first, scope)) else 0


def _check(scope: str, chat: Chat) -> None:
    check_id(scope, "scope")
    check_id(chat.session_key, "session key", MAX_KEY_LENGTH)
    check_id(chat.session_id)


def _read(row: Row) -> Chat:
    return Chat(**row)


def _is_older(db: OpenStore) -> bool:
    """Whether the store was opened for reading alone and does not have the table yet."""
    return db.backend.options.read_only and find_version(db.backend) < CHATS_VERSION
