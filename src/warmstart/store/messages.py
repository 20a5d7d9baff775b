"""Messages: appended in order, each exactly once, counted in the same transaction.

The order of a session is the order of its row ids. The session's row is updated before the first
insert of a transaction: on PostgreSQL that row is the lock that makes appends to one session take
turns, so ids are handed out in the order of commit. ``message_count`` and ``tool_call_count`` are
those of the active messages.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Any, NamedTuple, Self, Unpack

from warmstart.store.backend import Backend, Row, Value
from warmstart.store.encoding import (
    BORN_COLUMNS,
    EncodedMessage,
    MessageFields,
    count_calls,
    decode_message,
)
from warmstart.store.part import Part, find_one, reject_unknown
from warmstart.store.search import catch_up, unindex
from warmstart.store.sessions import UNKNOWN_SOURCE, encode_session, insert_session
from warmstart.store.values import check_id

INSERT = (
    f"INSERT INTO messages (session_id, {', '.join(BORN_COLUMNS)}, content_hash, dedupe_key,"
    f" search_text) VALUES ({', '.join('?' * (len(BORN_COLUMNS) + 4))})"
    " ON CONFLICT DO NOTHING"
)
COUNT = (
    "UPDATE sessions SET message_count = message_count + ?,"
    " tool_call_count = tool_call_count + ?, last_message_at = ? WHERE id = ?"
)
FIND = "SELECT id FROM messages WHERE session_id = ? AND dedupe_key = ?"
SHOWN = f"id, session_id, {', '.join(BORN_COLUMNS)}, active, compacted, content_hash"
APPENDS_PER_INDEXING = 1024
_read_call_count = attrgetter("tool_call_count")
_read_is_duplicate = attrgetter("is_duplicate")


class RowId(int):
    """The row id of an append; ``is_duplicate`` says that the message was there already."""

    is_duplicate: bool = False

    @classmethod
    def of_duplicate(cls, number: int) -> Self:
        """The id of the row that holds the message since its first append."""
        row_id = cls(number)
        row_id.is_duplicate = True
        return row_id


class AppendResult(NamedTuple):
    """What became of a batch."""

    appended: int
    duplicates: int
    ids: tuple[RowId, ...]
    """One for each message given, in its order."""


class Messages(Part):
    """Writing and reading the messages of sessions."""

    def __init__(self, backend: Backend) -> None:
        super().__init__(backend)
        self._appends = 0

    def append_message(
        self,
        session_id: str,
        role: str,
        content: Any = None,
        tool_name: str | None = None,
        tool_calls: Any = None,
        tool_call_id: str | None = None,
        **fields: Unpack[MessageFields],
    ) -> RowId:
        """Append one message; its row id, or that of the same message stored before."""
        if fields:
            reject_unknown(fields, MessageFields.__optional_keys__, "append_message()")
        message = EncodedMessage({
            **fields, "role": role, "content": content, "tool_name": tool_name,
            "tool_calls": tool_calls, "tool_call_id": tool_call_id,
        })  # fmt: skip
        return self._append(session_id, [message])[0]

    def append_messages(
        self, session_id: str, messages: Iterable[Mapping[str, Any]], source: str = UNKNOWN_SOURCE
    ) -> AppendResult:
        """Append all of them in one transaction, or none."""
        ids = self._append(session_id, [EncodedMessage(one) for one in messages], source)
        duplicates = sum(row_id.is_duplicate for row_id in ids)
        return AppendResult(len(ids) - duplicates, duplicates, tuple(ids))

    def replace_messages(
        self,
        session_id: str,
        messages: Iterable[Mapping[str, Any]],
        active_only: bool = False,  # noqa: FBT001, FBT002 - the callers' signature
    ) -> None:
        """Put these in place of the session's messages, at once and completely."""
        encoded = [EncodedMessage(one) for one in messages]
        where = "session_id = ?" + (" AND active = 1" if active_only else "")
        self._rewrite(session_id, encoded, lambda: self._delete(session_id, where))

    def archive_and_compact(self, session_id: str, messages: Iterable[Mapping[str, Any]]) -> None:
        """Compact in place: what was there is kept but inactive, these come after it."""
        encoded = [EncodedMessage(one) for one in messages]
        archive = (
            "UPDATE messages SET active = 0, compacted = 1 WHERE session_id = ? AND active = 1"
        )
        self._rewrite(session_id, encoded, lambda: self._backend.execute(archive, (session_id,)))

    def clear_messages(self, session_id: str) -> None:
        """Delete all messages of the session; its row stays."""
        self._backend.write(lambda: self._delete(session_id, "session_id = ?"))

    def rewind_to_message(self, session_id: str, message_id: int) -> int:
        """Take back this active message and all after it; how many."""
        return self._set_active(session_id, message_id, active=False)

    def restore_rewound(self, session_id: str, message_id: int) -> int:
        """Undo a rewind from this message on; how many came back."""
        return self._set_active(session_id, message_id, active=True)

    def get_messages(
        self,
        session_id: str,
        include_inactive: bool = False,  # noqa: FBT001, FBT002 - the callers' signature
        limit: int | None = None,
        offset: int = 0,
    ) -> list[Row]:
        """The session's messages in the order of append, tool calls parsed."""
        active = "" if include_inactive else " AND active = 1"
        page = "" if limit is None and not offset else " LIMIT ? OFFSET ?"
        parameters: list[Value] = [session_id, *([_big(limit), offset] if page else [])]
        rows = self._backend.query(
            f"SELECT {SHOWN} FROM messages WHERE session_id = ?{active} ORDER BY id{page}",
            parameters,
        )
        return [decode_message(row) for row in rows]

    def message_count(self, session_id: str | None = None) -> int:
        """How many messages are stored, in one session or in all."""
        where, values = ("session_id = ?", [session_id]) if session_id else ("1 = 1", [])
        rows = self._backend.query(f"SELECT count(*) AS n FROM messages WHERE {where}", values)
        return int(rows[0]["n"])

    def has_platform_message_id(self, session_id: str, platform_message_id: str) -> bool:
        """Whether a message with the platform's id is stored, in whatever state."""
        sql = "SELECT id FROM messages WHERE session_id = ? AND platform_message_id = ? LIMIT 1"
        return find_one(self._backend, sql, session_id, str(platform_message_id)) is not None

    def _append(
        self, session_id: str, messages: list[EncodedMessage], source: str = UNKNOWN_SOURCE
    ) -> list[RowId]:
        check_id(session_id)
        if not messages:
            return []
        ids = self._backend.write(
            lambda: insert_messages(self._backend, session_id, messages, source)
        )
        self._appends += len(messages)
        if self._appends >= APPENDS_PER_INDEXING:
            self._appends = 0
            catch_up(self._backend, wait=False)
        return ids

    def _rewrite(
        self, session_id: str, messages: list[EncodedMessage], make_room: Callable[[], object]
    ) -> None:
        def work() -> None:
            insert_session(self._backend, encode_session(session_id, UNKNOWN_SOURCE, {}))
            make_room()
            drop_taken_keys(self._backend, session_id, messages)
            insert_messages(self._backend, session_id, messages)
            recount(self._backend, session_id)

        self._backend.write(work)

    def _delete(self, session_id: str, where: str) -> None:
        unindex(self._backend, where, session_id)
        self._backend.execute(f"DELETE FROM messages WHERE {where}", (session_id,))
        recount(self._backend, session_id)

    def _set_active(self, session_id: str, message_id: int, *, active: bool) -> int:
        sql = (
            "UPDATE messages SET active = ? WHERE session_id = ? AND id >= ?"
            " AND compacted = 0 AND active <> ?"
        )

        def work() -> int:
            parameters = (int(active), session_id, message_id, int(active))
            changed = self._backend.execute(sql, parameters)
            recount(self._backend, session_id)
            return changed

        return self._backend.write(work)


