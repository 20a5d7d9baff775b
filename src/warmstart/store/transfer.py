"""Sessions out of one store and into another.

An export holds everything a session row and its messages know. Importing is idempotent: a session
that is there is left alone, one that lacks messages gets them, one that says something else is
reported and not touched. Messages are the same if their role, text and calls are; a time that
is known better by now is corrected. Each session is one transaction.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Literal

from warmstart.store.backend import Backend, OpenStore, Row, Value, find_one
from warmstart.store.encoding import (
    INSERT_COLUMNS,
    EncodedMessage,
    encode_text,
    hash_columns,
    parse_time,
)
from warmstart.store.errors import MessageError
from warmstart.store.messages import get_messages, insert_messages, recount
from warmstart.store.search import unindex
from warmstart.store.sessions import (
    COST_FIELDS,
    COUNTED_FIELDS,
    FILLED_FIELDS,
    MAX_TITLE_LENGTH,
    NOTED_FIELDS,
    UNKNOWN_SOURCE,
    decode_session,
    encode_session,
    insert_session,
    sanitize_title,
)
from warmstart.store.values import check_id

TEXT_COPIED = (*NOTED_FIELDS, "end_reason")
REAL_COPIED = (*COST_FIELDS, "ended_at", "last_message_at")
COPIED_FIELDS = (*TEXT_COPIED, *REAL_COPIED, *COUNTED_FIELDS, "archived")
MAX_NUMBER = 1e15
IDENTITY = ("role", "content", "tool_calls", "tool_call_id")
"""The columns that make two messages the same."""
LATER_KNOWN = ("effect_disposition", "reasoning", "observed")
"""What an import may fill in where a stored message lacks it; nothing that is searched."""
ImportResult = Literal["imported", "updated", "skipped", "conflicts"]


def export_session(db: OpenStore, session_id: str) -> Row | None:
    """The session with all its messages, or None."""
    row = find_one(db.backend, "SELECT * FROM sessions WHERE id = ?", session_id)
    if row is None:
        return None
    return {**decode_session(row), "messages": get_messages(db, session_id, True)}  # noqa: FBT003


def export_all(db: OpenStore, source: str | None = None) -> list[Row]:
    """Every session with its messages, oldest first."""
    return list(iterate_exports(db, source))


def iterate_exports(db: OpenStore, source: str | None = None) -> Iterator[Row]:
    """Every session with its messages, oldest first, one in memory at a time."""
    where, values = ("source = ?", [source]) if source else ("1 = 1", [])
    sql = f"SELECT id FROM sessions WHERE {where} ORDER BY started_at, id"
    for row in db.backend.query(sql, values):
        exported = export_session(db, row["id"])
        if exported is not None:
            yield exported


def import_sessions(db: OpenStore, sessions: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Import exported sessions; the number of each result, and the errors."""
    report: dict[str, Any] = dict.fromkeys(("imported", "updated", "skipped", "conflicts"), 0)
    report["errors"] = []
    for session in sessions:
        try:
            report[_import(db, _checked(session))] += 1
        except MessageError as error:
            report["errors"].append(error.message)
    return report


def _import(db: OpenStore, session: Mapping[str, Any]) -> ImportResult:
    session_id = check_id(session.get("id"))
    messages = _dated(session)
    encoded = [EncodedMessage(message) for message in messages]
    return db.backend.write(
        lambda: _merge(db.backend, session_id, session, list(zip(messages, encoded,
                                                                    strict=True)))
    )  # fmt: skip


def _checked(session: Any) -> Mapping[str, Any]:
    messages = session.get("messages") if isinstance(session, Mapping) else ()
    if not isinstance(messages, list | None) or not isinstance(session, Mapping):
        raise MessageError(f"{session!r:.80} is not a session")
    if not all(isinstance(message, Mapping) for message in messages or []):
        raise MessageError(f"session {session.get('id')!r:.80} has messages that are not objects")
    return session


