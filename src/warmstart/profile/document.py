"""Profiles as plain JSON values: every field and every derived figure, under its own name.

Infinite limits become null: the data exclude nothing on that side.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

from msgspec import Struct

__all__ = ["to_document"]


def to_document(value: Any) -> Any:
    """A value as dicts, lists, strings and numbers."""
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, Mapping):
        return {str(key): to_document(inner) for key, inner in value.items()}
    if is_dataclass(value) or hasattr(value, "_asdict") or isinstance(value, Struct):
        return {name: to_document(getattr(value, name)) for name in _names(type(value))}
    return list(map(to_document, value)) if isinstance(value, list | tuple) else value


def _names(kind: type) -> list[str]:
    """Fields in their order, then the properties."""
    own: list[str] = [one.name for one in fields(kind)] if is_dataclass(kind) else []
    own += getattr(kind, "_fields", ())  # a NamedTuple
    own += getattr(kind, "__struct_fields__", ())
    return own + [
        name
        for name, member in vars(kind).items()
        if isinstance(member, property) and name[0] != "_"
    ]