def insert_messages(
    backend: Backend,
    session_id: str,
    messages: Sequence[EncodedMessage],
    source: str = UNKNOWN_SOURCE,
) -> list[RowId]:
    """Count, then insert; what was there already is taken off the count again."""
    calls = sum(map(_read_call_count, messages))
    now = time.time()
    counted = (len(messages), calls, now, session_id)
    if not backend.execute(COUNT, counted):
        insert_session(backend, encode_session(session_id, source, {"started_at": now}))
        backend.execute(COUNT, counted)
    ids = [insert_message(backend, session_id, message) for message in messages]
    if any(map(_read_is_duplicate, ids)):
        repeated = [one for one, row in zip(messages, ids, strict=True) if row.is_duplicate]
        again = sum(map(_read_call_count, repeated))
        backend.execute(COUNT, (-len(repeated), -again, now, session_id))
    return ids


def insert_message(backend: Backend, session_id: str, message: EncodedMessage) -> RowId:
    """Insert unless its key is there; inside the caller's transaction."""
    extra = (message.content_hash, message.dedupe_key, message.search_text)
    row_id = backend.insert(INSERT, (session_id, *message.born, *extra))
    if row_id is not None:
        return RowId(row_id)
    return RowId.of_duplicate(backend.query(FIND, (session_id, message.dedupe_key))[0]["id"])


def recount(backend: Backend, session_id: str) -> None:
    """Set the counters from the messages; inside the caller's transaction."""
    messages, calls = count_messages(backend, session_id)
    backend.execute(
        "UPDATE sessions SET message_count = ?, tool_call_count = ? WHERE id = ?",
        (messages, calls, session_id),
    )


def count_messages(backend: Backend, session_id: str) -> tuple[int, int]:
    """How many active messages and tool calls the session really has."""
    where = "FROM messages WHERE session_id = ? AND active = 1"
    counted = backend.query(f"SELECT count(*) AS n {where}", (session_id,))[0]["n"]
    rows = backend.query(f"SELECT tool_calls {where} AND tool_calls IS NOT NULL", (session_id,))
    return int(counted), sum(count_calls(decode_message(row)["tool_calls"]) for row in rows)


def drop_taken_keys(backend: Backend, session_id: str, messages: list[EncodedMessage]) -> None:
    """A list given as a whole is stored as a whole, even if some of it bears a key twice.

    The key stays with the row that has it, archived or not: a late redelivery must find it.
    """
    sql = "SELECT dedupe_key FROM messages WHERE session_id = ? AND dedupe_key IS NOT NULL"
    taken = {row["dedupe_key"] for row in backend.query(sql, (session_id,))}
    for message in messages:
        if message.dedupe_key in taken:
            message.dedupe_key = None
        else:
            taken.add(message.dedupe_key)


def _big(limit: int | None) -> int:
    return (1 << 62) if limit is None else limit
