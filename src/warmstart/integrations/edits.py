"""Changes to an agent's settings file, as text in and text out, and how each is taken back.

A change inserts one piece of text and leaves every other character where it was: layout, numbers as
written, line ends, repeated keys and comments. Taking it back cuts that piece out again; where the
file was rewritten in between, the entry itself is cut out of the text as it is now. What cannot be
changed with certainty (broken files, an entry of our name with another value) is refused, and the
caller shows what to add by hand.
"""

from __future__ import annotations

import copy
import json
import re
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from warmstart.errors import UsageError

BLOCK_BEGIN = "# >>> warmstart >>>"
BLOCK_END = "# <<< warmstart <<<"
_INDENT = re.compile(r"^[ \t]*\{\s*?\n([ \t]+)\S", re.MULTILINE)
_TOKEN = re.compile(
    r'"(?:[^"\\]|\\.)*+"|//[^\r\n]*|/\*.*?\*/|[{}\[\],:]|[^\s"{}\[\],:]+', re.DOTALL
)
_BLANK = " \t\r\n"
BOM = "\ufeff"
DEFAULT_INDENT = "  "


class Edit(Protocol):
    """One reversible change to a file."""

    def apply(self, text: str) -> str:
        """The text with the change; the same text if it is there already."""

    def undo(self, text: str, inserted: str = "") -> str:
        """The text without it; the same text if it is not there.

        Args:
            text: the file as it is now.
            inserted: what ``apply`` put in, where that is known.
        """

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
        current = _find(data, self.keys)
        if current == self.value:
            return text
        if current is not None:
            raise UsageError(f"{'.'.join(self.keys)} is set to something else already")
        return _insert(text, data, self.keys, self.value)

    def undo(self, text: str, inserted: str = "") -> str:
        """Remove the key, and the objects around it that were added with it."""
        data = parse_object(text)
        if _find(data, self.keys) != self.value:
            return text
        return _cut(text, data, self.keys, inserted)

    def show(self) -> str:
        """The entry with the keys around it."""
        return json.dumps(_wrap(self.keys, self.value), indent=2)


@dataclass(frozen=True, slots=True, kw_only=True)
class AddItem:
    """An item of a list under a path of keys in a JSON object."""

    keys: tuple[str, ...]
    value: Any

    def apply(self, text: str) -> str:
        """Append the item."""
        data = parse_object(text)
        items = _find(data, self.keys)
        if items is None:
            return _insert(text, data, self.keys, [self.value])
        if not isinstance(items, list):
            raise UsageError(f"{'.'.join(self.keys)} is not a list")
        if self.value in items:
            return text
        plain = _blank_comments(text)
        return _EntryWriter(text, plain).add(_find_container(plain, self.keys), _write(self.value))

    def undo(self, text: str, inserted: str = "") -> str:
        """Remove the item, and what was added around it."""
        data = parse_object(text)
        items = _find(data, self.keys)
        if not isinstance(items, list) or self.value not in items:
            return text
        return _cut(text, data, (*self.keys, items.index(self.value)), inserted)

    def show(self) -> str:
        """The item in its list."""
        return json.dumps(_wrap(self.keys, [self.value]), indent=2)


@dataclass(frozen=True, slots=True, kw_only=True)
class AddTable:
    """A table at the end of a TOML file, between two marks."""

    keys: tuple[str, ...]
    lines: str

    def apply(self, text: str) -> str:
        """Append the table."""
        if BLOCK_BEGIN in text:
            return text
        name = ".".join(self.keys)
        if _find(_parse_toml(text), self.keys) is not None:
            raise UsageError(f"{name} is set already")
        newline = _find_newline(text)
        gap = "" if not text or text.endswith("\n") else newline
        lines = (BLOCK_BEGIN, *self.lines.splitlines(), BLOCK_END, "")
        after = text + gap + newline.join(lines)
        try:
            _parse_toml(after)
        except UsageError as error:
            raise UsageError(f"a table {name} cannot be added at its end") from error
        return after

    def undo(self, text: str, inserted: str = "") -> str:
        """Cut the table out."""
        if inserted and text.count(inserted) == 1:
            return text.replace(inserted, "")
        before, begin, rest = text.partition(BLOCK_BEGIN)
        _, end, after = rest.partition(BLOCK_END)
        return before + after.removeprefix("\r").removeprefix("\n") if begin and end else text

    def show(self) -> str:
        """The lines alone."""
        return self.lines


