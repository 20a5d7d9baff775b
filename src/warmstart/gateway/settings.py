"""Reading settings: one table of a configuration file, each value checked where it enters.

A missing or null value is the default. A wrong value is an error that names the dotted key and the
value. An unknown key is an error if it looks like a misspelling of a known one; otherwise it is
kept in ``extra``, so that a file written for another version survives a round trip.
"""

from __future__ import annotations

import dataclasses
import difflib
import functools
from collections.abc import Callable, Collection, Hashable, Mapping
from typing import Annotated, Any, Literal, TypeVar, cast, get_args, get_origin, get_type_hints

import msgspec

from warmstart.gateway.errors import ConfigError

T = TypeVar("T")
ASIDE = {"aside": True}
"""Metadata of a field that holds what this version does not know; never read from a file."""
_WANTED = {
    bool: "true or false", str: "a text", int: "a whole number", dict: "a table",
    tuple: "a list of texts",
}  # fmt: skip


def read_table(
    kind: type[T], data: object, where: str = "", **readers: Callable[[Any, str], Any]
) -> T:
    """The dataclass ``kind`` filled from a table of settings.

    Args:
        kind: a dataclass; what it has no field for goes into its ``extra``.
        data: the table.
        where: the table's dotted name, for errors.
        readers: how fields are read that are not plain values, each given its value and its key.

    Raises:
        ConfigError: a value is wrong, a required one is missing, or a key is misspelled.
    """
    types = _list_types(cast("Hashable", kind))
    values: dict[str, Any] = {}
    extra: dict[str, Any] = {}
    for name, value in check_table(data, where).items():
        if name not in types:
            _refuse_misspelled(where, name, value, types)
            extra[name] = value
        elif value is not None:
            read = readers.get(name) or functools.partial(check_value, types[name])
            values[name] = read(value, join_key(where, name))
    for name in _list_required(kind):
        if name not in values:
            raise ConfigError(join_key(where, name), None, describe_type(types[name]))
    if extra:
        values["extra"] = extra | values.get("extra", {})
    try:
        return kind(**values)
    except ConfigError as error:
        raise error.under(where) from None


def check_fields(settings: Any) -> None:
    """Check and convert every field of a dataclass that was made by hand.

    Raises:
        ConfigError: a value is wrong.
    """
    for name, wanted in _list_types(cast("Hashable", type(settings))).items():
        value = getattr(settings, name)
        converted = check_value(wanted, value, name)
        if converted is not value:
            setattr(settings, name, converted)


def check_value(wanted: Any, value: object, key: str) -> Any:
    """The value as the type ``wanted``: text from environments and bare numbers are converted.

    Raises:
        ConfigError: it cannot be that.
    """
    if isinstance(value, int) and not isinstance(value, bool) and wanted in (str, str | None):
        return str(value)  # chat ids are often written as bare numbers
    try:
        return msgspec.convert(value, wanted, strict=False)
    except (msgspec.ValidationError, ConfigError):
        raise ConfigError(key, value, describe_type(wanted)) from None


def check_table(data: object, where: str = "") -> dict[str, Any]:
    """The table itself, its keys as texts.

    Raises:
        ConfigError: it is not a table.
    """
    if not isinstance(data, Mapping):
        raise ConfigError(where or "the configuration", data, "a table")
    return {str(key): value for key, value in data.items()}


def join_key(where: str, name: str) -> str:
    """The dotted name of a key in the table ``where``."""
    return f"{where}.{name}" if where else name


def describe_type(wanted: Any) -> str:
    """What a value must be, as an error says it."""
    if get_origin(wanted) is Annotated:
        return next((meta.description for meta in get_args(wanted)[1:] if meta.description), "")
    if get_origin(wanted) is Literal:
        return "one of " + ", ".join(get_args(wanted))
    if hasattr(wanted, "__members__"):
        return "one of " + ", ".join(member.value for member in wanted)
    plain = next((one for one in get_args(wanted) if one in _WANTED), wanted)
    return _WANTED.get(get_origin(wanted) or plain) or _WANTED.get(plain, "another value")


@functools.cache
def _list_types(kind: Any) -> dict[str, Any]:
    """The types of the fields that a file may set."""
    hints = get_type_hints(kind, include_extras=True)
    fields = dataclasses.fields(kind)
    return {field.name: hints[field.name] for field in fields if field.metadata != ASIDE}


def _list_required(kind: Any) -> list[str]:
    missing = dataclasses.MISSING
    return [
        field.name
        for field in dataclasses.fields(kind)
        if field.default is missing and field.default_factory is missing
    ]


def _refuse_misspelled(where: str, name: str, value: object, known: Collection[str]) -> None:
    close = difflib.get_close_matches(name, known, n=1, cutoff=0.85)
    if close:
        raise ConfigError(join_key(where, name), value, f"spelled {close[0]!r}")
