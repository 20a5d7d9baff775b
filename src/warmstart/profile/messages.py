"""Messages as programs hold them in memory: ours, or the dicts of Hermes and OpenAI's chat API.

Everything is checked on the way in: what is no message is left out, tool calls may be a list or
the JSON text of one, a result may stand anywhere after its call.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import orjson

from warmstart.model import Kind, Message, Request, Result, Role, Session
from warmstart.sources.assemble import build_session
from warmstart.sources.fields import (
    as_bool,
    as_dict,
    as_dicts,
    as_id,
    as_text,
    content_text,
    dump,
    parse_arguments,
    parse_time,
)

__all__ = ["session_from_messages"]

ORIGIN = "memory"
_ROLES = {
    "system": Role.SYSTEM,
    "developer": Role.SYSTEM,
    "user": Role.USER,
    "assistant": Role.ASSISTANT,
    "tool": Role.TOOL,
    "function": Role.TOOL,
}


def session_from_messages(
    messages: Iterable[Message | Mapping[str, Any]], session_id: str = ""
) -> Session:
    """A session of messages in either form; ``session_id`` may carry its origin before a colon."""
    origin, colon, native = session_id.partition(":")
    if not colon:
        origin, native = ORIGIN, session_id
    read = [_read(message) for message in messages]
    return build_session(origin, native, [message for message in read if message is not None])


def _read(message: Message | Mapping[str, Any]) -> Message | None:
    if isinstance(message, Message):
        return message
    entry = as_dict(message)
    role = _ROLES.get(as_text(entry.get("role")) or "")
    if role is None:
        return None
    is_result = role is Role.TOOL
    return Message(
        role=role,
        text="" if is_result else content_text(entry.get("content")),
        requests=tuple(_read_requests(entry.get("tool_calls"))) if not is_result else (),
        results=(_read_result(entry),) if is_result else (),
        timestamp=parse_time(entry.get("timestamp")),
        model=as_text(entry.get("model")),
        kind=_read_kind(entry),
    )


def _read_kind(entry: dict[str, Any]) -> Kind:
    """A warm start marks the examples it put in; nothing of them is counted."""
    marked = as_text(entry.get("kind")) == Kind.WARMUP or as_bool(entry.get("warmup"))
    return Kind.WARMUP if marked else Kind.TURN


def _read_requests(value: Any) -> Iterable[Request]:
    if isinstance(value, str):
        try:
            value = orjson.loads(value)
        except orjson.JSONDecodeError:
            return
    for call in as_dicts(value):
        function = as_dict(call.get("function")) or call
        arguments = parse_arguments(function.get("arguments", function.get("input")))
        yield Request(
            tool=as_text(function.get("name")) or "unknown",
            id=as_id(call.get("id") or call.get("call_id")),
            arguments=arguments.data,
            raw=arguments.raw,
        )


def _read_result(entry: dict[str, Any]) -> Result:
    content = entry.get("content")
    return Result(
        text=dump(content) if isinstance(content, dict) else content_text(content),
        call_id=as_id(entry.get("tool_call_id")),
        tool=as_text(entry.get("tool_name")) or as_text(entry.get("name")),
        is_error=as_bool(entry.get("is_error")),
    )
