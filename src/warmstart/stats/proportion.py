"""Error and success rates with intervals that know that calls of one session go together.

A cluster is ``(errors, calls)`` of one session or one task. Calls inside a cluster are correlated,
so the interval comes from the spread between clusters. Where that spread says nothing (one
cluster, no error at all) an intraclass correlation of ``ASSUMED_ICC`` stands in for it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from warmstart.stats.special import normal_quantile, t_cdf, t_quantile

__all__ = [
    "ASSUMED_ICC",
    "Cluster",
    "Difference",
    "Interval",
    "RateEstimate",
    "clustered_difference",
    "clustered_rate",
    "fade_assumed",
    "paired_difference",
    "upper_bound_when_zero",
    "wilson",
]

Cluster = tuple[float, float]
"""Errors and calls of one session or task."""

ASSUMED_ICC = 0.10
"""Correlation of calls within a session where the data cannot show one (.06-.13 measured on
public agent runs)."""


FEW_EVENTS = 20
"""Fewer errors (or successes) than this hardly show whether errors of a session go together."""


class Interval(NamedTuple):
    """A confidence interval; infinite limits mean that the data exclude nothing."""

    low: float
    high: float


class RateEstimate(NamedTuple):
    """A rate over clusters, with everything needed to say how much it is worth."""

    rate: float
    interval: Interval
    errors: float
    calls: float
    clusters: int
    icc: float | None
    """Intraclass correlation by analysis of variance; None where it cannot be estimated."""
    deff: float
    """Design effect: variance between clusters over that of independent calls, at least 1."""
    n_eff: float
    """Independent calls that would say as much: calls / deff."""


class Difference(NamedTuple):
    """The second rate minus the first."""

    estimate: float
    interval: Interval
    p: float
    df: float


class _Spread(NamedTuple):
    """What one side contributes to an interval: its variance and the variance's own df."""

    variance: float
    df: float
    icc: float | None
    deff: float
    estimated: bool
    """False where ``ASSUMED_ICC`` had to stand in."""


def wilson(k: float, n: float, level: float = 0.95) -> Interval:
    """Score interval of a single proportion (Wilson 1927); (0, 1) without trials."""
    return _score_interval(k / n if n > 0 else 0.0, n, normal_quantile(0.5 + level / 2.0))


def _score_interval(rate: float, n: float, z: float) -> Interval:
    if n <= 0 or math.isinf(z):
        return Interval(0.0, 1.0)
    square = z * z
    centre = (rate + square / (2.0 * n)) / (1.0 + square / n)
    spread = math.sqrt(rate * (1.0 - rate) / n + square / (4.0 * n * n))
    half = z * spread / (1.0 + square / n)
    low = 0.0 if rate <= 0.0 else max(0.0, centre - half)
    high = 1.0 if rate >= 1.0 else min(1.0, centre + half)
    return Interval(low, high)


def upper_bound_when_zero(n_eff: float) -> float:
    """95 % upper bound of a rate of which no event was seen (Hanley and Lippman-Hand 1983).

    The rate at which ``n_eff`` calls in a row go well once in twenty times; about 3/n for many.
    """
    return 1.0 - 0.05 ** (1.0 / n_eff) if n_eff > 0 else 1.0


def clustered_rate(clusters: Sequence[Cluster], level: float = 0.95) -> RateEstimate:
    """Errors over calls with a cluster-robust interval.

    Ratio estimator with delta-method variance (Cochran 1977, section 6.3), which says how many
    independent calls these are worth; the limits are Wilson's on that number with t(G-1) (as Dean
    and Pagano 2015 do for surveys): with 4 to 20 clusters they hold more often than the rate plus
    and minus its error, at the same width. Clusters that happen to be more alike than chance would
    make them are not believed: calls are never worth more than their number, and while errors are
    few an intraclass correlation of ``ASSUMED_ICC`` counts too. Clusters without calls are
    ignored; none left gives the rate 0 with the interval (0, 1).
    """
    used = [(float(e), float(n)) for e, n in clusters if n > 0]
    if not used:
        return RateEstimate(0.0, Interval(0.0, 1.0), 0.0, 0.0, 0, None, 1.0, 0.0)
    errors, calls = math.fsum(e for e, _ in used), math.fsum(n for _, n in used)
    rate = errors / calls
    spread = _spread(used, rate, calls)
    n_eff = calls / spread.deff
    quantile = 0.5 + level / 2.0
    critical = t_quantile(quantile, spread.df) if spread.estimated else normal_quantile(quantile)
    interval = _score_interval(rate, n_eff, critical)
    return RateEstimate(rate, interval, errors, calls, len(used), spread.icc, spread.deff, n_eff)


