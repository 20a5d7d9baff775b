"""Every text of a template, to be read or rewritten, wherever it stands.

Redaction and the scan for instruction-like text go through here, so that a field added to the
model is covered without anyone thinking of it. Names of arguments are texts too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from enum import StrEnum
from typing import Any, Protocol

from warmstart.model import Marker, Template


class Rewriter(Protocol):
    """Something that changes texts, and JSON values where names say what values are."""

    def text(self, text: str) -> str:
        """A text by itself."""
        ...

    def value(self, value: Any) -> Any:
        """A JSON object, its names too."""
        ...


FIXED_FIELDS = frozenset({"name", "session_hashes"})
"""The template's own name is checked instead, and hashes are no text."""


def rewrite_texts(template: Template, rewriter: Rewriter) -> Template:
    """The template with every text replaced by what the rewriter makes of it."""
    rewritten: Template = _rewrite_record(template, rewriter, FIXED_FIELDS)
    return rewritten


def list_texts(template: Template) -> Iterator[tuple[str, str]]:
    """Every text with the place it stands at."""
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


def _rewrite(value: Any, rewriter: Rewriter) -> Any:
    if isinstance(value, StrEnum):
        return value
    if isinstance(value, str):
        return rewriter.text(value)
    if isinstance(value, Marker):
        return value._replace(value=rewriter.text(value.value))
    if is_dataclass(value) and not isinstance(value, type):
        return _rewrite_record(value, rewriter, frozenset({"session_hashes"}))
    if isinstance(value, Mapping):
        return rewriter.value(dict(value))
    if isinstance(value, tuple | list):
        return type(value)(_rewrite(inner, rewriter) for inner in value)
    return value


def _rewrite_record(value: Any, rewriter: Rewriter, fixed: frozenset[str]) -> Any:
    changed = {}
    for field in fields(value):
        inner = getattr(value, field.name)
        if field.name not in fixed:
            changed[field.name] = _rewrite(inner, rewriter)
    return replace(value, **changed)


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
