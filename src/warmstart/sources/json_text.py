"""JSON as agents really write it: orjson first, Python's own parser for what orjson refuses.

What must stay true: no text makes more values than there is memory for, and what is parsed can be
printed, stored and hashed.
"""

from __future__ import annotations

import json
from typing import Any

import orjson

MAX_REPAIRED_BYTES = 16 * 1024 * 1024
"""The parser that forgives more needs many times the memory."""
MAX_VALUES = 1_500_000
"""Values in one line, or in a small document that is compressed; each takes up to 120 bytes."""
BIG_BYTES = 1024 * 1024
"""Shorter texts cannot hold too many values."""
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_NO_JSON = object()


def parse_strictly(data: bytes | str) -> Any:
    """Valid JSON of any size, or the marker that ``is_json`` refuses."""
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        return _NO_JSON


def parse_json(data: bytes, max_values: int | None = MAX_VALUES) -> Any:
    """JSON as agents really write it, or the marker that ``is_json`` refuses.

    orjson is strict; Python's own parser takes over for what agents nevertheless write: lone
    surrogates (a JavaScript string cut in the middle of an emoji), NaN, broken UTF-8.
    """
    if max_values is not None and has_too_many_values(data, max_values):
        return _NO_JSON
    data = data.removeprefix(BYTE_ORDER_MARK)
    value = parse_strictly(data)
    if value is not _NO_JSON or len(data) > MAX_REPAIRED_BYTES:
        return value
    try:
        return _scrub(json.loads(data.decode("utf-8", "replace"), object_hook=_scrub_object))
    except (ValueError, RecursionError):
        return _NO_JSON


def parse_text(text: str) -> Any:
    """A text as JSON, or the marker that ``is_json`` refuses; forgives what ``parse_json`` does."""
    value = parse_strictly(text) if len(text) <= BIG_BYTES else _NO_JSON
    return parse_json(text.encode("utf-8", "replace")) if value is _NO_JSON else value


def has_too_many_values(data: bytes, max_values: int = MAX_VALUES) -> bool:
    """Whether a text would make more values than there is memory for."""
    return len(data) > BIG_BYTES and sum(map(data.count, (b",", b"[", b"{"))) > max_values


def is_json(value: Any) -> bool:
    """Whether ``parse_json`` understood anything."""
    return value is not _NO_JSON


def _scrub_object(data: dict[str, Any]) -> dict[str, Any]:
    return {_scrub(key): _scrub(value) for key, value in data.items()}


def _scrub(value: Any) -> Any:
    """Replace lone surrogates, which cannot be printed, stored or hashed."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, list):
        return [_scrub(item) for item in value]
    return value
