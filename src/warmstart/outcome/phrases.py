"""Looking for many plain phrases in a text: what most rules begin with."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

_RARE_LETTERS = '*\tjL"RFAOI(xk'
"""Characters that the ends of outputs seldom hold, rarest first. Finding that a text holds none
takes an eighth of the time that a search for a phrase does."""
Grouped = tuple[tuple[str, tuple[str, ...]], ...]
"""Phrases behind a part that all of them hold, which is looked for first; it may be empty."""


def contains_any(text: str, phrases: Iterable[str]) -> bool:
    """Whether any phrase occurs. A plain loop: twice as fast as ``any`` over a generator."""
    for phrase in phrases:  # noqa: SIM110
        if phrase in text:
            return True
    return False


def group_phrases(phrases: Iterable[str], parts: Iterable[str] = _RARE_LETTERS) -> Grouped:
    """Phrases as ``contains_grouped`` takes them, each behind the first part that it holds."""
    groups: dict[str, list[str]] = {"": []}
    for phrase in phrases:
        part = next((part for part in parts if part in phrase), "")
        groups.setdefault(part, []).append(phrase)
    return tuple((part, tuple(group)) for part, group in groups.items() if group)


def contains_grouped(text: str, groups: Grouped) -> bool:
    """Whether any phrase occurs; for many phrases, half as long as ``contains_any`` takes."""
    for part, phrases in groups:
        if part in text:
            for phrase in phrases:
                if phrase in text:
                    return True
    return False


def find_lines(text: str, groups: Grouped) -> Iterator[str]:
    """The lines that hold a phrase, phrase by phrase; one may be given more than once.

    Nearly all lines hold none, so that this spares an expression what it would try on each.
    """
    for part, phrases in groups:
        for phrase in phrases if part in text else ():
            found = text.find(phrase) if phrase in text else -1
            while found >= 0:
                start = text.rfind("\n", 0, found) + 1
                end = text.find("\n", found)
                if end < 0:
                    yield text[start:]
                    break
                yield text[start:end]
                found = text.find(phrase, end)
