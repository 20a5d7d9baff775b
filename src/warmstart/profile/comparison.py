"""Two sessions, or two sets of them, side by side, and whether the data can tell them apart.

The unit is the task where sessions name one, else the session. Tasks that both sides did are
compared within each task, and then nothing but these tasks counts: not for the difference, not for
the rates beside it, not for the gates. Otherwise the sides are taken as independent. Few units,
few errors or few effective calls force "inconclusive", and so does a disagreement of two tests.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from warmstart.figures import count
from warmstart.model import SessionFacts
from warmstart.profile.corpus import Profile, corpus_profile
from warmstart.profile.rules import DEFAULT_RULES, ToolRules
from warmstart.profile.scan import scan_calls
from warmstart.profile.summarise import summarise
from warmstart.profile.sums import (
    CALLS,
    Contrast,
    Rate,
    Sums,
    add_cluster,
    contrast,
    rate_of,
    zero,
)
from warmstart.stats import paired_t, sign_flip

__all__ = ["Comparison", "ComparisonVerdict", "Side", "ToolContrast", "collect_side", "compare"]

MIN_UNITS = 6
"""With fewer, no two-sided test reaches 5 %."""
PILOT_PAIRS = 15
"""Below this a paired comparison is labelled a pilot."""
MIN_ERRORS = 10
MIN_EFFECTIVE_CALLS = 100
MAX_TOOLS = 12
DIGITS = 12
"""Differences of rates are rounded to these, so that equal ones are equal in spite of floats."""
UNKNOWN = Contrast(estimate=math.nan, low=math.nan, high=math.nan, p=math.nan, mde80=math.nan)
"""The difference where a side has no rate; null in JSON."""


class ComparisonVerdict(StrEnum):
    """Which side has the lower error rate, if that is clear."""

    FIRST_BETTER = "A is more reliable"
    SECOND_BETTER = "B is more reliable"
    INCONCLUSIVE = "inconclusive"


class SessionErrors(NamedTuple):
    """One session of a side."""

    id: str
    task: str | None
    errors: int
    calls: int
    mark: str = ""
    """When it began, or its file: some agents name the sessions of every run alike."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """What is kept of one side."""

    label: str
    rows: tuple[SessionErrors, ...]
    profile: Profile
    tool_sums: dict[str, Sums]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolContrast:
    """One tool on both sides."""

    tool: str
    first: Rate
    second: Rate
    difference: Contrast


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Both sides, the difference of their error rates, and what may be concluded."""

    first: Side
    second: Side
    unit: str
    """"task (paired)", "task" or "session"."""
    units: tuple[int, int]
    """How many of A and of B were compared."""
    unpaired: tuple[int, int]
    """Tasks of A and of B that were left out, because the other side has no judged call in them
    or they have none themselves; (0, 0) unless the comparison is paired."""
    pilot: bool
    """Whether so few pairs were compared that the figures are a first look."""
    first_rate: Rate
    second_rate: Rate
    """Both over the units that were compared."""
    difference: Contrast
    """Second minus first; ``UNKNOWN`` where a side has no judged calls."""
    p_sign_flip: float | None
    overlap: int
    """Sessions that are on both sides."""
    verdict: ComparisonVerdict
    reasons: tuple[str, ...]
    tools: tuple[ToolContrast, ...]
    """Over all sessions of both sides."""

    @property
    def sentence(self) -> str:
        """The verdict in words, effect and interval first."""
        d = self.difference
        reasons = "; ".join(self.reasons)
        if math.isnan(d.estimate):
            return f"These data cannot tell: {reasons}."
        effect = f"B minus A {100 * d.estimate:+.1f} points"
        effect += f" [{100 * d.low:+.1f}, {100 * d.high:+.1f}]"
        note = f" This is a pilot: {self.units[0]} tasks done by both." if self.pilot else ""
        if self.verdict is ComparisonVerdict.INCONCLUSIVE:
            needed = f"such data show differences from {100 * d.mde80:.1f} points on"
            return f"These data cannot tell ({reasons}): {effect}; {needed}.{note}"
        return f"{self.verdict}: {effect}.{note}"


