"""The plots of the page, from the analysis of an experiment."""

from __future__ import annotations

import math

from warmstart.experiment.analysis import Analysis, ArmSummary, Comparison, Effect
from warmstart.experiment.plan import MARGINS, Metric
from warmstart.experiment.report.figures import (
    NOUNS,
    amount,
    effect_size,
    interval,
    money,
    percent,
    points,
    times,
)
from warmstart.experiment.report.parts import Html
from warmstart.experiment.report.subject import Subject
from warmstart.experiment.report.tables import order_tasks
from warmstart.experiment.verdict import Conclusion, MetricVerdict
from warmstart.present.plots import (
    PathPoint,
    PlotMark,
    TaskPair,
    draw_amounts,
    draw_evidence,
    draw_forest,
    draw_lines,
    draw_pairs,
    draw_path,
)

__all__ = [
    "plot_costs", "plot_effects", "plot_evidence", "plot_learning", "plot_primary",
    "plot_sequence", "plot_tasks",
]  # fmt: skip

DOTS = {Conclusion.BETTER: "won", Conclusion.WORSE: "lost"}
RATES = (Metric.ERROR_RATE, Metric.SUCCESS)
USUAL_CLAIM = 20.0
"""1 / .05: where an e-value is evidence, for rules that do not use it."""


def plot_primary(subject: Subject) -> Html | None:
    """The effect that the verdict is about, one row per arm."""
    found = [(e, judged) for e, judged in _list_judged(subject) if judged.primary]
    if not found:
        return None
    ratio = found[0][0].is_ratio
    marks = [_mark(effect, judged, subject, effect.treatment) for effect, judged in found]
    ends = ("better", "worse") if subject.lower_is_better else ("worse", "better")
    label = f"Effect on {NOUNS[found[0][0].metric]}"
    show = _show_ratio if ratio else points
    return Html(draw_forest(marks, label, zero=True, ratio=ratio, show=show, ends=ends))


def plot_effects(subject: Subject, *, ratio: bool) -> Html | None:
    """Effects on the other rates, or the other costs; None where there is none of the kind."""
    order = list(Metric)
    found = [
        (effect, judged)
        for effect, judged in _list_judged(subject)
        if effect.is_ratio == ratio and not judged.primary
    ]
    marks = [
        _mark(effect, judged, subject, f"{NOUNS[effect.metric]} · {effect.treatment}")
        for effect, judged in sorted(found, key=lambda pair: order.index(pair[0].metric))
    ]
    if not marks:
        return None
    label = "Effects on costs, as ratios" if ratio else "Effects on rates, in points"
    ends = ("less than the control", "more than the control")
    show = _show_ratio if ratio else points
    return Html(draw_forest(marks, label, zero=True, ratio=ratio, show=show, ends=ends))


def _list_judged(subject: Subject) -> list[tuple[Effect, MetricVerdict]]:
    """Effects that rest on anything, each with what was concluded from it."""
    verdict = subject.verdict
    return [
        (effect, judged)
        for arm, comparison in zip(verdict.arms, verdict.analysis.comparisons, strict=True)
        for effect, judged in zip(comparison.effects, arm.metrics, strict=True)
        if effect.units
    ]


def _mark(effect: Effect, judged: MetricVerdict, subject: Subject, label: str) -> PlotMark:
    margin = subject.plan.design.margin if judged.primary else MARGINS[effect.metric]
    value, low, high = effect.estimate, *effect.interval
    if effect.is_ratio:
        value, low, high, margin = *map(_log, (value, low, high)), math.log1p(margin)
    return PlotMark(
        label=label,
        value=value,
        low=low,
        high=high,
        margin=margin,
        tone=DOTS.get(judged.conclusion, "dot") if judged.primary else "faint",
        note=f"{effect_size(effect)}  [{interval(effect)}]",
    )


def _log(value: float) -> float:
    return math.log(value) if value > 0.0 else -math.inf