def find_inserted(before: str, after: str) -> str:
    """The text that was put into ``before`` to make ``after``; empty if that is not all."""
    start = 0
    while start < len(before) and before[start] == after[start]:
        start += 1
    end = len(after) - (len(before) - start)
    return after[start:end] if after[end:] == before[start:] else ""


def parse_object(text: str) -> dict[str, Any]:
    """The object in a settings file; an empty file is an empty object.

    Raises:
        UsageError: it is not a JSON object, with or without comments.
    """
    if not text.strip(_BLANK + BOM):
        return {}
    try:
        data = json.loads(_blank_comments(text))
    except (ValueError, RecursionError) as error:
        raise UsageError(f"the file is not valid JSON ({error})") from error
    if not isinstance(data, dict):
        raise UsageError("the file is not a JSON object")
    return data


def _parse_toml(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text.removeprefix(BOM))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise UsageError(f"the file is not valid TOML ({error})") from error


def _wrap(keys: tuple[str, ...], value: Any) -> Any:
    for key in reversed(keys):
        value = {key: value}
    return value


def _find(data: Any, keys: tuple[str, ...]) -> Any:
    for key in keys:
        data = data.get(key) if isinstance(data, dict) else None
    return data


# -- where things stand in the text


class _Member(NamedTuple):
    """A member of an object or an item of a list, by its place in the text."""

    key: str | None
    start: int
    value: int
    end: int


class _Container(NamedTuple):
    """An object or a list: the places of its brackets and of what is in it."""

    start: int
    end: int
    depth: int
    parts: list[_Member]


def _blank_comments(text: str) -> str:
    """The text with blanks for comments, trailing commas and a byte order mark; places stay."""
    blanks: list[tuple[int, int]] = [(0, 1)] if text.startswith(BOM) else []
    comma: tuple[int, int] | None = None
    for token in _TOKEN.finditer(text):
        word = token.group()
        if word.startswith(("//", "/*")):
            blanks.append(token.span())
            continue
        if comma and word in "}]":
            blanks.append(comma)
        comma = token.span() if word == "," else None
    parts, at = [], 0
    for start, end in sorted(blanks):
        parts += [text[at:start], re.sub(r"[^\r\n]", " ", text[start:end])]
        at = end
    return "".join(parts) + text[at:]


def _read_container(plain: str, start: int, depth: int) -> _Container:
    """What is in the object or list that begins at ``start``."""
    parts: list[_Member] = []
    tokens: list[re.Match[str]] = []
    level = 0
    for token in _TOKEN.finditer(plain, start):
        word = token.group()
        level += (word in "{[") - (word in "}]")
        if level == 0 or (level == 1 and word == ","):
            parts += [_make_part(tokens, is_member=plain[start] == "{")] if tokens else []
            tokens = []
        elif token.start() != start:
            tokens = [*tokens[:3], token]  # a key, its colon, the value's first token, its last
        if level == 0:
            return _Container(start, token.start(), depth, parts)
    raise UsageError("the file is not valid JSON")


def _make_part(tokens: list[re.Match[str]], *, is_member: bool) -> _Member:
    key = json.loads(tokens[0].group()) if is_member else None
    value = tokens[2 if is_member else 0]
    return _Member(key, tokens[0].start(), value.start(), tokens[-1].end())


def _find_container(plain: str, keys: tuple[str | int, ...]) -> _Container:
    """The object or list under a path of keys; of repeated keys the last counts, as in JSON."""
    container = _read_container(plain, plain.index("{"), 0)
    for key in keys:
        part = container.parts[_find_part(container, key)]
        container = _read_container(plain, part.value, container.depth + 1)
    return container


def _find_part(container: _Container, key: str | int) -> int:
    if isinstance(key, int):
        return key
    return max(index for index, part in enumerate(container.parts) if part.key == key)


# -- putting in


def _insert(text: str, data: dict[str, Any], keys: tuple[str, ...], value: Any) -> str:
    """The text with a key, and the objects around it that are not there yet."""
    holder: Any = data
    known = 0
    while known < len(keys) - 1 and keys[known] in holder:
        holder = holder[keys[known]]
        known += 1
        if not isinstance(holder, dict):
            raise UsageError(f"{'.'.join(keys[:known])} is not an object")
    if keys[known] in holder:
        raise UsageError(f"{'.'.join(keys[: known + 1])} is null")
    plain = _blank_comments(text)
    if not plain.strip():
        return f"{text}{json.dumps(_wrap(keys, value), indent=2, ensure_ascii=False)}\n"
    write = _write(_wrap(keys[known + 1 :], value), keys[known])
    return _EntryWriter(text, plain).add(_find_container(plain, keys[:known]), write)


