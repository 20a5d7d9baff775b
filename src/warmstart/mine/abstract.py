"""What varies between sessions becomes a placeholder; what is constant is kept.

The constant part is the convention worth teaching: the program, its flags, the folder every
session works in. A value is constant when at least two sessions used it. Within one example the
same value gets the same placeholder in arguments, result and words, so that it can be followed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from warmstart.mine.volatile import (
    IN_TEXT,
    MAY_VARY,
    is_absolute,
    kind_of_value,
    relative_to,
    split_scheme,
)
from warmstart.model import Call, Session
from warmstart.outcome import ToolKind, kind_of

SHARED_SESSIONS = 2
MAX_VALUE = 160
"""Longer texts are named after their argument instead of being shown."""
MAX_COMMAND = 240
MAX_DEPTH = 4
MAX_ITEMS = 6
SHELL_KEYS = frozenset({"command", "cmd", "script", "code", "input"})
_WORDS = re.compile(
    r"<<-?\s*['\"]?\w+['\"]?.*|\"(?:[^\"\\]|\\.)*\"|'[^']*'|\$\([^()]*\)"
    r"|\d?>{1,2}(?:&\d|\s*/dev/null)?|&&|\|\||[|;&\n]"
    r"|(?:<[A-Z]+(?::\w+)*>|[^\s|;&\"'>])+|[\"']",
    re.DOTALL,
)
_BREAKS = frozenset({"&&", "||", "|", ";", "&", "\n"})
_PLAIN = re.compile(r"[a-z][a-z0-9:_-]{0,24}")
_NUMBER = re.compile(r"\d{1,4}")
_REDIRECT = re.compile(r"\d?>{1,2}(?:&\d|\s*/dev/null)?")
_ID_KEY = re.compile(r"(?:^|_)ids?$|[a-z]I[dD]s?$")
_PERSONAL_KEY = re.compile(
    r"(?i)(?:\w{0,20}_)?(?:(?:first|last|full|middle|user|display|passenger|customer|contact)_?name"
    r"|name|names|e?mail|phone|mobile|address\d?|street|city|zip(?:code)?|postcode|dob|birth\w{0,8}"
    r"|recipients?|sender|participants?|owner|author|iban|card(?:_?number)?)"
)
"""Keys whose values are people's own, whatever they look like."""
_DIGITS = re.compile(r"\d+")


@dataclass(slots=True)
class Vocabulary:
    """In how many sessions each value was used as (part of) an argument."""

    sessions: Counter[str] = field(default_factory=Counter)
    alone: bool = False
    """There is one session only: nothing can be seen to vary, so only forms decide."""

    @classmethod
    def of(cls, sessions: Iterable[Session]) -> Vocabulary:
        """Count over sessions; several runs of one task count once."""
        by_task: dict[str, set[str]] = {}
        for session in sessions:
            words = by_task.setdefault(session.task or session.id, set())
            for call in session.calls:
                words.update(_values(call, session.project))
        vocabulary = cls(alone=len(by_task) == 1)
        for words in by_task.values():
            vocabulary.sessions.update(words)
        return vocabulary

    def is_shared(self, value: str) -> bool:
        """Whether a value is a convention rather than a detail of one session."""
        return self.alone or self.sessions[value] >= SHARED_SESSIONS


def _values(call: Call, root: str | None) -> Iterable[str]:
    shell = kind_of(call.tool) in (ToolKind.SHELL, ToolKind.CODE)
    for key, value in call.request.arguments.items():
        if not isinstance(value, str) or len(value) > 4000:
            continue
        if shell and key in SHELL_KEYS:
            yield from (relative_to(word, root) for word in _WORDS.findall(value[:1000]))
        elif len(value) <= MAX_VALUE:
            yield relative_to(value, root)


