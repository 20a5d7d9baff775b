"""How large an experiment has to be, and what one of a given size can see.

From an A/A pilot where there is one, else from assumptions that are printed with the answer.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from warmstart.experiment.plan import Metric
from warmstart.experiment.question import COSTS
from warmstart.experiment.trial import Trial
from warmstart.stats import (
    Scenario,
    cost_pilot,
    cost_scenario,
    error_pilot,
    error_rate_scenario,
    minimum_detectable_effect,
    power,
    required_tasks,
    success_pilot,
    success_scenario,
)

REPETITIONS = (1, 2, 3, 5)


@dataclass(frozen=True, slots=True, kw_only=True)
class Assumptions:
    """What is expected. The defaults are what agents' sessions have shown so far."""

    metric: Metric = Metric.ERROR_RATE
    control: float = 0.09
    """A rate, or (for costs) 1."""
    expected: float = 0.057
    """A rate, or (for costs) the ratio hoped for."""
    calls: float = 25.0
    cv: float = 0.8
    rho: float = 0.10
    tau: float | None = None
    """None for the usual spread of this metric."""
    icc: float = 0.40
    sd_log_ratio: float = 0.9
    arms: int = 2
    alpha: float = 0.05
    target: float = 0.80
    cost_per_session: float | None = None
    pilot: str = ""
    """Where the figures are from; "" for assumptions."""


class Size(NamedTuple):
    """One way to reach the target."""

    trials: int
    tasks: int | None
    """None where a million would not do."""
    sessions: int | None
    """In all arms together."""
    cost_usd: float | None


class Reach(NamedTuple):
    """What a given number of tasks can see."""

    trials: int
    tasks: int
    sessions: int
    power: float
    smallest: float
    """Smallest effect seen with the target power: points for rates, a ratio for costs."""
    cost_usd: float | None


def build_scenario(given: Assumptions) -> Scenario:
    """The assumptions on the scale of the test."""
    if given.metric is Metric.ERROR_RATE:
        tau = 0.03 if given.tau is None else given.tau
        return error_rate_scenario(
            given.control, given.expected, calls=given.calls, cv=given.cv, rho=given.rho, tau=tau
        )
    if given.metric is Metric.SUCCESS:
        tau = 0.10 if given.tau is None else given.tau
        return success_scenario(given.control, given.expected, icc=given.icc, tau=tau)
    return cost_scenario(given.expected / given.control, given.sd_log_ratio, given.tau or 0.0)


def list_sizes(given: Assumptions, repetitions: Sequence[int] = REPETITIONS) -> list[Size]:
    """Tasks needed for each number of repetitions."""
    scenario, alpha = build_scenario(given), _alpha(given)
    sizes = []
    for trials in repetitions:
        tasks = required_tasks(scenario, trials, target=given.target, alpha=alpha)
        sessions = None if tasks is None else tasks * trials * given.arms
        sizes.append(Size(trials, tasks, sessions, _cost(given, sessions)))
    return sizes


def find_reach(given: Assumptions, tasks: int, trials: int) -> Reach:
    """What that many tasks can see."""
    scenario, alpha = build_scenario(given), _alpha(given)
    smallest = minimum_detectable_effect(scenario, tasks, trials, target=given.target, alpha=alpha)
    if given.metric in COSTS:
        smallest = math.exp(-smallest)
    sessions = tasks * trials * given.arms
    chance = power(scenario, tasks, trials, alpha)
    return Reach(trials, tasks, sessions, chance, smallest, _cost(given, sessions))


def learn_from_pilot(given: Assumptions, trials: Iterable[Trial], name: str) -> Assumptions:
    """The assumptions with what the cold trials of an experiment show in their place.

    The expected value keeps its ratio to the control's.
    """
    rows = [trial for trial in trials if trial.arm.partition(":")[0] == "cold"]
    tasks: dict[str, list[Trial]] = {}
    for trial in rows:
        tasks.setdefault(trial.task, []).append(trial)
    costs = [trial.cost_usd for trial in rows if trial.cost_usd is not None]
    if costs:
        given = replace(given, cost_per_session=math.fsum(costs) / len(costs))
    if not rows:
        return given
    learn = {Metric.ERROR_RATE: _learn_errors, Metric.SUCCESS: _learn_success}
    return replace(learn.get(given.metric, _learn_costs)(given, tasks), pilot=name)


def _learn_errors(given: Assumptions, tasks: Mapping[str, list[Trial]]) -> Assumptions:
    seen = error_pilot({
        task: [(float(t.errors), float(len(t.calls))) for t in rows] for task, rows in tasks.items()
    })  # fmt: skip
    ratio = given.expected / given.control if given.control else 1.0
    return replace(
        given, control=seen.rate, expected=seen.rate * ratio, calls=seen.calls, cv=seen.cv,
        rho=seen.rho, tau=max(seen.tau, given.tau or 0.0),
    )  # fmt: skip


def _learn_success(given: Assumptions, tasks: Mapping[str, list[Trial]]) -> Assumptions:
    seen = success_pilot({task: [bool(t.success) for t in rows] for task, rows in tasks.items()})
    gain = given.expected - given.control
    return replace(
        given, control=seen.rate, expected=min(max(seen.rate + gain, 0.0), 1.0), icc=seen.icc
    )


def _learn_costs(given: Assumptions, tasks: Mapping[str, list[Trial]]) -> Assumptions:
    name = given.metric.value
    seen = cost_pilot({
        task: [float(getattr(t, name)) for t in rows] for task, rows in tasks.items()
    })  # fmt: skip
    return replace(given, sd_log_ratio=seen.sd_log_ratio or given.sd_log_ratio)


def _alpha(given: Assumptions) -> float:
    """With several treatments each claim has its share."""
    return given.alpha / max(given.arms - 1, 1)


def _cost(given: Assumptions, sessions: int | None) -> float | None:
    if sessions is None or given.cost_per_session is None:
        return None
    return sessions * given.cost_per_session
