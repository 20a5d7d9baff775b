"""Numbers with their nouns, for the sentences that figures come in."""

from __future__ import annotations

__all__ = ["count"]


def count(number: int, noun: str) -> str:
    """A number with its noun in the right form."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