def collect_side(
    label: str, sessions: Iterable[SessionFacts], rules: ToolRules = DEFAULT_RULES
) -> Side:
    """One side, from one pass over its sessions."""
    rows: list[SessionErrors] = []
    known: dict[str, bool] = {}

    def pass_on() -> Iterator[SessionFacts]:
        for facts in sessions:
            scan = scan_calls(facts, rules, known)
            counts = len(scan.failed), len(scan.calls)
            rows.append(SessionErrors(facts.id, _task_of(facts), *counts, _mark_of(facts)))
            yield facts

    summary = summarise(pass_on(), rules)
    return Side(
        label=label,
        rows=tuple(rows),
        profile=corpus_profile([summary]),
        tool_sums=summary.clusters.get("tool", {}),
    )


def _mark_of(facts: SessionFacts) -> str:
    return (facts.path or "") if facts.started_at is None else str(facts.started_at)


def _task_of(facts: SessionFacts) -> str | None:
    """A task's name; a bare number means something only within its own suite."""
    if facts.task is None or not facts.task.isdigit():
        return facts.task
    return f"{facts.origin}:{facts.project or ''}:{facts.task}"


class _Test(NamedTuple):
    unit: str
    units: tuple[int, int]
    sums: tuple[Sums, Sums]
    """Of the units compared."""
    difference: Contrast
    p_sign_flip: float | None = None
    unpaired: tuple[int, int] = (0, 0)
    spread: bool = True
    """False where all differences are equal."""

    @property
    def is_paired(self) -> bool:
        return self.p_sign_flip is not None


def compare(first: Side, second: Side) -> Comparison:
    """Set two sides against each other."""
    test = _test_paired(first, second) or _test_independent(first, second)
    overlap = len(_list_sessions(first) & _list_sessions(second))
    rates = rate_of(test.sums[0]), rate_of(test.sums[1])
    reasons = tuple(_doubts(test, rates, overlap))
    return Comparison(
        first=first,
        second=second,
        unit=test.unit,
        units=test.units,
        unpaired=test.unpaired,
        pilot=test.is_paired and test.units[0] < PILOT_PAIRS,
        first_rate=rates[0],
        second_rate=rates[1],
        difference=test.difference,
        p_sign_flip=test.p_sign_flip,
        overlap=overlap,
        verdict=_decide(test.difference, reasons),
        reasons=reasons,
        tools=tuple(_compare_tools(first, second)),
    )


def _list_sessions(side: Side) -> set[tuple[str, str]]:
    return {(row.id, row.mark) for row in side.rows}


def _has_tasks(first: Side, second: Side) -> bool:
    rows = (*first.rows, *second.rows)
    return bool(rows) and all(row.task is not None for row in rows)


def _units(rows: Sequence[SessionErrors], *, by_task: bool) -> dict[str, list[SessionErrors]]:
    units: dict[str, list[SessionErrors]] = {}
    for row in rows:
        if row.calls:
            key = (row.task or "") if by_task else f"{row.id} {row.mark}"
            units.setdefault(key, []).append(row)
    return units


def _sums(units: Iterable[Sequence[SessionErrors]]) -> Sums:
    sums = zero()
    for unit in units:
        add_cluster(sums, sum(row.errors for row in unit), sum(row.calls for row in unit))
    return sums


def _test_independent(first: Side, second: Side) -> _Test:
    """The sides as they are, clustered by task or session."""
    by_task = _has_tasks(first, second)
    one, two = (_units(side.rows, by_task=by_task) for side in (first, second))
    sums = _sums(one.values()), _sums(two.values())
    unit = "task" if by_task else "session"
    return _Test(unit, (len(one), len(two)), sums, _contrast_sums(*sums))


def _contrast_sums(one: Sums, two: Sums) -> Contrast:
    return contrast(one, two) if one[CALLS] and two[CALLS] else UNKNOWN


def _test_paired(first: Side, second: Side) -> _Test | None:
    """One difference of mean session rates per task that both sides did."""
    if not _has_tasks(first, second):
        return None
    one, two = (_units(side.rows, by_task=True) for side in (first, second))
    shared = sorted(one.keys() & two.keys())
    if len(shared) < MIN_UNITS:
        return None
    ours, theirs = ([units[task] for task in shared] for units in (one, two))
    differences = list(map(_subtract, ours, theirs))
    spread = len(set(differences)) > 1
    p = sign_flip(differences)
    return _Test(
        unit="task (paired)",
        units=(len(shared), len(shared)),
        sums=(_sums(ours), _sums(theirs)),
        difference=_contrast_pairs(differences) if spread else _contrast_equals(differences, p),
        p_sign_flip=p,
        unpaired=(_count_tasks(first) - len(shared), _count_tasks(second) - len(shared)),
        spread=spread,
    )


