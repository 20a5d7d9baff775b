"""How large an experiment has to be: from what is assumed, or from the cold trials of a pilot."""

from __future__ import annotations

from dataclasses import dataclass, replace

from warmstart.app.core import Workspace
from warmstart.app.experiments import read_state
from warmstart.errors import UsageError
from warmstart.experiment import (
    REPETITIONS,
    Assumptions,
    Metric,
    Reach,
    Size,
    find_reach,
    learn_from_pilot,
    list_sizes,
)

__all__ = ["SizingRequest", "SizingResult", "size_experiment"]

USUAL = {
    Metric.ERROR_RATE: (0.09, 0.057),
    Metric.SUCCESS: (0.42, 0.52),
}
USUAL_RATIO = (1.0, 0.8)


@dataclass(frozen=True, slots=True, kw_only=True)
class SizingRequest:
    """What is hoped for and what it may cost; None where the usual figures will do."""

    metric: Metric = Metric.ERROR_RATE
    pilot: str = ""
    """An experiment whose cold trials give the figures."""
    control: float | None = None
    expected: float | None = None
    calls: float | None = None
    tasks: int | None = None
    sessions: int | None = None
    dollars: float | None = None
    trials: int | None = None
    arms: int = 2
    target: float = 0.8
    alpha: float = 0.05
    prices: tuple[float, float] | None = None
    """Dollars per million tokens, in and out."""
    tokens: tuple[float, float] | None = None
    """Tokens of one session, in and out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SizingResult:
    """Sizes that reach the wanted power, and what the tasks asked about can see."""

    assumptions: Assumptions
    sizes: list[Size]
    reach: Reach | None


def size_experiment(workspace: Workspace, request: SizingRequest) -> SizingResult:
    """How many tasks it takes to see an effect, and what that costs.

    Raises:
        UsageError: a value is impossible, or the price of a session is not known.
        NotFoundError: there is no such pilot.
    """
    assumed = _read_assumptions(workspace, request)
    tasks = _count_tasks(request, assumed)
    return SizingResult(
        assumptions=assumed,
        sizes=list_sizes(assumed, (request.trials,) if request.trials else REPETITIONS),
        reach=find_reach(assumed, tasks, request.trials or 1) if tasks is not None else None,
    )


def _read_assumptions(workspace: Workspace, request: SizingRequest) -> Assumptions:
    control, expected = USUAL.get(request.metric, USUAL_RATIO)
    assumed = Assumptions(
        metric=request.metric,
        control=control if request.control is None else request.control,
        expected=expected if request.expected is None else request.expected,
        arms=request.arms,
        alpha=request.alpha,
        target=request.target,
    )
    if request.calls is not None:
        assumed = replace(assumed, calls=request.calls)
    for value in (assumed.control, assumed.expected):
        _check_value(value, request.metric)
    if request.prices and request.tokens:
        each = sum(p * t for p, t in zip(request.prices, request.tokens, strict=True)) / 1e6
        assumed = replace(assumed, cost_per_session=each)
    if request.pilot:
        state = read_state(workspace, request.pilot)
        assumed = learn_from_pilot(assumed, state.trials, request.pilot)
    return assumed


def _check_value(value: float, metric: Metric) -> None:
    is_possible = 0 <= value <= 1 if metric in USUAL else value > 0
    if not is_possible:
        raise UsageError(
            f"{value:g} is not a possible value of {metric.value}", hint="rates are 0 to 1"
        )


def _count_tasks(request: SizingRequest, assumed: Assumptions) -> int | None:
    """The tasks a budget pays for, in whichever currency it is given."""
    sessions = request.sessions
    if request.dollars is not None:
        if not assumed.cost_per_session:
            raise UsageError(
                "the price of a session is not known", hint="--prices and --tokens, or --pilot NAME"
            )
        sessions = int(request.dollars / assumed.cost_per_session + 1e-9)
    if sessions is None:
        return request.tasks
    tasks = sessions // (assumed.arms * (request.trials or 1))
    if tasks < 2:
        raise UsageError("that pays for fewer than two tasks", hint="fewer --trials, or more")
    return tasks
