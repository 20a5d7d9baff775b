"""Sessions out of one store and into another.

An export holds everything a session row and its messages know. Importing is idempotent: a session
that is there is left alone, one that has grown since gets the messages it lacks, one whose
beginning differs is reported and not touched. Each session is one transaction.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal

from warmstart.store.backend import Backend, Row, Value
from warmstart.store.encoding import EncodedMessage, encode_text
from warmstart.store.errors import MessageError
from warmstart.store.messages import Messages, insert_messages, recount
from warmstart.store.part import find_one
from warmstart.store.sessions import (
    COST_FIELDS,
    COUNTED_FIELDS,
    FILLED_FIELDS,
    NOTED_FIELDS,
    UNKNOWN_SOURCE,
    decode_session,
    encode_session,
    insert_session,
)
from warmstart.store.titles import MAX_TITLE_LENGTH, Titles
from warmstart.store.values import check_id

TEXT_COPIED = (*NOTED_FIELDS, "end_reason")
REAL_COPIED = (*COST_FIELDS, "ended_at", "last_message_at")
COPIED_FIELDS = (*TEXT_COPIED, *REAL_COPIED, *COUNTED_FIELDS, "archived")
MAX_NUMBER = 1e15
Fate = Literal["imported", "updated", "skipped", "conflicts"]


class Transfer(Messages):
    """Exporting and importing."""

    def export_session(self, session_id: str) -> Row | None:
        """The session with all its messages, or None."""
        row = find_one(self._backend, "SELECT * FROM sessions WHERE id = ?", session_id)
        if row is None:
            return None
        return {**decode_session(row), "messages": self.get_messages(session_id, True)}  # noqa: FBT003

    def export_all(self, source: str | None = None) -> list[Row]:
        """Every session with its messages, oldest first."""
        return list(self.iterate_exports(source))

    def iterate_exports(self, source: str | None = None) -> Iterator[Row]:
        """Every session with its messages, oldest first, one in memory at a time."""
        where, values = ("source = ?", [source]) if source else ("1 = 1", [])
        sql = f"SELECT id FROM sessions WHERE {where} ORDER BY started_at, id"
        for row in self._backend.query(sql, values):
            exported = self.export_session(row["id"])
            if exported is not None:
                yield exported

    def import_sessions(self, sessions: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
        """Take in exported sessions; counts of what became of them, and what was wrong."""
        report: dict[str, Any] = dict.fromkeys(("imported", "updated", "skipped", "conflicts"), 0)
        report["errors"] = []
        for session in sessions:
            try:
                report[self._import(_checked(session))] += 1
            except MessageError as error:
                report["errors"].append(error.message)
        return report

    def _import(self, session: Mapping[str, Any]) -> Fate:
        session_id = check_id(session.get("id"))
        messages = [_dated(message, session) for message in session.get("messages") or []]
        encoded = [EncodedMessage(message) for message in messages]
        return self._backend.write(
            lambda: _merge(self._backend, session_id, session, list(zip(messages, encoded,
                                                                        strict=True)))
        )  # fmt: skip


def _checked(session: Any) -> Mapping[str, Any]:
    messages = session.get("messages") if isinstance(session, Mapping) else ()
    if not isinstance(messages, list | None) or not isinstance(session, Mapping):
        raise MessageError(f"no session: {session!r:.80}")
    if not all(isinstance(message, Mapping) for message in messages or []):
        raise MessageError(f"session {session.get('id')!r:.80} has messages that are no objects")
    return session


def _dated(message: Mapping[str, Any], session: Mapping[str, Any]) -> dict[str, Any]:
    """The message with a time; a made-up one must be the same at the next import."""
    if message.get("timestamp") is not None:
        return dict(message)
    return {**message, "timestamp": session.get("started_at") or 0.0}


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
) -> Fate:
    stored = [
        row["content_hash"]
        for row in backend.query(
            "SELECT content_hash FROM messages WHERE session_id = ? ORDER BY id", (session_id,)
        )
    ]
    is_new = find_one(backend, "SELECT id FROM sessions WHERE id = ?", session_id) is None
    if [message.content_hash for _, message in messages[: len(stored)]] != stored:
        return "conflicts"
    if not is_new and len(messages) == len(stored):
        return "skipped"
    if is_new:
        _insert_copy(backend, session_id, session)
    _insert_rest(backend, session_id, messages[len(stored) :])
    return "imported" if is_new else "updated"


def _insert_rest(
    backend: Backend, session_id: str, messages: list[tuple[dict[str, Any], EncodedMessage]]
) -> None:
    for message, encoded in messages:
        row_id = insert_messages(backend, session_id, [encoded])[0]
        if not message.get("active", 1):
            backend.execute(
                "UPDATE messages SET active = 0, compacted = ? WHERE id = ?",
                (int(bool(message.get("compacted"))), row_id),
            )
    recount(backend, session_id)


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
    """The title, cut to what a title may be; None where another session has it."""
    clean = Titles.sanitize_title(title[:MAX_TITLE_LENGTH]) if isinstance(title, str) else None
    sql = "SELECT id FROM sessions WHERE title = ?"
    return None if clean and find_one(backend, sql, clean) else clean
