"""Plain sentences: effect and interval first, counts after them, p last."""

from __future__ import annotations

import math
from collections.abc import Sequence

from warmstart.experiment._effects import Effect
from warmstart.experiment.plan import Metric

_NOUNS = {
    Metric.ERROR_RATE: "tool-error rate",
    Metric.SUCCESS: "share of tasks solved",
    Metric.TURNS: "turns",
    Metric.TOKENS: "tokens",
    Metric.SECONDS: "seconds",
}
_ANSWERS = {
    "better": "{arm} is better than {control}.",
    "worse": "{arm} is worse than {control}.",
    "equivalent": "{arm} and {control} are equivalent within the margin.",
    "inconclusive": "No difference between {arm} and {control} is shown; none is ruled out either.",
    "invalid": "{arm} and {control} cannot be compared.",
}


def describe_effect(effect: Effect) -> str:
    """One line of figures: ``tool-error rate 9.1 % -> 6.3 %, difference -2.8 points [...]``."""
    low, high = effect.interval
    if effect.is_ratio:
        values = f"{effect.control_value:.4g} -> {effect.treatment_value:.4g}"
        change = f"ratio {effect.estimate:.2f}, 95 % interval {_times(low)} to {_times(high)}"
    else:
        values = f"{_percent(effect.control_value)} -> {_percent(effect.treatment_value)}"
        limits = f"{_points(low)} to {_points(high)}"
        change = f"difference {_points(effect.estimate)}, 95 % interval {limits}"
    return f"{_NOUNS[effect.metric]} {values}, {change}; {_counts(effect)}; {_ps(effect)}"


def describe_verdict(effect: Effect, conclusion: str, reasons: Sequence[str]) -> str:
    """The answer, the figures it rests on, and what could have been seen."""
    answer = _ANSWERS[conclusion].format(arm=effect.treatment, control=effect.control)
    parts = [answer]
    if effect.units:
        figures = describe_effect(effect)
        parts.append(f"{figures[0].upper()}{figures[1:]}.")
    if reasons:
        parts.append(f"Reason: {'; '.join(reasons)}.")
    if conclusion == "inconclusive":
        parts += _could_have_seen(effect)
    return " ".join(parts)


def _could_have_seen(effect: Effect) -> list[str]:
    if not math.isfinite(effect.mde80) or effect.mde80 in (0.0, 1.0):
        return []
    size = (
        f"a ratio of {effect.mde80:.2f}" if effect.is_ratio else _points(effect.mde80).lstrip("+")
    )
    lines = [f"With this sample an effect of {size} would be seen in 80 % of such experiments."]
    if effect.tasks_for_margin:
        needed = f"{effect.tasks_for_margin} {effect.unit}s"
        lines.append(f"An effect as large as the margin needs about {needed}.")
    return lines


def _counts(effect: Effect) -> str:
    a, b = effect.sessions
    calls = f", {effect.calls[0]} + {effect.calls[1]} calls" if any(effect.calls) else ""
    return f"{effect.units} {effect.unit}s, {a} + {b} sessions{calls}"


def _ps(effect: Effect) -> str:
    beside = "" if effect.p_sign_flip is None else f" (sign-flip {_p(effect.p_sign_flip)})"
    return f"p {_p(effect.p)}{beside}"


def _p(value: float) -> str:
    return "< 0.001" if value < 0.001 else f"= {value:.3f}"


def _percent(value: float) -> str:
    return f"{100 * value:.1f} %"


def _points(value: float) -> str:
    return "unlimited" if math.isinf(value) else f"{100 * value:+.1f} points"


def _times(value: float) -> str:
    return "unlimited" if math.isinf(value) else f"{value:.2f}"
