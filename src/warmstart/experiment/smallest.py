"""How small a warm-up may be: which shorter ones are not inferior to the one they are made of.

The control is the full warm-up, the others are shorter, down to none at all (``cold``). A shorter
one is not inferior when the skew-corrected upper bound of its harm stays below the registered
margin, with Holm's correction for the number of them, on at least 20 tasks. The smallest of these
by tokens is the answer; "not shown" is an answer as well.
"""

from __future__ import annotations

from typing import NamedTuple

from warmstart.experiment.analysis import Analysis, ArmSummary, Comparison
from warmstart.experiment.plan import Direction
from warmstart.stats.multiple import holm
from warmstart.stats.noninferiority import MIN_GROUPS, NonInferiority, p_not_inferior

__all__ = ["LEVEL", "Shorter", "Smallest", "find_smallest"]

LEVEL = 0.025
"""One-sided, before Holm's correction."""


class Shorter(NamedTuple):
    """One arm against the full warm-up."""

    arm: str
    tokens: float
    """Mean tokens of its warm-up."""
    result: NonInferiority | None
    """Positive differences are worse; None where nothing is paired."""
    p: float
    p_holm: float
    valid: bool
    not_inferior: bool


class Smallest(NamedTuple):
    """The answer, with every arm it was chosen among."""

    control: str
    tokens: float
    arms: tuple[Shorter, ...]
    """By tokens, fewest first."""
    chosen: Shorter | None
    """The smallest that is not inferior and smaller than the control."""


def find_smallest(analysis: Analysis) -> Smallest:
    """Judge every treatment against the control by non-inferiority."""
    sizes = {arm.arm: _mean_tokens(arm) for arm in analysis.arms}
    sign = -1.0 if analysis.question.direction is Direction.HIGHER else 1.0
    ps = [_p(one, sign) for one in analysis.comparisons]
    rows = [
        _judge(one, sizes[one.treatment], p, adjusted)
        for one, p, adjusted in zip(analysis.comparisons, ps, holm(ps), strict=True)
    ]
    ordered = tuple(sorted(rows, key=lambda row: (row.tokens, row.arm)))
    full = sizes[analysis.question.control]
    fitting = [row for row in ordered if row.not_inferior and row.tokens < full]
    return Smallest(analysis.question.control, full, ordered, fitting[0] if fitting else None)


def _mean_tokens(arm: ArmSummary) -> float:
    return arm.warmup_tokens / arm.sessions if arm.sessions else 0.0


def _p(comparison: Comparison, sign: float) -> float:
    result = comparison.preservation
    if result is None:
        return 1.0
    return p_not_inferior([sign * d for _, d in comparison.primary.differences], result.margin)


def _judge(comparison: Comparison, tokens: float, p: float, p_holm: float) -> Shorter:
    result = comparison.preservation
    valid = all(check.ok for check in comparison.checks)
    enough = result is not None and result.n >= MIN_GROUPS
    return Shorter(
        arm=comparison.treatment,
        tokens=tokens,
        result=result,
        p=p,
        p_holm=p_holm,
        valid=valid,
        not_inferior=valid and enough and comparison.complete and p_holm <= LEVEL,
    )
