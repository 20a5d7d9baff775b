"""Changes to an agent's settings file, as text in and text out, and how each is taken back.

A change adds one entry and nothing else. What cannot be changed with certainty (comments in JSON,
an entry of our name that says something else) is refused, and the caller shows what to add by hand.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from warmstart.errors import UsageError

_INDENT = re.compile(r"^[ \t]*\{\s*?\n([ \t]+)\S", re.MULTILINE)
BLOCK_BEGIN = "# >>> warmstart >>>"
BLOCK_END = "# <<< warmstart <<<"


class Edit(Protocol):
    """One reversible change to a file."""

    def apply(self, text: str) -> str:
        """The text with the change; the same text if it is there already."""

    def undo(self, text: str) -> str:
        """The text without it; the same text if it is not there."""

    def show(self) -> str:
        """What a person would write by hand."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SetKey:
    """A value under a path of keys in a JSON object."""

    keys: tuple[str, ...]
    value: Any

    def apply(self, text: str) -> str:
        """Add the key."""
        data = parse_object(text)
        holder = _descend(data, self.keys[:-1])
        current = holder.get(self.keys[-1])
        if current == self.value:
            return text
        if current is not None:
            raise UsageError(f"{'.'.join(self.keys)} is set to something else already")
        holder[self.keys[-1]] = self.value
        return write_object(data, like=text)

    def undo(self, text: str) -> str:
        """Remove the key, and the objects around it that it leaves empty."""
        data = parse_object(text)
        if _find(data, self.keys) != self.value:
            return text
        _remove(data, self.keys)
        return write_object(data, like=text)

    def show(self) -> str:
        """The entry with the keys around it."""
        value = self.value
        for key in reversed(self.keys):
            value = {key: value}
        return json.dumps(value, indent=2)


@dataclass(frozen=True, slots=True, kw_only=True)
class AddItem:
    """An item of a list under a path of keys in a JSON object."""

    keys: tuple[str, ...]
    value: Any

    def apply(self, text: str) -> str:
        """Append the item."""
        data = parse_object(text)
        holder = _descend(data, self.keys[:-1])
        items = holder.setdefault(self.keys[-1], [])
        if not isinstance(items, list):
            raise UsageError(f"{'.'.join(self.keys)} is no list")
        if self.value in items:
            return text
        items.append(self.value)
        return write_object(data, like=text)

    def undo(self, text: str) -> str:
        """Remove the item, and what it leaves empty around it."""
        data = parse_object(text)
        items = _find(data, self.keys)
        if not isinstance(items, list) or self.value not in items:
            return text
        items.remove(self.value)
        if not items:
            _remove(data, self.keys)
        return write_object(data, like=text)

    def show(self) -> str:
        """The item in its list."""
        return SetKey(keys=self.keys, value=[self.value]).show()


@dataclass(frozen=True, slots=True, kw_only=True)
class AddBlock:
    """Lines between two marks at the end of a text file."""

    lines: str
    unless: str
    """Text that shows the same is there already, by another hand."""

    def apply(self, text: str) -> str:
        """Append the block."""
        if BLOCK_BEGIN in text:
            return text
        if self.unless in text:
            raise UsageError(f"{self.unless} is there already")
        gap = "" if not text or text.endswith("\n") else "\n"
        return f"{text}{gap}{BLOCK_BEGIN}\n{self.lines}\n{BLOCK_END}\n"

    def undo(self, text: str) -> str:
        """Cut the block out."""
        before, begin, rest = text.partition(BLOCK_BEGIN)
        _, end, after = rest.partition(f"{BLOCK_END}\n")
        return before + after if begin and end else text

    def show(self) -> str:
        """The lines alone."""
        return self.lines


def parse_object(text: str) -> dict[str, Any]:
    """A settings file as an object; an empty file is an empty one.

    Raises:
        UsageError: it is no JSON object, or holds comments that rewriting would lose.
    """
    if not text.strip():
        return {}
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"the file is no plain JSON ({error})") from error
    if not isinstance(data, dict):
        raise UsageError("the file is no JSON object")
    return data


def write_object(data: Mapping[str, Any], *, like: str = "") -> str:
    """An object in the layout of the text it replaces, so that taking back leaves no trace."""
    found = _INDENT.search(like)
    indent = found[1] if found else (None if "{" in like and "\n" not in like.strip() else "  ")
    end = "\n" if like.endswith("\n") or not like else ""
    return json.dumps(data, indent=indent, ensure_ascii=False) + end


def _descend(data: dict[str, Any], keys: tuple[str, ...]) -> dict[str, Any]:
    for key in keys:
        data = data.setdefault(key, {})
        if not isinstance(data, dict):
            raise UsageError(f"{key} is no object")
    return data


def _find(data: Any, keys: tuple[str, ...]) -> Any:
    for key in keys:
        if not isinstance(data, dict):
            return None
        data = data.get(key)
    return data


def _remove(data: dict[str, Any], keys: tuple[str, ...]) -> None:
    holders = [data]
    for key in keys[:-1]:
        holders.append(holders[-1][key])
    for holder, key in zip(reversed(holders), reversed(keys), strict=True):
        del holder[key]
        if holder:
            return
