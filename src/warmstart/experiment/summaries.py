"""What happened in each arm and in each task: the tables from which others can recompute."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from warmstart.experiment.effects import ArmTrials, quantile
from warmstart.experiment.plan import Metric
from warmstart.experiment.question import score, task_means
from warmstart.experiment.trial import Trial, TrialStatus
from warmstart.stats import Interval, RateEstimate, TrendResult, clustered_rate, score_trend

POSITIONS = (0, 2, 5, 10, 20, 50, 100, 200)
"""Where the buckets of the learning curve begin."""


class CurvePoint(NamedTuple):
    """Error rate of the calls at one stretch of positions, clustered by session."""

    first: int
    last: int | None
    """Positions from 0; None: open end."""
    rate: float
    interval: Interval
    errors: int
    calls: int
    sessions: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmSummary:
    """One arm, with everything that was left out or went wrong."""

    arm: str
    tasks: int
    sessions: int
    finished: int
    timeouts: int
    crashed: int
    without_calls: int
    """Sessions that say nothing about the error rate."""
    unchecked: int
    """Finished sessions whose task has no check."""
    solved: int
    calls: int
    seeded_calls: int
    """Example calls of warm-ups: excluded from every count."""
    error_rate: RateEstimate
    """Clustered by task."""
    success: RateEstimate
    """Share solved, clustered by task."""
    turns: int
    tokens: int
    warmup_tokens: int
    seconds: float
    median_seconds: float
    cost_usd: float | None
    tokens_per_solved: float | None
    """All tokens, those of failures included, over solved trials."""
    cost_per_solved: float | None
    copied: int
    copied_sessions: int
    copy_rate: float | None
    """Sessions in which a value of the examples turned up, of those that had examples."""
    curve: tuple[CurvePoint, ...]
    trend: TrendResult
    """Errors within a session. Without random arms, falling errors do not prove learning."""
    models: tuple[str, ...]
    setups: tuple[str, ...]


class TaskArm(NamedTuple):
    """One task in one arm."""

    arm: str
    sessions: int
    errors: int
    calls: int
    solved: int
    checked: int
    turns: float
    tokens: float
    seconds: float
    """Means over the sessions."""
    value: float | None
    """Mean score on the primary metric; logarithm for costs."""


class TaskRow(NamedTuple):
    """One task in every arm."""

    task: str
    arms: tuple[TaskArm, ...]


def summarise_arm(group: ArmTrials) -> ArmSummary:
    """Count one arm."""
    trials = group.trials
    status = [trial.status for trial in trials]
    solved = sum(map(_is_solved, trials))
    tokens, cost = int(_total(trials, "tokens")), _total_cost(trials)
    copied, copy_rate = _copies(trials)
    return ArmSummary(
        arm=group.arm,
        tasks=len(group.tasks),
        sessions=len(trials),
        finished=status.count(TrialStatus.FINISHED),
        timeouts=status.count(TrialStatus.TIMEOUT),
        crashed=status.count(TrialStatus.CRASHED),
        without_calls=[len(trial.calls) for trial in trials].count(0),
        unchecked=[score(trial, Metric.SUCCESS) for trial in trials].count(None),
        solved=solved,
        calls=group.calls,
        seeded_calls=int(_total(trials, "warmup_calls")),
        error_rate=clustered_rate(group.error_clusters()),
        success=clustered_rate(_solved_clusters(group)),
        turns=int(_total(trials, "turns")),
        tokens=tokens,
        warmup_tokens=int(_total(trials, "warmup_tokens")),
        seconds=_total(trials, "seconds"),
        median_seconds=quantile(sorted(trial.seconds for trial in trials), 0.5),
        cost_usd=cost,
        tokens_per_solved=_per(tokens, solved),
        cost_per_solved=_per(cost, solved),
        copied=int(_total(trials, "copied")),
        copied_sessions=copied,
        copy_rate=copy_rate,
        curve=learning_curve(trials),
        trend=score_trend([trial.calls for trial in trials]),
        models=_distinct(trials, "model"),
        setups=_distinct(trials, "setup"),
    )


def _total(trials: Iterable[Trial], name: str) -> float:
    return math.fsum(getattr(trial, name) for trial in trials)


def _distinct(trials: Iterable[Trial], name: str) -> tuple[str, ...]:
    return tuple(sorted({getattr(trial, name) for trial in trials} - {""}))


def _per(amount: float | None, count: int) -> float | None:
    return amount / count if count and amount is not None else None


def _copies(trials: Iterable[Trial]) -> tuple[int, float | None]:
    """Sessions that copied from their examples, and their share of those that had any."""
    seeded = [trial for trial in trials if trial.warmup_tokens or trial.warmup_calls]
    copied = sum(trial.copied > 0 for trial in seeded)
    return copied, _per(copied, len(seeded))


def _is_solved(trial: Trial) -> bool:
    return score(trial, Metric.SUCCESS) == 1.0


def _total_cost(trials: Sequence[Trial]) -> float | None:
    """None unless every trial has a price: a partial sum would flatter the arm."""
    costs = [trial.cost_usd for trial in trials if trial.cost_usd is not None]
    return math.fsum(costs) if costs and len(costs) == len(trials) else None


def _solved_clusters(group: ArmTrials) -> list[tuple[float, float]]:
    rows = []
    for trials in group.tasks.values():
        scores = [v for trial in trials if (v := score(trial, Metric.SUCCESS)) is not None]
        rows.append((math.fsum(scores), float(len(scores))))
    return rows


def learning_curve(trials: Iterable[Trial]) -> tuple[CurvePoint, ...]:
    """Error rate by position of the call. Later points hold longer sessions only."""
    rows = [trial.calls for trial in trials if trial.calls]
    points = []
    for first, after in zip(POSITIONS, (*POSITIONS[1:], None), strict=True):
        clusters = [
            (float(sum(call.error for call in part)), float(len(part)))
            for calls in rows
            if (part := calls[first:after])
        ]
        if clusters:
            rate = clustered_rate(clusters)
            last = None if after is None else after - 1
            points.append(
                CurvePoint(
                    first,
                    last,
                    rate.rate,
                    rate.interval,
                    int(rate.errors),
                    int(rate.calls),
                    rate.clusters,
                )
            )
    return tuple(points)


def task_table(groups: Sequence[ArmTrials], metric: Metric) -> tuple[TaskRow, ...]:
    """Every task with every arm it was run in, by name."""
    means = [task_means(group.tasks, metric) for group in groups]
    names = sorted({task for group in groups for task in group.tasks})
    return tuple(
        TaskRow(
            task,
            tuple(
                _task_arm(group.arm, group.tasks[task], mean.get(task))
                for group, mean in zip(groups, means, strict=True)
                if task in group.tasks
            ),
        )
        for task in names
    )


def _task_arm(arm: str, trials: Sequence[Trial], value: float | None) -> TaskArm:
    n = len(trials)
    return TaskArm(
        arm=arm,
        sessions=n,
        errors=sum(trial.errors for trial in trials),
        calls=sum(len(trial.calls) for trial in trials),
        solved=sum(_is_solved(trial) for trial in trials),
        checked=sum(score(trial, Metric.SUCCESS) is not None for trial in trials),
        turns=sum(trial.turns for trial in trials) / n,
        tokens=sum(trial.tokens for trial in trials) / n,
        seconds=math.fsum(trial.seconds for trial in trials) / n,
        value=value,
    )
