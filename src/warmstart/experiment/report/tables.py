"""The tables that every form of the report shows: arms, effects, checks, tasks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from warmstart.experiment.analysis import ArmSummary, Comparison, Effect
from warmstart.experiment.plan import Metric
from warmstart.experiment.report.figures import (
    NOUNS,
    amount,
    effect_size,
    interval,
    money,
    p_value,
    percent,
    points,
    times,
    value_of,
    visible_effect,
)
from warmstart.experiment.report.subject import Subject
from warmstart.experiment.smallest import Shorter
from warmstart.experiment.verdict import MetricVerdict

__all__ = [
    "Table", "list_arms", "list_checks", "list_effects", "list_shorter",
    "list_tasks", "list_warmups", "order_tasks",
]  # fmt: skip


class Table(NamedTuple):
    """Rows under names; all but the first ``text_columns`` are numbers."""

    names: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    text_columns: int = 1


def list_arms(subject: Subject) -> Table:
    """What happened in each arm, with everything that went wrong."""
    names = ("arm", "tasks", "sessions", "crashed", "timed out", "solved", "calls", "errors")
    return Table(names, [_arm_row(arm) for arm in subject.verdict.analysis.arms])


def list_warmups(subject: Subject) -> Table:
    """What each arm started with, what that cost, and how much was copied from it."""
    names = ("arm", "warm-up tokens", "example calls", "tokens per solved", "cost per solved",
             "sessions that copied")  # fmt: skip
    return Table(names, [_warmup_row(arm) for arm in subject.verdict.analysis.arms])


def _warmup_row(arm: ArmSummary) -> tuple[str, ...]:
    each = arm.warmup_tokens / arm.sessions if arm.sessions else 0.0
    return (
        arm.arm,
        amount(each),
        f"{arm.seeded_calls:,}",
        amount(arm.tokens_per_solved),
        money(arm.cost_per_solved),
        percent(arm.copy_rate) if arm.copy_rate is not None and arm.seeded_calls else "-",
    )


def _arm_row(arm: ArmSummary) -> tuple[str, ...]:
    checked = arm.sessions - arm.unchecked
    return (
        arm.arm,
        f"{arm.tasks:,}",
        f"{arm.sessions:,}",
        f"{arm.crashed:,}",
        f"{arm.timeouts:,}",
        f"{arm.solved:,} of {checked:,}" if checked else "no check",
        f"{arm.calls:,}",
        percent(arm.error_rate.rate) if arm.calls else "-",
    )


def list_effects(subject: Subject) -> Table:
    """Every metric of every treatment arm, the primary one first."""
    names = (
        "arm", "metric", "answer", "control", "treatment", "effect", "95 % interval", "p",
        "sign-flip p", "smallest visible", "tasks",
    )  # fmt: skip
    rows = []
    analysis = subject.verdict.analysis
    for verdict, comparison in zip(subject.verdict.arms, analysis.comparisons, strict=True):
        rows += [
            _effect_row(effect, metric)
            for effect, metric in zip(comparison.effects, verdict.metrics, strict=True)
        ]
    return Table(names, rows, text_columns=3)


def _effect_row(effect: Effect, verdict: MetricVerdict) -> tuple[str, ...]:
    role = " (primary)" if verdict.primary else ""
    return (
        effect.treatment,
        f"{NOUNS[effect.metric]}{role}",
        verdict.conclusion.value,
        value_of(effect, effect.control_value),
        value_of(effect, effect.treatment_value),
        effect_size(effect),
        interval(effect),
        p_value(effect.p),
        p_value(effect.p_sign_flip),
        visible_effect(effect),
        f"{effect.units:,}",
    )


def list_checks(subject: Subject) -> Table:
    """Whether the arms may be compared at all, passed checks included."""
    rows = [
        (one.treatment, check.name, "ok" if check.ok else "FAILED", check.finding)
        for one in subject.verdict.analysis.comparisons
        for check in one.checks
    ]
    return Table(("arm", "condition", "", "found"), rows, text_columns=4)


def order_tasks(comparison: Comparison, *, lower_is_better: bool) -> list[tuple[str, float]]:
    """Tasks with their differences, those that gained most first."""
    sign = 1.0 if lower_is_better else -1.0
    return sorted(comparison.primary.differences, key=lambda pair: (sign * pair[1], pair[0]))


def list_tasks(subject: Subject, comparison: Comparison) -> Table:
    """Control and treatment of each task on the primary metric, by difference."""
    effect = comparison.primary
    values = {
        (row.task, arm.arm): arm.value
        for row in subject.verdict.analysis.tasks
        for arm in row.arms
        if arm.value is not None
    }
    rows = []
    for task, change in order_tasks(comparison, lower_is_better=subject.lower_is_better):
        pair = [values.get((task, arm)) for arm in (effect.control, effect.treatment)]
        shown = [_natural(value, effect) for value in pair]
        rows.append((task, *shown, times(math.exp(change)) if effect.is_ratio else points(change)))
    return Table(("task", effect.control, effect.treatment, "difference"), rows)


def _natural(value: float | None, effect: Effect) -> str:
    if value is None:
        return "-"
    return amount(math.exp(value)) if effect.is_ratio else percent(value)


def list_shorter(subject: Subject) -> Table:
    """Every shorter warm-up against the full one; positive harm is worse."""
    names = ("arm", "answer", "tokens", "harm", "95 % interval", "Holm p", "tasks")
    found = subject.smallest
    metric = subject.plan.design.metric
    return Table(names, [_shorter_row(r, metric) for r in found.arms] if found else [], 2)


def _shorter_row(row: Shorter, metric: Metric) -> tuple[str, ...]:
    if row.result is None:
        return (row.arm, "not compared", amount(row.tokens), "-", "-", "-", "0")
    answer = "not inferior" if row.not_inferior else row.result.answer.value.replace("_", " ")
    if answer in ("preserved", "worse inside margin"):
        # Its own bound is below the margin, but not after the correction for several arms.
        answer = "inconclusive"
    low, high = row.result.interval
    return (
        row.arm,
        answer if row.valid else "invalid",
        amount(row.tokens),
        _harm(row.result.estimate, metric),
        f"{_harm(low, metric)} to {_harm(high, metric)}",
        p_value(row.p_holm),
        f"{row.result.n:,}",
    )


def _harm(value: float, metric: Metric) -> str:
    if metric in (Metric.ERROR_RATE, Metric.SUCCESS):
        return points(value)
    return times(math.exp(value)) if value < 700 else "unlimited"
