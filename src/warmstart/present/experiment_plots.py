"""The plots of an experiment's report, from its analysis; None where there is nothing to draw."""

from __future__ import annotations

import math
from functools import partial

from warmstart.experiment import (
    MARGINS,
    NOUNS,
    Analysis,
    ArmComparison,
    ArmSummary,
    Conclusion,
    Effect,
    ExperimentReport,
    Metric,
    MetricVerdict,
    effect_interval,
    effect_size,
    margin_on_scale,
)
from warmstart.figures import amount, money, percent, points, times
from warmstart.present.document import Plot
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
    "order_tasks",
    "plot_costs",
    "plot_effects",
    "plot_evidence",
    "plot_learning",
    "plot_primary",
    "plot_sequence",
    "plot_tasks",
]

DOTS = {Conclusion.BETTER: "won", Conclusion.WORSE: "lost"}
USUAL_CLAIM = 20.0
"""1 / .05: where an e-value is evidence, for rules that do not use it."""
MAX_EXPONENT = 100.0


def plot_primary(report: ExperimentReport) -> Plot | None:
    """The effect that the verdict is about, one row per arm."""
    found = [(e, judged) for e, judged in _list_judged(report) if judged.primary]
    if not found:
        return None
    noun = NOUNS[found[0][0].metric]
    unit = "" if found[0][0].is_ratio else ", in percentage points"
    caption = (
        f"{noun}: the registered metric{unit}. The strip is the margin, the dashed line no"
        " difference. Green is better, red is worse, blue shows neither."
    )
    marks = [_mark(effect, judged, report, effect.treatment) for effect, judged in found]
    ends = ("better", "worse") if report.lower_is_better else ("worse", "better")
    return _forest(marks, f"Effect on {noun}", ends, caption, ratio=found[0][0].is_ratio)


def plot_effects(report: ExperimentReport, *, ratio: bool) -> Plot | None:
    """Effects on the other rates, or on the other costs."""
    order = list(Metric)
    found = [
        (effect, judged)
        for effect, judged in _list_judged(report)
        if effect.is_ratio == ratio and not judged.primary
    ]
    if not found:
        return None
    marks = [
        _mark(effect, judged, report, f"{NOUNS[effect.metric]} · {effect.treatment}")
        for effect, judged in sorted(found, key=lambda pair: order.index(pair[0].metric))
    ]
    label = "Effects on costs, as ratios" if ratio else "Effects on rates, in points"
    caption = (
        "Costs as ratios to the control (geometric means), failures and timeouts included."
        if ratio
        else "Other rates, in percentage points. They are not claims, so they have no color."
    )
    ends = ("less than the control", "more than the control")
    return _forest(marks, label, ends, caption, ratio=ratio)


def _forest(
    marks: list[PlotMark], label: str, ends: tuple[str, str], caption: str, *, ratio: bool
) -> Plot:
    show = _show_ratio if ratio else _show_points

    def draw(width: int) -> str:
        return draw_forest(marks, label, zero=True, ratio=ratio, show=show, ends=ends, width=width)

    return Plot(draw=draw, caption=caption)


def _list_judged(report: ExperimentReport) -> list[tuple[Effect, MetricVerdict]]:
    """Effects that rest on anything, each with what was concluded from it."""
    verdict = report.verdict
    return [
        (effect, judged)
        for arm, comparison in zip(verdict.arms, verdict.analysis.comparisons, strict=True)
        for effect, judged in zip(comparison.effects, arm.metrics, strict=True)
        if effect.units
    ]


def _mark(effect: Effect, judged: MetricVerdict, report: ExperimentReport, label: str) -> PlotMark:
    margin = report.plan.design.margin if judged.primary else MARGINS[effect.metric]
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
        note=_shorten(effect),
    )


def _shorten(effect: Effect) -> str:
    """The effect and its interval without units, which stand in the caption or on the axis."""
    if effect.is_ratio:
        return f"{effect_size(effect)}  [{effect_interval(effect)}]"
    low, high = (f"{100 * value:+.1f}" for value in effect.interval)
    return f"{100 * effect.estimate:+.1f}  [{low} to {high}]"


def _log(value: float) -> float:
    return math.log(value) if value > 0.0 else -math.inf


def _show_points(value: float) -> str:
    return f"{100 * value:+.0f}" if value else "0"


def _show_ratio(value: float) -> str:
    return "unlimited" if abs(value) > MAX_EXPONENT else times(math.exp(value))


def _show_amount(value: float) -> str:
    return amount(math.exp(value))


def order_tasks(comparison: ArmComparison, *, lower_is_better: bool) -> list[tuple[str, float]]:
    """Tasks with their differences, those that gained most first."""
    sign = 1.0 if lower_is_better else -1.0
    return sorted(comparison.primary.differences, key=lambda pair: (sign * pair[1], pair[0]))


