"""Figures as people read them: the one place where each kind of number is formatted.

Sentences of stages and documents of ``present`` both use it, so a share or a p-value looks the
same wherever it appears. Importing it loads nothing heavy.
"""

from __future__ import annotations

import math

__all__ = [
    "amount",
    "count",
    "money",
    "p_value",
    "percent",
    "plural",
    "points",
    "times",
]

NONE = "-"
"""Stands for a value that does not exist."""
SMALL_P = 0.001


def count(number: int, noun: str) -> str:
    """A number with its noun in the right form."""
    return f"{number:,} {plural(number, noun)}"


def plural(number: int, noun: str) -> str:
    """A noun in the form that fits a number."""
    return noun if number == 1 else f"{noun}s"


def percent(value: float | None) -> str:
    """A share with one digit; a dash where there is none."""
    return NONE if value is None else f"{100 * value:.1f} %"


def points(difference: float) -> str:
    """A difference of two shares in percentage points."""
    if math.isinf(difference):
        return "unlimited"
    rounded = round(100 * difference, 1) + 0.0
    return f"{rounded:+.1f} points" if rounded else "0.0 points"


def times(ratio: float) -> str:
    """A ratio, such as x2.49."""
    return "unlimited" if math.isinf(ratio) else f"x{ratio:.2f}"


def p_value(value: float | None) -> str:
    """A p-value with three digits, never as zero; a dash where there is none."""
    if value is None:
        return NONE
    return "< 0.001" if value < SMALL_P else f"{value:.3f}"


def money(value: float | None) -> str:
    """Dollars, with enough digits for small amounts; a dash where the price is not known."""
    if value is None:
        return NONE
    return f"${value:,.2f}" if value >= 1 or value == 0 else f"${value:.2g}"


def amount(value: float | None) -> str:
    """A count or a mean: three digits, and every digit of what is larger."""
    if value is None:
        return NONE
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
