"""Looking for many plain phrases in a text: what most rules begin with."""

from __future__ import annotations

from collections.abc import Iterable, Iterator


def contains_any(text: str, phrases: Iterable[str]) -> bool:
    """Whether any phrase occurs. A plain loop: twice as fast as ``any`` over a generator."""
    for phrase in phrases:  # noqa: SIM110
        if phrase in text:
            return True
    return False


def find_lines(text: str, phrases: Iterable[str]) -> Iterator[str]:
    """The lines that hold a phrase, in the order of the phrases; one may be given more than once.

    Nearly all lines hold none, so that this spares an expression what it would try on each.
    """
    for phrase in phrases:
        found = text.find(phrase) if phrase in text else -1
        while found >= 0:
            start = text.rfind("\n", 0, found) + 1
            end = text.find("\n", found)
            if end < 0:
                yield text[start:]
                break
            yield text[start:end]
            found = text.find(phrase, end)
