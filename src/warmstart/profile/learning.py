"""Do sessions learn, or do reliable sessions simply last longer? One verdict and its reasons.

Two questions with separate evidence. Within sessions: does the same tool fail less often later in
the same session (score test, which session length and tool mix cannot fool)? Between sessions: did
those that became long already fail less in their first calls, when nothing could be learnt yet?
Length buckets alone answer neither, so they are shown beside and never decide.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from warmstart.figures import count
from warmstart.profile.scores import LONG_GUARD, MAIN, VARIANTS, Trend, finish_trend
from warmstart.profile.summarise import LANDMARKS
from warmstart.profile.summary import Summary
from warmstart.profile.sums import CALLS, EE, EN, ERRORS, GROUPS, NN, Rate, Sums, add_sums, rate_of
from warmstart.stats import t_cdf, t_quantile

__all__ = ["FirstCalls", "Learning", "LearningVerdict", "LengthSelection", "judge_learning"]

MIN_INFORMATIVE = 10
"""Sessions that must say something about the trend before it may decide."""
MIN_ERRORS = 20
"""Errors in those sessions, likewise."""
NOTABLE_FALL = 0.2
"""A fall of the log odds per step that must be excluded before learning is denied: odds x0.82."""
MIN_LANDMARK_SESSIONS = 20
FIRST = 50
FIRST_EDGES = (0, 51, 101, 201)
"""Eventual lengths in calls by which the first calls are tabled."""


class LearningVerdict(StrEnum):
    """Why long sessions look the way they do."""

    LEARNING = "learning"
    SELECTION = "selection"
    BOTH = "both"
    WORSENING = "worsening"
    INCONCLUSIVE = "inconclusive"


@dataclass(frozen=True, slots=True, kw_only=True)
class LengthSelection:
    """Whether sessions that became long were better from the start."""

    landmark: int
    """Only the first so many calls of sessions with more than that are looked at."""
    slope: float
    """Change of the error rate in them per doubling of the session's eventual length."""
    low: float
    high: float
    p: float
    sessions: int
    calls: int
    errors: int

    @property
    def found(self) -> bool:
        """Long sessions were better from the start."""
        return self.high < 0.0 and self.p < 0.05

    @property
    def is_reversed(self) -> bool:
        """Long sessions were worse from the start, as where long tasks are the hard ones."""
        return self.low > 0.0 and self.p < 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstCalls:
    """Error rate in the first calls of sessions of one eventual length."""

    label: str
    rate: Rate
    comparable: bool
    """False where sessions were too short to have all of the first calls."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Learning:
    """The verdict, in words and figures."""

    verdict: LearningVerdict
    sentence: str
    reasons: tuple[str, ...]
    trends: tuple[Trend, ...]
    """The main analysis and what it becomes under other choices."""
    selection: LengthSelection | None
    first_calls: tuple[FirstCalls, ...]

    @property
    def main(self) -> Trend:
        """The analysis that decides: the last call of each session x tool left out."""
        return next(trend for trend in self.trends if trend.variant == MAIN)


def judge_learning(summary: Summary, *, look_better: bool = True) -> Learning:
    """Weigh what happens within sessions against what separates them.

    ``look_better``: whether the buckets of length make long sessions look better, which the
    sentence then explains; the verdict does not rest on it.
    """
    trends = tuple(
        finish_trend(
            name,
            summary.trend.get(name, [0.0] * 8),
            summary.scores if name == MAIN else None,
        )
        for name in VARIANTS
    )
    selection = _measure_selection(summary)
    main = next(trend for trend in trends if trend.variant == MAIN)
    verdict, why = _decide(main, trends, selection)
    return Learning(
        verdict=verdict,
        sentence=_describe(verdict, main, selection, why, look_better=look_better),
        reasons=why,
        trends=trends,
        selection=selection,
        first_calls=tuple(_table_first_calls(summary)),
    )


def _decide(
    main: Trend, trends: Sequence[Trend], selection: LengthSelection | None
) -> tuple[LearningVerdict, tuple[str, ...]]:
    found = selection is not None and selection.found
    doubt = _doubt(main, trends)
    if doubt:
        return LearningVerdict.INCONCLUSIVE, (doubt,)
    if main.falls:
        return (LearningVerdict.BOTH if found else LearningVerdict.LEARNING), ()
    if main.rises:
        return LearningVerdict.WORSENING, ()
    if found:
        return LearningVerdict.SELECTION, ()
    if selection is not None and selection.is_reversed:
        return LearningVerdict.INCONCLUSIVE, (
            "no trend within sessions is shown, and long ones were worse from the start",
        )
    return LearningVerdict.INCONCLUSIVE, (
        "neither a trend within sessions nor a difference from the start is shown",
    )


def _doubt(main: Trend, trends: Sequence[Trend]) -> str:
    """Why the trend may not decide; empty where it may."""
    if main.informative < MIN_INFORMATIVE or main.errors < MIN_ERRORS:
        few = f"{count(main.informative, 'session')} with {count(main.errors, 'error')}"
        return f"{few} can show a trend; {MIN_INFORMATIVE} and {MIN_ERRORS} are needed"
    agree = all(trend.log_odds * main.log_odds > 0 for trend in trends if trend.informative > 1)
    if (main.falls or main.rises) and not agree:
        return "the sign of the trend depends on how the ends of sessions and retries are treated"
    cut = next(trend for trend in trends if trend.variant == LONG_GUARD)
    if main.rises and not cut.rises:
        return (
            "errors rise only where the last five calls of each tool count, and so they would if"
            " sessions were given up after errors"
        )
    return ""


def _describe(
    verdict: LearningVerdict,
    main: Trend,
    selection: LengthSelection | None,
    why: Sequence[str],
    *,
    look_better: bool,
) -> str:
    within = _describe_within(main, in_doubt=verdict is LearningVerdict.INCONCLUSIVE)
    between = _describe_between(selection)
    if verdict is LearningVerdict.SELECTION:
        return f"{_explain_selection(main, look_better=look_better)}: {between}; {within}."
    if verdict is LearningVerdict.LEARNING:
        return f"Sessions do get better as they go on: {within}; {between}."
    if verdict is LearningVerdict.BOTH:
        return f"Both: {within}, and {between}. How much of the gap is learning is not settled."
    if verdict is LearningVerdict.WORSENING:
        return f"Sessions get worse as they go on: {within}; {between}."
    return f"These data cannot tell: {'; '.join(why)}. {within[0].upper()}{within[1:]}; {between}."


def _explain_selection(main: Trend, *, look_better: bool) -> str:
    """What selection explains, and whether learning is ruled out or only not shown."""
    if look_better:
        seen = "Long sessions look better because reliable sessions last longer"
    else:
        seen = "Reliable sessions last longer, though the longest do not look better here"
    if main.low > -NOTABLE_FALL:
        return f"{seen}, not because sessions learn"
    return f"{seen}; whether sessions also learn, these data cannot tell"


def _describe_within(main: Trend, *, in_doubt: bool) -> str:
    if not main.informative:
        return "no session has both failures and successes of one tool"
    verb = "fall" if main.falls else "rise" if main.rises else "are not shown to change"
    verb = f"seem to {verb}" if in_doubt and verb in ("fall", "rise") else verb
    return (
        f"inside a session errors {verb} (odds x{main.odds_ratio:.2f} per step of"
        f" log2(1+position/10), 95 % CI {_exp(main.low)}-{_exp(main.high)},"
        f" {count(main.informative, 'informative session')}, {count(main.errors, 'error')})"
    )


def _exp(value: float) -> str:
    return "inf" if value > 20 else f"{math.exp(value):.2f}"


def _describe_between(selection: LengthSelection | None) -> str:
    if selection is None:
        return "too few sessions of different length to say whether long ones began better"
    points = f"{100 * selection.slope:+.2f} points [{100 * selection.low:+.2f},"
    points += f" {100 * selection.high:+.2f}] per doubling of length"
    sessions = count(selection.sessions, "session")
    opening = f"in the first {selection.landmark} calls ({points}, {sessions})"
    if selection.found:
        return f"sessions that became long failed less from the start, {opening}"
    if selection.is_reversed:
        return f"sessions that became long failed more from the start, {opening}"
    return f"sessions that became long are not shown to differ from the start, {opening}"


def _measure_selection(summary: Summary) -> LengthSelection | None:
    """The longest landmark that most sessions with calls outlived; the shortest where none is."""
    total = summary.clusters.get("all", {}).get("", [0])[GROUPS]
    for landmark in reversed(LANDMARKS):
        groups: Mapping[int, Sums] = summary.clusters.get(f"first{landmark}", {})
        sessions = sum(sums[GROUPS] for sums in groups.values())
        if sessions < MIN_LANDMARK_SESSIONS or len(groups) < 3:
            continue
        if 2 * sessions >= total or landmark == LANDMARKS[0]:
            return _fit_slope(landmark, groups)
    return None


def _fit_slope(landmark: int, groups: Mapping[int, Sums]) -> LengthSelection:
    """Least squares of the rate on log2 of the eventual length, session-robust variance (HC1)."""
    total = add_sums(groups.values())
    lengths = {calls: math.log2(calls) for calls in groups}
    mean = sum(lengths[c] * s[CALLS] for c, s in groups.items()) / total[CALLS]
    rate = total[ERRORS] / total[CALLS]
    spread = sum(s[CALLS] * (lengths[c] - mean) ** 2 for c, s in groups.items())
    cross = sum((lengths[c] - mean) * s[ERRORS] for c, s in groups.items())
    slope = cross / spread
    meat = 0.0
    for calls, sums in groups.items():
        distance = lengths[calls] - mean
        fitted = rate + slope * distance
        residual = sums[EE] - 2.0 * fitted * sums[EN] + fitted * fitted * sums[NN]
        meat += distance * distance * max(0.0, residual)
    df = total[GROUPS] - 2.0
    error = math.sqrt(meat * total[GROUPS] / df) / spread
    half = t_quantile(0.975, df) * error
    return LengthSelection(
        landmark=landmark,
        slope=slope,
        low=slope - half,
        high=slope + half,
        p=2.0 * t_cdf(-abs(slope) / error, df) if error > 0.0 else 1.0,
        sessions=int(total[GROUPS]),
        calls=int(total[CALLS]),
        errors=int(total[ERRORS]),
    )


def _table_first_calls(summary: Summary) -> Sequence[FirstCalls]:
    """First calls by eventual length; shorter sessions beside them with all they had."""
    rows: list[FirstCalls] = []
    groups = summary.clusters.get(f"first{FIRST}", {})
    if not groups:
        return rows
    for start, end in zip(FIRST_EDGES[1:], (*FIRST_EDGES[2:], None), strict=True):
        chosen = [s for c, s in groups.items() if c >= start and (end is None or c < end)]
        label = f"{start}-{end - 1} calls" if end else f"{start}+ calls"
        rows.append(FirstCalls(label=label, rate=rate_of(add_sums(chosen)), comparable=True))
    return rows
