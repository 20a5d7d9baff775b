"""Small checks that a template's schema is made of.

Each knows how to read a plain JSON value nobody vouches for into what the model wants, and what it
accepts as JSON Schema. Both come from here, so the published schema is what is really checked.
Errors name the field and never its value.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

from warmstart.template.canonical import MAX_INTEGER
from warmstart.template.errors import TemplateError, show_key
from warmstart.template.names import NAME_PATTERN, check_name
from warmstart.template.parse import Limits

_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")
LABEL_PATTERN = r"^[^\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]*$"
Schema = dict[str, Any]


class Check(Protocol):
    """One kind of value."""

    def read(self, value: Any, where: str, limits: Limits) -> Any:
        """The value as the model holds it, or a TemplateError that says where."""
        ...

    def schema(self, limits: Limits) -> Schema:
        """The same as JSON Schema."""
        ...


@dataclass(frozen=True, slots=True)
class Text:
    """Any text up to the limit of that name."""

    limit: str = "text"

    def read(self, value: Any, where: str, limits: Limits) -> str:
        """Check type and length."""
        if not isinstance(value, str):
            raise TemplateError(f"text is wanted, not {_kind(value)}", field=where)
        most = getattr(limits, self.limit)
        if len(value) > most:
            raise TemplateError(f"longer than {most:,} characters", field=where)
        return value

    def schema(self, limits: Limits) -> Schema:
        """A string of limited length."""
        return {"type": "string", "maxLength": getattr(limits, self.limit)}


@dataclass(frozen=True, slots=True)
class Label:
    """A short name without control or hidden characters, not empty."""

    def read(self, value: Any, where: str, limits: Limits) -> str:
        """Check type, length and characters."""
        text = Text("label").read(value, where, limits)
        if not text:
            raise TemplateError("may not be empty", field=where)
        if _CONTROLS.search(text):
            raise TemplateError("has control or hidden characters", field=where)
        return text

    def schema(self, limits: Limits) -> Schema:
        """A string with a pattern."""
        return {
            "type": "string",
            "minLength": 1,
            "maxLength": limits.label,
            "pattern": LABEL_PATTERN,
        }


@dataclass(frozen=True, slots=True)
class Name:
    """The name of a template."""

    def read(self, value: Any, where: str, limits: Limits) -> str:
        """Check the pattern."""
        del limits
        return check_name(value, where)

    def schema(self, limits: Limits) -> Schema:
        """A string with the pattern."""
        del limits
        return {"type": "string", "pattern": NAME_PATTERN}


@dataclass(frozen=True, slots=True)
class Count:
    """A whole number from zero on."""

    def read(self, value: Any, where: str, limits: Limits) -> int:
        """Check type and range."""
        del limits
        if not isinstance(value, int) or isinstance(value, bool):
            raise TemplateError(f"a whole number is wanted, not {_kind(value)}", field=where)
        if not 0 <= value <= MAX_INTEGER:
            raise TemplateError("may not be negative or beyond 2^53", field=where)
        return value

    def schema(self, limits: Limits) -> Schema:
        """An integer with a range."""
        del limits
        return {"type": "integer", "minimum": 0, "maximum": MAX_INTEGER}


@dataclass(frozen=True, slots=True)
class Choice:
    """One of a closed set of words."""

    words: type[StrEnum]

    def read(self, value: Any, where: str, limits: Limits) -> StrEnum:
        """Check that it is one of them."""
        del limits
        if isinstance(value, str) and value in {str(word) for word in self.words}:
            return self.words(value)
        raise TemplateError(f"must be one of {', '.join(self.words)}", field=where)

    def schema(self, limits: Limits) -> Schema:
        """An enumeration."""
        del limits
        return {"enum": [str(word) for word in self.words]}


@dataclass(frozen=True, slots=True)
class Fixed:
    """Exactly this value, of exactly this type."""

    value: str | int

    def read(self, value: Any, where: str, limits: Limits) -> str | int:
        """Check that it is the value."""
        del limits
        if type(value) is not type(self.value) or value != self.value:
            raise TemplateError(
                f"must be {self.value!r}", field=where, hint="a newer warmstart may know it"
            )
        return self.value

    def schema(self, limits: Limits) -> Schema:
        """A constant."""
        del limits
        return {"const": self.value}


@dataclass(frozen=True, slots=True)
class ListOf:
    """A list of limited length whose entries are all of one kind."""

    item: Check
    limit: str = "items"

    def read(self, value: Any, where: str, limits: Limits) -> tuple[Any, ...]:
        """Check the length, then each entry."""
        if not isinstance(value, list):
            raise TemplateError(f"a list is wanted, not {_kind(value)}", field=where)
        most = getattr(limits, self.limit)
        if len(value) > most:
            raise TemplateError(f"more than {most:,} entries", field=where)
        return tuple(
            self.item.read(inner, f"{where}[{index}]", limits) for index, inner in enumerate(value)
        )

    def schema(self, limits: Limits) -> Schema:
        """An array."""
        return {
            "type": "array",
            "maxItems": getattr(limits, self.limit),
            "items": self.item.schema(limits),
        }


@dataclass(frozen=True, slots=True)
class Counts:
    """Names and how often each."""

    def read(self, value: Any, where: str, limits: Limits) -> dict[str, int]:
        """Check every name and number."""
        return {
            Label().read(key, f"{where} name", limits): Count().read(
                value[key], f"{where}[{show_key(key)}]", limits
            )
            for key in sorted(_object(value, where, limits))
        }

    def schema(self, limits: Limits) -> Schema:
        """An object of integers."""
        return {
            "type": "object",
            "maxProperties": limits.items,
            "propertyNames": Label().schema(limits),
            "additionalProperties": Count().schema(limits),
        }


@dataclass(frozen=True, slots=True)
class Arguments:
    """The arguments of a call: any JSON object within the limits."""

    def read(self, value: Any, where: str, limits: Limits) -> dict[str, Any]:
        """Check sizes all the way down; the depth was checked when the file was read."""
        return {
            Text("label").read(key, f"{where} name", limits): _read_any(
                value[key], f"{where}[{show_key(key)}]", limits, limits.depth
            )
            for key in sorted(_object(value, where, limits))
        }

    def schema(self, limits: Limits) -> Schema:
        """An object of anything."""
        return {
            "type": "object",
            "maxProperties": limits.items,
            "propertyNames": Text("label").schema(limits),
            "additionalProperties": {"$ref": "#/$defs/value"},
        }


@dataclass(frozen=True, slots=True)
class Record:
    """An object with known fields; any other field is refused."""

    build: Callable[..., Any]
    required: Mapping[str, Check]
    optional: Mapping[str, Check]

    def read(self, value: Any, where: str, limits: Limits) -> Any:
        """Check the fields and build the model object."""
        if not isinstance(value, dict):
            raise TemplateError(f"an object is wanted, not {_kind(value)}", field=where)
        checks = {**self.required, **self.optional}
        for name in self.required:
            if name not in value:
                raise TemplateError(f"{name} is missing", field=where)
        for name in value:
            if name not in checks:
                raise TemplateError(
                    f"the field {show_key(name)} is unknown",
                    field=where,
                    hint="a newer warmstart may know it",
                )
        dot = f"{where}." if where else ""
        return self.build(
            **{name: checks[name].read(value[name], dot + name, limits) for name in value}
        )

    def schema(self, limits: Limits) -> Schema:
        """An object that has no other properties."""
        checks = {**self.required, **self.optional}
        return {
            "type": "object",
            "required": list(self.required),
            "additionalProperties": False,
            "properties": {name: checks[name].schema(limits) for name in checks},
        }


def value_schema(limits: Limits) -> Schema:
    """Any value inside a call's arguments."""
    inner = {"$ref": "#/$defs/value"}
    return {
        "type": ["string", "number", "boolean", "null", "array", "object"],
        "maxLength": limits.text,
        "maxItems": limits.items,
        "items": inner,
        "maxProperties": limits.items,
        "propertyNames": Text("label").schema(limits),
        "additionalProperties": inner,
    }


