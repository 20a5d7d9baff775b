"""How well a template does, from counts, and when that is bad enough to take it out of use.

Success is a session that did its task. The prior is Beta(1, 1): one success and one failure that
were not seen. A template is harmful when, with at least ``MIN_SETTLED`` settled sessions on each
side, the posterior says with ``MIN_CERTAINTY`` that sessions with it succeed less often than
sessions without it on the same model. Sessions held out from this very template are the fair
comparison and come first; cold sessions are used where there are too few of those. Without any
comparison nothing is known about harm, so only a template that nearly always fails is taken out.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from warmstart.library.versions import Retired
from warmstart.model import Arm, TemplateState
from warmstart.store import TemplateRecord, TemplateRow

__all__ = [
    "Harm",
    "ModelComparison",
    "SuccessCounts",
    "chance_below",
    "chance_of_less",
    "find_harm",
    "find_harmful",
]

PRIOR = 1
MIN_SETTLED = 10
MIN_SETTLED_ALONE = 20
MIN_CERTAINTY = 0.975
HOPELESS_RATE = 0.25
"""Without a comparison: succeeding less often than this."""
IN_USE = (TemplateState.APPROVED, TemplateState.DRAFT)


class SuccessCounts(NamedTuple):
    """Settled sessions."""

    successes: int = 0
    failures: int = 0

    @property
    def settled(self) -> int:
        """Sessions whose outcome is known."""
        return self.successes + self.failures

    @property
    def mean(self) -> float:
        """Expected success rate under the posterior."""
        return (self.successes + PRIOR) / (self.settled + 2 * PRIOR)


class ModelComparison(NamedTuple):
    """One template on one model, beside what it is compared with."""

    model: str
    warm: SuccessCounts
    held_out: SuccessCounts
    cold: SuccessCounts


class Harm(NamedTuple):
    """Why a template is taken out of use."""

    model: str
    certainty: float
    reason: str


def find_harmful(rows: Iterable[TemplateRow], records: Iterable[TemplateRecord]) -> list[Retired]:
    """Versions in use that do harm by their record, each with the reason.

    What was settled before a person gave a version its state does not count towards the least
    number of sessions: approving a retired template gives it another chance.
    """
    tallies = {
        (record.template_id, record.model, record.arm): SuccessCounts(
            record.successes, record.failures
        )
        for record in records
    }
    found = []
    for row in rows:
        if row.state not in IN_USE:
            continue
        comparisons = _compare(row.template_id, tallies)
        settled = sum(comparison.warm.settled for comparison in comparisons)
        harm = find_harm(comparisons) if settled - row.settled_before >= MIN_SETTLED else None
        if harm is not None:
            found.append(Retired(row.name, row.version, f"retired by its record: {harm.reason}"))
    return found


def _compare(
    template_id: str, tallies: Mapping[tuple[str, str, Arm], SuccessCounts]
) -> list[ModelComparison]:
    models = sorted(
        model for identity, model, arm in tallies if (identity, arm) == (template_id, Arm.WARM)
    )
    return [
        ModelComparison(
            model=model,
            warm=tallies[template_id, model, Arm.WARM],
            held_out=tallies.get((template_id, model, Arm.HOLDOUT), SuccessCounts()),
            cold=tallies.get(("", model, Arm.COLD), SuccessCounts()),
        )
        for model in models
    ]


def chance_of_less(one: SuccessCounts, other: SuccessCounts) -> float:
    """The posterior probability that ``one`` succeeds less often than ``other``; exact."""
    a, b = one.successes + PRIOR, one.failures + PRIOR
    c, d = other.successes + PRIOR, other.failures + PRIOR
    # P(X > Y) for whole parameters: a sum of beta functions over the first one of X.
    total = sum(
        math.exp(_log_beta(a + i, b + d) - math.log(d + i) - _log_beta(1 + i, d) - _log_beta(a, b))
        for i in range(c)
    )
    return min(max(total, 0.0), 1.0)


def chance_below(tally: SuccessCounts, rate: float) -> float:
    """The posterior probability that the success rate is below ``rate``; exact."""
    a, b = tally.successes + PRIOR, tally.failures + PRIOR
    count = a + b - 1
    return math.fsum(
        math.comb(count, k) * rate**k * (1 - rate) ** (count - k) for k in range(a, count + 1)
    )


def find_harm(comparisons: Iterable[ModelComparison]) -> Harm | None:
    """Why the template should be taken out of use, or None.

    A template that harms on one model and does well on another stays: the counts are per model
    and are shown; a person decides for which model it is kept.
    """
    harms: list[Harm] = []
    for comparison in comparisons:
        harm = _judge(comparison)
        if harm is not None:
            harms.append(harm)
        elif _does_well(comparison):
            return None
    return max(harms, key=lambda harm: harm.certainty, default=None)


def _judge(comparison: ModelComparison) -> Harm | None:
    warm = comparison.warm
    control, kind = _control(comparison)
    where = f" on {comparison.model}" if comparison.model else ""
    seen = f"{warm.successes} of {warm.settled} sessions with it succeeded{where}"
    if control is not None and warm.settled >= MIN_SETTLED:
        certainty = chance_of_less(warm, control)
        if certainty >= MIN_CERTAINTY:
            beside = f"{control.successes} of {control.settled} {kind}"
            return Harm(comparison.model, certainty, f"{seen}, {beside} ({certainty:.1%} sure)")
    elif control is None and warm.settled >= MIN_SETTLED_ALONE:
        certainty = chance_below(warm, HOPELESS_RATE)
        if certainty >= MIN_CERTAINTY:
            return Harm(
                comparison.model, certainty, f"{seen}; there are no sessions to compare with"
            )
    return None


def _control(comparison: ModelComparison) -> tuple[SuccessCounts | None, str]:
    if comparison.held_out.settled >= MIN_SETTLED:
        return comparison.held_out, "held out from it"
    if comparison.cold.settled >= MIN_SETTLED:
        return comparison.cold, "started cold"
    return None, ""


def _does_well(comparison: ModelComparison) -> bool:
    control, _ = _control(comparison)
    warm = comparison.warm
    return (
        control is not None and warm.settled >= MIN_SETTLED and chance_of_less(warm, control) < 0.5
    )


def _log_beta(a: float, b: float) -> float:
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)
