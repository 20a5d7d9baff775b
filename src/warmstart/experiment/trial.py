"""One run of one task in one arm: the row that every verdict is computed from."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple


class TrialStatus(StrEnum):
    """How a trial ended. Crashes and timeouts stay in, as failures."""

    FINISHED = "finished"
    TIMEOUT = "timeout"
    CRASHED = "crashed"
    """The agent or its endpoint gave up, not the task."""


class TrialCall(NamedTuple):
    """One real call of a trial; calls that a warm-up put there are never among them."""

    tool: str
    error: bool
    retry: bool
    """It repeats a call of the same tool that had just failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """The key is (experiment, task, arm, number): each is recorded exactly once."""

    experiment: str
    task: str
    arm: str
    """As the plan writes it: ``cold``, ``warm:NAME``, ``token-matched``, ``placebo``."""
    number: int
    """0 for the first repetition."""
    status: TrialStatus = TrialStatus.FINISHED
    success: bool | None = None
    """None where the task has no check."""
    calls: tuple[TrialCall, ...] = ()
    turns: int = 0
    tokens: int = 0
    seconds: float = 0.0
    cost_usd: float | None = None
    session: str | None = None
    """Id of the session in the store."""
    model: str = ""
    setup: str = ""
    """Hash of model, tools and versions; one experiment has one."""
    warmup_tokens: int = 0
    warmup_calls: int = 0
    """Example calls put in front; excluded from everything counted."""
    copied: int = 0
    """Values of the examples that turned up in this trial's own arguments."""
    order: int = 0
    """Place in the randomised schedule."""
    detail: str = ""
    """Why the check failed or the trial crashed, in a few words."""

    @property
    def key(self) -> tuple[str, str, int]:
        """Identity inside its experiment."""
        return (self.task, self.arm, self.number)

    @property
    def errors(self) -> int:
        """Failed calls."""
        return sum(call.error for call in self.calls)
