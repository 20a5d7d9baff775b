"""The report of an experiment: the answer first, its costs beside it, then what it rests on.

A negative, inconclusive or invalid answer is shown in the same place and form as a good one.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

from warmstart._version import __version__
from warmstart.experiment import (
    ANSWERS,
    NOUNS,
    ArmComparison,
    ArmSummary,
    ArmVerdict,
    Conclusion,
    Effect,
    ExperimentReport,
    Metric,
    MetricVerdict,
    Shorter,
    describe_smallest,
    effect_interval,
    effect_size,
    value_of,
    visible_effect,
)
from warmstart.figures import amount, money, p_value, percent, points, times
from warmstart.present import experiment_plots as plots
from warmstart.present.document import (
    Block,
    Callout,
    Column,
    Data,
    Details,
    Document,
    Figure,
    Figures,
    Heading,
    Listing,
    NextSteps,
    Plot,
    Table,
    Text,
    Tone,
)
from warmstart.present.experiment_words import (
    RATES,
    describe_design,
    describe_errors,
    describe_monitoring,
    describe_plan,
    describe_trend,
    list_limits,
    list_next_steps,
    list_notes,
    list_references,
)
from warmstart.present.json import to_json

__all__ = ["report_document"]

SCHEMA_VERSION = 2
MAX_CALLOUTS = 3
TONES: dict[Conclusion, Tone] = {
    Conclusion.BETTER: "good",
    Conclusion.WORSE: "bad",
    Conclusion.EQUIVALENT: "neutral",
    Conclusion.INCONCLUSIVE: "neutral",
    Conclusion.INVALID: "bad",
}
ONLY_FOR_REPAIR = (
    "The comparison is not valid: what follows helps to find out why and answers nothing."
)


def report_document(report: ExperimentReport) -> Document:
    """The whole report."""
    plan = report.plan
    return Document(
        title=f"Experiment {plan.name}",
        about=[
            f"{NOUNS[plan.design.metric]}, {plan.design.direction.value} is better",
            f"arms: {', '.join(plan.design.arms)}",
        ],
        blocks=[
            *_answers(report),
            _key_figures(report),
            *_next_steps(report),
            *_effects(report),
            *_smallest(report),
            *_arms(report),
            *_fairness(report),
            *_tasks(report),
            *_monitoring(report),
            *_learning(report),
            Details(summary="What this does not show", blocks=[Listing(list(list_limits(report)))]),
            Data(lambda: report_data(report)),
        ],
        footer=(
            f"warmstart {__version__} · plan sha256:{report.hash[:16]} · registered"
            f" {plan.registered}"
        ),
    )


def report_data(report: ExperimentReport) -> dict[str, object]:
    """The report for machines."""
    plan = report.plan
    return {
        "schema_version": SCHEMA_VERSION,
        "name": plan.name,
        "plan": report.hash,
        "registered": plan.registered,
        "done": report.done,
        "total": report.total,
        "decided": report.decided,
        "excluded_tasks": list(plan.tasks.excluded),
        "templates": dict(plan.templates),
        "unreviewed": list(plan.unreviewed),
        "deviations": to_json(report.changes),
        "unreadable_lines": report.unreadable,
        "smallest": to_json(report.smallest),
        "verdict": to_json(report.verdict),
    }


# The answer.


def _answers(report: ExperimentReport) -> Iterator[Block]:
    arms, comparisons = report.verdict.arms, report.verdict.analysis.comparisons
    if report.smallest is not None:
        found = report.smallest.chosen is not None
        text = describe_smallest(report.smallest)
        yield Callout(
            tone="good" if found else "neutral",
            label="smallest" if found else "not shown",
            content=text,
        )
    elif not arms:
        yield Callout(tone="neutral", label="nothing compared", content=report.verdict.headline)
    elif len(arms) > MAX_CALLOUTS:
        yield Listing([
            f"{arm.conclusion.value}: "
            + ANSWERS[arm.conclusion].format(arm=arm.arm, control=report.plan.design.control)
            for arm in arms
        ])  # fmt: skip
    else:
        for arm, comparison in zip(arms, comparisons, strict=True):
            yield _answer(report, arm, comparison)


def _answer(report: ExperimentReport, verdict: ArmVerdict, comparison: ArmComparison) -> Callout:
    label = verdict.conclusion.value + (" · pilot" if verdict.pilot else "")
    if not report.decided:
        label += " · unfinished"
    text = verdict.sentence
    beside = _price(comparison)
    if beside and verdict.conclusion is not Conclusion.INVALID:
        text += f" Beside it: {beside}."
    return Callout(tone=TONES[verdict.conclusion], label=label, content=text)


def _price(comparison: ArmComparison) -> str:
    """Success and tokens, where the verdict is not about them: a gain may cost too much."""
    shown = (Metric.SUCCESS, Metric.TOKENS)
    return "; ".join(
        f"{NOUNS[effect.metric]} {value_of(effect, effect.control_value)} to"
        f" {value_of(effect, effect.treatment_value)} ({effect_size(effect)})"
        for effect in comparison.effects[1:]
        if effect.metric in shown and effect.units
    )


def _key_figures(report: ExperimentReport) -> Figures:
    analysis = report.verdict.analysis
    tasks, calls = len(analysis.tasks), sum(arm.calls for arm in analysis.arms)
    planned = "as they came" if report.observed else f"{report.plan.tasks.count:,} planned"
    items = [
        Figure(f"{tasks:,}", "tasks", planned),
        Figure(f"{report.done:,}", "sessions", f"of {report.total:,}; {len(analysis.arms)} arms"),
        Figure(f"{calls:,}", "calls", "example calls not counted"),
    ]
    for comparison in analysis.comparisons[:1]:
        effect = comparison.primary
        if effect.units and report.verdict.conclusion is not Conclusion.INVALID:
            detail = f"{effect.treatment}: {effect_interval(effect)}"
            items.insert(0, Figure(effect_size(effect), NOUNS[effect.metric], detail))
        items.append(Figure(visible_effect(effect), "smallest visible", "effect, with 80 % power"))
    return Figures(items)


def _next_steps(report: ExperimentReport) -> Iterator[Block]:
    steps = list(list_next_steps(report))
    commands = [(command, why) for command, why in steps if command]
    words = [why for command, why in steps if not command]
    if commands:
        yield NextSteps(commands)
    if words:
        yield Listing(words)


# Effects.


def _effects(report: ExperimentReport) -> Iterator[Block]:
    drawn = [
        plots.plot_primary(report),
        plots.plot_effects(report, ratio=False),
        plots.plot_effects(report, ratio=True),
    ]
    if not report.verdict.arms:
        return
    yield Heading("Effects")
    if any(arm.conclusion is Conclusion.INVALID for arm in report.verdict.arms):
        yield Text(ONLY_FOR_REPAIR, style="warn")
    yield from _shown(drawn)
    yield _effect_table(report)
    comparisons = report.verdict.analysis.comparisons
    against = [line for one in comparisons for line in list_references(one)]
    if against:
        yield Text("Is it the template, or any text?", style="strong")
        yield Listing(against)
    lines = [
        f"{one.treatment}: {line}" for one in comparisons for line in describe_errors(one.primary)
    ]
    if lines:
        yield Details(summary="Counts behind the rates", blocks=[Listing(lines)])


def _shown(drawn: Iterable[Plot | None]) -> Iterator[Plot]:
    return (plot for plot in drawn if plot is not None)


def _effect_table(report: ExperimentReport) -> Table:
    """Every metric of every treatment arm, the primary one first."""
    rows = [
        _effect_row(effect, judged)
        for arm, one in zip(report.verdict.arms, report.verdict.analysis.comparisons, strict=True)
        for effect, judged in zip(one.effects, arm.metrics, strict=True)
    ]
    return Table(
        columns=[
            Column("arm", 24),
            Column("metric", 26),
            Column("answer"),
            Column("control", right=True),
            Column("treatment", right=True),
            Column("effect", right=True),
            Column("95 % interval", right=True),
            Column("p", right=True, priority=1),
            Column("sign-flip p", right=True, priority=3),
            Column("smallest visible", right=True, priority=2),
            Column("tasks", right=True, priority=1),
        ],
        rows=rows,
        caption="Rates are means over tasks, costs geometric means. Only the primary is a claim.",
    )


def _effect_row(effect: Effect, judged: MetricVerdict) -> tuple[str, ...]:
    role = " (primary)" if judged.primary else ""
    names = (effect.treatment, f"{NOUNS[effect.metric]}{role}", judged.conclusion.value)
    if not effect.units:
        return (*names, "no data", "no data", *"-----", "0")
    return (
        *names,
        value_of(effect, effect.control_value),
        value_of(effect, effect.treatment_value),
        effect_size(effect),
        effect_interval(effect),
        p_value(effect.p),
        p_value(effect.p_sign_flip),
        visible_effect(effect),
        f"{effect.units:,}",
    )


def _smallest(report: ExperimentReport) -> Iterator[Block]:
    found = report.smallest
    if found is None:
        return
    metric = report.plan.design.metric
    yield Heading("How small may it be?")
    yield Table(
        columns=[
            Column("arm", 30),
            Column("answer"),
            Column("tokens", right=True),
            Column("harm", right=True),
            Column("95 % interval", right=True),
            Column("holm p", right=True),
            Column("tasks", right=True),
        ],
        rows=[_shorter_row(row, metric) for row in found.arms],
        caption=(
            "Harm is in the direction that is worse. Bounds are skew-corrected (Hall); p is"
            " against harm as large as the margin, with Holm's correction."
        ),
    )


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
    if metric in RATES:
        return points(value)
    return times(math.exp(value)) if value < 700 else "unlimited"


# What happened.


def _arms(report: ExperimentReport) -> Iterator[Block]:
    arms = report.verdict.analysis.arms
    yield Heading("What happened in each arm")
    yield Table(
        columns=[
            Column("arm", 30),
            Column("tasks", right=True),
            Column("sessions", right=True),
            Column("crashed", right=True),
            Column("timed out", right=True),
            Column("solved", right=True),
            Column("calls", right=True),
            Column("errors, all calls pooled", right=True),
        ],
        rows=[_arm_row(arm) for arm in arms],
    )
    yield Table(
        columns=[
            Column("arm", 30),
            Column("warm-up tokens", right=True),
            Column("example calls", right=True),
            Column("tokens per solved", right=True),
            Column("cost per solved", right=True),
            Column("sessions that copied", right=True),
        ],
        rows=[_warmup_row(arm) for arm in arms],
        caption=(
            "Crashes and timeouts stay in as failures. A copied value is one of the examples in a"
            " session's own calls; it may be right or a mistake."
        ),
    )
    costs = (plots.plot_costs(report.verdict.analysis, in_money=yes) for yes in (False, True))
    yield from _shown(costs)


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
        percent(arm.error_rate.rate if arm.calls else None),
    )


def _warmup_row(arm: ArmSummary) -> tuple[str, ...]:
    each = arm.warmup_tokens / arm.sessions if arm.sessions else 0.0
    return (
        arm.arm,
        amount(each),
        f"{arm.seeded_calls:,}",
        amount(arm.tokens_per_solved),
        money(arm.cost_per_solved),
        percent(arm.copy_rate if arm.seeded_calls else None),
    )


def _fairness(report: ExperimentReport) -> Iterator[Block]:
    checks = [
        (one.treatment, check.name, "ok" if check.ok else "FAILED", check.finding)
        for one in report.verdict.analysis.comparisons
        for check in one.checks
    ]
    failed = [f"{arm}: {name}: {finding}" for arm, name, ok, finding in checks if ok != "ok"]
    yield Heading("Fairness")
    yield Listing([*(f"FAILED {line}" for line in failed), *list_notes(report)])
    columns = [Column("arm", 30), Column("condition"), Column(""), Column("found", 60)]
    table = [Table(columns=columns, rows=checks)] if checks else []
    design = [*describe_plan(report), *describe_design(report)]
    yield Details(
        summary="Plan, design, and whether the arms may be compared",
        blocks=[Listing(design), *table],
    )


# Task by task, over time, within a session.


def _tasks(report: ExperimentReport) -> Iterator[Block]:
    for one in report.verdict.analysis.comparisons:
        plot = plots.plot_tasks(report, one)
        if plot is not None:
            blocks: list[Block] = [plot, _task_table(report, one)]
            yield Details(summary=f"Task by task: {one.treatment}", blocks=blocks)


def _task_table(report: ExperimentReport, comparison: ArmComparison) -> Table:
    """Control and treatment of each task on the primary metric, by difference."""
    effect = comparison.primary
    values = {
        (row.task, arm.arm): arm.value
        for row in report.verdict.analysis.tasks
        for arm in row.arms
        if arm.value is not None
    }
    rows = []
    for task, change in plots.order_tasks(comparison, lower_is_better=report.lower_is_better):
        pair = [values.get((task, arm)) for arm in (effect.control, effect.treatment)]
        shown = [_natural(value, effect) for value in pair]
        rows.append((task, *shown, times(math.exp(change)) if effect.is_ratio else points(change)))
    return Table(
        columns=[
            Column("task", 40),
            Column(effect.control, right=True),
            Column(effect.treatment, right=True),
            Column("difference", right=True),
        ],
        rows=rows,
    )


def _natural(value: float | None, effect: Effect) -> str:
    if value is None:
        return "-"
    return amount(math.exp(value)) if effect.is_ratio else percent(value)


def _monitoring(report: ExperimentReport) -> Iterator[Block]:
    for one in report.verdict.analysis.comparisons:
        drawn = _shown((plots.plot_sequence(report, one), plots.plot_evidence(one)))
        blocks: list[Block] = [*drawn, Text(f"{one.treatment}: {describe_monitoring(one)}.")]
        if len(blocks) > 1:
            yield Details(summary=f"While it ran: {one.treatment}", blocks=blocks)


def _learning(report: ExperimentReport) -> Iterator[Block]:
    analysis = report.verdict.analysis
    plot = plots.plot_learning(analysis)
    if plot is not None:
        trends = Listing([describe_trend(arm) for arm in analysis.arms])
        yield Details(summary="Within a session", blocks=[plot, trends])