def _show_ratio(value: float) -> str:
    if abs(value) > 100:
        return "unlimited"
    return times(math.exp(value))


def plot_tasks(subject: Subject, comparison: Comparison) -> Html | None:
    """Every task before and after on the primary metric, by difference."""
    effect = comparison.primary
    pairs = _list_pairs(subject, comparison)
    if not pairs:
        return None
    label = f"{NOUNS[effect.metric]} of every task, {effect.control} and {effect.treatment}"
    return Html(
        draw_pairs(
            pairs,
            label,
            _show_amount if effect.is_ratio else percent,
            lower_is_better=subject.lower_is_better,
            ticks="log" if effect.is_ratio else "rate",
        )
    )


def _list_pairs(subject: Subject, comparison: Comparison) -> list[TaskPair]:
    effect = comparison.primary
    values = {
        row.task: {arm.arm: arm.value for arm in row.arms} for row in subject.verdict.analysis.tasks
    }
    pairs = []
    for task, _ in order_tasks(comparison, lower_is_better=subject.lower_is_better):
        before, after = (values[task].get(arm) for arm in (effect.control, effect.treatment))
        if before is not None and after is not None:
            pairs.append(TaskPair(task, before, after))
    return pairs


def _show_amount(value: float) -> str:
    return amount(math.exp(value))


def plot_sequence(comparison: Comparison, margin: float) -> Html | None:
    """The confidence sequence of the primary difference; ``margin`` is on the test's scale."""
    effect = comparison.primary
    path = [
        PathPoint(p.n, p.estimate, *(_bounded(v) for v in p.interval)) for p in comparison.sequence
    ]
    if not path:
        return None
    planned = comparison.monitoring.planned if comparison.monitoring else path[-1].n
    show = _show_ratio if effect.is_ratio else points
    return Html(
        draw_path(
            path,
            "Difference after every task",
            show,
            margin=margin,
            planned=planned,
            ratio=effect.is_ratio,
        )
    )


def _bounded(value: float) -> float:
    return 0.0 if math.isnan(value) else value


def plot_evidence(comparison: Comparison) -> Html | None:
    """The running e-value."""
    watched = comparison.monitoring
    if watched is None or not watched.e_values:
        return None
    limit = watched.e_limit if math.isfinite(watched.e_limit) else USUAL_CLAIM
    return Html(
        draw_evidence(watched.e_values, limit, "E-value after every task", planned=watched.planned)
    )


def plot_learning(analysis: Analysis) -> Html | None:
    """Error rate over the position of a call, one line per arm."""
    series = {arm.arm: _curve(arm) for arm in analysis.arms}
    if not any(series.values()):
        return None
    label = "Error rate by position of the call, per arm"
    return Html(draw_lines(series, label, axis="position of the call"))


def _curve(arm: ArmSummary) -> list[PlotMark]:
    return [
        PlotMark(
            label=_stretch(point.first, point.last),
            value=point.rate,
            low=max(point.interval.low, 0.0),
            high=min(point.interval.high, 1.0),
            note=f"{point.sessions} sessions, {point.calls} calls",
        )
        for point in arm.curve
    ]


def _stretch(first: int, last: int | None) -> str:
    if last is None:
        return f"{first + 1} on"
    return f"{first + 1}-{last + 1}" if last > first else f"{first + 1}"


def plot_costs(analysis: Analysis, *, in_money: bool) -> Html | None:
    """Tokens, or dollars, per solved task; failures are in the sum."""
    rows = []
    for arm in analysis.arms:
        value = arm.cost_per_solved if in_money else arm.tokens_per_solved
        shown = money(value) if in_money else amount(value)
        rows.append((arm.arm, value, shown if value is not None else "none solved"))
    if all(value is None for _, value, _ in rows):
        return None
    what = "Cost" if in_money else "Tokens"
    return Html(draw_amounts(rows, f"{what} per solved task"))
