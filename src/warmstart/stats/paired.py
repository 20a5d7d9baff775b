"""Tests on one difference per task: the primary analysis of every experiment.

A difference is treatment minus control of the same task. The paired t gives effect, interval and
p; the sign-flip test stands beside it and assumes only that the arms are exchangeable in a task.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Sequence
from operator import getitem
from random import Random
from typing import NamedTuple

from warmstart.stats.proportion import Interval
from warmstart.stats.special import (
    binomial_two_sided,
    normal_cdf,
    normal_quantile,
    t_cdf,
    t_quantile,
)

__all__ = [
    "PairedT",
    "RatioEstimate",
    "ShiftEstimate",
    "bonett_price",
    "hodges_lehmann",
    "log_ratio",
    "mcnemar_exact",
    "paired_t",
    "sign_flip",
    "wilcoxon",
]

EXACT_SIGN_FLIPS = 14
"""Up to here all 2^n sign patterns are listed."""
EXACT_RANKS = 50
"""Up to here the distribution of the signed-rank sum is counted out, ties and all."""
_BLOCK = 8
_NOTHING = Interval(-math.inf, math.inf)


class PairedT(NamedTuple):
    """Mean difference with Student's interval."""

    estimate: float
    interval: Interval
    p: float
    n: int
    sd: float
    se: float
    mde80: float
    """Smallest effect that such a sample shows with 80 % power: (t_.975 + t_.8) x se."""


class RatioEstimate(NamedTuple):
    """Geometric mean of treatment over control."""

    ratio: float
    interval: Interval
    p: float
    n: int
    sd_log: float
    dropped: int
    """Pairs with a value that is not positive, for which no ratio exists."""
    mde80: float
    """Smallest ratio below one that such a sample shows with 80 % power."""


class ShiftEstimate(NamedTuple):
    """Median-like centre of the differences with its distribution-free interval."""

    estimate: float
    interval: Interval
    n: int


def paired_t(differences: Sequence[float], level: float = 0.95) -> PairedT:
    """Student's one-sample t on the differences (Student 1908).

    Fewer than two give an infinite interval and p = 1; all zero give (0, 0) and p = 1; all equal
    and not zero give p = 0, which is why the sign-flip test is always read with it.
    """
    n = len(differences)
    if n < 2:
        estimate = differences[0] if n else 0.0
        return PairedT(estimate, _NOTHING, 1.0, n, math.nan, math.inf, math.inf)
    mean = math.fsum(differences) / n
    sd = math.sqrt(math.fsum((d - mean) ** 2 for d in differences) / (n - 1))
    if sd <= 1e-14 * abs(mean):
        sd = 0.0
    se = sd / math.sqrt(n)
    quantile = t_quantile(0.5 + level / 2.0, n - 1.0)
    half = quantile * se
    mde = (quantile + t_quantile(0.8, n - 1.0)) * se
    return PairedT(mean, Interval(mean - half, mean + half), _t_p(mean, se, n), n, sd, se, mde)


def _t_p(mean: float, se: float, n: int) -> float:
    if se > 0.0:
        return 2.0 * t_cdf(-abs(mean) / se, n - 1.0)
    return 1.0 if mean == 0.0 else 0.0


def sign_flip(differences: Iterable[float], seed: int = 0, resamples: int = 10_000) -> float:
    """Two-sided p of the sum when each difference may as well have had the other sign.

    Fisher's randomisation test (1935): exact for up to 14 differences that are not zero, else
    ``(1 + hits) / (1 + resamples)`` (Phipson and Smyth 2010). 1.0 if all are zero. Signs are drawn
    a byte at a time: each block of eight differences has its 256 signed sums ready.
    """
    values = [d for d in differences if d != 0.0]
    if not values:
        return 1.0
    limit = abs(math.fsum(values)) - 1e-12 * math.fsum(map(abs, values))
    if len(values) <= EXACT_SIGN_FLIPS:
        sums = _signed_sums(values)
        return sum(abs(s) >= limit for s in sums) / len(sums)
    tables = [_signed_sums(values[i : i + _BLOCK]) for i in range(0, len(values), _BLOCK)]
    tables[-1] *= 2**_BLOCK // len(tables[-1])
    draw = Random(seed).randbytes  # noqa: S311 - resampling, not secrets
    width = len(tables)
    hits = 0
    for _ in range(resamples):
        hits += abs(sum(map(getitem, tables, draw(width)))) >= limit
    return (1 + hits) / (1 + resamples)


def _signed_sums(values: Sequence[float]) -> list[float]:
    sums = [0.0]
    for value in values:
        sums = [s + value for s in sums] + [s - value for s in sums]
    return sums


def mcnemar_exact(b: int, c: int) -> float:
    """Exact p for ``b`` tasks solved by one arm only and ``c`` by the other only (McNemar 1947)."""
    return binomial_two_sided(min(b, c), b + c)


