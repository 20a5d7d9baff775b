"""How figures are written in every report: units always, the effect before any p."""

from __future__ import annotations

import math

from warmstart.experiment.analysis import Effect
from warmstart.experiment.plan import Metric
from warmstart.experiment.verdict import Conclusion

__all__ = [
    "ANSWERS", "NOUNS", "TONES", "amount", "effect_size", "interval", "money", "p_value",
    "percent", "points", "times", "value_of", "visible_effect",
]  # fmt: skip

MINUS = "\N{MINUS SIGN}"
NOUNS = {
    Metric.ERROR_RATE: "tool-error rate",
    Metric.SUCCESS: "tasks solved",
    Metric.TURNS: "turns",
    Metric.TOKENS: "tokens",
    Metric.SECONDS: "seconds",
}
ANSWERS = {
    Conclusion.BETTER: "{arm} is better than {control}.",
    Conclusion.WORSE: "{arm} is worse than {control}.",
    Conclusion.EQUIVALENT: "{arm} and {control} are equivalent within the margin.",
    Conclusion.INCONCLUSIVE: (
        "No difference between {arm} and {control} is shown, and none that matters is ruled out."
    ),
    Conclusion.INVALID: "{arm} and {control} cannot be compared.",
}
TONES = {
    Conclusion.BETTER: "good",
    Conclusion.WORSE: "bad",
    Conclusion.EQUIVALENT: "open",
    Conclusion.INCONCLUSIVE: "open",
    Conclusion.INVALID: "bad",
}
SMALL_P = 0.001


def percent(value: float) -> str:
    """A rate."""
    return f"{100 * value:.1f} %"


def points(value: float) -> str:
    """A difference of rates."""
    if math.isinf(value):
        return "unlimited"
    return f"{_signed(100 * value, 1)} pp"


def times(value: float) -> str:
    """A ratio."""
    return "unlimited" if math.isinf(value) else f"x{value:.2f}"


def _signed(value: float, digits: int) -> str:
    rounded = round(value, digits) + 0.0
    if rounded == 0:
        return f"{0:.{digits}f}"
    return f"{rounded:+.{digits}f}".replace("-", MINUS)


def p_value(value: float | None) -> str:
    """A p-value, never as zero."""
    if value is None:
        return "-"
    return "< 0.001" if value < SMALL_P else f"{value:.3f}"


def money(value: float | None) -> str:
    """Dollars, with enough digits for small amounts."""
    if value is None:
        return "-"
    return f"${value:,.2f}" if value >= 1 or value == 0 else f"${value:.2g}"


def amount(value: float | None) -> str:
    """A count or a mean."""
    if value is None:
        return "-"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def value_of(effect: Effect, value: float) -> str:
    """One arm's own value."""
    return amount(value) if effect.is_ratio else percent(value)


def effect_size(effect: Effect) -> str:
    """The effect in natural units."""
    return times(effect.estimate) if effect.is_ratio else points(effect.estimate)


def interval(effect: Effect) -> str:
    """Its 95 % interval."""
    low, high = effect.interval
    write = times if effect.is_ratio else points
    return f"{write(low)} to {write(high)}"


def visible_effect(effect: Effect) -> str:
    """The effect that 80 % of such experiments would see."""
    if not math.isfinite(effect.mde80) or effect.mde80 == (1.0 if effect.is_ratio else 0.0):
        return "-"
    return times(effect.mde80) if effect.is_ratio else f"{100 * effect.mde80:.1f} pp"
