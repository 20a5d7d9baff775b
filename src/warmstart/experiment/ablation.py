"""How short a warm-up may be: which forms to try, and the smallest that still does as well."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from warmstart.experiment.analysis import Analysis, ArmComparison, ArmSummary
from warmstart.experiment.plan import Direction
from warmstart.experiment.variants import PARTS, check_variant, shape_template
from warmstart.model import Template, WarmUp
from warmstart.stats import MIN_GROUPS, NonInferiority, holm, p_not_inferior
from warmstart.warm import build_warmup

__all__ = [
    "LEVEL",
    "Choice",
    "Shorter",
    "Skipped",
    "Smallest",
    "choose_variants",
    "find_smallest",
    "list_ablations",
]


BUDGET_SHARES = (0.25, 0.5)
"""Of what the full warm-up takes, where nobody names budgets."""
BUDGET_STEP = 50
EXAMPLE_COUNTS = (1, 2, 4)


class Choice(NamedTuple):
    """A form that becomes an arm."""

    variant: str
    tokens: int
    """Of its warm-up, for a session that has every tool."""


class Skipped(NamedTuple):
    """A form that does not."""

    variant: str
    reason: str


def list_ablations(
    template: Template,
    budget: int,
    *,
    budgets: Sequence[int] = (),
    examples: Sequence[int] = (),
    parts: Sequence[str] = PARTS,
) -> Iterator[str]:
    """Every part left out once, fewer examples, smaller budgets; the usual ones unless named."""
    full = _build(template, "", budget)
    episodes = sum(part.startswith(("example:", "recovery:")) for part in full.parts)
    yield from (f"no-{part}" for part in parts)
    counts = examples or [number for number in EXAMPLE_COUNTS if number < episodes]
    yield from (f"examples-{number}" for number in sorted(counts, reverse=True))
    sizes = budgets or [_round(share * full.tokens) for share in BUDGET_SHARES]
    yield from (f"budget-{size}" for size in sorted(set(sizes), reverse=True) if size > 0)


def choose_variants(
    template: Template, wanted: Iterable[str], budget: int, *, full: str = ""
) -> tuple[list[Choice], list[Skipped]]:
    """The variants whose warm-up is neither empty nor the same as ``full`` or an earlier one.

    Raises:
        UsageError: there is no such form.
    """
    chosen: list[Choice] = []
    skipped: list[Skipped] = []
    seen = {_content(_build(template, full, budget)): "the full one"}
    for variant in dict.fromkeys(wanted):
        warmup = _build(template, check_variant(variant), budget)
        content = _content(warmup)
        if not warmup.tokens:
            skipped.append(Skipped(variant, "nothing is left of the template"))
        elif content in seen:
            skipped.append(Skipped(variant, f"it is the same as {seen[content]}"))
        else:
            seen[content] = variant
            chosen.append(Choice(variant, warmup.tokens))
    return chosen, skipped


def _build(template: Template, variant: str, budget: int) -> WarmUp:
    form = shape_template(template, variant, budget)
    return build_warmup(form.template, template_id="", budget=form.budget, limits=form.limits)


def _content(warmup: WarmUp) -> tuple[str, str]:
    return warmup.system, repr(warmup.messages)


def _round(tokens: float) -> int:
    return round(tokens / BUDGET_STEP) * BUDGET_STEP


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


def _p(comparison: ArmComparison, sign: float) -> float:
    result = comparison.preservation
    if result is None:
        return 1.0
    return p_not_inferior([sign * d for _, d in comparison.primary.differences], result.margin)


def _judge(comparison: ArmComparison, tokens: float, p: float, p_holm: float) -> Shorter:
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
