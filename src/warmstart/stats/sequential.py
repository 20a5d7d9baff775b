"""Looking at a running experiment without fooling oneself.

A fixed design is looked at once, at its planned end. The e-process may be looked at after every
task: the chance that it ever passes 1/alpha without a true difference is at most alpha. The unit
is one task that was run in both arms.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

from warmstart.stats.eprocess import e_values
from warmstart.stats.paired import paired_t

__all__ = ["Monitoring", "StoppingRule", "monitor"]


class StoppingRule(StrEnum):
    """When an experiment may stop, fixed before it starts."""

    FIXED = "fixed"
    """One look, when all trials are in."""
    ANYTIME = "e-process"
    """Look after every task."""


class Monitoring(NamedTuple):
    """What a stopping rule says about the differences seen so far, in their order."""

    rule: StoppingRule
    planned: int
    seen: int
    e_values: tuple[float, ...]
    """Running e-value after each task."""
    e_limit: float
    """Where the e-process stops; infinite for a fixed design."""
    stopped_at: int | None
    """Tasks when the rule first allowed a claim; read the effect with its interval."""

    @property
    def significant(self) -> bool:
        """The rule allows the claim that there is a difference."""
        return self.stopped_at is not None


def monitor(
    differences: Sequence[float],
    planned: int,
    rule: StoppingRule = StoppingRule.FIXED,
    *,
    alpha: float = 0.05,
) -> Monitoring:
    """Apply a stopping rule to differences in the order in which their tasks were finished.

    A fixed design tests the first ``planned`` tasks, once they are there, and no others.
    """
    values = tuple(e_values(differences))
    if rule is StoppingRule.ANYTIME:
        limit = 1.0 / alpha
        stopped = next((n for n, value in enumerate(values, 1) if value >= limit), None)
    else:
        limit = math.inf
        done = 0 < planned <= len(differences)
        stopped = planned if done and paired_t(differences[:planned]).p <= alpha else None
    return Monitoring(rule, planned, len(differences), values, limit, stopped)
