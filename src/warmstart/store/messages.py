"""The table of messages: appended in order, each exactly once, counted in one transaction.

The order of a session is the order of its row ids. The session's row is updated before the first
insert of a transaction: on PostgreSQL that row is the lock that makes appends to one session take
turns, so ids are handed out in the order of commit. ``message_count`` and ``tool_call_count`` are
those of the active messages.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Any, NamedTuple, Self, Unpack

from warmstart.errors import UsageError
from warmstart.store.backend import Backend, OpenStore, Row, Value, find_one, reject_unknown
from warmstart.store.encoding import (
    INSERT_COLUMNS,
    EncodedMessage,
    MessageFields,
    count_calls,
    decode_message,
)
from warmstart.store.search import catch_up, unindex
from warmstart.store.sessions import (
    UNKNOWN_SOURCE,
    SessionFields,
    encode_session,
    ensure_session,
    insert_session,
)
from warmstart.store.values import check_id

INSERT = (
    f"INSERT INTO messages (session_id, {', '.join(INSERT_COLUMNS)}, content_hash, dedupe_key,"
    f" search_text) VALUES ({', '.join('?' * (len(INSERT_COLUMNS) + 4))})"
    " ON CONFLICT DO NOTHING"
)
COUNT = (
    "UPDATE sessions SET message_count = message_count + ?,"
    " tool_call_count = tool_call_count + ?, last_message_at = ? WHERE id = ?"
)
FIND = "SELECT id FROM messages WHERE session_id = ? AND dedupe_key = ?"
SHOWN = f"id, session_id, {', '.join(INSERT_COLUMNS)}, active, compacted, content_hash"
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
    """What an append of several messages did."""

    appended: int
    duplicates: int
    ids: tuple[RowId, ...]
    """One for each message given, in its order."""


def append_message(
    db: OpenStore,
    session_id: str,
    role: str,
    content: Any = None,
    tool_name: str | None = None,
    tool_calls: Any = None,
    **fields: Unpack[MessageFields],
) -> RowId:
    """Append one message; its row id, or that of the same message stored before."""
    if fields:
        reject_unknown(fields, MessageFields.__optional_keys__, "append_message()")
    message = EncodedMessage({
        **fields, "role": role, "content": content, "tool_name": tool_name,
        "tool_calls": tool_calls,
    })  # fmt: skip
    return append_encoded(db, session_id, [message])[0]


def append_messages(
    db: OpenStore,
    session_id: str,
    messages: Iterable[Mapping[str, Any]],
    source: str = UNKNOWN_SOURCE,
) -> AppendResult:
    """Append all of them in one transaction, or none."""
    ids = append_encoded(db, session_id, [EncodedMessage(one) for one in messages], source)
    duplicates = sum(row_id.is_duplicate for row_id in ids)
    return AppendResult(len(ids) - duplicates, duplicates, tuple(ids))


def replace_messages(
    db: OpenStore,
    session_id: str,
    messages: Iterable[Mapping[str, Any]],
    active_only: bool = False,  # noqa: FBT001, FBT002 - the callers' signature
) -> None:
    """Replace the session's messages in one transaction."""
    encoded = [EncodedMessage(one) for one in messages]
    where = "session_id = ?" + (" AND active = 1" if active_only else "")
    _rewrite(db, session_id, encoded, lambda: _delete(db, session_id, where))


def archive_and_compact(
    db: OpenStore, session_id: str, messages: Iterable[Mapping[str, Any]]
) -> None:
    """Compact in place: the messages stored so far become inactive, these come after them."""
    encoded = [EncodedMessage(one) for one in messages]
    archive = "UPDATE messages SET active = 0, compacted = 1 WHERE session_id = ? AND active = 1"
    _rewrite(db, session_id, encoded, lambda: db.backend.execute(archive, (session_id,)))


def clear_messages(db: OpenStore, session_id: str) -> None:
    """Delete all messages of the session; its row stays."""
    db.backend.write(lambda: _delete(db, session_id, "session_id = ?"))


def rewind_to_message(db: OpenStore, session_id: str, message_id: int) -> int:
    """Make this active message and all after it inactive; their number."""
    return _set_active(db, session_id, message_id, active=False)


def restore_rewound(db: OpenStore, session_id: str, message_id: int) -> int:
    """Undo a rewind from this message on; the number of messages that are active again."""
    return _set_active(db, session_id, message_id, active=True)


def get_messages(
    db: OpenStore,
    session_id: str,
    include_inactive: bool = False,  # noqa: FBT001, FBT002 - the callers' signature
    limit: int | None = None,
    offset: int = 0,
) -> list[Row]:
    """The session's messages in the order of append, tool calls parsed."""
    active = "" if include_inactive else " AND active = 1"
    page = "" if limit is None and not offset else " LIMIT ? OFFSET ?"
    parameters: list[Value] = [session_id, *([_big(limit), offset] if page else [])]
    rows = db.backend.query(
        f"SELECT {SHOWN} FROM messages WHERE session_id = ?{active} ORDER BY id{page}",
        parameters,
    )
    return [decode_message(row) for row in rows]


def message_count(db: OpenStore, session_id: str | None = None) -> int:
    """The number of messages stored, in one session or in all."""
    where, values = ("session_id = ?", [session_id]) if session_id else ("1 = 1", [])
    rows = db.backend.query(f"SELECT count(*) AS n FROM messages WHERE {where}", values)
    return int(rows[0]["n"])


