"""The verdict: invalid before inconclusive before better, worse or equivalent.

A difference is claimed only where the comparison is valid, there is enough data for the claim, the
registered stopping rule allows it, and the paired t and the sign-flip test agree. Everything else
is inconclusive, with the interval and the smallest effect that could have been seen.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from warmstart.experiment.analysis import Analysis, ArmComparison, Question, analyse
from warmstart.experiment.effects import Effect, margin_on_scale
from warmstart.experiment.plan import MARGINS, Direction, Metric
from warmstart.experiment.question import Conclusion
from warmstart.experiment.trial import Trial
from warmstart.experiment.validity import PILOT_TASKS, reasons_against
from warmstart.experiment.wording import describe_effect, describe_verdict
from warmstart.stats import StoppingRule

__all__ = ["ArmVerdict", "Conclusion", "MetricVerdict", "Verdict", "judge", "verdict_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricVerdict:
    """What is shown about one metric. Only the primary one is a confirmatory claim."""

    metric: Metric
    conclusion: Conclusion
    primary: bool
    reasons: tuple[str, ...]
    sentence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmVerdict:
    """One treatment arm against the control."""

    arm: str
    conclusion: Conclusion
    """On the primary metric."""
    pilot: bool
    """Fewer than 15 tasks: the numbers are real, the sample is small."""
    reasons: tuple[str, ...]
    sentence: str
    metrics: tuple[MetricVerdict, ...]
    against_references: tuple[str, ...]
    """The same effect against arms with other text: whether it is the template or just any text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The answer to a question, with the analysis that it rests on."""

    conclusion: Conclusion
    """Of the only treatment arm; of several, ``better`` if one is, else the common answer."""
    headline: str
    arms: tuple[ArmVerdict, ...]
    analysis: Analysis


def verdict_of(trials: Iterable[Trial], question: Question) -> Verdict:
    """Analyse and judge in one step."""
    return judge(analyse(trials, question))


def judge(analysis: Analysis) -> Verdict:
    """Turn figures into answers, in the fixed order."""
    arms = tuple(_judge_arm(c, analysis.question) for c in analysis.comparisons)
    conclusion = _overall([arm.conclusion for arm in arms])
    headline = " ".join(arm.sentence for arm in arms) or "There is no treatment arm to judge."
    return Verdict(conclusion=conclusion, headline=headline, arms=arms, analysis=analysis)


def _overall(found: list[Conclusion]) -> Conclusion:
    if Conclusion.BETTER in found:
        return Conclusion.BETTER
    return found[0] if found and len(set(found)) == 1 else Conclusion.INCONCLUSIVE


def _judge_arm(comparison: ArmComparison, question: Question) -> ArmVerdict:
    metrics = tuple(_judge_metric(effect, comparison, question) for effect in comparison.effects)
    primary = metrics[0]
    return ArmVerdict(
        arm=comparison.treatment,
        conclusion=primary.conclusion,
        pilot=comparison.primary.units < PILOT_TASKS,
        reasons=primary.reasons,
        sentence=primary.sentence,
        metrics=metrics,
        against_references=tuple(
            f"against {effect.control}: {describe_effect(effect)}"
            for effect in comparison.against_references
        ),
    )


def _judge_metric(effect: Effect, comparison: ArmComparison, question: Question) -> MetricVerdict:
    primary = effect.metric is question.metric
    broken = tuple(f"{c.name}: {c.finding}" for c in comparison.checks if not c.ok)
    if broken:
        conclusion, reasons = Conclusion.INVALID, broken
    else:
        conclusion, reasons = _conclude(effect, comparison, question, primary=primary)
    sentence = describe_verdict(effect, conclusion, reasons) if primary else describe_effect(effect)
    return MetricVerdict(
        metric=effect.metric,
        conclusion=conclusion,
        primary=primary,
        reasons=reasons,
        sentence=sentence,
    )


def _conclude(
    effect: Effect, comparison: ArmComparison, question: Question, *, primary: bool
) -> tuple[Conclusion, tuple[str, ...]]:
    reasons = list(reasons_against(effect, question.alpha))
    margin = question.margin if primary else MARGINS[effect.metric]
    claimed = _claims(effect, comparison, question) if primary else effect.p <= question.alpha
    equivalent = _inside(effect, margin)
    if reasons:
        return Conclusion.INCONCLUSIVE, tuple(reasons)
    if claimed:
        note = ("the whole interval is inside the margin",) if equivalent else ()
        return _side(effect, question, primary=primary), note
    if not comparison.complete:
        return Conclusion.INCONCLUSIVE, _unfinished(comparison, question)
    if equivalent and effect.units >= PILOT_TASKS:
        return Conclusion.EQUIVALENT, ("the interval is inside the margin",)
    return Conclusion.INCONCLUSIVE, ("the interval includes no difference",)


def _claims(effect: Effect, comparison: ArmComparison, question: Question) -> bool:
    """Whether the registered rule allows to claim a difference now."""
    if comparison.monitoring is None:
        return comparison.complete and comparison.p_holm <= question.alpha
    if question.rule is StoppingRule.FIXED:
        return comparison.complete and comparison.p_holm <= question.alpha
    stopped = comparison.monitoring.stopped_at
    if stopped is None:
        return False
    # Data that came in after the stop may not turn the claim around.
    early = sum(d for _, d in effect.differences[:stopped])
    return early * sum(d for _, d in effect.differences) > 0.0


def _unfinished(comparison: ArmComparison, question: Question) -> tuple[str, ...]:
    done = comparison.primary.units
    return (f"{done} of {question.planned_tasks} planned tasks are done",)


def _inside(effect: Effect, margin: float) -> bool:
    limit = margin_on_scale(effect.metric, margin)
    low, high = effect.interval
    if effect.is_ratio:
        low, high = math.log(low) if low > 0 else -math.inf, math.log(high)
    return -limit < low and high < limit


def _side(effect: Effect, question: Question, *, primary: bool) -> Conclusion:
    """Which way is better: registered for the primary, natural for the others."""
    higher = effect.metric is Metric.SUCCESS
    if primary:
        higher = question.direction is Direction.HIGHER
    rises = effect.estimate > (1.0 if effect.is_ratio else 0.0)
    return Conclusion.BETTER if rises == higher else Conclusion.WORSE
