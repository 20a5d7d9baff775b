"""Two groups that share no task: Welch's test, and whether their sizes are as planned."""

from __future__ import annotations

import math
from collections.abc import Sequence

from warmstart.stats.proportion import Difference, Interval
from warmstart.stats.special import binomial_two_sided, t_cdf, t_quantile

__all__ = ["MISMATCH_P", "sample_ratio", "welch"]

MISMATCH_P = 0.001
"""Below this the assignment is taken to be broken (Fabijan et al. 2019)."""


def welch(a: Sequence[float], b: Sequence[float], level: float = 0.95) -> Difference:
    """Mean of ``b`` minus mean of ``a`` with unequal variances (Welch 1947).

    Fewer than two values on a side give an infinite interval and p = 1; no spread at all on both
    sides gives the interval of no width and p = 1 or 0.
    """
    if len(a) < 2 or len(b) < 2:
        return Difference(0.0, Interval(-math.inf, math.inf), 1.0, 0.0)
    (mean_a, one), (mean_b, two) = _mean_and_variance(a), _mean_and_variance(b)
    estimate = mean_b - mean_a
    variance = one + two
    if variance <= 0.0:
        return Difference(
            estimate, Interval(estimate, estimate), 0.0 if estimate else 1.0, len(a) + len(b) - 2.0
        )
    df = variance**2 / (one**2 / (len(a) - 1) + two**2 / (len(b) - 1))
    error = math.sqrt(variance)
    half = t_quantile(0.5 + level / 2.0, df) * error
    interval = Interval(estimate - half, estimate + half)
    return Difference(estimate, interval, 2.0 * t_cdf(-abs(estimate) / error, df), df)


def _mean_and_variance(values: Sequence[float]) -> tuple[float, float]:
    n = len(values)
    mean = math.fsum(values) / n
    return mean, math.fsum((v - mean) ** 2 for v in values) / (n - 1) / n


def sample_ratio(control: int, treatment: int, share: float = 0.5) -> float:
    """Exact binomial p of the split, ``share`` being the treatment's planned share."""
    return binomial_two_sided(treatment, control + treatment, share)
