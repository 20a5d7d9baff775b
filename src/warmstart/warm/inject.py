"""A warm-up put into a conversation that is about to be sent: after the leading system messages.

Nothing is ever put in twice, however often it is asked for, and the caller's own list and messages
are left as they are. Works on OpenAI chat messages, OpenAI Responses items and Anthropic messages;
the last have no place for system text among them, so frame and guidance open the first example.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any

from warmstart.model import CALL_ID_PREFIX, WarmUp
from warmstart.warm.build import FRAME
from warmstart.warm.turns import list_turns
from warmstart.warm.wire import write_anthropic, write_openai, write_responses

SYSTEM_ROLES = ("system", "developer")
MAX_LOOK = 200
"""Messages looked at; a warm-up stands at the beginning."""
Item = dict[str, Any]


class Style(StrEnum):
    """How a list of messages is written."""

    OPENAI = "openai"
    RESPONSES = "responses"
    ANTHROPIC = "anthropic"


def inject(
    messages: Sequence[Mapping[str, Any]],
    warmup: WarmUp,
    *,
    style: Style | str | None = None,
    separate_system: bool = False,
) -> list[Item]:
    """A new list with the warm-up in it; an equal one if it is there already or is empty.

    Args:
        messages: what would be sent cold.
        warmup: what to put in.
        style: how the list is written; seen from the messages if not given.
        separate_system: add a second system message instead of merging into the leading one.
    """
    items = [dict(message) for message in messages]
    if warmup.is_empty or is_warm(items, warmup):
        return items
    form = Style(style) if style else find_style(items)
    if form is Style.ANTHROPIC:
        return write_anthropic(list_turns(warmup, with_system=True)) + items
    leading = _count_leading(items)
    system = _merge_system(items[:leading], warmup.system, separate=separate_system)
    write = write_responses if form is Style.RESPONSES else write_openai
    return system + write(list_turns(warmup)) + items[leading:]


def is_warm(messages: Sequence[Mapping[str, Any]], warmup: WarmUp | None = None) -> bool:
    """Whether a conversation was started warm already, with this warm-up or another."""
    marks = [FRAME] + ([warmup.system] if warmup and warmup.system else [])
    for message in messages[:MAX_LOOK]:
        if any(call_id.startswith(CALL_ID_PREFIX) for call_id in _list_call_ids(message)):
            return True
        if any(mark in text for text in _list_texts(message) for mark in marks):
            return True
    return False


def find_style(messages: Sequence[Mapping[str, Any]]) -> Style:
    """How a list is written; plain text turns are the same everywhere and taken as OpenAI's."""
    for message in messages:
        if "tool_calls" in message or message.get("role") in (*SYSTEM_ROLES, "tool"):
            return Style.OPENAI
        if "role" not in message or message.get("type") == "message":
            return Style.RESPONSES
        kinds = {block.get("type") for block in _list_blocks(message)}
        if kinds & {"tool_use", "tool_result"}:
            return Style.ANTHROPIC
    return Style.OPENAI


def merge_text(text: str, addition: str) -> str:
    """System text with the warm-up's after it."""
    return f"{text}\n\n{addition}" if text.strip() and addition else text or addition


def _merge_system(leading: Sequence[Item], addition: str, *, separate: bool) -> list[Item]:
    if not addition.strip():
        return list(leading)
    if not leading or separate:
        return [*leading, {"role": "system", "content": addition}]
    first = dict(leading[0])
    content = first.get("content")
    if isinstance(content, list):
        kind = next((b.get("type") for b in _list_blocks(first)), None) or "text"
        first["content"] = [*content, {"type": kind, "text": addition}]
    else:
        first["content"] = merge_text(content if isinstance(content, str) else "", addition)
    return [first, *leading[1:]]


def _count_leading(items: Sequence[Item]) -> int:
    places = (at for at, item in enumerate(items) if item.get("role") not in SYSTEM_ROLES)
    return next(places, len(items))


def _list_blocks(message: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    content = message.get("content")
    return [b for b in content if isinstance(b, Mapping)] if isinstance(content, list) else []


def _list_texts(message: Mapping[str, Any]) -> Iterator[str]:
    content = message.get("content")
    if isinstance(content, str):
        yield content
    for block in _list_blocks(message):
        if isinstance(block.get("text"), str):
            yield block["text"]


def _list_call_ids(message: Mapping[str, Any]) -> Iterator[str]:
    calls = message.get("tool_calls")
    places = [message, *_list_blocks(message), *(calls if isinstance(calls, list) else ())]
    for place in places:
        if isinstance(place, Mapping):
            for key in ("id", "call_id", "tool_call_id", "tool_use_id"):
                value = place.get(key)
                if isinstance(value, str):
                    yield value


__all__ = ["Style", "find_style", "inject", "is_warm", "merge_text"]
