"""Looking before the end without fooling oneself.

Planned looks: O'Brien-Fleming or Haybittle-Peto. Looking whenever one likes: the symmetry
e-process. Both: the hybrid, which splits alpha. The unit is one task run in both arms.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import StrEnum
from functools import lru_cache
from operator import mul
from typing import NamedTuple

from warmstart.stats.eprocess import e_values
from warmstart.stats.paired import paired_t
from warmstart.stats.special import normal_cdf, normal_quantile

__all__ = [
    "Look",
    "Monitoring",
    "StoppingRule",
    "monitor",
    "obrien_fleming_constant",
    "obrien_fleming_levels",
]

PETO_LEVEL = 0.001
HYBRID_EARLY_SHARE = 0.2
"""Of alpha: .01 of .05 goes to the e-process while running, .04 to the test at the end."""
_POINTS = 96


class StoppingRule(StrEnum):
    """When an experiment may stop, fixed before it starts."""

    FIXED = "fixed"
    OBRIEN_FLEMING = "obf"
    HAYBITTLE_PETO = "haybittle-peto"
    ANYTIME = "e-process"
    HYBRID = "hybrid"


class Look(NamedTuple):
    """One look at the data."""

    n: int
    estimate: float
    p: float
    """Of the paired t at this look, unadjusted."""
    level: float
    """The p that would stop here."""
    crossed: bool


class Monitoring(NamedTuple):
    """What a stopping rule says about the differences seen so far, in their order."""

    rule: StoppingRule
    planned: int
    seen: int
    looks: tuple[Look, ...]
    e_values: tuple[float, ...]
    """Running e-value after each task; the chance that it ever passes 1/alpha is at most alpha."""
    e_limit: float
    """Where the e-process stops; infinite for rules that do not use it."""
    stopped_at: int | None
    """Tasks when the rule first allowed a claim; the effect must be read with its interval."""

    @property
    def significant(self) -> bool:
        """The rule allows to claim a difference."""
        return self.stopped_at is not None


def monitor(
    differences: Sequence[float],
    planned: int,
    rule: StoppingRule = StoppingRule.OBRIEN_FLEMING,
    *,
    looks: int = 5,
    alpha: float = 0.05,
) -> Monitoring:
    """Apply a stopping rule to differences in the order in which their tasks were finished.

    More tasks than planned are never looked at by the planned looks. Rules with a last look at
    ``planned`` have no last look before that many tasks are done.
    """
    seen = [_look(differences, n, level) for n, level in _schedule(planned, rule, looks, alpha)
            if n <= len(differences)]  # fmt: skip
    values = tuple(e_values(differences))
    limit = _e_limit(rule, alpha)
    stops = [look.n for look in seen if look.crossed]
    stops += [n for n, value in enumerate(values, 1) if value >= limit][:1]
    return Monitoring(
        rule=rule,
        planned=planned,
        seen=len(differences),
        looks=tuple(seen),
        e_values=values,
        e_limit=limit,
        stopped_at=min(stops, default=None),
    )


def _look(differences: Sequence[float], n: int, level: float) -> Look:
    t = paired_t(differences[:n])
    return Look(n, t.estimate, t.p, level, t.p <= level)


def _e_limit(rule: StoppingRule, alpha: float) -> float:
    if rule is StoppingRule.ANYTIME:
        return 1.0 / alpha
    return 1.0 / (alpha * HYBRID_EARLY_SHARE) if rule is StoppingRule.HYBRID else math.inf


def _schedule(
    planned: int, rule: StoppingRule, looks: int, alpha: float
) -> list[tuple[int, float]]:
    """Numbers of tasks at which to look, each with the p that stops."""
    if rule is StoppingRule.ANYTIME:
        return []
    if rule is StoppingRule.FIXED:
        return [(planned, alpha)]
    if rule is StoppingRule.HYBRID:
        return [(planned, alpha * (1.0 - HYBRID_EARLY_SHARE))]
    places = [round(planned * k / looks) for k in range(1, looks + 1)]
    if rule is StoppingRule.HAYBITTLE_PETO:
        return [(n, alpha if n == planned else min(PETO_LEVEL, alpha)) for n in places if n > 1]
    levels = obrien_fleming_levels([n / planned for n in places], alpha)
    return [(n, level) for n, level in zip(places, levels, strict=True) if n > 1]


def obrien_fleming_levels(fractions: Sequence[float], alpha: float = 0.05) -> list[float]:
    """Two-sided p that stops at each share of the planned tasks (O'Brien and Fleming 1979).

    The bound z = C sqrt(1/share) is turned into a level so that it can be used with Student's t.
    """
    constant = obrien_fleming_constant(len(fractions), alpha)
    return [2.0 * normal_cdf(-constant / math.sqrt(share)) for share in fractions]


@lru_cache(maxsize=64)
def obrien_fleming_constant(looks: int, alpha: float = 0.05) -> float:
    """C of the O'Brien-Fleming bound for equally spaced looks: 2.040 for five at .05.

    Recursive integration of the stopped random walk (Armitage, McPherson and Rowe 1969), solved by
    the secant method.
    """
    low = normal_quantile(1.0 - alpha / 2.0)
    high = low * 1.1 + 0.1
    miss_low = _crossing(low, looks) - alpha
    if miss_low <= 1e-12:
        return low
    miss_high = _crossing(high, looks) - alpha
    for _ in range(30):
        following = high - miss_high * (high - low) / (miss_high - miss_low)
        low, miss_low = high, miss_high
        high, miss_high = following, _crossing(following, looks) - alpha
        if abs(miss_high) < 1e-10:
            break
    return high


def _crossing(constant: float, looks: int) -> float:
    """Chance that a walk of unit normal steps leaves +-C sqrt(looks) at one of the looks."""
    bound = constant * math.sqrt(looks)
    step = 2.0 * bound / _POINTS
    places = range(_POINTS + 1)
    simpson = [step / 3.0 * (1 if i in (0, _POINTS) else 4 if i % 2 else 2) for i in places]
    kernel = [_normal_density(i * step) for i in places]
    density = [_normal_density(i * step - bound) for i in places]
    for _ in range(looks - 1):
        mass: list[float] = list(map(mul, simpson, density))
        density = [_step_to(i, mass, kernel) for i in places]
    return 1.0 - math.fsum(map(mul, simpson, density))


def _normal_density(x: float) -> float:
    return math.exp(-x * x / 2.0) / math.sqrt(2.0 * math.pi)


def _step_to(place: int, mass: Sequence[float], kernel: Sequence[float]) -> float:
    return sum(m * kernel[abs(place - j)] for j, m in enumerate(mass))