def _dated(session: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The messages, each with a time; a made-up one is the same at every import."""
    messages = session.get("messages") or []
    times = [_parse_time(message.get("timestamp")) for message in messages]
    start, end = _parse_time(session.get("started_at")), _parse_time(session.get("ended_at"))
    return [
        {**message, "timestamp": moment}
        for message, moment in zip(messages, fill_times(times, start, end), strict=True)
    ]


def _parse_time(value: Any) -> float | None:
    return None if value is None else parse_time(value)


def fill_times(
    times: Sequence[float | None], start: float | None, end: float | None
) -> list[float]:
    """The times with the missing ones spread evenly between their neighbours, never out of order.

    What is missing at an edge is spread up to the session's own start or end; where that is not
    known, or lies on the wrong side, the nearest time is repeated.
    """
    if not times:
        return []
    known = _find_known(times, start, end)
    filled = [known[0][1]]
    for (left, before), (right, after) in pairwise(known):
        # A clock that was set back gives no room to spread anything in.
        step = max(after - before, 0.0) / (right - left)
        filled += [before + step * number for number in range(1, right - left)]
        filled.append(after)
    return filled


def _find_known(
    times: Sequence[float | None], start: float | None, end: float | None
) -> list[tuple[int, float]]:
    """Places and times that are known, with the first and the last place among them."""
    known = [(at, moment) for at, moment in enumerate(times) if moment is not None]
    if not known:
        known = [(0, next((moment for moment in (start, end) if moment is not None), 0.0))]
    (first, earliest), (last, latest) = known[0], known[-1]
    if first > 0:
        known.insert(0, (0, earliest if start is None else min(start, earliest)))
    if last < len(times) - 1:
        known.append((len(times) - 1, latest if end is None else max(end, latest)))
    return known


def _copied_value(name: str, value: Any) -> Value:
    if name in TEXT_COPIED:
        return encode_text(value)
    if isinstance(value, int | float) and abs(value) < MAX_NUMBER:
        return float(value) if name in REAL_COPIED else int(value)
    raise MessageError(f"{name} must be a number, not {value!r:.80}")


def _merge(
    backend: Backend,
    session_id: str,
    session: Mapping[str, Any],
    messages: list[tuple[dict[str, Any], EncodedMessage]],
) -> ImportResult:
    stored = backend.query(
        "SELECT id, active, content_hash FROM messages WHERE session_id = ? ORDER BY id",
        (session_id,),
    )
    is_new = find_one(backend, "SELECT id FROM sessions WHERE id = ?", session_id) is None
    known, rest = messages[: len(stored)], messages[len(stored) :]
    corrected = _correct_times(backend, session_id, stored, known)
    if corrected is None and _fill_gaps(backend, session_id, messages):
        _date_last_message(backend, session_id, session, messages)
        return "updated"
    if corrected is None:
        return "conflicts"
    archived = _archive_known(backend, stored, known)
    if not (is_new or rest or corrected or archived):
        return "skipped"
    # For one that is there already this only fills in what its row does not know.
    _insert_copy(backend, session_id, session)
    _insert_rest(backend, session_id, rest)
    _date_last_message(backend, session_id, session, messages)
    return "imported" if is_new else "updated"


def _correct_times(
    backend: Backend,
    session_id: str,
    stored: list[Row],
    known: list[tuple[dict[str, Any], EncodedMessage]],
) -> int | None:
    """Give stored messages the times and marks of the same ones in an import; their number.

    None if the messages are not the same.
    """
    hashes = [row["content_hash"] for row in stored]
    if [message.content_hash for _, message in known] == hashes:
        return 0
    rows = backend.query(
        f"SELECT id, {', '.join(INSERT_COLUMNS)}, content_hash FROM messages"
        " WHERE session_id = ? ORDER BY id",
        (session_id,),
    )
    given = [dict(zip(INSERT_COLUMNS, message.values, strict=True)) for _, message in known]
    if [_identity(row) for row in rows] != [_identity(row) for row in given]:
        return None
    return sum(_correct(backend, *pair) for pair in zip(rows, given, strict=True))


def _fill_gaps(
    backend: Backend, session_id: str, messages: list[tuple[dict[str, Any], EncodedMessage]]
) -> bool:
    """Write the messages again where the import has all that is stored and more between them.

    So a session of which a damaged file lost a part gets it back from a backup or its source.
    """
    sql = f"SELECT {', '.join(IDENTITY)} FROM messages WHERE session_id = ? ORDER BY id"
    given = (_identity(dict(zip(INSERT_COLUMNS, one.values, strict=True))) for _, one in messages)
    if not all(_identity(row) in given for row in backend.query(sql, (session_id,))):
        return False
    unindex(backend, "session_id = ?", session_id)
    backend.execute("DELETE FROM messages WHERE session_id = ?", (session_id,))
    _insert_rest(backend, session_id, messages)
    return True


def _correct(backend: Backend, row: Row, given: Row) -> int:
    """Give one stored message its better time; 1 where that changed it."""
    better = {name: row[name] or given[name] for name in LATER_KNOWN}
    better["timestamp"] = given["timestamp"]
    content_hash = hash_columns([(row | better)[name] for name in INSERT_COLUMNS])
    if content_hash == row["content_hash"]:
        return 0
    sets = ", ".join(f"{name} = ?" for name in (*better, "content_hash"))
    values = (*better.values(), content_hash, row["id"])
    return backend.execute(f"UPDATE messages SET {sets} WHERE id = ?", values)


def _identity(row: Row) -> list[Value]:
    return [row[name] for name in IDENTITY]


def _archive_known(
    backend: Backend, stored: list[Row], known: list[tuple[dict[str, Any], EncodedMessage]]
) -> int:
    """Archive messages that were compacted away since they were stored; their number."""
    gone = [
        (row["id"], message)
        for row, (message, _) in zip(stored, known, strict=True)
        if row["active"] and not message.get("active", 1)
    ]
    for row_id, message in gone:
        _set_inactive(backend, row_id, message)
    return len(gone)


def _insert_rest(
    backend: Backend, session_id: str, messages: list[tuple[dict[str, Any], EncodedMessage]]
) -> None:
    for message, encoded in messages:
        row_id = insert_messages(backend, session_id, [encoded])[0]
        if not message.get("active", 1):
            _set_inactive(backend, row_id, message)
    recount(backend, session_id)


def _date_last_message(
    backend: Backend,
    session_id: str,
    session: Mapping[str, Any],
    messages: list[tuple[dict[str, Any], EncodedMessage]],
) -> None:
    """Set when the session was last written to, which is not when it was imported."""
    latest = _parse_time(session.get("last_message_at"))
    if latest is None:
        latest = max((message["timestamp"] for message, _ in messages), default=None)
    sql = "UPDATE sessions SET last_message_at = ? WHERE id = ?"
    backend.execute(sql, (latest, session_id))


def _set_inactive(backend: Backend, row_id: int, message: Mapping[str, Any]) -> None:
    backend.execute(
        "UPDATE messages SET active = 0, compacted = ? WHERE id = ?",
        (int(bool(message.get("compacted"))), row_id),
    )


def _insert_copy(backend: Backend, session_id: str, session: Mapping[str, Any]) -> None:
    known = {name: session.get(name) for name in (*FILLED_FIELDS, "started_at")}
    config = known.pop("model_config")
    values = encode_session(session_id, session.get("source") or UNKNOWN_SOURCE, known)
    if config is not None:
        values["model_config"] = encode_text(config)
    for name in COPIED_FIELDS:
        value = session.get(name)
        if value is not None:
            values[name] = _copied_value(name, value)
    title = _free_title(backend, session.get("title"))
    insert_session(backend, {**values, "title": title} if title else values)


def _free_title(backend: Backend, title: Any) -> str | None:
    """The title, cut to its maximal length; None if another session has it."""
    clean = sanitize_title(title[:MAX_TITLE_LENGTH]) if isinstance(title, str) else None
    sql = "SELECT id FROM sessions WHERE title = ?"
    return None if clean and find_one(backend, sql, clean) else clean