def _subtract(one: Sequence[SessionErrors], two: Sequence[SessionErrors]) -> float:
    return round(_mean_rate(two) - _mean_rate(one), DIGITS)


def _count_tasks(side: Side) -> int:
    return len({row.task for row in side.rows})


def _contrast_pairs(differences: Sequence[float]) -> Contrast:
    t = paired_t(differences)
    low, high = max(-1.0, t.interval.low), min(1.0, t.interval.high)
    return Contrast(estimate=t.estimate, low=low, high=high, p=t.p, mde80=t.mde80)


def _contrast_equals(differences: Sequence[float], p: float) -> Contrast:
    """For equal differences, which have no t: the interval that ``three_way`` gives such cases.

    Without spread the rule of three holds: up to 3/n of the tasks may differ by one. The
    p is that of the sign-flip test, which needs no spread.
    """
    estimate, half = differences[0], 3.0 / len(differences)
    low, high = max(-1.0, estimate - half), min(1.0, estimate + half)
    return Contrast(estimate=estimate, low=low, high=high, p=p, mde80=half)


def _mean_rate(rows: Sequence[SessionErrors]) -> float:
    return sum(row.errors / row.calls for row in rows) / len(rows)


def _doubts(test: _Test, rates: tuple[Rate, Rate], overlap: int) -> Iterator[str]:
    """Why these data cannot tell, whatever the interval says."""
    silent = [name for name, rate in zip("AB", rates, strict=True) if not rate.calls]
    if silent:
        yield f"no judged calls in {' and '.join(silent)}"
        return
    if overlap:
        yield f"{count(overlap, 'session')} on both sides"
    if min(test.units) < MIN_UNITS:
        word = test.unit.partition(" ")[0]
        yield f"{count(min(test.units), word)} on one side, {MIN_UNITS} are needed"
    of = "the paired tasks of " if test.is_paired else ""
    for name, rate in zip("AB", rates, strict=True):
        if rate.errors < MIN_ERRORS:
            yield f"{count(rate.errors, 'error')} in {of}{name}, {MIN_ERRORS} are needed"
        elif rate.n_eff < MIN_EFFECTIVE_CALLS:
            worth = f"the calls in {of}{name} are worth {rate.n_eff:.0f} independent calls"
            yield f"{worth}, {MIN_EFFECTIVE_CALLS} are needed"
    yield from _doubt_difference(test)


def _doubt_difference(test: _Test) -> Iterator[str]:
    decided, p = test.difference.decided, test.p_sign_flip
    if not test.spread and not decided:
        yield f"all {test.units[0]} differences are equal, so how much they vary is not known"
        return
    if p is not None and (p < 0.05) != decided:
        words = f"p = {p:.3f}" if p >= 0.001 else "p < 0.001"
        yield f"the t interval and the sign-flip test ({words}) disagree"
    if not decided:
        yield "zero is inside the interval"


def _decide(difference: Contrast, reasons: Sequence[str]) -> ComparisonVerdict:
    if reasons:
        return ComparisonVerdict.INCONCLUSIVE
    if difference.high < 0.0:
        return ComparisonVerdict.SECOND_BETTER
    return ComparisonVerdict.FIRST_BETTER


def _compare_tools(first: Side, second: Side) -> Iterator[ToolContrast]:
    """Tools of both sides, the most used first; intervals are per tool, not adjusted."""
    shared = first.tool_sums.keys() & second.tool_sums.keys()

    def uses(tool: str) -> float:
        return -(first.tool_sums[tool][CALLS] + second.tool_sums[tool][CALLS])

    for tool in sorted(shared, key=lambda name: (uses(name), name))[:MAX_TOOLS]:
        one, two = first.tool_sums[tool], second.tool_sums[tool]
        found = _contrast_sums(one, two)
        yield ToolContrast(tool=tool, first=rate_of(one), second=rate_of(two), difference=found)
