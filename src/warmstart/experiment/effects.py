"""Comparisons of two arms: the effect with its interval, and the figures that stand beside it."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from operator import sub

from warmstart.experiment.plan import Metric
from warmstart.experiment.question import COSTS, score, task_means
from warmstart.experiment.trial import Trial
from warmstart.stats import (
    Difference,
    Interval,
    PairedT,
    PassComparison,
    RateEstimate,
    Scenario,
    Solved,
    bonett_price,
    clustered_difference,
    clustered_rate,
    compare_pass,
    hodges_lehmann,
    mcnemar_exact,
    paired_difference,
    paired_t,
    required_tasks,
    sign_flip,
    t_quantile,
    upper_bound_when_zero,
    welch,
    wilcoxon,
)

MAX_K = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmTrials:
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

    def only(self, names: Collection[str]) -> ArmTrials:
        """The same arm with some tasks only."""
        return ArmTrials(arm=self.arm, tasks={k: v for k, v in self.tasks.items() if k in names})

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


def error_detail(control: ArmTrials, treatment: ArmTrials) -> ErrorDetail:
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


def _by_session(group: ArmTrials) -> RateEstimate:
    return clustered_rate([(t.errors, len(t.calls)) for t in group.trials])


def _per_task(group: ArmTrials, amount: float) -> float:
    return amount / len(group.tasks) if group.tasks else 0.0


def _upper(rate: RateEstimate) -> float | None:
    return upper_bound_when_zero(rate.n_eff) if rate.errors == 0 and rate.calls > 0 else None


def _call_weighted(control: ArmTrials, treatment: ArmTrials) -> Difference:
    return paired_difference(
        [(_counts(rows), _counts(treatment.tasks[task])) for task, rows in control.tasks.items()]
    )


def _counts(rows: Sequence[Trial]) -> tuple[int, int]:
    return sum(t.errors for t in rows), sum(len(t.calls) for t in rows)


def success_detail(control: ArmTrials, treatment: ArmTrials) -> SuccessDetail:
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


def _solved(group: ArmTrials) -> dict[str, Solved]:
    found = {}
    for task, rows in group.tasks.items():
        scores = [v for row in rows if (v := score(row, Metric.SUCCESS)) is not None]
        if scores:
            found[task] = (int(sum(scores)), len(scores))
    return found


def cost_detail(control: ArmTrials, treatment: ArmTrials, metric: Metric) -> CostDetail:
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


def _amounts(group: ArmTrials, metric: Metric) -> list[float]:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """Treatment against control on one metric.

    ``estimate``, ``interval`` and ``mde80`` are differences for rates and ratios for costs;
    ``control_value`` and ``treatment_value`` are means over tasks (geometric for costs).
    """

    metric: Metric
    control: str
    treatment: str
    is_ratio: bool
    unit: str
    """``task`` or ``session``: what was compared, never a call."""
    method: str
    control_value: float
    treatment_value: float
    estimate: float
    interval: Interval
    p: float
    p_sign_flip: float | None
    """None where tasks are not paired."""
    units: int
    """Paired tasks, or the smaller number of clusters."""
    nonzero: int
    """Units whose difference is not zero (discordant tasks, for one trial each)."""
    sessions: tuple[int, int]
    calls: tuple[int, int]
    mde80: float
    tasks_for_margin: int | None
    """Paired tasks that would show an effect of the size of the margin with 80 % power."""
    differences: tuple[tuple[str, float], ...] = ()
    """Per task, on the scale of the test, in the order in which the tasks were done."""
    errors: ErrorDetail | None = None
    success: SuccessDetail | None = None
    cost: CostDetail | None = None


def compare_arms(
    control: ArmTrials,
    treatment: ArmTrials,
    metric: Metric,
    *,
    paired: bool,
    margin: float,
    seed: int = 1,
) -> Effect:
    """Compare two groups of trials, paired by task where that is how they were run."""
    ordered = _differences(control, treatment, metric)
    if paired or _all_shared(control, treatment, ordered):
        return _paired(control, treatment, metric, ordered, margin, seed)
    return _unpaired(control, treatment, metric, margin)


def _differences(
    control: ArmTrials, treatment: ArmTrials, metric: Metric
) -> tuple[tuple[str, float, float], ...]:
    """Task, control mean and treatment mean of every paired task, by when it was completed."""
    before, after = task_means(control.tasks, metric), task_means(treatment.tasks, metric)
    shared = [task for task in before if task in after]
    done = {
        task: max(t.order for t in (*control.tasks[task], *treatment.tasks[task]))
        for task in shared
    }
    shared.sort(key=done.__getitem__)
    return tuple((task, before[task], after[task]) for task in shared)


def _all_shared(
    control: ArmTrials, treatment: ArmTrials, ordered: Sequence[tuple[str, float, float]]
) -> bool:
    return len(ordered) >= 6 and set(control.tasks) == set(treatment.tasks)


def _paired(
    control: ArmTrials,
    treatment: ArmTrials,
    metric: Metric,
    ordered: Sequence[tuple[str, float, float]],
    margin: float,
    seed: int,
) -> Effect:
    names, before, after = zip(*ordered, strict=True) if ordered else ((), (), ())
    differences = list(map(sub, after, before))
    t = paired_t(differences)
    if metric is Metric.SUCCESS and _one_trial_each(control, treatment):
        test, flipped = _one_trial(differences)
        method = "Bonett-Price interval, exact McNemar p"
    else:
        test = Difference(t.estimate, _with_width(t), t.p, t.n - 1.0)
        flipped, method = sign_flip(differences, seed), "paired t over tasks"
    return _effect(
        control.only(set(names)),
        treatment.only(set(names)),
        metric,
        _Outcome(
            unit="task",
            method=method,
            test=test,
            p_sign_flip=flipped,
            units=t.n,
            mde80=t.mde80,
            needed=_needed(t, metric, margin),
            values=(_mean(before), _mean(after)),
            differences=tuple(zip(names, differences, strict=True)),
        ),
    )


def _one_trial(differences: Sequence[float]) -> tuple[Difference, float]:
    """Of differences of one, zero and minus one McNemar's test is the exact sign flip."""
    n = len(differences)
    wins, losses = sum(d > 0 for d in differences), sum(d < 0 for d in differences)
    p = mcnemar_exact(wins, losses)
    estimate = (wins - losses) / n if n else 0.0
    return Difference(estimate, bonett_price(wins, losses, n), p, n - 1.0), p


