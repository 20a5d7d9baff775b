"""Rows of Hermes' ``messages`` table to messages of ours.

Rows come in the order of their ids: Hermes' clock may step back, its ids do not. What the flags of
a row say (live, archived, rewound) becomes its fate here; which rows are repeats is for
``_hermes_copies`` to find.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from warmstart.model import Fate, Kind, Message, Request, Result, Role, Status
from warmstart.sources.fields import (
    as_dict,
    as_dicts,
    as_id,
    as_int,
    as_text,
    content_text,
    parse_arguments,
    parse_time,
)
from warmstart.sources.files import is_json, parse_json
from warmstart.sources.log import ReadLog
from warmstart.sources.sqlite import select_known
from warmstart.store import WARMUP_MARK, read_mark

COLUMNS = (
    "id", "role", "content", "tool_call_id", "tool_calls", "tool_name", "timestamp", "reasoning",
    "reasoning_content", "reasoning_details", "observed", "active", "compacted",
    "_compressed_summary", "display_kind", "effect_disposition",
)  # fmt: skip
ROLES = {
    "user": Role.USER,
    "assistant": Role.ASSISTANT,
    "tool": Role.TOOL,
    "function": Role.TOOL,
    "system": Role.SYSTEM,
    "developer": Role.SYSTEM,
}
BOOKKEEPING_ROLES = frozenset({"session_meta"})
"""Rows an older gateway wrote beside the conversation: no message, and nothing lost without it."""

ENCODED_PREFIXES = ("\x00json:", "\x1ejson:")
"""Content that is no plain text is stored as one of these (Hermes', ours) and its JSON."""
SUMMARY_PREFIXES = ("[CONTEXT COMPACTION", "[CONTEXT SUMMARY]:")
MERGED_SUMMARY_MARK = "COMPACTION SUMMARY BELOW]"
MERGED_PREFIX = "[PRIOR CONTEXT"
"""Where roles must alternate, the summary is put into the first message kept instead."""
INJECTED_PREFIXES = (
    "[System: ",
    "[Your active task list was preserved across context compression]",
    "[IMPORTANT: Background process ",
    "[IMPORTANT: MCP servers have been reloaded",
    "[Background process ",
    "[ASYNC DELEGATION ",
    "[Continuing toward ",
)
"""User messages that Hermes writes whole; notes it puts before a user's own words are not here."""


def read_messages(
    connection: sqlite3.Connection, session_id: str, path: Path, log: ReadLog
) -> list[Message]:
    """Every message of a session, archived and rewound ones too, in the order of their ids."""
    columns = select_known(connection, "messages", COLUMNS)
    rows = connection.execute(
        f"SELECT {columns} FROM messages WHERE session_id = ? ORDER BY id", (session_id,)
    )
    return [message for row in rows for message in _read_row(dict(row), path, log)]


def _read_row(row: dict[str, Any], path: Path, log: ReadLog) -> Iterator[Message]:
    role = ROLES.get(as_text(row["role"]) or "")
    if role is None:
        if row["role"] not in BOOKKEEPING_ROLES:
            log.skip("message of an unknown role", path)
        return
    text = decode_content(row["content"])
    if role is Role.TOOL:
        mark = read_mark(row["effect_disposition"])
        if mark.status is Status.UNANSWERED:
            return  # It stands in for a result that never came.
        result = Result(
            text=text,
            call_id=as_id(row["tool_call_id"]),
            tool=as_text(row["tool_name"]),
            is_error=mark.is_error,
            exit_code=mark.exit_code,
            status=mark.status,
        )
        yield _message(row, role, results=(result,))
    elif role is Role.ASSISTANT:
        requests = tuple(_read_requests(row["tool_calls"], path, log))
        yield _message(row, role, text=text, requests=requests, reasoning=_reasoning(row))
    else:
        yield _message(row, role, text=text)


def _message(row: dict[str, Any], role: Role, **fields: Any) -> Message:
    return Message(
        role=role,
        native_id=as_id(row["id"]),
        timestamp=parse_time(row["timestamp"]),
        kind=_kind(row, role, fields.get("text", "")),
        fate=_fate(row),
        **fields,
    )


def decode_content(value: Any) -> str:
    """The text of a content cell, whichever of Hermes' encodings it is in."""
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    if not isinstance(value, str):
        return "" if value is None else str(value)
    if not value.startswith(ENCODED_PREFIXES):
        return value
    encoded = value[len(ENCODED_PREFIXES[0]) :]
    content = parse_json(encoded.encode("utf-8", "replace"))
    return (content_text(content) if is_json(content) else "") or encoded


def _reasoning(row: dict[str, Any]) -> str:
    spoken = as_text(row["reasoning"]) or as_text(row["reasoning_content"])
    if spoken:
        return spoken
    details = parse_json((as_text(row["reasoning_details"]) or "[]").encode("utf-8", "replace"))
    texts = (as_text(item.get("text") or item.get("summary")) for item in as_dicts(details))
    return "\n".join(text for text in texts if text)


def _kind(row: dict[str, Any], role: Role, text: str) -> Kind:
    if row["effect_disposition"] == WARMUP_MARK:
        return Kind.WARMUP
    if role not in (Role.USER, Role.ASSISTANT):
        return Kind.TURN
    if as_int(row["_compressed_summary"]) or is_summary(text):
        return Kind.SUMMARY
    if role is Role.USER and (
        as_int(row["observed"])
        or as_text(row["display_kind"])
        or text.lstrip().startswith(INJECTED_PREFIXES)
    ):
        return Kind.INJECTED
    return Kind.TURN


def is_summary(text: str) -> bool:
    """Whether a compaction wrote this message, or wrote its summary into it."""
    head = text.lstrip()
    if head.startswith(MERGED_PREFIX):
        return MERGED_SUMMARY_MARK in head
    return head.startswith(SUMMARY_PREFIXES)


def _fate(row: dict[str, Any]) -> Fate:
    """Rows without the flags (older schemas) or with NULL in them are live."""
    if as_int(row["active"]) != 0:
        return Fate.LIVE
    return Fate.ARCHIVED if as_int(row["compacted"]) else Fate.REWOUND


def _read_requests(value: Any, path: Path, log: ReadLog) -> Iterator[Request]:
    text = as_text(value)
    if text is None:
        return
    calls = parse_json(text.encode("utf-8", "replace"))
    if not isinstance(calls, list):
        log.skip("tool calls are no JSON list", path)
        return
    for call in as_dicts(calls):
        function = as_dict(call.get("function"))
        arguments = parse_arguments(function.get("arguments", call.get("arguments")))
        yield Request(
            tool=as_text(function.get("name")) or as_text(call.get("name")) or "unknown",
            id=as_id(call.get("id")) or as_id(call.get("call_id")),
            arguments=arguments.data,
            raw=arguments.raw,
        )