def _read_any(value: Any, where: str, limits: Limits, depth: int) -> Any:
    if depth <= 0:
        raise TemplateError(f"nested deeper than {limits.depth}", field=where)
    if isinstance(value, str):
        return Text().read(value, where, limits)
    if isinstance(value, list):
        if len(value) > limits.items:
            raise TemplateError(f"more than {limits.items:,} entries", field=where)
        return [_read_any(inner, where, limits, depth - 1) for inner in value]
    if isinstance(value, dict):
        return {
            Text("label").read(key, where, limits): _read_any(value[key], where, limits, depth - 1)
            for key in sorted(_object(value, where, limits))
        }
    return _read_scalar(value, where)


def _read_scalar(value: Any, where: str) -> Any:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int) and abs(value) <= MAX_INTEGER:
        return value
    if isinstance(value, float) and abs(value) < float("inf"):
        return value
    raise TemplateError("a number that not everyone reads the same way", field=where)


def _object(value: Any, where: str, limits: Limits) -> dict[str, Any]:
    if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
        raise TemplateError(f"an object is wanted, not {_kind(value)}", field=where)
    if len(value) > limits.items:
        raise TemplateError(f"more than {limits.items:,} entries", field=where)
    return value


def _kind(value: Any) -> str:
    """What JSON calls the type of a value."""
    if value is None:
        return "null"
    kinds = {bool: "true or false", str: "text", int: "a number", float: "a number",
             list: "a list", dict: "an object"}  # fmt: skip
    return kinds.get(type(value), type(value).__name__)