class Abstraction:
    """The placeholders of one example."""

    __slots__ = ("_names", "_root", "_used", "_vocabulary")

    def __init__(self, vocabulary: Vocabulary, root: str | None) -> None:
        self._vocabulary = vocabulary
        self._root = root
        self._names: dict[str, str] = {}
        self._used: Counter[str] = Counter()

    def arguments(self, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """A call's arguments, ready to be shown."""
        shell = kind_of(tool) in (ToolKind.SHELL, ToolKind.CODE)
        shown: dict[str, Any] = {}
        for key in sorted(arguments, key=str):
            value = arguments[key]
            if shell and key in SHELL_KEYS and isinstance(value, str):
                shown[str(key)] = self.command(value)
            else:
                shown[str(key)] = self._value(str(key), value, 0)
        return shown

    def command(self, text: str) -> str:
        """A command line: programs, flags and shared words stay."""
        pieces: list[str] = []
        place = end = 0
        for match in _WORDS.finditer(text):
            word = match.group()
            pieces += (text[end : match.start()], self._word(word, place))
            place = 0 if word in _BREAKS else place + 1
            end = match.end()
        joined = "".join(pieces).strip()
        return joined if len(joined) <= MAX_COMMAND else joined[:MAX_COMMAND].rstrip() + " <more>"

    def data(self, value: Any) -> Any:
        """A JSON value that came back: structure, numbers and conventions stay."""
        return self._value("", value, 0)

    def text(self, text: str) -> str:
        """Free text: values already named keep their names, volatile ones get one."""
        for value in sorted(self._names, key=lambda known: (-len(known), known)):
            if len(value) > 3:
                text = text.replace(value, self._names[value])
        return IN_TEXT.sub(self._replace, text) if MAY_VARY.search(text) else text

    def _replace(self, match: re.Match[str]) -> str:
        value = match.group().rstrip(".,:;")
        tail = match.group()[len(value) :]
        kind = match.lastgroup or "path"
        if kind == "path":
            inside = relative_to(value, self._root)
            if self._vocabulary.is_shared(inside) and not is_absolute(inside):
                return ("<project>" if inside == "." else inside) + tail
        return self._name(value, kind) + tail

    def _word(self, word: str, place: int) -> str:
        if word in _BREAKS or (">" in word and _REDIRECT.fullmatch(word)):
            return word
        if word.startswith("<<"):
            return "<<EOF <text>"
        if word[0] in "\"'" and len(word) > 1:
            return self._quoted(word)
        return self._flag(word, place) if word[0] == "-" else self._bare(word, place)

    def _flag(self, word: str, place: int) -> str:
        flag, equals, value = word.partition("=")
        if len(flag) > 32:
            return self._bare(word, place)
        return f"{flag}={self._word(value, 9)}" if equals and value else flag

    def _quoted(self, word: str) -> str:
        inner = word[1:-1]
        if self._vocabulary.is_shared(word) and len(inner) <= 80:
            return word[0] + self.text(inner) + word[0]
        kind = kind_of_value(inner)
        return f"{word[0]}{self._name(inner, kind) if kind else '<text>'}{word[0]}"

    def _bare(self, word: str, place: int) -> str:
        inside = relative_to(word, self._root)
        if inside == ".":
            return "." if word == "." else "<project>"
        kind = kind_of_value(inside)
        if kind == "path" and not is_absolute(inside) and self._vocabulary.is_shared(inside):
            return inside
        if kind is None and (
            self._vocabulary.is_shared(inside)
            or place == 0
            or (place == 1 and _PLAIN.fullmatch(inside))
            or _NUMBER.fullmatch(inside)
        ):
            return inside
        return self._name(word, kind or "name")

    def _value(self, key: str, value: Any, depth: int) -> Any:
        if isinstance(value, str):
            return self._string(key, value)
        if isinstance(value, Mapping):
            if depth >= MAX_DEPTH:
                return {}
            names = sorted(value, key=str)[: MAX_ITEMS * 2]
            return {str(name): self._value(str(name), value[name], depth + 1) for name in names}
        if isinstance(value, list | tuple):
            if depth >= MAX_DEPTH:
                return []
            return [self._value(key, item, depth + 1) for item in value[:MAX_ITEMS]]
        return value if value is None or isinstance(value, bool | int | float) else str(value)

    def _string(self, key: str, value: str) -> str:
        inside = relative_to(value, self._root)
        if inside == ".":
            return "<project>"
        kind = kind_of_value(inside) if len(inside) <= 400 else None
        if kind == "path" and not is_absolute(inside) and self._vocabulary.is_shared(inside):
            return inside
        if kind is not None:
            return self._name(value, kind)
        if len(inside) > MAX_VALUE:
            return f"<{key or 'text'}>"
        kind_of_key = self._kind_of_key(key, inside)
        return self._name(value, kind_of_key) if kind_of_key else self.text(inside)

    def _kind_of_key(self, key: str, value: str) -> str | None:
        """The kind a key gives away: ids, and what belongs to a person."""
        if len(value) < 2 or (self._vocabulary.is_shared(value) and not self._vocabulary.alone):
            return None
        if _ID_KEY.search(key):
            return "id"
        return key.lower() if _PERSONAL_KEY.fullmatch(key) else None

    def _name(self, value: str, kind: str) -> str:
        """The placeholder of a value; a second value of a kind is ``<path-2>``."""
        known = self._names.get(value)
        scheme, rest = split_scheme(value) if kind == "url" else ("", "")
        if known is None and scheme:
            known = self._names[value] = scheme + self._name(rest, "path")
        if known is None:
            self._used[kind] += 1
            number = self._used[kind]
            known = f"<{kind}>" if number == 1 else f"<{kind}-{number}>"
            self._names[value] = known
            self._remember_parts(value, kind, known)
        return known

    def _remember_parts(self, value: str, kind: str, placeholder: str) -> None:
        """A file is often spoken of by its name, or by its path within the project."""
        if kind != "path":
            return
        inside = relative_to(value, self._root)
        self._names.setdefault(inside, placeholder)
        name = inside.replace("\\", "/").rstrip("/").rpartition("/")[2]
        if len(name) > 5 and "." in name:
            self._names.setdefault(name, placeholder)


def form_of(tool: str, arguments: Mapping[str, Any]) -> str:
    """What near-identical calls have in common: free text by its argument's name, no numbers."""
    shell = kind_of(tool) in (ToolKind.SHELL, ToolKind.CODE)
    parts = [tool]
    for key, value in arguments.items():
        if shell and key in SHELL_KEYS and isinstance(value, str):
            parts.append(f"{key}={_DIGITS.sub('0', value)}")
        elif isinstance(value, str):
            keeps = len(value) <= 24 and " " not in value and "<" not in value and value.islower()
            parts.append(f"{key}={value if keeps else '~'}")
        else:
            parts.append(f"{key}={type(value).__name__}")
    return "\x1f".join(parts)
