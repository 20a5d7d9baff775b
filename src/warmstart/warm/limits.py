"""What a warm-up may hold at most, beside its token budget."""

from __future__ import annotations

from dataclasses import dataclass

DEFAULT_BUDGET = 1500
"""Tokens. Long prefixes cost more than they teach; this leaves room for guidance and a few
examples."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Caps on what is taken from a template, and what is known of the present world."""

    examples: int = 6
    """Episodes altogether, examples and recoveries."""
    per_tool: int = 3
    result_chars: int = 800
    argument_chars: int = 400
    """For each text among a call's arguments."""
    said_chars: int = 300
    """For what the user and the agent say."""
    markers: int = 5
    existing: frozenset[str] | None = None
    """Files among the template's markers that still exist; None if nobody looked."""


DEFAULT_LIMITS = Limits()

__all__ = ["DEFAULT_BUDGET", "DEFAULT_LIMITS", "Limits"]
