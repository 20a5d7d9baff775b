"""Messages as programs hold them in memory: ours, or the dicts of Hermes, OpenAI and Anthropic.

Everything is checked on the way in: what is no message is left out, tool calls may be a list or
the JSON text of one, a result may stand anywhere after its call. Blocks of Anthropic's Messages
API give what its reader makes of the same messages in a file; a test holds both to it. The objects
that clients of these APIs return count as the dicts they dump themselves to.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import orjson
from msgspec.structs import replace

from warmstart.errors import UsageError
from warmstart.model import Kind, Message, Request, Result, Role, Session
from warmstart.sources import (
    USAGE_NAMES,
    as_bool,
    as_dict,
    as_dicts,
    as_id,
    as_list,
    as_text,
    build_session,
    content_text,
    dump,
    is_result,
    is_use,
    parse_arguments,
    parse_time,
    parse_tokens,
    read_result,
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
    """A session of messages in any of the forms; the id may carry its origin before a colon.

    Raises:
        UsageError: ``messages`` is a text or a single object instead of a list of messages.
    """
    if isinstance(messages, str | bytes | Mapping) or not isinstance(messages, Iterable):
        raise UsageError(
            f"messages must be a list of messages, not {type(messages).__name__!r}",
            hint="give Message objects, or dicts with a role as Hermes, OpenAI's chat API and"
            " Anthropic's Messages API write them; sessions in files: warmstart profile PATH",
        )
    origin, colon, native = session_id.partition(":")
    if not colon:
        origin, native = ORIGIN, session_id
    return build_session(origin, native, [one for each in messages for one in _read(each)])


def _read(message: Message | Mapping[str, Any]) -> Iterator[Message]:
    if isinstance(message, Message):
        yield message
        return
    entry = _as_entry(message)
    role = _ROLES.get(as_text(entry.get("role")) or "")
    if role is None:
        return
    blocks = [_as_entry(block) for block in as_list(entry.get("content"))]
    if role is not Role.TOOL and any(is_use(block) or is_result(block) for block in blocks):
        yield from _read_blocks(entry, role, blocks)
    else:
        yield _read_plain(entry, role)


def _as_entry(value: Any) -> dict[str, Any]:
    """A message or block as a dict; an empty one for what is neither."""
    if isinstance(value, Mapping):
        return dict(value)
    dump_model = getattr(value, "model_dump", None)
    return as_dict(dump_model()) if callable(dump_model) else {}


def _read_plain(entry: dict[str, Any], role: Role) -> Message:
    """A message whose calls stand beside its content, or that is a result."""
    is_answer = role is Role.TOOL
    return Message(
        role=role,
        text="" if is_answer else content_text(entry.get("content")),
        requests=tuple(_read_requests(entry.get("tool_calls"))) if not is_answer else (),
        results=(_read_result(entry),) if is_answer else (),
        timestamp=parse_time(entry.get("timestamp")),
        model=as_text(entry.get("model")),
        tokens=parse_tokens(entry.get("usage"), USAGE_NAMES),
        kind=_read_kind(entry),
    )


def _read_blocks(
    entry: dict[str, Any], role: Role, blocks: Sequence[dict[str, Any]]
) -> Iterator[Message]:
    """A message with calls or results among its blocks; a user's results come before their text."""
    is_reply = role is Role.ASSISTANT
    told = [block for block in blocks if not is_result(block)]
    texts = [content_text(one) for one in told if not is_reply or one.get("type") == "text"]
    results = tuple(read_result(block) for block in blocks if is_result(block))
    said = Message(
        role=role,
        text="\n".join(filter(None, texts)),
        timestamp=parse_time(entry.get("timestamp")),
        model=as_text(entry.get("model")),
        tokens=parse_tokens(entry.get("usage"), USAGE_NAMES),
        kind=_read_kind(entry),
    )
    if is_reply:
        # Some libraries write every call both ways: those of ``tool_calls`` are the same ones.
        requests = tuple(_read_requests(entry.get("tool_calls")))
        requests = requests or tuple(_read_requests(list(filter(is_use, blocks))))
        yield replace(said, requests=requests, results=results)
        return
    if results:
        yield replace(said, role=Role.TOOL, text="", results=results)
    if said.text or not results:
        yield said


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
