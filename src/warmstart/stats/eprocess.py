"""The symmetry e-process: evidence that may be looked at after every task.

If the arms are exchangeable within a task, each difference is as likely to have either sign, given
its size. Betting on the sign then multiplies a stake whose mean stays one, so the chance that it
ever reaches 1/alpha is at most alpha (Ville 1939; Ramdas et al. 2020 for the symmetric case). It
tests exchangeability: the size of an effect comes from an interval, not from the e-value.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from warmstart.stats.proportion import Interval

__all__ = ["SequencePoint", "e_values", "sym_cs"]

BETS = (0.1, 0.2, 0.4, 0.8, 1.6)
_GRID_HALF = 100
_LARGEST = 1e290
"""Stakes stop growing here; one that has shrunk to nothing stays there, which is conservative."""


class SequencePoint(NamedTuple):
    """The interval after ``n`` tasks; all of them hold at once with the given confidence."""

    n: int
    estimate: float
    interval: Interval


def e_values(differences: Sequence[float]) -> Iterator[float]:
    """Running e-value: mean over bets c and both directions of prod(1 +- tanh(c d_i / rms_i)).

    ``rms_i`` is the root mean square of the first i differences, which signs cannot change.
    Differences that are zero leave it as it is.
    """
    stakes = [1.0] * (2 * len(BETS))
    square = 0.0
    for n, d in enumerate(differences, 1):
        square += d * d
        if d != 0.0:
            stakes = _bet(stakes, d / math.sqrt(square / n))
        yield sum(stakes) / len(stakes)


def _bet(stakes: Sequence[float], size: float) -> list[float]:
    """Every stake after a difference of ``size`` root mean squares: up first, then down."""
    after = []
    for index, bet in enumerate(BETS):
        win = math.tanh(bet * size)
        after.append(min(_LARGEST, stakes[2 * index] * (1.0 + win)))
        after.append(min(_LARGEST, stakes[2 * index + 1] * (1.0 - win)))
    return after


def sym_cs(differences: Sequence[float], level: float = 0.95) -> list[SequencePoint]:
    """Confidence sequence: every centre of symmetry that the e-process has not rejected so far.

    Inverts the test over a grid that is fine near the mean and rounds outwards. Conservative
    (about 1.6 times the width of the t interval) in exchange for holding at all times. A limit is
    infinite while the data cannot exclude anything on that side.
    """
    n = len(differences)
    if n == 0:
        return []
    grid = _grid(differences)
    limit = 2 * len(BETS) / (1.0 - level)
    alive = [_first_rejection(differences, centre, limit) for centre in grid]
    points = []
    total = 0.0
    for count, d in enumerate(differences, 1):
        total += d
        kept = [i for i, rejected in enumerate(alive) if rejected > count]
        points.append(SequencePoint(count, total / count, _hull(grid, kept)))
    return points


def _grid(differences: Sequence[float]) -> list[float]:
    """Centres around the mean: dense within a standard error, sparse out to twice the range."""
    n = len(differences)
    mean = math.fsum(differences) / n
    reach = 2.0 * max(max(differences) - min(differences), abs(mean), 1e-9)
    fine = reach / (40.0 * math.sqrt(n))
    top = math.asinh(reach / fine)
    return [
        mean + fine * math.sinh(top * i / _GRID_HALF) for i in range(-_GRID_HALF, _GRID_HALF + 1)
    ]


def _first_rejection(differences: Sequence[float], centre: float, limit: float) -> float:
    """Number of differences after which ``centre`` is excluded; infinite if it never is."""
    stakes = [1.0] * (2 * len(BETS))
    square = 0.0
    for n, value in enumerate(differences, 1):
        d = value - centre
        square += d * d
        if d != 0.0:
            stakes = _bet(stakes, d / math.sqrt(square / n))
            if sum(stakes) >= limit:
                return n
    return math.inf


def _hull(grid: Sequence[float], kept: Sequence[int]) -> Interval:
    if not kept:
        return Interval(math.nan, math.nan)
    low = grid[kept[0] - 1] if kept[0] > 0 else -math.inf
    high = grid[kept[-1] + 1] if kept[-1] + 1 < len(grid) else math.inf
    return Interval(low, high)
