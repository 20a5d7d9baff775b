"""How effects and verdicts are put into words: the effect first, then counts, then p.

Every surface shows these sentences, so that one verdict reads the same everywhere.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from warmstart.experiment.ablation import Smallest
from warmstart.experiment.effects import Effect
from warmstart.experiment.plan import Metric
from warmstart.experiment.question import Conclusion
from warmstart.figures import amount, p_value, percent, points, times
from warmstart.stats import MIN_GROUPS

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


def value_of(effect: Effect, value: float) -> str:
    """One arm's own value."""
    return amount(value) if effect.is_ratio else percent(value)


def effect_size(effect: Effect) -> str:
    """The effect in natural units."""
    return times(effect.estimate) if effect.is_ratio else points(effect.estimate)


def effect_interval(effect: Effect) -> str:
    """The effect's 95 % interval in natural units."""
    low, high = effect.interval
    write = times if effect.is_ratio else points
    return f"{write(low)} to {write(high)}"


def visible_effect(effect: Effect) -> str:
    """The effect that 80 % of such experiments would see; a dash where it is not known."""
    if not math.isfinite(effect.mde80) or effect.mde80 == (1.0 if effect.is_ratio else 0.0):
        return "-"
    return times(effect.mde80) if effect.is_ratio else f"{100 * effect.mde80:.1f} points"


def show_effect(effect: Effect) -> str:
    """``Tool-error rate 9.1 % to 6.3 %: -2.8 points, 95 % interval -4.9 points to -0.7 points``."""
    noun = NOUNS[effect.metric]
    before, after = (value_of(effect, v) for v in (effect.control_value, effect.treatment_value))
    return (
        f"{noun[0].upper()}{noun[1:]} {before} to {after}: {effect_size(effect)},"
        f" 95 % interval {effect_interval(effect)}"
    )


def show_ps(effect: Effect, p_holm: float | None = None) -> str:
    """The p-values; the corrected one where it differs because several arms were compared."""
    text = f"p {p_value(effect.p)}"
    if effect.p_sign_flip is not None:
        text += f" (sign-flip {p_value(effect.p_sign_flip)})"
    if p_holm is not None and p_holm != effect.p:
        text += f", Holm {p_value(p_holm)}"
    return text


def show_visible(effect: Effect) -> str:
    """The smallest visible effect in words, empty where it is not known."""
    seen = visible_effect(effect)
    return "" if seen == "-" else f"smallest effect visible with 80 % power: {seen}"


def describe_effect(effect: Effect) -> str:
    """The effect, the counts it rests on and its p-values, in one line."""
    a, b = effect.sessions
    calls = f", {effect.calls[0]:,} + {effect.calls[1]:,} calls" if any(effect.calls) else ""
    counts = f"{effect.units:,} {effect.unit}s, {a:,} + {b:,} sessions{calls}"
    return f"{show_effect(effect)}; {counts}; {show_ps(effect)}"


def describe_verdict(effect: Effect, conclusion: Conclusion, reasons: Sequence[str]) -> str:
    """The answer, the figures it rests on, the reasons, and what could have been seen."""
    parts = [ANSWERS[conclusion].format(arm=effect.treatment, control=effect.control)]
    if effect.units and conclusion is not Conclusion.INVALID:
        parts.append(f"{describe_effect(effect)}.")
    if reasons:
        parts.append(f"Reason: {'; '.join(reasons)}.")
    visible = show_visible(effect)
    if conclusion is Conclusion.INCONCLUSIVE and visible:
        parts.append(f"{visible[0].upper()}{visible[1:]}.")
        if effect.tasks_for_margin:
            needed = f"{effect.tasks_for_margin:,} {effect.unit}s"
            parts.append(f"An effect as large as the margin needs about {needed}.")
    return " ".join(parts)


def describe_smallest(found: Smallest) -> str:
    """How small the warm-up may be, in a sentence."""
    full = f"{found.control} ({amount(found.tokens)} tokens)"
    if found.chosen is not None:
        return (
            f"The smallest warm-up shown to be not inferior to {full} is {found.chosen.arm}"
            f" ({amount(found.chosen.tokens)} tokens)."
        )
    tasks = max((row.result.n for row in found.arms if row.result is not None), default=0)
    why = (
        f"That takes at least {MIN_GROUPS} tasks; there are {tasks}."
        if tasks < MIN_GROUPS
        else "More tasks, or a wider margin fixed in advance, may show one."
    )
    return f"No smaller warm-up is shown to do as well as {full} within the margin. {why}"
