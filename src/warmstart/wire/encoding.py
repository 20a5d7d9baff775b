"""JSON text of values that came from foreign files and may be anything."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import orjson

MAX_DEPTH = 100
TOO_DEEP = "[nested too deep]"


def encode_json(value: Any, *, indent: bool = False) -> bytes:
    """A value as UTF-8 JSON.

    Python's own encoder takes over where orjson refuses (integers beyond 64 bits, lone surrogates,
    objects), and what is nested too deep for that is cut off with a mark: one hostile argument
    never costs a session.
    """
    try:
        return orjson.dumps(value, option=orjson.OPT_INDENT_2 if indent else None)
    except TypeError:
        cut = _cut_depth(value, MAX_DEPTH)
        return json.dumps(cut, indent=2 if indent else None, default=repr).encode()


def encode_line(record: Mapping[str, Any]) -> bytes:
    """One line of JSONL, with its line break."""
    return encode_json(record) + b"\n"


def _cut_depth(value: Any, depth: int) -> Any:
    if isinstance(value, Mapping):
        if depth == 0:
            return TOO_DEEP
        return {str(key): _cut_depth(inner, depth - 1) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_cut_depth(inner, depth - 1) for inner in value] if depth else TOO_DEEP
    return value