def _spread(used: Sequence[Cluster], rate: float, calls: float) -> _Spread:
    groups = len(used)
    simple = rate * (1.0 - rate) / calls
    residual = math.fsum((e - rate * n) ** 2 for e, n in used)
    typical = math.fsum(n * n for _, n in used) / calls
    assumed = 1.0 + max(0.0, typical - 1.0) * ASSUMED_ICC
    if groups > 1 and residual > 1e-12 * calls and simple > 0.0:
        deff = groups / (groups - 1) * residual / (calls * calls) / simple
        deff = max(deff, fade_assumed(assumed, min(rate, 1.0 - rate) * calls))
        icc = _icc(used, rate, calls)
        return _Spread(deff * simple, groups - 1.0, icc, deff, True)  # noqa: FBT003 - a NamedTuple field, named right above
    deff = assumed
    n_eff = calls / deff
    shrunk = (rate * n_eff + 1.0) / (n_eff + 2.0)
    variance = shrunk * (1.0 - shrunk) / (n_eff + 2.0)
    df = groups - 1.0 if groups > 1 else max(1.0, n_eff - 1.0)
    return _Spread(variance, df, None, deff, False)  # noqa: FBT003 - a NamedTuple field


def fade_assumed(assumed: float, events: float) -> float:
    """The least design effect that is believed: the assumed one, less with each event seen."""
    return 1.0 + (assumed - 1.0) * max(0.0, 1.0 - events / FEW_EVENTS)


def _icc(used: Sequence[Cluster], rate: float, calls: float) -> float | None:
    """Analysis-of-variance estimator (Donner and Koval 1980), kept inside [-1, 1]."""
    groups = len(used)
    if calls <= groups:
        return None
    between = math.fsum(n * (e / n - rate) ** 2 for e, n in used) / (groups - 1)
    within = math.fsum(e * (1.0 - e / n) for e, n in used) / (calls - groups)
    size = (calls - math.fsum(n * n for _, n in used) / calls) / (groups - 1)
    bottom = between + (size - 1.0) * within
    return max(-1.0, min(1.0, (between - within) / bottom)) if bottom > 0.0 else None


def clustered_difference(
    a: Sequence[Cluster], b: Sequence[Cluster], level: float = 0.95
) -> Difference:
    """Rate of ``b`` minus rate of ``a``, for two independent sets of clusters.

    Delta-method variances with Welch-Satterthwaite df (Welch 1947). A side without any error or
    with a single cluster contributes an Agresti-Caffo variance (2000) on its effective calls, so a
    lucky zero never makes the interval narrow. An empty side gives (-1, 1) with p = 1.
    """
    left = [(float(e), float(n)) for e, n in a if n > 0]
    right = [(float(e), float(n)) for e, n in b if n > 0]
    if not left or not right:
        return Difference(0.0, Interval(-1.0, 1.0), 1.0, 0.0)
    (rate_a, one), (rate_b, two) = _rate_and_spread(left), _rate_and_spread(right)
    estimate = rate_b - rate_a
    variance = one.variance + two.variance
    bottom = one.variance**2 / one.df + two.variance**2 / two.df
    df = variance * variance / bottom
    error = math.sqrt(variance)
    half = t_quantile(0.5 + level / 2.0, df) * error
    interval = Interval(max(-1.0, estimate - half), min(1.0, estimate + half))
    return Difference(estimate, interval, 2.0 * t_cdf(-abs(estimate) / error, df), df)


def _rate_and_spread(used: Sequence[Cluster]) -> tuple[float, _Spread]:
    calls = math.fsum(n for _, n in used)
    rate = math.fsum(e for e, _ in used) / calls
    return rate, _spread(used, rate, calls)


def paired_difference(pairs: Sequence[tuple[Cluster, Cluster]], level: float = 0.95) -> Difference:
    """Second minus first rate over calls, where both sides have the same clusters.

    Difference of two ratio estimators with the covariance that pairing gives (Cochran 1977,
    section 6.15) and t(G-1). Weighs long tasks more, and rejects a true null in up to 7 % of
    cases, so it is a sensitivity line and not the test. Fewer than two pairs or a side without
    calls give (-1, 1) with p = 1.
    """
    count = len(pairs)
    calls = [math.fsum(pair[side][1] for pair in pairs) for side in (0, 1)]
    if count < 2 or min(calls) <= 0.0:
        return Difference(0.0, Interval(-1.0, 1.0), 1.0, 0.0)
    rates = [math.fsum(pair[side][0] for pair in pairs) / calls[side] for side in (0, 1)]
    pulls = [
        (b[0] - rates[1] * b[1]) / calls[1] - (a[0] - rates[0] * a[1]) / calls[0] for a, b in pairs
    ]
    error = math.sqrt(count / (count - 1) * math.fsum(pull * pull for pull in pulls))
    estimate, df = rates[1] - rates[0], count - 1.0
    half = t_quantile(0.5 + level / 2.0, df) * error
    p = 2.0 * t_cdf(-abs(estimate) / error, df) if error > 0.0 else float(estimate == 0.0)
    return Difference(estimate, Interval(estimate - half, estimate + half), p, df)
