"""Typed values out of JSON that others wrote: a provider, or an agent in its files.

A getter returns None or an empty value for a wrong type, so that a wrong type in a known field
costs that field and nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from warmstart.model import Request, Role
from warmstart.wire.encoding import encode_json

Body = dict[str, Any]
"""A JSON object of a provider: a request, a response, or a part of one."""
MAX_TOKENS = 10**12
"""More than any session uses, and sums of it stay within 64 bits."""
ROLES = {
    "system": Role.SYSTEM,
    "developer": Role.SYSTEM,
    "user": Role.USER,
    "assistant": Role.ASSISTANT,
    "tool": Role.TOOL,
    "function": Role.TOOL,
}
"""The roles of OpenAI's messages; other formats use some of them."""
Arguments = tuple[Mapping[str, Any], str | None]
"""Call arguments, and the text they were written as where that is not a JSON object."""


def as_dict(value: Any) -> Body:
    """The object itself, or an empty one."""
    return value if isinstance(value, dict) else {}


def as_list(value: Any) -> list[Any]:
    """A copy of the list, or an empty one."""
    return list(value) if isinstance(value, list) else []


def as_dicts(value: Any) -> list[Body]:
    """The objects of a list, without anything else in it."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def as_text(value: Any) -> str:
    """The text itself, or an empty one."""
    return value if isinstance(value, str) else ""


def as_id(value: Any) -> str | None:
    """An identifier: a non-empty string, or a whole number as one."""
    if value.__class__ is str:
        return value or None
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else None


def as_int(value: Any) -> int | None:
    """A whole number that is not a bool, or None."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def as_float(value: Any) -> float | None:
    """A number that is not a bool, or None."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return value if is_number else None


def read_count(usage: Mapping[str, Any], name: str) -> int:
    """A count of tokens; 0 for what cannot be one."""
    count = as_int(usage.get(name)) or 0
    return count if 0 <= count <= MAX_TOKENS else 0


def content_text(content: Any, separator: str = "\n") -> str:
    """The text of a content field: a string, a block, or a list of both.

    A block without text, such as an image, becomes its type in brackets, so that nothing vanishes.
    """
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else [content]
    parts = (block if isinstance(block, str) else _read_block(as_dict(block)) for block in blocks)
    return separator.join(filter(None, parts))


def _read_block(block: Body) -> str:
    for key in ("text", "content", "output", "refusal", "thinking"):
        inner = block.get(key)
        if isinstance(inner, str):
            return inner
        if isinstance(inner, list | dict):
            # One level only: hostile nesting must not recurse.
            items = inner if isinstance(inner, list) else [inner]
            texts = (item if isinstance(item, str) else as_dict(item).get("text") for item in items)
            return "\n".join(text for text in texts if isinstance(text, str))
    kind = as_text(block.get("type"))
    return f"[{kind}]" if kind else ""


def make_request(name: Any, call_id: Any, arguments: Any, unnamed: str = "unknown") -> Request:
    """A call by its three fields; its arguments are an object or JSON text."""
    tool = name if name and name.__class__ is str else unnamed
    own_id = call_id if call_id and call_id.__class__ is str else as_id(call_id)
    data, raw = (arguments, None) if arguments.__class__ is dict else parse_arguments(arguments)
    if raw is None:
        return Request(tool=tool, id=own_id, arguments=data)
    return Request(tool=tool, id=own_id, arguments=data, raw=raw)


def parse_arguments(value: Any) -> Arguments:
    """Call arguments from an object or from JSON text; other text is kept as ``raw``."""
    if isinstance(value, dict):
        return value, None
    if not isinstance(value, str):
        return {}, None if value is None else encode_text(value)
    if not value or value.isspace():
        return {}, None
    data = parse_json(value)
    return (data, None) if isinstance(data, dict) else ({}, value)


def parse_json(text: str | bytes) -> Any:
    """The value of JSON text, None where it is not valid JSON."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return None


def as_object(request: Request) -> Body:
    """The arguments of a call as a JSON object, whatever was written."""
    return dict(request.arguments) if request.raw is None else {"raw": request.raw}


def as_argument_text(request: Request) -> str:
    """The arguments of a call as text, exactly as written where that is not a JSON object."""
    return encode_text(request.arguments) if request.raw is None else request.raw


def encode_text(value: Any) -> str:
    """A value as JSON text."""
    return encode_json(value).decode("utf-8", "replace")
