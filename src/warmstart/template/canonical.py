"""A template as bytes: the same template is the same bytes, in every process and on every Python.

Keys are sorted, there is no white space, text is UTF-8 as it is, and nothing in it depends on when
or where it was written. The id is the sha256 of these bytes. A field that has its default is left
out: a field that is added later changes no id of a template that does not use it. Numbers that
other languages read differently (beyond 2^53, not finite) are written as text.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from enum import StrEnum
from hashlib import sha256
from typing import Any

from warmstart.model import Marker, Template
from warmstart.template.errors import TemplateError, show_key

FORMAT = "warmstart-template"
FORMAT_VERSION = 1
MAX_INTEGER = 2**53 - 1
"""Beyond it, programs in other languages read another number."""


def template_to_dict(template: Template) -> dict[str, Any]:
    """The content as plain JSON values.

    Raises:
        TemplateError: a value that JSON does not have, or not everywhere.
    """
    content = _plain(template, "")
    return {"format": FORMAT, "format_version": FORMAT_VERSION, **content}


def canonical_json(template: Template) -> bytes:
    """The bytes a template is hashed and kept as."""
    return encode_canonical(template_to_dict(template))


def encode_canonical(value: Any) -> bytes:
    """Plain JSON values as their canonical bytes."""
    text = json.dumps(
        value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False
    )
    return text.encode()


def template_id(template: Template) -> str:
    """The sha256 of the content, in hex."""
    return hash_content(canonical_json(template))


def hash_content(data: bytes) -> str:
    """The id of a template that has these canonical bytes."""
    return sha256(data).hexdigest()


def _plain(value: Any, where: str) -> Any:
    if value is None or isinstance(value, str | bool | int | float):
        return _scalar(value)
    if isinstance(value, Marker):
        return {"kind": str(value.kind), "value": _text(value.value), "uses": value.uses}
    if is_dataclass(value):
        return _record(value, where)
    if isinstance(value, Mapping):
        return {_key(key, where): _plain(value[key], _join(where, key)) for key in value}
    if isinstance(value, tuple | list):
        return [_plain(inner, f"{where}[{index}]") for index, inner in enumerate(value)]
    raise TemplateError(f"{type(value).__name__} is not a JSON value", field=where)


def _record(value: Any, where: str) -> dict[str, Any]:
    """Fields that differ from their default; those without one always."""
    found = {}
    for field in fields(value):
        inner = getattr(value, field.name)
        has_factory = field.default_factory is not MISSING
        default = field.default_factory() if has_factory else field.default  # type: ignore[operator] # has_factory is checked
        if default is MISSING or inner != default:
            found[field.name] = _plain(inner, _join(where, field.name))
    return found


def _scalar(value: Any) -> Any:
    if isinstance(value, str):
        return str(value) if isinstance(value, StrEnum) else _text(value)
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, int) and abs(value) > MAX_INTEGER:
        return hex(value)
    return value


def _key(key: Any, where: str) -> str:
    if not isinstance(key, str):
        raise TemplateError("a name that is not text", field=where)
    return _text(key)


def _text(text: str) -> str:
    """The text; half a surrogate pair, which no UTF-8 has, becomes a question mark."""
    if text.isascii():
        return text
    return text.encode("utf-8", "replace").decode()


def _join(where: str, key: str) -> str:
    part = key if key.isidentifier() else f"[{show_key(key)}]"
    return f"{where}.{part}" if where and part == key else f"{where}{part}"
