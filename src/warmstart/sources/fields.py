"""Typed values out of untyped JSON: each getter answers None or empty for a wrong type.

Readers never index into foreign data directly; they ask here, so that a wrong type in a known
field costs that field and nothing else.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from warmstart.model import Tokens
from warmstart.wire import MAX_TOKENS, as_dict

MILLISECONDS_FROM = 1e11
"""A number above this is milliseconds: as seconds it would be the year 5138."""
_MAX_SECONDS = 253_402_300_799.0
_NUMBERS = (int, float)


def as_list(value: Any) -> list[Any]:
    """The list itself, or an empty one."""
    return value if isinstance(value, list) else []


def as_text(value: Any) -> str | None:
    """A non-empty string, or None."""
    return value if isinstance(value, str) and value else None


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


ANTHROPIC_USAGE = {
    "input": "input_tokens",
    "output": "output_tokens",
    "cache_read": "cache_read_input_tokens",
    "cache_write": "cache_creation_input_tokens",
}
"""The names of Anthropic's usage, for ``parse_tokens``."""


def parse_tokens(value: Any, names: Mapping[str, str]) -> Tokens | None:
    """Token counts from a usage object; ``names`` maps our field names to its keys.

    None where none of them is above zero.
    """
    usage = as_dict(value)
    counts = {ours: as_count(usage.get(theirs)) for ours, theirs in names.items()}
    return Tokens(**counts) if any(counts.values()) else None
