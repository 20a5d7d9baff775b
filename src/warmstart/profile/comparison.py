"""Two sessions, or two sets of them, side by side, and whether the data can tell them apart.

The unit is the task where sessions name one, else the session. Tasks that both sides did are
compared within each task; otherwise the sides are taken as independent. Few units, few errors or
few effective calls force "inconclusive", and so does a disagreement between two tests.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from warmstart.model.facts import SessionFacts
from warmstart.profile.corpus import CorpusProfile, corpus_profile
from warmstart.profile.rules import DEFAULT_RULES, Rules
from warmstart.profile.scan import scan_calls
from warmstart.profile.summarise import summarise
from warmstart.profile.sums import Contrast, Rate, Sums, add_cluster, contrast, rate_of, zero
from warmstart.stats.paired import paired_t, sign_flip

__all__ = ["Comparison", "ComparisonVerdict", "Side", "ToolContrast", "collect_side", "compare"]

MIN_UNITS = 6
"""With fewer, no two-sided test reaches 5 %."""
MIN_ERRORS = 10
MIN_EFFECTIVE_CALLS = 100
MAX_TOOLS = 12


class ComparisonVerdict(StrEnum):
    """Which side has the lower error rate, if that can be said."""

    FIRST_BETTER = "A is more reliable"
    SECOND_BETTER = "B is more reliable"
    INCONCLUSIVE = "inconclusive"


class Row(NamedTuple):
    """One session of a side."""

    id: str
    task: str | None
    errors: int
    calls: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """What is kept of one side."""

    label: str
    rows: tuple[Row, ...]
    profile: CorpusProfile
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
    first_rate: Rate
    second_rate: Rate
    difference: Contrast
    """Second minus first."""
    p_sign_flip: float | None
    overlap: int
    """Sessions that are on both sides."""
    verdict: ComparisonVerdict
    reasons: tuple[str, ...]
    tools: tuple[ToolContrast, ...]

    @property
    def sentence(self) -> str:
        """The verdict in words, effect and interval first."""
        d = self.difference
        effect = f"B minus A {100 * d.estimate:+.1f} points"
        effect += f" [{100 * d.low:+.1f}, {100 * d.high:+.1f}]"
        if self.verdict is ComparisonVerdict.INCONCLUSIVE:
            needed = f"such data show differences from {100 * d.mde80:.1f} points on"
            return f"These data cannot tell ({'; '.join(self.reasons)}): {effect}; {needed}."
        return f"{self.verdict}: {effect}."


def collect_side(
    label: str, sessions: Iterable[SessionFacts], rules: Rules = DEFAULT_RULES
) -> Side:
    """One side, from one pass over its sessions."""
    rows: list[Row] = []
    known: dict[str, bool] = {}

    def pass_on() -> Iterator[SessionFacts]:
        for facts in sessions:
            scan = scan_calls(facts, rules, known)
            rows.append(Row(facts.id, _task_of(facts), len(scan.failed), len(scan.places)))
            yield facts

    summary = summarise(pass_on(), rules)
    return Side(
        label=label,
        rows=tuple(rows),
        profile=corpus_profile([summary]),
        tool_sums=summary.clusters.get("tool", {}),
    )


def _task_of(facts: SessionFacts) -> str | None:
    """A task's name; a bare number means something only within its own suite."""
    if facts.task is None or not facts.task.isdigit():
        return facts.task
    return f"{facts.origin}:{facts.project or ''}:{facts.task}"


class _Test(NamedTuple):
    unit: str
    units: tuple[int, int]
    difference: Contrast
    p_sign_flip: float | None


def compare(first: Side, second: Side) -> Comparison:
    """Set two sides against each other."""
    one, two = (_sums(side.rows, by_task=_has_tasks(first, second)) for side in (first, second))
    test = _test_paired(first, second) or _Test(
        "task" if _has_tasks(first, second) else "session",
        (int(one[0]), int(two[0])),
        contrast(one, two),
        None,
    )
    overlap = len({row.id for row in first.rows} & {row.id for row in second.rows})
    rates = rate_of(one), rate_of(two)
    reasons = tuple(_doubts(test, rates, overlap))
    return Comparison(
        first=first,
        second=second,
        unit=test.unit,
        units=test.units,
        first_rate=rates[0],
        second_rate=rates[1],
        difference=test.difference,
        p_sign_flip=test.p_sign_flip,
        overlap=overlap,
        verdict=_decide(test.difference, reasons),
        reasons=reasons,
        tools=tuple(_compare_tools(first, second)),
    )


def _has_tasks(first: Side, second: Side) -> bool:
    rows = (*first.rows, *second.rows)
    return bool(rows) and all(row.task is not None for row in rows)


def _units(rows: Sequence[Row], *, by_task: bool) -> dict[str, list[Row]]:
    units: dict[str, list[Row]] = {}
    for row in rows:
        if row.calls:
            units.setdefault((row.task or "") if by_task else row.id, []).append(row)
    return units


def _sums(rows: Sequence[Row], *, by_task: bool) -> Sums:
    sums = zero()
    for unit in _units(rows, by_task=by_task).values():
        add_cluster(sums, sum(row.errors for row in unit), sum(row.calls for row in unit))
    return sums


def _test_paired(first: Side, second: Side) -> _Test | None:
    """One difference of mean session rates per task that both sides did."""
    if not _has_tasks(first, second):
        return None
    one, two = (_units(side.rows, by_task=True) for side in (first, second))
    shared = sorted(one.keys() & two.keys())
    if len(shared) < MIN_UNITS:
        return None
    differences = [_mean_rate(two[task]) - _mean_rate(one[task]) for task in shared]
    t = paired_t(differences)
    found = Contrast(
        estimate=t.estimate, low=t.interval.low, high=t.interval.high, p=t.p, mde80=t.mde80
    )
    return _Test("task (paired)", (len(shared), len(shared)), found, sign_flip(differences))


def _mean_rate(rows: Sequence[Row]) -> float:
    return sum(row.errors / row.calls for row in rows) / len(rows)


def _doubts(test: _Test, rates: tuple[Rate, Rate], overlap: int) -> Iterator[str]:
    """Why these data cannot tell, whatever the interval says."""
    if overlap:
        yield f"{overlap} sessions are on both sides"
    if min(test.units) < MIN_UNITS:
        word = test.unit.partition(" ")[0]
        yield f"{min(test.units)} {word}s on one side, {MIN_UNITS} are needed"
    for name, rate in zip("AB", rates, strict=True):
        if rate.errors < MIN_ERRORS:
            yield f"{rate.errors} errors in {name}, {MIN_ERRORS} are needed"
        elif rate.n_eff < MIN_EFFECTIVE_CALLS:
            worth = f"{name} is worth {rate.n_eff:.0f} independent calls"
            yield f"{worth}, {MIN_EFFECTIVE_CALLS} are needed"
    if test.p_sign_flip is not None and (test.p_sign_flip < 0.05) != test.difference.decided:
        yield f"the t interval and the sign-flip test (p = {test.p_sign_flip:.3f}) disagree"
    if not test.difference.decided:
        yield "the interval holds no difference"


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
        return -(first.tool_sums[tool][2] + second.tool_sums[tool][2])

    for tool in sorted(shared, key=lambda name: (uses(name), name))[:MAX_TOOLS]:
        one, two = first.tool_sums[tool], second.tool_sums[tool]
        yield ToolContrast(
            tool=tool, first=rate_of(one), second=rate_of(two), difference=contrast(one, two)
        )
