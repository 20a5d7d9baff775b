"""Results as JSON: every field and every derived figure under its own name.

Infinite limits become null, since the data exclude nothing on that side. Every object written for
machines carries a ``schema_version``, which rises when a field is renamed or removed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from warmstart.present.document import Document, read_data

if TYPE_CHECKING:
    from warmstart.sources import ReadLog

__all__ = ["list_skips", "to_json", "write_fields", "write_json"]


def to_json(value: Any) -> Any:
    """A result as dicts, lists, strings and numbers."""
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, Mapping):
        return {str(key): to_json(inner) for key, inner in value.items()}
    if is_dataclass(value) or hasattr(value, "_asdict") or isinstance(value, Struct):
        return {name: to_json(getattr(value, name)) for name in _names(type(value))}
    return list(map(to_json, value)) if isinstance(value, list | tuple) else value


def _names(kind: type) -> list[str]:
    """Fields in their order, then the properties."""
    own: list[str] = [one.name for one in fields(kind)] if is_dataclass(kind) else []
    own += getattr(kind, "__struct_fields__", ())
    own += getattr(kind, "_fields", ())  # a NamedTuple
    return own + [
        name
        for name, member in vars(kind).items()
        if isinstance(member, property) and name[0] != "_"
    ]


def write_json(document: Document, *, indent: bool = False) -> bytes:
    """The document as one JSON object and a line break."""
    return write_fields(read_data(document), indent=indent)


def write_fields(fields: Any, *, indent: bool = False) -> bytes:
    """Plain values as JSON and a line break."""
    from warmstart.wire import encode_json  # noqa: PLC0415 - orjson, only where it writes

    return encode_json(fields, indent=indent) + b"\n"


def list_skips(log: ReadLog) -> list[dict[str, Any]]:
    """What could not be read: reason, count, and the place of the first case."""
    return [
        {
            "reason": reason,
            "count": number,
            "path": str(log.examples[reason].path),
            "line": log.examples[reason].line,
        }
        for reason, number in log.counts.most_common()
    ]
