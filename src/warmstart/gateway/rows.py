"""A gateway's messages as rows of the database.

A session's row is made with its first message, from what its entry knows: a conversation in which
nothing was said leaves no row.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from warmstart.gateway.entry import SessionEntry
from warmstart.store import SessionDB
from warmstart.store.sessions import SessionFields

_COLUMNS = frozenset({
    "content", "tool_name", "tool_calls", "tool_call_id", "token_count", "finish_reason",
    "reasoning", "reasoning_content", "reasoning_details", "codex_reasoning_items",
    "codex_message_items", "platform_message_id", "observed", "timestamp",
})  # fmt: skip


def append_row(db: SessionDB, session_id: str, message: Mapping[str, Any]) -> None:
    """One message; one that was there already is not stored again."""
    db.append_message(session_id, **_make_row(message))


def append_first_row(
    db: SessionDB, session_id: str, message: Mapping[str, Any], entry: SessionEntry | None
) -> None:
    """One message and, if there is none yet, its session's row, in one transaction."""
    db.append_to(session_id, [_make_row(message)], _name_source(entry), **_list_fields(entry))


def replace_rows(
    db: SessionDB,
    session_id: str,
    messages: Iterable[Mapping[str, Any]],
    entry: SessionEntry | None,
) -> None:
    """All messages of a session at once, or none of them."""
    rows = [_make_row(message) for message in messages]
    if not rows and db.get_session(session_id) is None:
        return
    db.ensure_session(session_id, _name_source(entry), **_list_fields(entry))
    db.replace_messages(session_id, rows)


def _name_source(entry: SessionEntry | None) -> str:
    return entry.platform.value if entry and entry.platform else "unknown"


def _list_fields(entry: SessionEntry | None) -> SessionFields:
    """What a session's row says about the chat it belongs to."""
    if entry is None or entry.origin is None:
        return {}
    return {
        "user_id": entry.origin.user_id,
        "session_key": entry.session_key,
        "chat_id": entry.origin.chat_id,
        "chat_type": entry.origin.chat_type,
        "thread_id": entry.origin.thread_id,
    }


def _make_row(message: Mapping[str, Any]) -> dict[str, Any]:
    """A role, and every part of the message that the database has a column for."""
    row = {name: value for name, value in message.items() if value is not None and name in _COLUMNS}
    role = message.get("role")
    row["role"] = role if isinstance(role, str) and role else "unknown"
    if role == "tool" and isinstance(message.get("name"), str):
        row.setdefault("tool_name", message["name"])
    return row
