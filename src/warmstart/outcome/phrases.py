"""Looking for many plain phrases in a text: what most rules begin with."""

from __future__ import annotations

from collections.abc import Iterable


def contains_any(text: str, phrases: Iterable[str]) -> bool:
    """Whether any phrase occurs. A plain loop: twice as fast as ``any`` over a generator."""
    for phrase in phrases:  # noqa: SIM110
        if phrase in text:
            return True
    return False
