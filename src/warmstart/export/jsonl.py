"""JSON text of objects whose values came from foreign files, and therefore may be anything.

orjson writes nearly everything; Python's own encoder takes over for what it refuses (integers
beyond 64 bits, lone surrogates), and what nests too deep for that is cut off with a mark, so that
one hostile argument never costs a session.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import orjson

MAX_DEPTH = 100
TOO_DEEP = "[nested too deep]"


def encode_json(value: Any, *, indent: bool = False) -> bytes:
    """A value as UTF-8 JSON."""
    try:
        return orjson.dumps(value, option=orjson.OPT_INDENT_2 if indent else None)
    except TypeError:
        return json.dumps(_cut_depth(value, MAX_DEPTH), indent=2 if indent else None).encode()


def encode_line(record: Mapping[str, Any]) -> bytes:
    """One line of JSONL, with its line break."""
    return encode_json(record) + b"\n"


def _cut_depth(value: Any, depth: int) -> Any:
    if isinstance(value, Mapping):
        if depth == 0:
            return TOO_DEEP
        return {key: _cut_depth(inner, depth - 1) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_cut_depth(inner, depth - 1) for inner in value] if depth else TOO_DEEP
    return value