def plot_tasks(report: ExperimentReport, comparison: ArmComparison) -> Plot | None:
    """Every task before and after on the primary metric, by difference."""
    effect = comparison.primary
    pairs = _list_pairs(report, comparison)
    if not pairs:
        return None
    sign = 1.0 if report.lower_is_better else -1.0
    gains = sum(sign * d < 0 for _, d in effect.differences)
    losses = sum(sign * d > 0 for _, d in effect.differences)
    caption = (
        f"Each line is a task: hollow is {effect.control}, full is {effect.treatment}."
        f" {gains} got better, {losses} worse, {len(effect.differences) - gains - losses} stayed"
        " the same."
    )

    def draw(width: int) -> str:
        return draw_pairs(
            pairs,
            f"{NOUNS[effect.metric]} of every task, {effect.control} and {effect.treatment}",
            _show_amount if effect.is_ratio else percent,
            lower_is_better=report.lower_is_better,
            ticks="log" if effect.is_ratio else "rate",
            width=width,
        )

    return Plot(draw=draw, caption=caption)


def _list_pairs(report: ExperimentReport, comparison: ArmComparison) -> list[TaskPair]:
    effect = comparison.primary
    values = {
        row.task: {arm.arm: arm.value for arm in row.arms} for row in report.verdict.analysis.tasks
    }
    pairs = []
    for task, _ in order_tasks(comparison, lower_is_better=report.lower_is_better):
        before, after = (values[task].get(arm) for arm in (effect.control, effect.treatment))
        if before is not None and after is not None:
            pairs.append(TaskPair(task, before, after))
    return pairs


def plot_sequence(report: ExperimentReport, comparison: ArmComparison) -> Plot | None:
    """The confidence sequence of the primary difference."""
    design, effect = report.plan.design, comparison.primary
    path = [
        PathPoint(p.n, p.estimate, *(0.0 if math.isnan(v) else v for v in p.interval))
        for p in comparison.sequence
    ]
    if not path:
        return None
    planned = comparison.monitoring.planned if comparison.monitoring else path[-1].n
    caption = (
        f"{comparison.treatment}: the difference after every task. The band holds at all times at"
        " once, so it is wider than the final interval."
    )

    def draw(width: int) -> str:
        return draw_path(
            path,
            "Difference after every task",
            _show_ratio if effect.is_ratio else points,
            margin=margin_on_scale(design.metric, design.margin),
            planned=planned,
            ratio=effect.is_ratio,
            width=width,
        )

    return Plot(draw=draw, caption=caption)


def plot_evidence(comparison: ArmComparison) -> Plot | None:
    """The running e-value."""
    watched = comparison.monitoring
    if watched is None or not watched.e_values:
        return None
    limit = watched.e_limit if math.isfinite(watched.e_limit) else USUAL_CLAIM

    def draw(width: int) -> str:
        label = "E-value after every task"
        return draw_evidence(watched.e_values, limit, label, planned=watched.planned, width=width)

    caption = (
        "Evidence against 'no difference' (e-value, log axis). Looking at it after every task"
        " costs nothing."
    )
    return Plot(draw=draw, caption=caption)


def plot_learning(analysis: Analysis) -> Plot | None:
    """Error rate over the position of a call, one line per arm."""
    series = {arm.arm: _curve(arm) for arm in analysis.arms}
    if not any(series.values()):
        return None
    caption = (
        "Error rate of the calls at each place in a session. Later places hold the longer sessions"
        " only, so a fall along a line does not prove learning; compare arms at one place."
    )
    label = "Error rate by position of the call, per arm"
    draw = partial(_draw_learning, series, label)
    return Plot(draw=draw, caption=caption, legend=list(series))


def _draw_learning(series: dict[str, list[PlotMark]], label: str, width: int) -> str:
    return draw_lines(series, label, axis="position of the call", width=width)


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


def plot_costs(analysis: Analysis, *, in_money: bool) -> Plot | None:
    """Tokens, or dollars, per solved task; failures are in the sum."""
    rows: list[tuple[str, float | None, str]] = []
    for arm in analysis.arms:
        value = arm.cost_per_solved if in_money else arm.tokens_per_solved
        shown = money(value) if in_money else amount(value)
        rows.append((arm.arm, value, shown if value is not None else "none solved"))
    if all(value is None for _, value, _ in rows):
        return None
    what = "Dollars" if in_money else "Tokens"
    label = "Cost per solved task" if in_money else "Tokens per solved task"
    return Plot(
        draw=lambda width: draw_amounts(rows, label, width=width),
        caption=f"{what} per solved task, those of failures included.",
    )
