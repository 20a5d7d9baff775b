"""The sentences that every form of the report shows: the answer, the plan, what is missing."""

from __future__ import annotations

import math

from warmstart.experiment.analysis import ArmSummary, Comparison, Effect
from warmstart.experiment.arms import ArmKind, parse_arm
from warmstart.experiment.plan import Metric, Plan
from warmstart.experiment.report.figures import (
    ANSWERS,
    NOUNS,
    amount,
    effect_size,
    interval,
    p_value,
    percent,
    points,
    times,
    value_of,
    visible_effect,
)
from warmstart.experiment.report.subject import Subject
from warmstart.experiment.smallest import Shorter
from warmstart.experiment.verdict import ArmVerdict, Conclusion
from warmstart.stats.noninferiority import MIN_GROUPS
from warmstart.stats.sequential import StoppingRule

__all__ = [
    "answer_arm", "answer_shortly", "answer_smallest", "count", "describe_cost", "describe_counts",
    "describe_design", "describe_errors", "describe_looks", "describe_plan", "describe_trend",
    "list_limits", "list_next_steps", "list_notes", "list_references", "show_effect", "show_ps",
    "show_visible",
]  # fmt: skip


MIN_INFORMATIVE = 6
SHOWN_P = 0.05


def count(number: int, noun: str) -> str:
    """``1 task``, ``3 tasks``."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def answer_shortly(verdict: ArmVerdict, comparison: Comparison) -> str:
    """The answer alone."""
    effect = comparison.primary
    return ANSWERS[verdict.conclusion].format(arm=effect.treatment, control=effect.control)


def answer_arm(verdict: ArmVerdict, comparison: Comparison) -> str:
    """The answer and the figures it rests on, in two sentences."""
    effect = comparison.primary
    answer = answer_shortly(verdict, comparison)
    if not effect.units or verdict.conclusion is Conclusion.INVALID:
        return answer
    return f"{answer} {show_effect(effect)}."


def show_effect(effect: Effect) -> str:
    """``Tool-error rate 9.1 % to 6.3 %: -2.8 pp, 95 % interval -4.9 pp to -0.7 pp``."""
    noun = NOUNS[effect.metric]
    before, after = (value_of(effect, v) for v in (effect.control_value, effect.treatment_value))
    return (
        f"{noun[0].upper()}{noun[1:]} {before} to {after}: {effect_size(effect)},"
        f" 95 % interval {interval(effect)}"
    )


def describe_plan(plan: Plan, digest: str) -> list[str]:
    """What was decided before the first trial."""
    design = plan.design
    is_rate = design.metric in (Metric.ERROR_RATE, Metric.SUCCESS)
    margin = points(design.margin).lstrip("+") if is_rate else f"{100 * design.margin:g} %"
    return [
        f"sha256:{digest}, registered {plan.registered or 'at no known time'}",
        (
            f"primary metric: {NOUNS[design.metric]}, {design.direction.value} is better; margin"
            f" {margin}; alpha {design.alpha:g} two-sided; rule: {design.rule}; seed {design.seed}"
        ),
    ]


def describe_design(subject: Subject) -> list[str]:
    """How it was run and how much of it there is: tasks, sessions and calls, in that order."""
    plan, arms = subject.plan, subject.verdict.analysis.arms
    how = (
        "sessions as they came, arms assigned when they started"
        if subject.observed
        else "same tasks in all arms, interleaved in random order, one difference per task"
    )
    calls = sum(arm.calls for arm in arms)
    tasks = len(subject.verdict.analysis.tasks)
    planned = "" if subject.observed else f" of {plan.tasks.count:,} planned"
    times_each = "" if subject.observed else f", {count(plan.design.trials, 'trial')} of each"
    models = sorted({model for arm in arms for model in arm.models})
    return [
        f"{how}; control: {plan.design.control}",
        (
            f"{count(tasks, 'task')}{planned}{times_each}; {subject.done:,} of {subject.total:,}"
            f" sessions; {count(calls, 'call')}"
        ),
        f"model: {', '.join(models) or plan.runner.model or 'unknown'}",
    ]


def describe_counts(arm: ArmSummary) -> str:
    """One arm in a line."""
    parts = [f"{count(arm.sessions, 'session')}, {arm.crashed} crashed, {arm.timeouts} timed out"]
    seeded = f", {arm.seeded_calls:,} example calls not counted" if arm.seeded_calls else ""
    parts.append(f"{count(arm.calls, 'call')}{seeded}")
    if arm.tokens_per_solved is not None:
        parts.append(f"{amount(arm.tokens_per_solved)} tokens per solved task")
    if arm.cost_per_solved is not None:
        parts.append(f"${arm.cost_per_solved:.4g} per solved task")
    if arm.copy_rate is not None and arm.seeded_calls:
        parts.append(f"example values copied in {percent(arm.copy_rate)} of its sessions")
    return f"{arm.arm}: {'; '.join(parts)}"


def describe_errors(effect: Effect) -> list[str]:
    """The denominators beside an error rate: a template may change how many calls are made."""
    detail = effect.errors
    if detail is None or not effect.units:
        return []
    before, after = detail.errors_per_task, detail.calls_per_task
    lines = [
        (
            f"errors per task {before[0]:.3g} to {before[1]:.3g}, calls per task {after[0]:.3g} to"
            f" {after[1]:.3g}"
        )
    ]
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


def describe_cost(effect: Effect) -> str:
    """The bill beside the geometric mean."""
    detail = effect.cost
    if detail is None or detail.bill_ratio is None:
        return ""
    return f"the bill (ratio of totals, not tested) {times(detail.bill_ratio)}"


def describe_looks(comparison: Comparison) -> str:
    """What the stopping rule saw."""
    watched = comparison.monitoring
    if watched is None:
        return "tasks are not paired: no sequential monitoring"
    value = watched.e_values[-1] if watched.e_values else 1.0
    text = f"rule {watched.rule.value}: {watched.seen} of {watched.planned} tasks"
    shown = f"{value:.2e}" if value >= 1e4 else f"{value:.3g}"
    text += f", e-value {shown}"
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


def list_notes(subject: Subject) -> list[str]:
    """Exclusions, deviations and everything else that was not as planned."""
    plan = subject.plan
    lines = []
    if plan.tasks.excluded:
        lines.append(
            f"{count(len(plan.tasks.excluded), 'task')} left out: a template was built from them"
        )
    lines += [
        f"deviation: the plan was changed after {count(change.trials, 'trial')}:"
        f" {'; '.join(change.changes)}"
        for change in subject.changes
    ]
    if not subject.complete and not subject.decided:
        lines.append(f"unfinished: {subject.done:,} of {subject.total:,} sessions")
    lines += [f"{spec} was a draft that nobody had reviewed" for spec in subject.plan.unreviewed]
    lines += _list_oddities(subject)
    return lines or ["no task was left out, the plan was not changed"]


def _list_oddities(subject: Subject) -> list[str]:
    """Counts of what is in the files and not in the figures."""
    analysis = subject.verdict.analysis
    counted = (
        (analysis.duplicates, "trial", "recorded twice, counted once"),
        (analysis.foreign, "trial", "of arms that the plan does not name"),
        (subject.unreadable, "line", "of the trial file cannot be read"),
        (sum(arm.without_calls for arm in analysis.arms), "session", "without a call: no rate"),
    )
    return [f"{count(number, noun)} {what}" for number, noun, what in counted if number]


def list_limits(subject: Subject) -> list[str]:
    """What the result does not say."""
    arms = subject.verdict.arms
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
    if subject.observed:
        lines.append("Sessions were not run for this purpose: arms may have had different tasks.")
    return lines


def list_next_steps(subject: Subject) -> list[str]:
    """What someone would do now, command first where there is one."""
    if not subject.verdict.arms:
        return [("there is one arm only, so nothing is compared; use it as a pilot:"
                f" warmstart experiment plan --pilot {subject.plan.name}")]  # fmt: skip
    if not subject.decided:
        return [f"finish it: warmstart experiment run {subject.plan.name}"]
    if subject.smallest is not None:
        chosen = subject.smallest.chosen
        return [f"confirm {chosen.arm} on fresh tasks before you rely on it"] if chosen else []
    steps = []
    comparisons = subject.verdict.analysis.comparisons
    for verdict, comparison in zip(subject.verdict.arms, comparisons, strict=True):
        step = _next_step(subject, verdict, comparison)
        if step and step not in steps:
            steps.append(step)
    return steps


def _next_step(subject: Subject, verdict: ArmVerdict, comparison: Comparison) -> str:
    match verdict.conclusion:
        case Conclusion.INVALID:
            return f"repair what failed ({'; '.join(verdict.reasons)}), then run a new experiment"
        case Conclusion.EQUIVALENT:
            return f"{verdict.arm}: keep whichever costs less"
        case Conclusion.INCONCLUSIVE:
            needed = comparison.primary.tasks_for_margin or 0
            if needed > comparison.primary.units:
                unit = comparison.primary.unit
                return f"an effect as large as the margin needs about {needed:,} {unit}s"
    return _use_or_not(subject, verdict)


def _use_or_not(subject: Subject, verdict: ArmVerdict) -> str:
    spec = parse_arm(verdict.arm)
    if spec.kind is not ArmKind.WARM or spec.variant:
        return ""
    exact = subject.specs.get(spec.template, spec.template)
    if verdict.conclusion is Conclusion.BETTER:
        return f"use it: warmstart template approve {exact}"
    if verdict.conclusion is Conclusion.WORSE:
        return f"do not use it: warmstart template retire {exact}"
    return ""


def answer_smallest(subject: Subject) -> str:
    """How small the warm-up may be, in a sentence."""
    found = subject.smallest
    if found is None:
        return ""
    full = f"{found.control} ({amount(found.tokens)} tokens)"
    if found.chosen is not None:
        return (
            f"The smallest warm-up shown to be not inferior to {full} is {found.chosen.arm}"
            f" ({amount(found.chosen.tokens)} tokens)."
        )
    return f"No smaller warm-up is shown to do as well as {full} within the margin. " + _why(
        found.arms
    )


def _why(arms: tuple[Shorter, ...]) -> str:
    tasks = max((row.result.n for row in arms if row.result is not None), default=0)
    if tasks < MIN_GROUPS:
        return f"That takes at least {MIN_GROUPS} tasks; there are {tasks}."
    return "More tasks, or a wider margin fixed in advance, may show one."


def show_visible(effect: Effect) -> str:
    """The smallest visible effect in words, empty where it is not known."""
    seen = visible_effect(effect)
    return "" if seen == "-" else f"smallest effect visible with 80 % power: {seen}"


def show_ps(effect: Effect, comparison: Comparison | None = None) -> str:
    """The p-values; the corrected one where several arms were compared."""
    text = f"p {p_value(effect.p)}"
    if effect.p_sign_flip is not None:
        text += f" (sign-flip {p_value(effect.p_sign_flip)})"
    if comparison is not None and comparison.p_holm != comparison.primary.p:
        text += f", Holm {p_value(comparison.p_holm)}"
    return text


def list_references(comparison: Comparison) -> list[str]:
    """The primary effect against arms with other text, template or not."""
    return [
        f"{effect.treatment} against {effect.control}: {effect_size(effect)}, 95 % interval"
        f" {interval(effect)}; {show_ps(effect)}"
        for effect in comparison.against_references
    ]
