"""Redaction itself: find, name, replace, and again until nothing more is found.

The same value gets the same placeholder in every text one ``Redactor`` sees, numbered by first
appearance, so what comes out depends only on what went in. A value found once is replaced in later
texts too, even where nothing beside it tells. Nothing here can print a value: the only way out is
the redacted text and counts by kind.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from copy import copy
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from warmstart.redact.broken_lines import find_broken
from warmstart.redact.command_lines import find_arguments
from warmstart.redact.decoded import View, decode
from warmstart.redact.encoded import MAX_DEPTH as MAX_ENCODED_DEPTH
from warmstart.redact.encoded import find_encoded
from warmstart.redact.errors import RedactionError
from warmstart.redact.given_values import Known, find_known, list_forms
from warmstart.redact.keys import find_keys
from warmstart.redact.names import classify_name, lower_same_length
from warmstart.redact.pairs import find_pairs, is_announced
from warmstart.redact.people import (
    EMAIL,
    HOME,
    HOST,
    PHONE,
    USER,
    Names,
    find_people,
    list_user_names,
)
from warmstart.redact.span import Span, merge_spans
from warmstart.redact.urls_headers import find_wires
from warmstart.redact.values import Place, is_random
from warmstart.redact.work import CROWDED, CROWDED_UNITS, Work, allow

MAX_CHARACTERS = 64_000_000
MAX_DEPTH = 200
MAX_ROUNDS = 8
NEAR_LINES, NEAR_CHARACTERS = 2, 32_768
"""How far around a placeholder is looked at again; the longest look back of a rule is 400."""
MAX_REMEMBERED = 128
"""Values looked for in later texts; more would make a long run quadratic."""
MIN_REMEMBERED_LENGTH = 12
SHORT_TEXT, MAX_CLEAN = 240, 20_000
"""Short texts without a secret that are known by heart: names of fields, paths, commands."""
MASK = "\ue000"
_PLACEHOLDER = re.compile(r"<(?:SECRET:(?P<kind>[a-z0-9_]{1,40})|(?P<person>EMAIL|PHONE|USER|HOST))"
                          r":(?P<number>\d{1,9})>|<HOME>")  # fmt: skip
_PERSONS = {EMAIL: "EMAIL", PHONE: "PHONE", USER: "USER", HOST: "HOST"}


@dataclass(frozen=True, slots=True)
class Redacted:
    """A text without its secrets, and how many of each kind were in it."""

    text: str = field(repr=False)
    found: Mapping[str, int]


class Redactor:
    """Redacts many texts with one numbering.

    Args:
        known: values that must go wherever they stand, by name or alone.
        pii: also mail addresses, phone numbers, home folders, user and host names.
        users: user names to replace, with ``pii``.
        hosts: host names to replace, with ``pii``.
        homes: home folders outside the usual places, with ``pii``.
    """

    __slots__ = ("_clean", "_clean_for", "_counts", "_forms", "_homes", "_names", "_next", "_pii",
                 "_placeholders", "_remembered")  # fmt: skip

    def __init__(
        self,
        known: Known = (),
        *,
        pii: bool = False,
        users: Iterable[str] = (),
        hosts: Iterable[str] = (),
        homes: Iterable[str] = (),
    ) -> None:
        self._forms = list_forms(known)
        self._pii = pii
        self._names = Names(users, hosts)
        self._homes = dict.fromkeys(list_forms(homes), "")
        self._placeholders: dict[tuple[str, str], str] = {}
        self._next: Counter[str] = Counter()
        self._counts: Counter[str] = Counter()
        self._remembered: dict[str, str] = {}
        self._clean: set[str] = set()
        self._clean_for = (0, 0)

    def __repr__(self) -> str:
        return f"Redactor(found={dict(self.found)})"

    @property
    def found(self) -> Mapping[str, int]:
        """How many of each kind were replaced so far."""
        return MappingProxyType(dict(sorted(self._counts.items())))

    def without_people(self) -> Redactor:
        """A redactor with the same numbering and memory that leaves personal data alone."""
        other = copy(self)
        other._pii = False  # noqa: SLF001 - its own kind, made a line above
        other._clean = set()  # noqa: SLF001 - what is clean for one is not for the other
        return other

    def learn(self, text: str) -> None:
        """Take user names from home folders in a text, to be replaced in the texts that follow."""
        if self._pii:
            self._names.add(list_user_names(_check(text)))

    def text(self, text: str) -> str:
        """The text without secrets; redacting the result again changes nothing.

        Raises:
            RedactionError: it is not text, or longer than ``MAX_CHARACTERS``.
        """
        _check(text)
        if self._is_known_clean(text):
            return text
        self.learn(text)
        self._reserve(text)
        work = Work(allow(len(text)))
        spans = self._find(text, work)
        if not spans:
            self._note_clean(text)
            return text
        text = self._replace(text, spans)
        for _ in range(MAX_ROUNDS):
            # A shorter text has a smaller allowance, so what was just enough may not be again.
            if work.spent * 2 > allow(len(text)):
                work = Work(CROWDED_UNITS if work.is_used_up else allow(len(text)))
                again = self._replace(text, self._find(text, work))
            else:
                again = self._redact_near(text)
            if again == text:
                break
            text = again
        return text

    def _is_known_clean(self, text: str) -> bool:
        """Whether this very text had no secret, and nothing was learned since that it may hold."""
        learned = (len(self._remembered), len(self._names))
        if learned != self._clean_for:
            self._clean.clear()
            self._clean_for = learned
        return text in self._clean if len(text) <= SHORT_TEXT else False

    def _note_clean(self, text: str) -> None:
        if len(text) <= SHORT_TEXT and len(self._clean) < MAX_CLEAN:
            self._clean.add(text)

    def _redact_near(self, text: str) -> str:
        """Look again around the placeholders: only there can anything new have come up."""
        parts: list[str] = []
        last = 0
        for low, high in _lines_with_placeholders(text):
            near = text[low:high]
            spans = self._find(near, Work(allow(len(near))))
            parts += (text[last:low], self._replace(near, spans) if spans else near)
            last = high
        parts.append(text[last:])
        return "".join(parts)

    def value(self, value: Any) -> Any:
        """A JSON value with every text in it redacted, keys too, and the same structure.

        Raises:
            RedactionError: it is not a JSON value, or nested deeper than ``MAX_DEPTH``.
        """
        return self._walk(value, 0)

    def _walk(self, value: Any, depth: int) -> Any:
        if depth > MAX_DEPTH:
            raise RedactionError(f"a value is nested deeper than {MAX_DEPTH} levels")
        if isinstance(value, str):
            return self.text(value)
        if value is None or isinstance(value, bool | int | float):
            return value
        if isinstance(value, Mapping):
            return self._walk_fields(value, depth)
        if isinstance(value, list | tuple):
            return self._walk_items(value, depth)
        raise RedactionError(f"cannot redact a {type(value).__name__}")

    def _walk_fields(self, fields: Mapping[Any, Any], depth: int) -> dict[str, Any]:
        clean: dict[str, Any] = {}
        named = fields.get("name", fields.get("key"))
        for key, value in fields.items():
            if not isinstance(key, str):
                raise RedactionError(f"cannot redact a key that is a {type(key).__name__}")
            told_by = named if key == "value" and isinstance(named, str) else key
            name = self.text(key)
            while name in clean:  # two homes may become one
                name += "'"
            clean[name] = self._walk_told(told_by, value, depth)
        return clean

    def _walk_items(self, items: list[Any] | tuple[Any, ...], depth: int) -> list[Any]:
        """Items one by one; what follows a flag such as ``--password`` is named by it."""
        clean: list[Any] = []
        before: Any = None
        for item in items:
            is_flag = isinstance(before, str) and before.startswith("-") and "=" not in before
            clean.append(
                self._walk_told(before, item, depth) if is_flag else self._walk(item, depth + 1)
            )
            before = item
        return clean

    def _walk_told(self, name: str, value: Any, depth: int) -> Any:
        """A value whose field or flag may announce a secret."""
        if not isinstance(value, str):
            return self._walk(value, depth + 1)
        clean = self.text(value)
        told = classify_name(name)
        if told is None or clean != value or MASK in value:
            return clean
        kind, strength = told
        if not is_announced(value, strength, name, place=Place.QUOTED):
            return clean
        return self._replace(value, [Span(0, len(value), kind, value)])

    def _find(self, text: str, work: Work) -> list[Span]:
        raw = _PLACEHOLDER.sub(_mask, text) if "<" in text else text
        view = decode(raw)
        spans = list(_find_secrets(view, raw, work))
        if self._forms:
            spans += find_known(view, raw, self._forms, work)
        if self._pii:
            spans += self._find_people(view, raw, work)
        for span in spans:
            self._remember(span)
        for value, kind in self._remembered.items():
            if value in view.text:
                spans += find_known(view, raw, {value: value}, work, kind)
        # A stretch may hold a placeholder and must go all the same, unless it is nothing else.
        return [span for span in merge_spans(spans) if raw[span.start : span.end].strip(MASK)]

    def _find_people(self, view: View, raw: str, work: Work) -> list[Span]:
        spans = [*find_people(view, raw, work), *self._names.find(view, work)]
        if self._homes:
            spans += find_known(view, raw, self._homes, work, HOME)
        return spans

    def _remember(self, span: Span) -> None:
        if (
            span.rank < 3
            and span.kind != CROWDED
            and MIN_REMEMBERED_LENGTH <= len(span.value) <= 512
            and len(self._remembered) < MAX_REMEMBERED
            and is_random(span.value, least=MIN_REMEMBERED_LENGTH)
        ):
            self._remembered.setdefault(span.value, span.kind)

    def _replace(self, text: str, spans: list[Span]) -> str:
        parts: list[str] = []
        last = 0
        for span in spans:
            parts.append(text[last : span.start])
            parts.append(self._name(span))
            self._counts[span.kind] += 1
            last = span.end
        parts.append(text[last:])
        return "".join(parts)

    def _name(self, span: Span) -> str:
        """The placeholder of a value, made at its first appearance."""
        if span.kind == HOME:
            return "<HOME>"
        person = _PERSONS.get(span.kind)
        key = (person or "", span.value)
        if key not in self._placeholders:
            self._next[span.kind] += 1
            label = person or f"SECRET:{span.kind}"
            self._placeholders[key] = f"<{label}:{self._next[span.kind]}>"
        return self._placeholders[key]

    def _reserve(self, text: str) -> None:
        """Number past the placeholders a text already has."""
        if "<" not in text:
            return
        given = set(self._placeholders.values())
        for match in _PLACEHOLDER.finditer(text):
            kind = match.group("kind") or (match.group("person") or "").lower()
            number = int(match.group("number") or 0)
            if kind and match.group() not in given:
                self._next[kind] = max(self._next[kind], number)


def _find_secrets(view: View, raw: str, work: Work, depth: int = 0) -> Iterator[Span]:
    """What the rules find in a text, and in the text that is encoded in it."""
    lowered = lower_same_length(view.text)
    yield from find_keys(view, work)
    yield from find_pairs(view, lowered, work)
    yield from find_wires(view, raw, lowered, work)
    yield from find_arguments(view, lowered, work)
    if depth < MAX_ENCODED_DEPTH:
        yield from find_encoded(view, work, lambda inner: _search(inner, work, depth + 1))
    if depth == 0:
        yield from find_broken(view, lambda joined: _search(joined, work, MAX_ENCODED_DEPTH))


def _search(text: str, work: Work, depth: int) -> Iterator[Span]:
    return _find_secrets(decode(text), text, work, depth)


def _lines_with_placeholders(text: str) -> Iterator[tuple[int, int]]:
    """Stretches of whole lines, placeholders with ``NEAR_LINES`` before and after them."""
    low = high = -1
    for match in _PLACEHOLDER.finditer(text):
        if match.end() <= high:
            continue
        start, end = match.span()
        low_limit = max(start - NEAR_CHARACTERS, 0)
        high_limit = min(end + NEAR_CHARACTERS, len(text))
        for _ in range(NEAR_LINES + 1):
            start = max(text.rfind("\n", low_limit, start), low_limit)
            end = _after(text.find("\n", end, high_limit), high_limit)
        if start > high:
            if high >= 0:
                yield low, high
            low = start
        high = end
    if high >= 0:
        yield low, high


def _after(place: int, size: int) -> int:
    return size if place < 0 else place + 1


def _mask(match: re.Match[str]) -> str:
    return MASK * len(match.group())


def _check(text: object) -> str:
    if not isinstance(text, str):
        raise RedactionError(f"cannot redact a {type(text).__name__}", hint="give it as text")
    if len(text) > MAX_CHARACTERS:
        raise RedactionError(
            f"a text of {len(text):,} characters is over the limit of {MAX_CHARACTERS:,}",
            hint="split it at line ends",
        )
    return text


def redact(text: str, *, known: Known = (), pii: bool = False) -> Redacted:
    """One text without its secrets, and what was in it by kind.

    Raises:
        RedactionError: redaction cannot run; there is then no text to use.
    """
    redactor = Redactor(known, pii=pii)
    clean = redactor.text(text)
    return Redacted(clean, redactor.found)


def redact_text(text: str) -> str:
    """One text without its secrets; ``redact`` also counts them by kind.

    Raises:
        RedactionError: redaction cannot run; there is then no text to use.
    """
    return redact(text).text


def redact_value(value: Any, *, known: Known = (), pii: bool = False) -> Any:
    """One JSON value without its secrets.

    Raises:
        RedactionError: redaction cannot run; there is then no value to use.
    """
    return Redactor(known, pii=pii).value(value)
