"""Long values cut so that they still say what they are: the beginning and the end stay."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

HEAD_SHARE = 0.7
MAX_DEPTH = 8
MAX_ITEMS = 20
CUT = "[…]"


def shorten(text: str, limit: int) -> str:
    """A text of at most ``limit`` characters and the note of what is missing."""
    if len(text) <= limit:
        return text
    head = int(limit * HEAD_SHARE)
    tail = limit - head
    left_out = len(text) - limit
    return f"{text[:head].rstrip()}\n[… {left_out} characters …]\n{text[-tail:].lstrip()}"


def shorten_line(text: str, limit: int) -> str:
    """The same on one line, without its tail."""
    flat = " ".join(text.split())
    return flat if len(flat) <= limit else flat[: limit - 1].rstrip() + "…"


def shorten_arguments(arguments: Mapping[str, Any], limit: int) -> dict[str, Any]:
    """Arguments with every text cut and every key in order, so that equal ones give equal bytes."""
    return {key: _shorten_value(arguments[key], limit, MAX_DEPTH) for key in sorted(arguments)}


def _shorten_value(value: Any, limit: int, depth: int) -> Any:
    if isinstance(value, str):
        return shorten(value, limit)
    if depth == 0:
        return value if isinstance(value, int | float | bool | None) else CUT
    if isinstance(value, Mapping):
        keys = sorted(map(str, value))[:MAX_ITEMS]
        named = {str(key): inner for key, inner in value.items()}
        return {key: _shorten_value(named[key], limit, depth - 1) for key in keys}
    if isinstance(value, list | tuple):
        return [_shorten_value(inner, limit, depth - 1) for inner in value[:MAX_ITEMS]]
    return value


__all__ = ["shorten", "shorten_arguments", "shorten_line"]