def _write(value: Any, key: str | None = None) -> Callable[[str | None, bool], str]:
    """How an entry is written: with an indent over lines, or in one line, tight or spaced."""

    def write(indent: str | None, is_tight: bool) -> str:  # noqa: FBT001 - both are the layout
        colon = ":" if is_tight and indent is None else ": "
        comma = "," if is_tight or indent is not None else ", "
        name = "" if key is None else json.dumps(key) + colon
        return name + json.dumps(
            value, indent=indent, ensure_ascii=False, separators=(comma, colon)
        )

    return write


class _EntryWriter(NamedTuple):
    text: str
    plain: str

    def add(self, container: _Container, write: Callable[[str | None, bool], str]) -> str:
        """The text with one more entry at the end of a container, in the layout around it."""
        text = self.text
        inner = text[container.start : container.end]
        is_flat = "\n" not in (inner if container.parts else text.strip())
        comma = "," if container.parts else ""
        at = container.parts[-1].end if container.parts else container.start + 1
        if is_flat:
            is_tight = '": ' not in text and '":' in text
            entry = comma + (" " if comma and not is_tight else "") + write(None, is_tight)
        else:
            newline, indent = _find_newline(text), self._find_indent()
            margin = newline + indent * (container.depth + 1)
            lines = write(indent, False).split("\n")  # noqa: FBT003 - the layout
            entry = comma + margin + margin.join(lines)
            if not container.parts and "\n" not in inner:
                entry += newline + indent * container.depth
        return text[:at] + entry + text[at:]

    def _find_indent(self) -> str:
        found = _INDENT.search(self.plain)
        return found[1] if found else DEFAULT_INDENT


def _find_newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


# -- cutting out


def _cut(text: str, data: dict[str, Any], keys: tuple[str | int, ...], inserted: str) -> str:
    """The text without an entry: exactly what was put in if it is still there, else the entry."""
    wanted = copy.deepcopy(data)
    _remove(wanted, keys)
    for candidate in _without(text, inserted):
        try:
            found = parse_object(candidate)
        except UsageError:
            continue
        _prune(found, keys[:-1])
        if found == wanted:
            return candidate
    return _cut_entry(text, data, keys)


def _without(text: str, inserted: str) -> Iterator[str]:
    at = text.rfind(inserted) if inserted else -1
    while at >= 0:
        yield text[:at] + text[at + len(inserted) :]
        at = text.rfind(inserted, 0, at)


def _cut_entry(text: str, data: dict[str, Any], keys: tuple[str | int, ...]) -> str:
    while len(keys) > 1 and len(_walk(data, keys[:-1])) == 1:
        keys = keys[:-1]
    plain = _blank_comments(text)
    container = _find_container(plain, keys[:-1])
    index = _find_part(container, keys[-1])
    part = container.parts[index]
    if index + 1 < len(container.parts):
        end = plain.index(",", part.end) + 1
        end += len(text[end:]) - len(text[end:].lstrip(_BLANK))
        return text[: part.start] + text[end:]
    start = len(text[: part.start].rstrip(_BLANK))
    if not index:
        end = container.end if not text[part.end : container.end].strip(_BLANK) else part.end
        return text[:start] + text[end:]
    comma = plain.index(",", container.parts[index - 1].end)
    return text[:comma] + text[comma + 1 : start] + text[part.end :]


def _walk(data: Any, keys: tuple[str | int, ...]) -> Any:
    for key in keys:
        data = data[key]
    return data


def _remove(data: dict[str, Any], keys: tuple[str | int, ...]) -> None:
    """Take an entry out, and what it leaves empty around it."""
    del _walk(data, keys[:-1])[keys[-1]]
    _prune(data, keys[:-1])


def _prune(data: Any, keys: tuple[str | int, ...]) -> None:
    """Take out what is empty along a path, innermost first."""
    for count in range(len(keys), 0, -1):
        try:
            if _walk(data, keys[:count]) in ({}, []):
                del _walk(data, keys[: count - 1])[keys[count - 1]]
        except (KeyError, IndexError, TypeError):
            continue
