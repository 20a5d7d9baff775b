"""Numbers that say whether two calls are alike: stable between runs, machines and versions.

Python's own ``hash`` is salted per process. A checksum and a length make 64 bits; they are looked
at within one tool only, and there is nothing to gain from forging one.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any
from zlib import crc32

import orjson

from warmstart.wire import encode_text

_SIGN = 1 << 63
"""Taken off, because SQLite's integers have a sign."""
_LENGTH_MASK = 0xFFFF_FFFF
_SORTED = orjson.OPT_SORT_KEYS
_KINDS = {
    str: "text", int: "int", float: "float", bool: "bool", list: "list", dict: "object",
    type(None): "null",
}  # fmt: skip
_dumps = orjson.dumps


def hash_call(tool: str, arguments: Mapping[str, Any], raw: str | None) -> int:
    """Equal for calls of one tool with the same arguments, in whatever order they were written."""
    if raw is not None:
        data = raw.encode("utf-8", "replace")
    else:
        try:
            data = _dumps(arguments, None, _SORTED)
        except TypeError:  # too deep, or a number beyond 64 bits
            data = encode_text(arguments).encode("utf-8", "replace")
    return (crc32(data, _start_hash(tool)) << 32 | len(data) & _LENGTH_MASK) - _SIGN


def hash_signature(tool: str, arguments: Mapping[str, Any]) -> int:
    """Equal for calls of one tool with the same argument names and kinds of value."""
    return _hash_names(tool, (*arguments, *map(type, arguments.values())))


@lru_cache(maxsize=4096)
def _start_hash(tool: str) -> int:
    """What every hash of a tool's calls begins with."""
    return crc32(tool.encode("utf-8", "replace"))


@lru_cache(maxsize=4096)
def _hash_names(tool: str, described: tuple[Any, ...]) -> int:
    """The hash of argument names, followed by the type of each."""
    size = len(described) // 2
    pairs = zip(described[:size], described[size:], strict=True)
    kinds = sorted((name, _KINDS.get(kind, "other")) for name, kind in pairs)
    data = repr(kinds).encode("utf-8", "replace")
    return (crc32(data, _start_hash(tool)) << 32 | len(data)) - _SIGN