def _with_width(t: PairedT) -> Interval:
    """The interval of a paired t; without spread that of the rule of three, up to 3/n of tasks."""
    if t.n > 1 and t.sd == t.estimate == 0.0:
        return Interval(-3.0 / t.n, 3.0 / t.n)
    return t.interval


@dataclass(frozen=True, slots=True, kw_only=True)
class _Outcome:
    """What both designs hand over, on the scale of the test."""

    unit: str
    method: str
    test: Difference
    p_sign_flip: float | None
    units: int
    mde80: float
    needed: int | None
    values: tuple[float, float]
    differences: tuple[tuple[str, float], ...] = ()


def _effect(control: ArmTrials, treatment: ArmTrials, metric: Metric, found: _Outcome) -> Effect:
    ratio = metric in COSTS
    low, high = found.test.interval
    return Effect(
        metric=metric,
        control=control.arm,
        treatment=treatment.arm,
        is_ratio=ratio,
        unit=found.unit,
        method=found.method,
        control_value=_natural(found.values[0], ratio=ratio),
        treatment_value=_natural(found.values[1], ratio=ratio),
        estimate=_natural(found.test.estimate, ratio=ratio),
        interval=Interval(_natural(low, ratio=ratio), _natural(high, ratio=ratio)),
        p=found.test.p,
        p_sign_flip=found.p_sign_flip,
        units=found.units,
        nonzero=sum(d != 0.0 for _, d in found.differences) if found.differences else found.units,
        sessions=(len(control.trials), len(treatment.trials)),
        calls=(control.calls, treatment.calls),
        mde80=_natural(-found.mde80 if ratio else found.mde80, ratio=ratio),
        tasks_for_margin=found.needed,
        differences=found.differences,
        errors=error_detail(control, treatment) if metric is Metric.ERROR_RATE else None,
        success=success_detail(control, treatment) if metric is Metric.SUCCESS else None,
        cost=cost_detail(control, treatment, metric) if ratio else None,
    )


