"""Which shorter forms of a template are worth an arm of their own: those that differ."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from warmstart.experiment.variants import PARTS, check_variant, shape_template
from warmstart.model import Template, WarmUp
from warmstart.warm.build import build_warmup

__all__ = ["Choice", "Skipped", "choose_variants", "list_ablations"]

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
