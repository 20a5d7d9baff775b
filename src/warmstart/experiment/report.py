"""What a report on an experiment is about: the plan, what was run under it, and the verdict."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from warmstart.experiment.ablation import Smallest, find_smallest
from warmstart.experiment.arms import ArmKind, parse_arm
from warmstart.experiment.plan import Direction, Plan, RunnerKind
from warmstart.experiment.verdict import Verdict

__all__ = ["ExperimentReport", "PlanChange"]


class PlanChange(NamedTuple):
    """A change of the plan after the first trial."""

    trials: int
    """How many there were by then."""
    changes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExperimentReport:
    """Everything that a report says something about."""

    plan: Plan
    hash: str
    done: int
    """Trials recorded."""
    verdict: Verdict
    changes: tuple[PlanChange, ...] = ()
    unreadable: int = 0
    """Lines of the trial file that are not trials."""
    specs: Mapping[str, str] = field(default_factory=dict)
    """The exact version of each template of the plan, as commands take it, where it is known."""
    recorded: int = 0
    """Verdicts that this report added to the records of templates."""

    @property
    def total(self) -> int:
        """Trials planned; of an observed experiment those there are."""
        return max(self.plan.total, self.done)

    @property
    def observed(self) -> bool:
        """True where nothing was run: the trials are sessions as they came."""
        return self.plan.runner.kind is RunnerKind.OBSERVED

    @property
    def complete(self) -> bool:
        """Every planned task is done in every compared pair of arms."""
        return all(one.complete for one in self.verdict.analysis.comparisons)

    @property
    def decided(self) -> bool:
        """No further trial is planned: all are in, or the registered rule stopped it."""
        comparisons = self.verdict.analysis.comparisons
        return bool(comparisons) and all(
            one.complete or (one.monitoring is not None and one.monitoring.significant)
            for one in comparisons
        )

    @property
    def lower_is_better(self) -> bool:
        """The registered direction of the primary metric."""
        return self.plan.design.direction is Direction.LOWER

    @property
    def smallest(self) -> Smallest | None:
        """How small the warm-up may be; None where the control is not a warm-up."""
        if parse_arm(self.plan.design.control).kind is not ArmKind.WARM:
            return None
        return find_smallest(self.verdict.analysis)