def has_platform_message_id(db: OpenStore, session_id: str, platform_message_id: str) -> bool:
    """Whether a message with the platform's id is stored, active or not."""
    sql = "SELECT id FROM messages WHERE session_id = ? AND platform_message_id = ? LIMIT 1"
    return find_one(db.backend, sql, session_id, str(platform_message_id)) is not None


def append_encoded(
    db: OpenStore, session_id: str, messages: list[EncodedMessage], source: str = UNKNOWN_SOURCE
) -> list[RowId]:
    """Append messages in one transaction; now and then the search index follows."""
    check_id(session_id)
    if not messages:
        return []
    ids = db.backend.write(lambda: insert_messages(db.backend, session_id, messages, source))
    db.unindexed += len(messages)
    if db.unindexed >= APPENDS_PER_INDEXING:
        db.unindexed = 0
        catch_up(db.backend, wait=False)
    return ids


def _rewrite(
    db: OpenStore, session_id: str, messages: list[EncodedMessage], make_room: Callable[[], object]
) -> None:
    def work() -> None:
        insert_session(db.backend, encode_session(session_id, UNKNOWN_SOURCE, {}))
        make_room()
        drop_taken_keys(db.backend, session_id, messages)
        insert_messages(db.backend, session_id, messages)
        recount(db.backend, session_id)

    db.backend.write(work)


def _delete(db: OpenStore, session_id: str, where: str) -> None:
    unindex(db.backend, where, session_id)
    db.backend.execute(f"DELETE FROM messages WHERE {where}", (session_id,))
    recount(db.backend, session_id)


def _set_active(db: OpenStore, session_id: str, message_id: int, *, active: bool) -> int:
    sql = (
        "UPDATE messages SET active = ? WHERE session_id = ? AND id >= ?"
        " AND compacted = 0 AND active <> ?"
    )

    def work() -> int:
        parameters = (int(active), session_id, message_id, int(active))
        changed = db.backend.execute(sql, parameters)
        recount(db.backend, session_id)
        return changed

    return db.backend.write(work)


def append_to(
    db: OpenStore,
    session_id: str,
    messages: Iterable[Mapping[str, Any]],
    source: str,
    *,
    model: str | None = None,
    **fields: Unpack[SessionFields],
) -> AppendResult:
    """Append messages and create their session's row if need be, in one transaction."""
    batch = list(messages)

    def work() -> AppendResult:
        ensure_session(db, session_id, source, model=model, **fields)
        return append_messages(db, session_id, batch)

    return db.backend.write(work)


def insert_messages(
    backend: Backend,
    session_id: str,
    messages: Sequence[EncodedMessage],
    source: str = UNKNOWN_SOURCE,
) -> list[RowId]:
    """Count and insert the messages; duplicates are taken off the count again."""
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
    """Insert the message unless its key is stored; inside the caller's transaction."""
    extra = (message.content_hash, message.dedupe_key, message.search_text)
    row_id = backend.insert(INSERT, (session_id, *message.values, *extra))
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
    """The number of active messages and of their tool calls, counted from the rows."""
    where = "FROM messages WHERE session_id = ? AND active = 1"
    counted = backend.query(f"SELECT count(*) AS n {where}", (session_id,))[0]["n"]
    rows = backend.query(f"SELECT tool_calls {where} AND tool_calls IS NOT NULL", (session_id,))
    return int(counted), sum(count_calls(decode_message(row)["tool_calls"]) for row in rows)


def drop_taken_keys(backend: Backend, session_id: str, messages: list[EncodedMessage]) -> None:
    """Remove keys that are taken, so that a list given as a whole is stored as a whole.

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


class TranscriptWriter:
    """The live transcript of one running agent, and how far it is stored.

    An agent flushes its whole list of messages as often as it likes; only new ones are written. The
    cursor moves when the transaction has committed, and each message has a key of this writer and
    its position, so that even a flush whose answer was lost stores nothing twice. The session's row
    appears with the first message.
    """

    def __init__(
        self,
        db: OpenStore,
        session_id: str,
        source: str = UNKNOWN_SOURCE,
        *,
        model: str | None = None,
        stored: int = 0,
        **fields: Unpack[SessionFields],
    ) -> None:
        self._db = db
        self._source = source
        self._model = model
        self._fields = fields
        self.cursor = stored
        self.reset(session_id, stored=stored)

    def flush(self, messages: Sequence[Mapping[str, Any]]) -> AppendResult:
        """Store what is new since the last flush, all of it or nothing.

        Raises:
            UsageError: the list is shorter than what is stored; call ``reset`` after a compaction.
        """
        if len(messages) < self.cursor:
            raise UsageError(
                f"the transcript of {self.session_id!r} has {len(messages)} messages,"
                f" but {self.cursor} are stored already",
                hint="call reset() with the new session id after a compaction",
            )
        new = [self._with_key(messages[at], at) for at in range(self.cursor, len(messages))]
        if not new:
            return AppendResult(0, 0, ())
        result = append_to(
            self._db, self.session_id, new, self._source, model=self._model, **self._fields
        )
        self.cursor = len(messages)
        return result

    def reset(self, session_id: str, *, stored: int = 0) -> None:
        """Go on in another session, whose first ``stored`` messages are stored already."""
        self.session_id = session_id
        self.cursor = stored
        # A new key too: the same position in a compacted list is another message.
        self._key = uuid.uuid4().hex[:12]

    def _with_key(self, message: Mapping[str, Any], at: int) -> dict[str, Any]:
        return {"sequence": f"{self._key}:{at}", **message}
