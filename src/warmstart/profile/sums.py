"""Error rates over sessions as sums that can be added up, so that no session is kept.

A cluster is one session's errors and judged calls. Seven sums over clusters are all that the
cluster-robust interval of ``stats.proportion`` needs; a test holds that both give the same.
Plain lists, because there are tens of thousands of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from warmstart.stats import (
    ASSUMED_ICC,
    fade_assumed,
    normal_quantile,
    t_cdf,
    t_quantile,
    upper_bound_when_zero,
)

__all__ = [
    "Contrast",
    "Group",
    "Rate",
    "Sums",
    "add_cluster",
    "add_clusters",
    "add_errors",
    "add_sums",
    "contrast",
    "rate_of",
    "zero",
]

Sums = list[float]
"""Clusters, errors, calls, then the sums of e*e, e*n, n*n and e*e/n."""
GROUPS, ERRORS, CALLS, EE, EN, NN, EEN = range(7)
LEVEL = 0.975


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """An error rate with what it rests on."""

    errors: int
    calls: int
    """Judged calls: ok or error."""
    sessions: int
    rate: float | None
    """None without calls."""
    low: float
    high: float
    """95 %, respecting that the calls of a session go together; with no error at all, ``high`` is
    the bound that the effective number of calls allows."""
    icc: float | None
    deff: float
    n_eff: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """The error rate of some of the sessions, or of some of their calls."""

    label: str
    rate: Rate


@dataclass(frozen=True, slots=True, kw_only=True)
class Contrast:
    """The second rate minus the first."""

    estimate: float
    low: float
    high: float
    p: float
    mde80: float
    """The smallest difference such data show with 80 % power."""

    @property
    def decided(self) -> bool:
        """Whether the interval leaves out no difference."""
        return self.low > 0.0 or self.high < 0.0


def zero() -> Sums:
    """No clusters yet."""
    return [0, 0, 0, 0, 0, 0, 0.0]


def add_cluster(sums: Sums, errors: int, calls: int) -> None:
    """One more session; one without judged calls is not a cluster."""
    add_clusters(sums, calls, 1)
    if errors:
        add_errors(sums, errors, calls)


def add_clusters(sums: Sums, calls: int, times: int) -> None:
    """So many sessions with so many judged calls each, but for their errors."""
    if calls:
        sums[GROUPS] += times
        sums[CALLS] += times * calls
        sums[NN] += times * calls * calls


def add_errors(sums: Sums, errors: int, calls: int) -> None:
    """The errors of a session whose calls were added already."""
    sums[ERRORS] += errors
    sums[EE] += errors * errors
    sums[EN] += errors * calls
    sums[EEN] += errors * errors / calls


def add_sums(parts: Iterable[Sums]) -> Sums:
    """Several sets of clusters as one."""
    total = zero()
    for part in parts:
        for index, value in enumerate(part):
            total[index] += value
    return total


def rate_of(sums: Sums) -> Rate:
    """The rate with its cluster-robust interval (as ``stats.proportion.clustered_rate``)."""
    groups, errors, calls = int(sums[GROUPS]), int(sums[ERRORS]), int(sums[CALLS])
    if not calls:
        return Rate(errors=0, calls=0, sessions=0, rate=None, low=0.0, high=1.0, icc=None,
                    deff=1.0, n_eff=0.0)  # fmt: skip
    rate = errors / calls
    spread = _spread(sums)
    n_eff = calls / spread.deff
    critical = t_quantile(LEVEL, spread.df) if spread.estimated else normal_quantile(LEVEL)
    low, high = _score_limits(rate, n_eff, critical)
    if not errors:
        low, high = 0.0, upper_bound_when_zero(n_eff)
    return Rate(errors=errors, calls=calls, sessions=groups, rate=rate, low=low, high=high,
                icc=_icc(sums), deff=spread.deff, n_eff=n_eff)  # fmt: skip


def _score_limits(rate: float, n: float, critical: float) -> tuple[float, float]:
    """Wilson's limits (1927) with a quantile that may be Student's."""
    square = critical * critical
    centre = (rate + square / (2.0 * n)) / (1.0 + square / n)
    spread = math.sqrt(rate * (1.0 - rate) / n + square / (4.0 * n * n))
    half = critical * spread / (1.0 + square / n)
    low = 0.0 if rate <= 0.0 else max(0.0, centre - half)
    return low, 1.0 if rate >= 1.0 else min(1.0, centre + half)


@dataclass(frozen=True, slots=True)
class _RateSpread:
    variance: float
    df: float
    deff: float
    estimated: bool


def _residual(sums: Sums, rate: float) -> float:
    return max(0.0, sums[EE] - 2.0 * rate * sums[EN] + rate * rate * sums[NN])


def _spread(sums: Sums) -> _RateSpread:
    groups, calls = sums[GROUPS], sums[CALLS]
    rate = sums[ERRORS] / calls
    simple = rate * (1.0 - rate) / calls
    residual = _residual(sums, rate)
    assumed = 1.0 + max(0.0, sums[NN] / calls - 1.0) * ASSUMED_ICC
    if groups > 1 and residual > 1e-9 * calls and simple > 0.0:
        deff = groups / (groups - 1) * residual / (calls * calls) / simple
        deff = max(deff, fade_assumed(assumed, min(sums[ERRORS], calls - sums[ERRORS])))
        return _RateSpread(deff * simple, groups - 1.0, deff, estimated=True)
    deff = assumed
    n_eff = calls / deff
    shrunk = (rate * n_eff + 1.0) / (n_eff + 2.0)
    df = groups - 1.0 if groups > 1 else max(1.0, n_eff - 1.0)
    return _RateSpread(shrunk * (1.0 - shrunk) / (n_eff + 2.0), df, deff, estimated=False)


def _icc(sums: Sums) -> float | None:
    """Analysis-of-variance estimator (Donner and Koval 1980)."""
    groups, errors, calls = sums[GROUPS], sums[ERRORS], sums[CALLS]
    if groups < 2 or calls <= groups or not 0 < errors < calls:
        return None
    rate = errors / calls
    between = (sums[EEN] - 2.0 * rate * errors + rate * rate * calls) / (groups - 1)
    within = (errors - sums[EEN]) / (calls - groups)
    size = (calls - sums[NN] / calls) / (groups - 1)
    bottom = between + (size - 1.0) * within
    return max(-1.0, min(1.0, (between - within) / bottom)) if bottom > 0.0 else None


def contrast(one: Sums, two: Sums) -> Contrast:
    """Rate of ``two`` minus rate of ``one`` (as ``stats.proportion.clustered_difference``)."""
    if not one[CALLS] or not two[CALLS]:
        return Contrast(estimate=0.0, low=-1.0, high=1.0, p=1.0, mde80=1.0)
    left, right = _spread(one), _spread(two)
    estimate = two[ERRORS] / two[CALLS] - one[ERRORS] / one[CALLS]
    variance = left.variance + right.variance
    df = variance**2 / (left.variance**2 / left.df + right.variance**2 / right.df)
    error = math.sqrt(variance)
    quantile = t_quantile(LEVEL, df)
    half = quantile * error
    return Contrast(
        estimate=estimate,
        low=max(-1.0, estimate - half),
        high=min(1.0, estimate + half),
        p=2.0 * t_cdf(-abs(estimate) / error, df),
        mde80=min(1.0, (quantile + t_quantile(0.8, df)) * error),
    )
