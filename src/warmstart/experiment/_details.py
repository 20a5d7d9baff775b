"""What stands beside an effect: denominators, repeated trials, bills. None of it is a claim."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from warmstart.experiment._question import score, task_means
from warmstart.experiment.plan import Metric
from warmstart.experiment.trial import Trial
from warmstart.stats.paired import hodges_lehmann, wilcoxon
from warmstart.stats.passk import PassComparison, Solved, compare_pass
from warmstart.stats.proportion import (
    Difference,
    Interval,
    RateEstimate,
    clustered_rate,
    paired_difference,
    upper_bound_when_zero,
)

MAX_K = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """The trials of one arm, by task."""

    arm: str
    tasks: dict[str, list[Trial]]

    @property
    def trials(self) -> list[Trial]:
        """All of them."""
        return [trial for rows in self.tasks.values() for trial in rows]

    @property
    def calls(self) -> int:
        """Real calls, without those of warm-ups."""
        return sum(len(trial.calls) for trial in self.trials)

    def only(self, names: Collection[str]) -> Group:
        """The same arm with some tasks only."""
        return Group(arm=self.arm, tasks={k: v for k, v in self.tasks.items() if k in names})

    def error_clusters(self) -> list[tuple[float, float]]:
        """Errors and calls of each task."""
        return [
            (float(sum(t.errors for t in rows)), float(sum(len(t.calls) for t in rows)))
            for rows in self.tasks.values()
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorDetail:
    """A template may change how many calls are made, so counts stand next to the rate."""

    control: RateEstimate
    treatment: RateEstimate
    """Clustered by task."""
    by_session: tuple[RateEstimate, RateEstimate]
    errors_per_task: tuple[float, float]
    calls_per_task: tuple[float, float]
    call_weighted: Difference | None
    """Sensitivity: ratio of totals, clustered by paired task. None if tasks are not paired."""
    upper_when_zero: tuple[float | None, float | None]
    """95 % upper bound for an arm without errors: the rate is not 0 %."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SuccessDetail:
    """Repeated trials: pass@1 and pass^k for the same tasks."""

    trials_per_task: tuple[int, int]
    """Fewest and most trials of a task in an arm."""
    only_treatment: int
    only_control: int
    """Tasks that one arm solved more often."""
    passes: tuple[PassComparison, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CostDetail:
    """The bill and the robust line."""

    total: tuple[float, float]
    bill_ratio: float | None
    """Ratio of totals; not tested, because a few runaway sessions decide it."""
    median: tuple[float, float]
    p90: tuple[float, float]
    wilcoxon_p: float
    robust_ratio: float
    """Hodges-Lehmann; 1 with an interval from 0 to infinity where no task is in both arms."""
    robust_interval: Interval


def error_detail(control: Group, treatment: Group) -> ErrorDetail:
    """Counts, rates and the call-weighted difference."""
    rates = [clustered_rate(group.error_clusters()) for group in (control, treatment)]
    sessions = [_by_session(group) for group in (control, treatment)]
    paired = set(control.tasks) == set(treatment.tasks) and len(control.tasks) > 1
    return ErrorDetail(
        control=rates[0],
        treatment=rates[1],
        by_session=(sessions[0], sessions[1]),
        errors_per_task=(
            _per_task(control, rates[0].errors),
            _per_task(treatment, rates[1].errors),
        ),
        calls_per_task=(_per_task(control, rates[0].calls), _per_task(treatment, rates[1].calls)),
        call_weighted=_call_weighted(control, treatment) if paired else None,
        upper_when_zero=(_upper(rates[0]), _upper(rates[1])),
    )


def _by_session(group: Group) -> RateEstimate:
    return clustered_rate([(t.errors, len(t.calls)) for t in group.trials])


def _per_task(group: Group, amount: float) -> float:
    return amount / len(group.tasks) if group.tasks else 0.0


def _upper(rate: RateEstimate) -> float | None:
    return upper_bound_when_zero(rate.n_eff) if rate.errors == 0 and rate.calls > 0 else None


def _call_weighted(control: Group, treatment: Group) -> Difference:
    return paired_difference(
        [(_counts(rows), _counts(treatment.tasks[task])) for task, rows in control.tasks.items()]
    )


def _counts(rows: Sequence[Trial]) -> tuple[int, int]:
    return sum(t.errors for t in rows), sum(len(t.calls) for t in rows)


def success_detail(control: Group, treatment: Group) -> SuccessDetail:
    """pass@1 and every pass^k that the trials allow, over tasks of both arms."""
    before, after = _solved(control), _solved(treatment)
    sizes = [n for _, n in (*before.values(), *after.values())]
    pairs = [(before[task], after[task]) for task in before if task in after]
    gains = [b[0] * a[1] - a[0] * b[1] for a, b in pairs]
    return SuccessDetail(
        trials_per_task=(min(sizes, default=0), max(sizes, default=0)),
        only_treatment=sum(gain > 0 for gain in gains),
        only_control=sum(gain < 0 for gain in gains),
        passes=_passes(pairs),
    )


def _passes(pairs: Sequence[tuple[Solved, Solved]]) -> tuple[PassComparison, ...]:
    most = min((n for pair in pairs for _, n in pair), default=0)
    one, two = [a for a, _ in pairs], [b for _, b in pairs]
    return tuple(compare_pass(one, two, k) for k in range(1, min(MAX_K, most) + 1))


def _solved(group: Group) -> dict[str, Solved]:
    found = {}
    for task, rows in group.tasks.items():
        scores = [v for row in rows if (v := score(row, Metric.SUCCESS)) is not None]
        if scores:
            found[task] = (int(sum(scores)), len(scores))
    return found


def cost_detail(control: Group, treatment: Group, metric: Metric) -> CostDetail:
    """Totals, quantiles and the rank-based ratio. Failures and timeouts are in all of them."""
    amounts = [_amounts(control, metric), _amounts(treatment, metric)]
    totals = [math.fsum(values) for values in amounts]
    before, after = task_means(control.tasks, metric), task_means(treatment.tasks, metric)
    logs = [after[task] - before[task] for task in before if task in after]
    shift = hodges_lehmann(logs)
    return CostDetail(
        total=(totals[0], totals[1]),
        bill_ratio=totals[1] / totals[0] if totals[0] > 0 else None,
        median=(quantile(amounts[0], 0.5), quantile(amounts[1], 0.5)),
        p90=(quantile(amounts[0], 0.9), quantile(amounts[1], 0.9)),
        wilcoxon_p=wilcoxon(logs),
        robust_ratio=_exp(shift.estimate),
        robust_interval=Interval(_exp(shift.interval.low), _exp(shift.interval.high)),
    )


def _amounts(group: Group, metric: Metric) -> list[float]:
    return sorted(float(getattr(trial, metric.value)) for trial in group.trials)


def _exp(value: float) -> float:
    return math.exp(value) if value < 700.0 else math.inf


def quantile(ordered: Sequence[float], share: float) -> float:
    """Linear interpolation between order statistics; 0 without values."""
    if not ordered:
        return 0.0
    place = share * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])
