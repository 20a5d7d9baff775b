"""The sentences of an experiment's report: what was planned, what was odd, and what to do next."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from warmstart.experiment import (
    NOUNS,
    ArmComparison,
    ArmKind,
    ArmSummary,
    ArmVerdict,
    Conclusion,
    Effect,
    ExperimentReport,
    Metric,
    StoppingRule,
    effect_interval,
    effect_size,
    parse_arm,
    show_ps,
)
from warmstart.figures import count, p_value, percent, points

MIN_INFORMATIVE = 6
SHOWN_P = 0.05
RATES = (Metric.ERROR_RATE, Metric.SUCCESS)


def list_next_steps(report: ExperimentReport) -> Iterator[tuple[str, str]]:
    """What to do now: a command, or nothing, and what it is for."""
    name = report.plan.name
    if not report.verdict.arms:
        why = "one arm only, so nothing is compared; use it as a pilot"
        yield f"warmstart experiment plan --pilot {name}", why
    elif not report.decided:
        yield f"warmstart experiment run {name}", "finish it"
    elif report.smallest is not None:
        if report.smallest.chosen:
            yield "", f"Confirm {report.smallest.chosen.arm} on fresh tasks before you rely on it."
    else:
        comparisons = report.verdict.analysis.comparisons
        seen = set()
        for verdict, comparison in zip(report.verdict.arms, comparisons, strict=True):
            step = _next_step(report, verdict, comparison)
            if step is not None and step not in seen:
                seen.add(step)
                yield step


def _next_step(
    report: ExperimentReport, verdict: ArmVerdict, comparison: ArmComparison
) -> tuple[str, str] | None:
    effect = comparison.primary
    needed = effect.tasks_for_margin or 0
    match verdict.conclusion:
        case Conclusion.INVALID:
            failed = "; ".join(verdict.reasons)
            return "", f"Repair what failed ({failed}), then run a new experiment."
        case Conclusion.EQUIVALENT:
            return "", f"{verdict.arm}: keep whichever costs less."
        case Conclusion.INCONCLUSIVE if needed > effect.units:
            return "", f"An effect as large as the margin needs about {needed:,} {effect.unit}s."
        case Conclusion.INCONCLUSIVE:
            return None
    spec = parse_arm(verdict.arm)
    if spec.kind is not ArmKind.WARM or spec.variant:
        return None
    exact = report.specs.get(spec.template, spec.template)
    if verdict.conclusion is Conclusion.BETTER:
        return f"warmstart template approve {exact}", "use it"
    return f"warmstart template retire {exact}", "stop using it"


def list_references(comparison: ArmComparison) -> list[str]:
    """The primary effect against arms with other text, template or not."""
    return [
        f"{effect.treatment} against {effect.control}: {effect_size(effect)}, 95 % interval"
        f" {effect_interval(effect)}; {show_ps(effect)}"
        for effect in comparison.against_references
    ]


def describe_errors(effect: Effect) -> list[str]:
    """The denominators beside an error rate: a template may change how many calls are made."""
    detail = effect.errors
    if detail is None or not effect.units:
        return []
    errors, calls = detail.errors_per_task, detail.calls_per_task
    per_task = f"errors per task {errors[0]:.3g} to {errors[1]:.3g}"
    lines = [f"{per_task}, calls per task {calls[0]:.3g} to {calls[1]:.3g}"]
    weighted = detail.call_weighted
    if weighted is not None:
        low, high = weighted.interval
        lines.append(
            f"weighted by calls {points(weighted.estimate)}, {points(low)} to {points(high)}"
        )
    for name, upper in zip((effect.control, effect.treatment), detail.upper_when_zero, strict=True):
        if upper is not None:
            lines.append(f"{name} had no error; its rate may be up to {percent(upper)}")
    return lines


def describe_plan(report: ExperimentReport) -> list[str]:
    """What was decided before the first trial."""
    design = report.plan.design
    is_rate = design.metric in RATES
    margin = points(design.margin).lstrip("+") if is_rate else f"{100 * design.margin:g} %"
    return [
        f"sha256:{report.hash}, registered {report.plan.registered or 'at no known time'}",
        (
            f"primary metric: {NOUNS[design.metric]}, {design.direction.value} is better; margin"
            f" {margin}; alpha {design.alpha:g} two-sided; rule: {design.rule.value}; seed"
            f" {design.seed}"
        ),
    ]


def describe_design(report: ExperimentReport) -> list[str]:
    """How it was run and how much of it there is: tasks, sessions and calls, in that order."""
    plan, arms = report.plan, report.verdict.analysis.arms
    how = (
        "sessions as they came, arms assigned when they started"
        if report.observed
        else "same tasks in all arms, interleaved in random order, one difference per task"
    )
    calls = sum(arm.calls for arm in arms)
    tasks = len(report.verdict.analysis.tasks)
    planned = "" if report.observed else f" of {plan.tasks.count:,} planned"
    times_each = "" if report.observed else f", {count(plan.design.trials, 'trial')} of each"
    models = sorted({model for arm in arms for model in arm.models})
    return [
        f"{how}; control: {plan.design.control}",
        (
            f"{count(tasks, 'task')}{planned}{times_each}; {report.done:,} of {report.total:,}"
            f" sessions; {count(calls, 'call')}"
        ),
        f"model: {', '.join(models) or plan.runner.model or 'unknown'}",
    ]


def list_notes(report: ExperimentReport) -> list[str]:
    """Exclusions, deviations and everything else that was not as planned."""
    plan, analysis = report.plan, report.verdict.analysis
    lines = []
    if plan.tasks.excluded:
        left_out = count(len(plan.tasks.excluded), "task")
        lines.append(f"{left_out} left out: a template was built from them")
    lines += [
        f"deviation: the plan was changed after {count(change.trials, 'trial')}:"
        f" {'; '.join(change.changes)}"
        for change in report.changes
    ]
    if not report.complete and not report.decided:
        lines.append(f"unfinished: {report.done:,} of {report.total:,} sessions")
    lines += [f"{spec} was a draft that nobody had reviewed" for spec in plan.unreviewed]
    counted = (
        (analysis.duplicates, "trial", "recorded twice, counted once"),
        (analysis.foreign, "trial", "of arms that the plan does not name"),
        (report.unreadable, "line", "of the trial file cannot be read"),
        (sum(arm.without_calls for arm in analysis.arms), "session", "without a call: no rate"),
    )
    lines += [f"{count(number, noun)} {what}" for number, noun, what in counted if number]
    return lines or ["no task was left out, the plan was not changed"]


def describe_monitoring(comparison: ArmComparison) -> str:
    """What the stopping rule saw."""
    watched = comparison.monitoring
    if watched is None:
        return "tasks are not paired: no sequential monitoring"
    value = watched.e_values[-1] if watched.e_values else 1.0
    shown = f"{value:.2e}" if value >= 1e4 else f"{value:.3g}"
    text = f"rule {watched.rule.value}: {watched.seen} of {watched.planned} tasks, e-value {shown}"
    if math.isfinite(watched.e_limit):
        text += f" (needed {watched.e_limit:.3g})"
    stop = watched.stopped_at if watched.rule is not StoppingRule.FIXED else None
    return text + (f"; the rule was met after {stop} tasks" if stop else "")


def describe_trend(arm: ArmSummary) -> str:
    """Whether errors fall within the sessions of an arm, strata session by tool."""
    trend = arm.trend
    if trend.informative < MIN_INFORMATIVE:
        return f"{arm.arm}: {count(trend.informative, 'informative session')}, too few to say"
    sure = f"p {p_value(trend.p)}, {trend.informative} informative sessions"
    if trend.p > SHOWN_P:
        return f"{arm.arm}: no trend of errors within sessions is shown ({sure})"
    return f"{arm.arm}: errors {'fall' if trend.z < 0 else 'rise'} within sessions ({sure})"


def list_limits(report: ExperimentReport) -> Sequence[str]:
    """What the result does not say."""
    arms = report.verdict.arms
    lines = [
        "It holds for these tasks, this model and these tools; other work may differ.",
        "Only the primary metric is a claim. The others are shown as they are, uncorrected.",
    ]
    if len(arms) > 1:
        lines.append(
            f"{len(arms)} arms were compared (p corrected by Holm); the effect of the best looks"
            " larger than it is. Measure the winner again on fresh tasks."
        )
    if any(arm.pilot for arm in arms):
        lines.append("Fewer than 15 tasks: a pilot. The figures are real, the sample is small.")
    if any(arm.conclusion is Conclusion.INCONCLUSIVE for arm in arms):
        lines.append(
            "Inconclusive is not 'no effect': read the interval and the smallest visible effect."
        )
    if report.observed:
        lines.append("Sessions were not run for this purpose: arms may have had different tasks.")
    return lines