def bonett_price(b: int, c: int, n: int, level: float = 0.95) -> Interval:
    """Interval for ``(b - c) / n``: ``b`` tasks only the treatment solved, ``c`` only control.

    Adjusted Wald interval of Bonett and Price (2012); (-1, 1) without tasks.
    """
    if n <= 0:
        return Interval(-1.0, 1.0)
    one, two = (b + 1.0) / (n + 2.0), (c + 1.0) / (n + 2.0)
    difference = one - two
    error = math.sqrt((one + two - difference * difference) / (n + 2.0))
    half = normal_quantile(0.5 + level / 2.0) * error
    return Interval(max(-1.0, difference - half), min(1.0, difference + half))


def log_ratio(pairs: Iterable[tuple[float, float]], level: float = 0.95) -> RatioEstimate:
    """Paired t on log(treatment / control) of ``(control, treatment)`` pairs, given back as ratios.

    Costs are skewed and multiply, so their logarithms are compared (Gaddum 1945). Pairs with a
    value that is not positive are dropped and counted; none left gives ratio 1 with (0, inf).
    """
    logs, dropped = [], 0
    for control, treatment in pairs:
        if control > 0.0 and treatment > 0.0:
            logs.append(math.log(treatment / control))
        else:
            dropped += 1
    t = paired_t(logs, level)
    interval = Interval(math.exp(t.interval.low), _safe_exp(t.interval.high))
    return RatioEstimate(
        math.exp(t.estimate), interval, t.p, t.n, t.sd, dropped, math.exp(-t.mde80)
    )


def _safe_exp(x: float) -> float:
    return math.exp(x) if x < 700.0 else math.inf


def wilcoxon(differences: Iterable[float]) -> float:
    """Two-sided p of the signed-rank test (Wilcoxon 1945), zeros left out.

    Up to 50 differences the exact distribution given the ties, above that the normal
    approximation with tie correction. 1.0 if all are zero.
    """
    values = [d for d in differences if d != 0.0]
    n = len(values)
    if n == 0:
        return 1.0
    ranks = _double_ranks([abs(d) for d in values])
    positive = sum(rank for rank, d in zip(ranks, values, strict=True) if d > 0.0)
    smaller = min(positive, sum(ranks) - positive)
    if n <= EXACT_RANKS:
        counts = _rank_sum_counts(ranks)
        return min(1.0, 2.0 * sum(counts[: smaller + 1]) / 2.0**n)
    spread = math.sqrt(sum(rank * rank for rank in ranks) / 4.0)
    return 2.0 * normal_cdf((smaller - sum(ranks) / 2.0) / spread)


def _double_ranks(values: Sequence[float]) -> list[int]:
    """Twice the average rank, so that tied ranks stay whole numbers."""
    order = sorted(range(len(values)), key=values.__getitem__)
    ranks = [0] * len(values)
    start = 0
    while start < len(order):
        end = start
        while end + 1 < len(order) and values[order[end + 1]] == values[order[start]]:
            end += 1
        for place in range(start, end + 1):
            ranks[order[place]] = start + end + 2
        start = end + 1
    return ranks


def _rank_sum_counts(ranks: Sequence[int]) -> memoryview:
    """How many of the 2^n sign patterns give each sum of positive ranks.

    The generating polynomial prod(1 + x^rank) with its coefficients in 64-bit fields of one
    integer: a shift and an addition per rank. Coefficients fit because n <= EXACT_RANKS.
    """
    packed = 1
    for rank in ranks:
        packed += packed << (64 * rank)
    return memoryview(packed.to_bytes(8 * (sum(ranks) + 1), sys.byteorder)).cast("Q")


def hodges_lehmann(differences: Sequence[float], level: float = 0.95) -> ShiftEstimate:
    """Median of all pairwise averages, with the interval that inverts the signed-rank test.

    Hodges and Lehmann (1963); limits by Moses (in Hollander and Wolfe 1999, section 3.3). No
    differences give 0 with an infinite interval; fewer than six cannot exclude anything at 95 %.
    """
    n = len(differences)
    if n == 0:
        return ShiftEstimate(0.0, _NOTHING, 0)
    averages = sorted(
        (differences[i] + differences[j]) / 2.0 for i in range(n) for j in range(i, n)
    )
    middle = len(averages) // 2
    centre = averages[middle]
    if len(averages) % 2 == 0:
        centre = (averages[middle - 1] + centre) / 2.0
    cut = _rank_cut(n, (1.0 - level) / 2.0)
    interval = Interval(averages[cut], averages[-1 - cut]) if cut >= 0 else _NOTHING
    return ShiftEstimate(centre, interval, n)


def _rank_cut(n: int, tail: float) -> int:
    """Averages to leave out at each end: largest k with P(W <= k) <= tail; -1 if there is none."""
    if n > EXACT_RANKS:
        spread = math.sqrt(n * (n + 1) * (2 * n + 1) / 24.0)
        return math.floor(n * (n + 1) / 4.0 + normal_quantile(tail) * spread)
    below = 0
    for k, count in enumerate(_rank_sum_counts(range(1, n + 1))):
        below += count
        if below > tail * 2.0**n:
            return k - 1
    return -1