def _natural(value: float, *, ratio: bool) -> float:
    if not ratio:
        return value
    return math.exp(value) if value < 700.0 else math.inf


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values) if values else 0.0


def _one_trial_each(control: ArmTrials, treatment: ArmTrials) -> bool:
    return all(len(r) == 1 for group in (control, treatment) for r in group.tasks.values())


def margin_on_scale(metric: Metric, margin: float) -> float:
    """The margin on the scale of the test."""
    return math.log1p(margin) if metric in COSTS else margin


def _needed(t: PairedT, metric: Metric, margin: float) -> int | None:
    """From the spread of the differences seen, which already holds the number of trials."""
    if t.n < 2 or t.sd <= 0.0 or margin <= 0.0:
        return None
    return required_tasks(Scenario(margin_on_scale(metric, margin), 0.0, 0.0, t.sd))


def _unpaired(control: ArmTrials, treatment: ArmTrials, metric: Metric, margin: float) -> Effect:
    """Observed sessions: clusters are tasks, or sessions where every task occurs once."""
    repeated = any(len(r) > 1 for group in (control, treatment) for r in group.tasks.values())
    unit = "task" if repeated else "session"
    if metric is Metric.ERROR_RATE:
        a, b = control.error_clusters(), treatment.error_clusters()
        test = clustered_difference(a, b)
        method = f"ratio of totals, clustered by {unit}, Welch df"
    elif metric is Metric.SUCCESS:
        a, b = _success_clusters(control), _success_clusters(treatment)
        test = clustered_difference(a, b)
        method = f"share solved, clustered by {unit}, Welch df"
    else:
        one, two = task_means(control.tasks, metric), task_means(treatment.tasks, metric)
        a, b = [(v, 1.0) for v in one.values()], [(v, 1.0) for v in two.values()]
        test = welch(list(one.values()), list(two.values()))
        method = f"Welch t on log means by {unit}"
    units = min(len(a), len(b))
    error = _error_of(test)
    critical = t_quantile(0.975, test.df) + t_quantile(0.8, test.df)
    needed = _scaled_units(units, critical * error, margin_on_scale(metric, margin))
    return _effect(
        control,
        treatment,
        metric,
        _Outcome(
            unit=unit,
            method=method,
            test=test,
            p_sign_flip=None,
            units=units,
            mde80=critical * error if error > 0.0 else math.inf,
            needed=needed,
            values=(_pooled(a), _pooled(b)),
        ),
    )


def _success_clusters(group: ArmTrials) -> list[tuple[float, float]]:
    rows = []
    for trials in group.tasks.values():
        scores = [v for t in trials if (v := score(t, Metric.SUCCESS)) is not None]
        if scores:
            rows.append((math.fsum(scores), float(len(scores))))
    return rows


def _pooled(clusters: Sequence[tuple[float, float]]) -> float:
    total = math.fsum(n for _, n in clusters)
    return math.fsum(e for e, _ in clusters) / total if total > 0 else 0.0


def _error_of(test: Difference) -> float:
    width = test.interval.high - test.interval.low
    if math.isinf(width) or test.df <= 0.0:
        return 0.0
    return width / 2.0 / t_quantile(0.975, test.df)


def _scaled_units(units: int, mde: float, margin: float) -> int | None:
    if not 0.0 < mde < math.inf or margin <= 0.0:
        return None
    return math.ceil(units * (mde / margin) ** 2)
