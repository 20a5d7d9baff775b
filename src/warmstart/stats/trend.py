"""Do errors fall inside a session? A test that session length and tool mix cannot fool.

Long sessions look reliable because error-prone ones end early, so sessions are never compared with
each other: each session x tool is its own stratum, and only the order of errors inside it counts.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from warmstart.stats.paired import sign_flip
from warmstart.stats.proportion import Interval
from warmstart.stats.special import normal_cdf, t_quantile

__all__ = ["TrendCall", "TrendResult", "score_trend"]

MANY_SESSIONS = 1_000
"""Above this 2,000 sign flips are drawn instead of 10,000: the normal p is good there anyway."""

TrendCall = tuple[str, bool, bool]
"""Tool, whether it failed, whether it repeats a call that had just failed."""


class TrendResult(NamedTuple):
    """Negative ``z`` and ``log_odds``: errors fall as the session goes on."""

    z: float
    p: float
    p_sign_flip: float
    log_odds: float
    """Change of the log odds of an error per unit of log2(1 + position / 10)."""
    interval: Interval
    informative: int
    """Sessions with a stratum that has both failed and other calls; all evidence is in them."""
    sessions: int
    calls: int
    """Calls left after the guard (and without retries, if those were left out)."""
    errors: int
    retries: int
    """Calls given that were marked as retries."""
    guard: int


class _Score(NamedTuple):
    score: float
    information: float


class _TrendCounts:
    """Running counts over sessions."""

    __slots__ = ("calls", "errors", "retries", "sessions")

    def __init__(self) -> None:
        self.sessions = self.calls = self.errors = self.retries = 0


def score_trend(
    sessions: Iterable[Sequence[TrendCall]],
    guard: int = 1,
    *,
    keep_retries: bool = True,
    seed: int = 0,
) -> TrendResult:
    """Score test of the conditional logistic trend with session-robust variance.

    Strata are session x tool, the covariate is x = log2(1 + i/10) of the call's position i in its
    session, and the last ``guard`` calls of each stratum are dropped because a session that stops
    on an error or on a success would bend the end. Under no trend each session's score has mean
    zero, so z = sum U / sqrt(sum U^2) (Breslow and Day 1980, chapter 7; robust variance as Liang
    and Zeger 1986). ``log_odds`` is the one-step estimate sum U / sum V; its interval is robust
    too, and no narrower than what the test rests on, so that both tell the same story. With no
    informative session: z = 0, p = 1, an infinite interval.
    """
    counts = _TrendCounts()
    scores = [
        score
        for session in sessions
        if (score := _session_score(session, guard, keep_retries, counts)) is not None
    ]
    total = math.fsum(s.score for s in scores)
    squares = math.fsum(s.score * s.score for s in scores)
    z = total / math.sqrt(squares) if squares > 0.0 else 0.0
    log_odds, interval = _one_step(scores, total)
    return TrendResult(
        z=z,
        p=2.0 * normal_cdf(-abs(z)),
        p_sign_flip=sign_flip(
            [s.score for s in scores], seed, 10_000 if len(scores) <= MANY_SESSIONS else 2_000
        ),
        log_odds=log_odds,
        interval=interval,
        informative=len(scores),
        sessions=counts.sessions,
        calls=counts.calls,
        errors=counts.errors,
        retries=counts.retries,
        guard=guard,
    )


def _one_step(scores: Sequence[_Score], total: float) -> tuple[float, Interval]:
    information = math.fsum(s.information for s in scores)
    if information <= 0.0:
        return 0.0, Interval(-math.inf, math.inf)
    log_odds = total / information
    n = len(scores)
    residual = math.fsum((s.score - log_odds * s.information) ** 2 for s in scores)
    half = math.inf
    if n > 1:
        spread = max(math.fsum(s.score**2 for s in scores), residual * n / (n - 1))
        half = t_quantile(0.975, n - 1.0) * math.sqrt(spread) / information
    return log_odds, Interval(log_odds - half, log_odds + half)


def _session_score(
    session: Sequence[TrendCall],
    guard: int,
    keep_retries: bool,  # noqa: FBT001 - private, passed on by name of the public keyword
    counts: _TrendCounts,
) -> _Score | None:
    strata: dict[str, list[int]] = {}
    failed: dict[str, list[int]] = {}
    retries = 0
    for position, (tool, error, retry) in enumerate(session):
        if retry:
            retries += 1
            if not keep_retries:
                continue
        if tool in strata:
            strata[tool].append(position)
        else:
            strata[tool] = [position]
        if error:
            failed.setdefault(tool, []).append(position)
    counts.sessions += 1
    counts.retries += retries
    counts.calls += sum(max(0, len(positions) - guard) for positions in strata.values())
    return _add_strata(strata, failed, guard, counts)


def _add_strata(
    strata: dict[str, list[int]], failed: dict[str, list[int]], guard: int, counts: _TrendCounts
) -> _Score | None:
    score = information = 0.0
    informative = False
    for tool, errors in failed.items():
        positions = strata[tool]
        kept = positions[: max(0, len(positions) - guard)]
        n = len(kept)
        m = sum(1 for i in errors if i <= kept[-1]) if kept else 0
        counts.errors += m
        if not 0 < m < n:
            continue
        informative = True
        x = [math.log2(1.0 + i / 10.0) for i in kept]
        mean = sum(x) / n
        score += sum(math.log2(1.0 + i / 10.0) - mean for i in errors[:m])
        square = sum((value - mean) ** 2 for value in x)
        information += m * (n - m) / (n * (n - 1)) * square
    return _Score(score, information) if informative else None
