"""The within-session trend as sums that can be added up: the fast side of ``stats.trend``.

Strata are session x tool, the covariate is log2(1 + i/10), and the last calls of each stratum are
dropped. Only strata in which something failed say anything, and their sums come from running
totals, so all guards cost little more than one. A test holds that the result is ``score_trend``'s.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, compress
from operator import mul
from typing import NamedTuple

from warmstart.profile.strata import Stratum
from warmstart.stats import normal_cdf, sign_flip, t_quantile

__all__ = [
    "LONG_GUARD",
    "MAIN",
    "VARIANTS",
    "Trend",
    "finish_trend",
    "score_session",
]

MAIN = "guard 1"
LONG_GUARD = "guard 5"
NO_RETRIES = "guard 1, no retries"
VARIANTS = ("guard 0", MAIN, LONG_GUARD, NO_RETRIES)
SIZE = 8
TINY = 1e-9
"""Information below this is rounding."""
Score = list[float]
"""U, V, calls and errors; all zero where the session says nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trend:
    """Change of the odds of an error as a session goes on."""

    variant: str
    log_odds: float
    """Per unit of log2(1 + position / 10): from call 0 to 10, from 10 to 30, from 30 to 70."""
    low: float
    high: float
    z: float
    p: float
    p_sign_flip: float | None
    """None where there are too many sessions for it to differ."""
    informative: int
    """Sessions that say anything: some calls of one tool failed there, others did not."""
    calls: int
    """Of each session x tool in which some calls failed and others did not, after the guard."""
    errors: int

    @property
    def odds_ratio(self) -> float:
        """The effect as a factor on the odds."""
        return math.exp(self.log_odds)

    @property
    def falls(self) -> bool:
        """Errors fall, as far as such data can show."""
        return self.high < 0.0 and self._is_sure

    @property
    def rises(self) -> bool:
        """Errors rise."""
        return self.low > 0.0 and self._is_sure

    @property
    def _is_sure(self) -> bool:
        """With few sessions the exact test must agree; the other leans on the normal curve."""
        return max(self.p, self.p_sign_flip or 0.0) < 0.05


def score_session(calls: int, strata: Iterable[Stratum]) -> dict[str, Score]:
    """The scores of one session under every variant, from its tools that failed."""
    tables = _make_tables(max(calls.bit_length(), 10))
    scores: dict[str, Score] = {name: [0.0, 0.0, 0, 0] for name in VARIANTS}
    for _, failed, mask, size, ranks in strata:
        if len(failed) < size:
            _score_stratum(mask, ranks, scores, tables)
            _score_first_attempts(size, ranks, scores[NO_RETRIES], tables)
    return scores


class _Tables(NamedTuple):
    """The covariate by position, and the running sums of it and of its square."""

    x: list[float]
    sum_x: list[float]
    sum_xx: list[float]


@lru_cache(maxsize=32)
def _make_tables(bits: int) -> _Tables:
    x = [math.log2(1.0 + place / 10.0) for place in range(1 << bits)]
    return _Tables(x, [0.0, *accumulate(x)], [0.0, *accumulate(map(mul, x, x))])


def _score_stratum(
    mask: bytes, ranks: list[int], scores: dict[str, Score], tables: _Tables
) -> None:
    """Add one session x tool under every guard, each derived from the one before."""
    covariates = list(compress(tables.x, mask))
    squares = sum(map(mul, covariates, covariates))
    failed_x = sum([covariates[rank] for rank in ranks])
    size = len(covariates)
    sums = [size, sum(covariates), squares, len(ranks), failed_x]
    _add(scores["guard 0"], sums)
    failed = ranks[-5:]
    _drop(sums, covariates, range(size - 1, size), failed)
    _add(scores[MAIN], sums)
    if size > 5:
        _drop(sums, covariates, range(size - 5, size - 1), failed)
        _add(scores[LONG_GUARD], sums)


def _drop(
    sums: list[float], covariates: Sequence[float], ranks: Iterable[int], failed: Collection[int]
) -> None:
    for rank in ranks:
        value = covariates[rank]
        sums[0] -= 1
        sums[1] -= value
        sums[2] -= value * value
        if rank in failed:
            sums[3] -= 1
            sums[4] -= value


def _score_first_attempts(size: int, ranks: list[int], score: Score, tables: _Tables) -> None:
    """Add a session x tool without retries, by number of attempt instead of position.

    A retry is there because of the failure before it. With its place left empty, positions alone
    would tell where failures were, and the test would find a trend in chance (-0.05 per step, far
    beyond its error, in 340,000 simulated calls without one).
    """
    kept = size - len(ranks) + (ranks[-1] == size - 1)
    bad = []
    before = -2
    for earlier, rank in enumerate(ranks):
        if rank != before + 1 and rank - earlier < kept - 1:
            bad.append(tables.x[rank - earlier])
        before = rank
    last = kept - 1
    _add(score, (last, tables.sum_x[last], tables.sum_xx[last], len(bad), sum(bad)))


def _add(score: Score, sums: Sequence[float]) -> None:
    """Add one stratum: its score, and its information under no trend."""
    n, total, squares, errors, failed_x = sums
    if 0 < errors < n:
        score[2] += n
        score[3] += errors
        score[0] += failed_x - errors / n * total
        score[1] += errors * (n - errors) / (n * (n - 1)) * (squares - total * total / n)


def add_scores(into: dict[str, list[float]], scores: dict[str, Score]) -> None:
    """Add a session's scores to the sums over sessions."""
    for name, (u, v, calls, errors) in scores.items():
        sums = into.get(name)
        if sums is None:
            sums = into[name] = [0.0] * SIZE
        sums[6] += calls
        sums[7] += errors
        if v > TINY:
            sums[0] += 1
            sums[1] += u
            sums[2] += u * u
            sums[3] += v
            sums[4] += u * v
            sums[5] += v * v


def finish_trend(variant: str, sums: Sequence[float], scores: list[float] | None) -> Trend:
    """The test and the one-step estimate from the sums; ``scores`` for the exact test."""
    groups, u, uu, v, uv, vv, calls, errors = sums
    z = u / math.sqrt(uu) if uu > 0.0 else 0.0
    log_odds, half = 0.0, math.inf
    if v > 0.0:
        log_odds = u / v
        residual = max(0.0, uu - 2.0 * log_odds * uv + log_odds * log_odds * vv)
        if groups > 1:
            # No narrower than what the test itself rests on: both must tell the same story.
            spread = max(uu, residual * groups / (groups - 1))
            half = t_quantile(0.975, groups - 1.0) * math.sqrt(spread) / v
    return Trend(
        variant=variant,
        log_odds=log_odds,
        low=log_odds - half,
        high=log_odds + half,
        z=z,
        p=2.0 * normal_cdf(-abs(z)),
        p_sign_flip=None if scores is None else sign_flip(scores),
        informative=int(groups),
        calls=int(calls),
        errors=int(errors),
    )
