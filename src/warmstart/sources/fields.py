"""Typed values out of untyped JSON: each getter answers None or empty for a wrong type.

Readers never index into foreign data directly; they ask here, so that a wrong type in a known
field costs that field and nothing else.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from warmstart.model import Request, Tokens
from warmstart.sources.json_text import dump, parse_strictly

MAX_TOKENS = 10**12
"""A million long contexts: more than any session, and sums of it stay within 64 bits."""
MILLISECONDS_FROM = 1e11
"""A number above this is milliseconds: as seconds it would be the year 5138."""
_MAX_SECONDS = 253_402_300_799.0
_NUMBERS = (int, float)
_NO_DATA: dict[str, Any] = {}
Arguments = tuple[Mapping[str, Any], str | None]
"""Call arguments, and the text they were written as where that is not a JSON object."""


def as_dict(value: Any) -> dict[str, Any]:
    """The object itself, or an empty one. Never modify what this returns."""
    return value if isinstance(value, dict) else _NO_DATA


def as_list(value: Any) -> list[Any]:
    """The list itself, or an empty one."""
    return value if isinstance(value, list) else []


def as_dicts(value: Any) -> list[dict[str, Any]]:
    """The objects of a list, passing over anything else."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def as_text(value: Any) -> str | None:
    """A non-empty string, or None."""
    return value if isinstance(value, str) and value else None


def as_id(value: Any) -> str | None:
    """An identifier: a non-empty string, or a whole number as one."""
    if value.__class__ is str:
        return value or None
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else None


def as_int(value: Any) -> int | None:
    """A whole number (not a bool), also when written as a float or as digits."""
    if value is None or isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, str) and value.removeprefix("-").isdecimal() and len(value) < 20:
        return int(value)
    return None


def as_count(value: Any) -> int:
    """A number of tokens; 0 for what cannot be one: negative, or beyond ``MAX_TOKENS``."""
    count = value if value.__class__ is int else as_int(value) or 0
    return count if 0 < count <= MAX_TOKENS else 0


def as_float(value: Any) -> float | None:
    """A finite number (not a bool)."""
    if value is None or isinstance(value, bool) or not isinstance(value, _NUMBERS):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def as_bool(value: Any) -> bool | None:
    """True or False, or None for anything else."""
    return value if isinstance(value, bool) else None


def parse_time(value: Any) -> float | None:
    """Seconds since the epoch from ISO 8601, seconds or milliseconds; naive times are UTC."""
    if value.__class__ is float and 0.0 < value <= MILLISECONDS_FROM:
        return value
    if not isinstance(value, str):
        return _read_moment(value)
    if value[4:5] != "-":
        number = as_int(value)
        if number is not None:
            return _read_moment(number)
    if not 10 <= len(value) <= 40:
        return None
    try:
        moment = datetime.fromisoformat(value)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        return max(moment.timestamp(), 0.0) or None
    except (ValueError, OverflowError):
        return None


def _read_moment(value: Any) -> float | None:
    number = as_float(value)
    if number is None:
        return None
    seconds = number / 1000 if number > MILLISECONDS_FROM else number
    return seconds if 0 < seconds <= _MAX_SECONDS else None


def parse_arguments(value: Any) -> Arguments:
    """Call arguments from an object or from a JSON string; other text is kept as ``raw``."""
    if isinstance(value, dict):
        return value, None
    if not isinstance(value, str):
        return {}, None if value is None else dump(value)
    if not value or value.isspace():
        return {}, None
    data = parse_strictly(value)
    return (data, None) if isinstance(data, dict) else ({}, value)


def make_request(name: Any, call_id: Any, written: Any, unnamed: str = "unknown") -> Request:
    """A call by its three fields; ``written`` are its arguments, as an object or as JSON text."""
    tool = name if name and name.__class__ is str else unnamed
    own_id = call_id if call_id and call_id.__class__ is str else as_id(call_id)
    data, raw = (written, None) if written.__class__ is dict else parse_arguments(written)
    if raw is None:
        return Request(tool=tool, id=own_id, arguments=data)
    return Request(tool=tool, id=own_id, arguments=data, raw=raw)


def content_text(value: Any) -> str:
    """The text of a content field: a string, a block, or a list of both.

    Takes the key names the formats use (``text``, ``content``, ``output``, ``thinking``); an image
    or other block without text becomes ``[image]`` or its type, so that nothing vanishes.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        return _block_text(value)
    if isinstance(value, list):
        parts = [item if isinstance(item, str) else _block_text(as_dict(item)) for item in value]
        return "\n".join(part for part in parts if part)
    return ""


def _block_text(block: Mapping[str, Any]) -> str:
    for key in ("text", "content", "output", "thinking"):
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


def parse_tokens(value: Any, names: Mapping[str, str]) -> Tokens | None:
    """Token counts from a usage object; ``names`` maps our field names to its keys.

    None where none of them is above zero.
    """
    usage = as_dict(value)
    counts = {ours: as_count(usage.get(theirs)) for ours, theirs in names.items()}
    return Tokens(**counts) if any(counts.values()) else None
