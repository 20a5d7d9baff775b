"""Every text of a template, to be read or rewritten, wherever it stands.

Redaction and the scan for instruction-like text go through here, so that a field added to the
model is covered without anyone thinking of it. Names of arguments are texts too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from enum import StrEnum
from typing import Any

from warmstart.model import Marker, Template, map_texts

__all__ = ["list_scanned", "list_texts", "rewrite_texts"]

SKIPPED = ("session_hashes",)
"""Digests are not text, and would look like secrets."""


def rewrite_texts(
    template: Template,
    on_text: Callable[[str], str],
    on_arguments: Callable[[Mapping[str, Any]], Any],
) -> Template:
    """The template with every text but its name replaced; arguments of calls are given whole."""
    changed = map_texts(template, on_text, on_arguments=on_arguments, skip=SKIPPED)
    rewritten: Template = replace(changed, name=template.name)
    return rewritten


def list_texts(template: Template) -> Iterator[tuple[str, str]]:
    """Every text with its place, as ``examples[2].result``."""
    for field in fields(template):
        yield from _list(getattr(template, field.name), field.name)


def list_scanned(template: Template) -> Iterator[tuple[str, str]]:
    """Every text, and each list of words as one line: ``["git", "push", "-f"]`` is a command."""
    yield from list_texts(template)
    for field in ("examples", "recoveries"):
        for index, one in enumerate(getattr(template, field)):
            for name in ("arguments", "failed_arguments"):
                where = f"{field}[{index}].{name}"
                yield from _join_words(getattr(one, name, None), where)


def _join_words(value: Any, where: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _join_words(inner, f"{where}.{key}")
    elif isinstance(value, tuple | list):
        yield where, " ".join(inner for inner in value if isinstance(inner, str))
        for index, inner in enumerate(value):
            yield from _join_words(inner, f"{where}[{index}]")


def _list(value: Any, where: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, StrEnum):
        return
    if isinstance(value, str):
        yield where, value
    elif isinstance(value, Marker):
        yield f"{where}.value", value.value
    elif is_dataclass(value):
        for field in fields(value):
            yield from _list(getattr(value, field.name), f"{where}.{field.name}")
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield f"{where} name", key
            yield from _list(inner, f"{where}.{key}")
    elif isinstance(value, tuple | list):
        for index, inner in enumerate(value):
            yield from _list(inner, f"{where}[{index}]")
