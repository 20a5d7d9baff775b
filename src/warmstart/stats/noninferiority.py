"""Did compression (or a smaller warm-up) keep the agent as good as it was? Three honest answers.

A difference is after minus before, so positive is worse. The margin must be fixed before looking.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

from warmstart.stats.paired import paired_t
from warmstart.stats.proportion import Interval
from warmstart.stats.special import t_cdf, t_quantile

__all__ = [
    "MIN_GROUPS",
    "NonInferiority",
    "Preservation",
    "hall_bound",
    "p_not_inferior",
    "three_way",
]

MIN_GROUPS = 20
"""Below this "preserved" is never concluded: with few and skewed differences even the corrected
bound is too optimistic at the margin (`bench/verdict.py` measures it)."""
MIN_TO_SHOW_HARM = 6
"""Below this no two-sided sign test reaches 5 %, so "degraded" is not concluded either."""


class Preservation(StrEnum):
    """What the differences say about the margin."""

    PRESERVED = "preserved"
    DEGRADED = "degraded"
    WORSE_INSIDE_MARGIN = "worse_inside_margin"
    INCONCLUSIVE = "inconclusive"


class NonInferiority(NamedTuple):
    """The answer with what it rests on."""

    answer: Preservation
    estimate: float
    interval: Interval
    """Skew-corrected, 95 % two-sided: each limit is a one-sided 97.5 % bound. Because rate
    differences are skewed, the true one-sided level is about 5 % and not 2.5 %."""
    margin: float
    n: int
    reason: str


def hall_bound(differences: Sequence[float], level: float = 0.95) -> Interval:
    """Two-sided interval of the mean corrected for skewness.

    Inverts Hall's cubic transformation of the t statistic (Hall 1992), with t instead of normal
    quantiles. Fewer than three differences give an infinite interval, equal ones their value.
    """
    n = len(differences)
    if n < 3:
        return Interval(-math.inf, math.inf)
    t = paired_t(differences, level)
    if t.se == 0.0:
        return t.interval
    skew = _skewness(differences, t.estimate)
    quantile = t_quantile(0.5 + level / 2.0, n - 1.0)
    high = t.estimate - t.se * _undo_skew(-quantile, skew, n)
    low = t.estimate - t.se * _undo_skew(quantile, skew, n)
    return Interval(low, high)


def _undo_skew(z: float, skew: float, n: int) -> float:
    """Solve z = t + a t^2 / 3 + a^2 t^3 / 27 + a / 6 for t, where a = skew / sqrt(n)."""
    a = skew / math.sqrt(n)
    if abs(a) < 1e-9:
        return z
    inside = 1.0 + a * (z - a / 6.0)
    return 3.0 / a * (math.copysign(abs(inside) ** (1.0 / 3.0), inside) - 1.0)


def three_way(differences: Sequence[float], margin: float) -> NonInferiority:
    """Judge after-minus-before differences, one per session or event, against a fixed margin.

    Upper bound below the margin with at least 20 groups: preserved, or worse inside the margin if
    the lower bound is above zero. Lower bound above zero otherwise: degraded. Else inconclusive.
    Differences that are all equal get the interval of +-3/n instead of one without width.
    """
    n = len(differences)
    estimate = math.fsum(differences) / n if n else 0.0
    interval = hall_bound(differences)
    if interval.low == interval.high:
        # No spread is no certainty: by the rule of three up to 3/n of the groups may differ by one.
        interval = Interval(estimate - 3.0 / n, estimate + 3.0 / n)
    answer, reason = _judge(interval, margin, n)
    return NonInferiority(answer, estimate, interval, margin, n, reason)


def p_not_inferior(differences: Sequence[float], margin: float) -> float:
    """One-sided p against "worse by the margin or more", the inverse of ``hall_bound``.

    p <= .025 says the same as an upper bound of ``three_way`` below the margin. Where all
    differences are equal: the chance that none of them would stray if a share of the groups as
    large as the gap to the margin did.
    """
    n = len(differences)
    if n < 3:
        return 1.0
    t = paired_t(differences)
    gap = margin - t.estimate
    if t.se == 0.0:
        return max(1.0 - gap, 0.0) ** n if gap > 0.0 else 1.0
    a = _skewness(differences, t.estimate) / math.sqrt(n)
    x = -gap / t.se
    return t_cdf(x + a * x**2 / 3.0 + a**2 * x**3 / 27.0 + a / 6.0, n - 1.0)


def _too_few(n: int) -> str:
    return f"{n} difference{'' if n == 1 else 's'}, {MIN_GROUPS} are needed"


def _skewness(differences: Sequence[float], mean: float) -> float:
    n = len(differences)
    third = math.fsum((d - mean) ** 3 for d in differences) / n
    spread = math.fsum((d - mean) ** 2 for d in differences) / n
    scale = math.pow(spread, 1.5)
    return third / scale if scale > 0.0 else 0.0


def _judge(interval: Interval, margin: float, n: int) -> tuple[Preservation, str]:
    worse = interval.low > 0.0
    if interval.high < margin:
        if n < MIN_GROUPS:
            return Preservation.INCONCLUSIVE, _too_few(n)
        if worse:
            return Preservation.WORSE_INSIDE_MARGIN, "worse, but by less than the margin"
        return Preservation.PRESERVED, "the upper bound is below the margin"
    if worse and n >= MIN_TO_SHOW_HARM:
        return Preservation.DEGRADED, "the lower bound is above zero"
    if n < MIN_GROUPS:
        return Preservation.INCONCLUSIVE, _too_few(n)
    return Preservation.INCONCLUSIVE, "the interval holds both no change and the margin"
