"""One walk over every text of a record, whatever it is made of.

Redaction and scans for hostile text go through here, so that a field added to a record later is
covered without anyone thinking of it. A value of a kind that the walk does not know is an error:
what cannot be looked into cannot be called clean.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from functools import partial
from typing import Any

import msgspec

__all__ = ["map_texts"]

OnText = Callable[[str], str]
OnArguments = Callable[[Mapping[str, Any]], Any]


def map_texts(
    value: Any,
    on_text: OnText,
    *,
    on_arguments: OnArguments | None = None,
    skip: Collection[str] = (),
) -> Any:
    """The same record with every text, names in mappings too, replaced by ``on_text`` of it.

    Args:
        value: dataclasses, structs, named tuples, mappings, lists and plain values in any depth.
        on_text: gets each text.
        on_arguments: gets a call's arguments whole, because there a name tells what its value is;
            without it they are walked like everything else.
        skip: fields of records that are left as they are.

    Raises:
        TypeError: there is a value whose texts cannot be found.
    """
    if isinstance(value, Enum | bool | int | float | None):
        return value
    if isinstance(value, str):
        return on_text(value)
    walk = partial(map_texts, on_text=on_text, on_arguments=on_arguments, skip=skip)
    if isinstance(value, Mapping):
        return _map_mapping(value, walk)
    if isinstance(value, tuple | list | set | frozenset):
        parts = map(walk, value)
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    changed = {
        name: on_arguments(inner) if on_arguments and is_whole else walk(inner)
        for name, inner, is_whole in _list_fields(value, skip)
    }
    change: Any = msgspec.structs.replace if isinstance(value, msgspec.Struct) else replace
    return change(value, **changed)


def _map_mapping(value: Mapping[Any, Any], walk: Callable[[Any], Any]) -> dict[Any, Any]:
    found: dict[Any, Any] = {}
    for key, inner in value.items():
        name = walk(key)
        while isinstance(name, str) and name in found:  # two names may become one
            name += "'"
        found[name] = walk(inner)
    return found


def _list_fields(value: Any, skip: Collection[str]) -> Iterator[tuple[str, Any, bool]]:
    """Fields with their values, and whether these are a call's arguments.

    They come in alphabetical order: placeholders are numbered in the order they are met.
    """
    if isinstance(value, msgspec.Struct):
        names = set(value.__struct_fields__)
    elif is_dataclass(value) and not isinstance(value, type):
        names = {field.name for field in fields(value) if field.init}
    else:
        raise TypeError(f"cannot look for texts in a {type(value).__name__}")
    for name in sorted(names.difference(skip)):
        inner = getattr(value, name)
        yield name, inner, name.endswith("arguments") and isinstance(inner, Mapping)
