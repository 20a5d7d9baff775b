"""What an experiment asks, the answers it may get, and the value of one trial on each metric."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from warmstart.experiment.plan import Direction, Metric, Plan, RunnerKind
from warmstart.experiment.trial import Trial, TrialStatus
from warmstart.stats import StoppingRule

COSTS = (Metric.TURNS, Metric.TOKENS, Metric.SECONDS)
"""Compared as ratios, on the log scale."""

REFERENCE_ARMS = ("token-matched", "placebo")
"""Arms that show what any text, or any template, would do."""


class Conclusion(StrEnum):
    """The only five answers."""

    INVALID = "invalid"
    INCONCLUSIVE = "inconclusive"
    BETTER = "better"
    WORSE = "worse"
    EQUIVALENT = "equivalent"


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """Fixed before the first trial; everything the verdict may depend on besides the trials."""

    control: str
    treatments: tuple[str, ...]
    references: tuple[str, ...] = ()
    """Arms about which nothing is claimed; each treatment is also shown against them."""
    metric: Metric = Metric.ERROR_RATE
    direction: Direction = Direction.LOWER
    margin: float = 0.02
    """In points for rates, as a share for costs."""
    alpha: float = 0.05
    rule: StoppingRule = StoppingRule.FIXED
    planned_tasks: int | None = None
    """None: whatever is there is all there will be."""
    trials: int | None = None
    """Planned trials of each task in each arm; None: as many as there are."""
    paired: bool = True
    """False for observed sessions, where arms may have different tasks."""
    share: float = 0.5
    """Planned share of the treatment among the sessions of control and treatment."""
    seed: int = 1


def question_of(plan: Plan) -> Question:
    """The question that a plan registers."""
    design = plan.design
    others = [arm for arm in design.arms if arm != design.control]
    references = tuple(arm for arm in others if arm.split(":")[0] in REFERENCE_ARMS)
    treatments = tuple(arm for arm in others if arm not in references)
    observed = plan.runner.kind is RunnerKind.OBSERVED
    return Question(
        control=design.control,
        treatments=treatments or references,
        references=references if treatments else (),
        metric=design.metric,
        direction=design.direction,
        margin=design.margin,
        alpha=design.alpha,
        rule=design.rule,
        planned_tasks=None if observed else plan.tasks.count,
        trials=None if observed else design.trials,
        paired=not observed,
        seed=design.seed,
    )


def score(trial: Trial, metric: Metric) -> float | None:
    """One trial on the scale of the test; None where the metric says nothing about it.

    Costs are logarithms. A trial that crashed or ran out of time is a failure, whether or not its
    check ran; a trial without calls has no error rate.
    """
    if metric is Metric.ERROR_RATE:
        return trial.errors / len(trial.calls) if trial.calls else None
    if metric is Metric.SUCCESS:
        if trial.status is not TrialStatus.FINISHED:
            return 0.0
        return None if trial.success is None else float(trial.success)
    amount = float(getattr(trial, metric.value))
    return math.log(amount) if amount > 0 else None


def by_task(trials: Iterable[Trial], arm: str) -> dict[str, list[Trial]]:
    """The trials of one arm by task, in the order in which they are given."""
    found: dict[str, list[Trial]] = {}
    for trial in trials:
        if trial.arm == arm:
            found.setdefault(trial.task, []).append(trial)
    return found


def task_means(trials: dict[str, list[Trial]], metric: Metric) -> dict[str, float]:
    """Mean score of each task's trials, without tasks that have none."""
    means = {}
    for task, rows in trials.items():
        scores = [value for row in rows if (value := score(row, metric)) is not None]
        if scores:
            means[task] = math.fsum(scores) / len(scores)
    return means


def metrics_of(trials: Iterable[Trial], primary: Metric) -> tuple[Metric, ...]:
    """The primary first, then every other metric that the trials say anything about."""
    rows = list(trials)
    checked = any(row.success is not None for row in rows)
    usable = [
        metric
        for metric in Metric
        if metric is not primary
        and (
            checked if metric is Metric.SUCCESS else any(score(r, metric) is not None for r in rows)
        )
    ]
    return (primary, *usable)
