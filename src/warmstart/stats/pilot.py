"""What an A/A pilot of cold trials says about the next experiment: rho, cv, tau, typical sizes.

The same pilot checks the harness: two halves of identical trials must not differ.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from warmstart.stats.paired import PairedT, paired_t
from warmstart.stats.proportion import ASSUMED_ICC, clustered_rate

__all__ = ["CostPilot", "ErrorPilot", "SuccessPilot", "cost_pilot", "error_pilot", "success_pilot"]


class ErrorPilot(NamedTuple):
    """Inputs of ``error_rate_scenario`` as a pilot shows them."""

    rate: float
    calls: float
    """Mean calls per session."""
    cv: float
    """Chosen so that (1 + cv^2) / calls is the mean of 1 / calls that was seen."""
    rho: float
    tau: float
    """Spread between tasks of the difference of two identical halves beyond what sessions
    explain: drift of the harness. A real treatment varies at least this much."""
    tasks: int
    sessions: int
    halves: PairedT
    """Second half of each task's trials minus the first: must not differ from zero."""


class SuccessPilot(NamedTuple):
    """Inputs of ``success_scenario``."""

    rate: float
    icc: float
    tasks: int
    sessions: int


class CostPilot(NamedTuple):
    """Inputs of ``cost_scenario``."""

    mean: float
    sd_log_ratio: float
    tasks: int
    sessions: int


def error_pilot(trials: Mapping[str, Sequence[tuple[float, float]]]) -> ErrorPilot:
    """Estimate from ``(errors, calls)`` of the cold trials of each task.

    rho solves the beta-binomial session variance for the variance between trials of one task; with
    one trial per task the differences between tasks are in it too, so it is on the safe side.
    Without usable sessions rho is ``ASSUMED_ICC``.
    """
    rates = {
        task: [e / n for e, n in rows if n > 0]
        for task, rows in trials.items()
        if any(n > 0 for _, n in rows)
    }
    sizes = [n for rows in trials.values() for _, n in rows if n > 0]
    sessions = len(sizes)
    if not sessions:
        empty = paired_t([])
        return ErrorPilot(0.0, 0.0, 0.0, ASSUMED_ICC, 0.0, 0, 0, empty)
    mean_calls = math.fsum(sizes) / sessions
    inverse = math.fsum(1.0 / n for n in sizes) / sessions
    rate = math.fsum(math.fsum(r) / len(r) for r in rates.values()) / len(rates)
    within = _within_variance(list(rates.values()))
    halves = _halves(list(rates.values()))
    return ErrorPilot(
        rate=rate,
        calls=mean_calls,
        cv=math.sqrt(max(0.0, inverse * mean_calls - 1.0)),
        rho=_rho(list(rates.values()), within, inverse),
        tau=_tau(list(rates.values()), within, halves),
        tasks=len(rates),
        sessions=sessions,
        halves=halves,
    )


def success_pilot(trials: Mapping[str, Sequence[bool]]) -> SuccessPilot:
    """Estimate the share solved and how alike trials of one task are (0 with one trial each)."""
    clusters = [(float(sum(rows)), float(len(rows))) for rows in trials.values() if rows]
    estimate = clustered_rate(clusters)
    icc = estimate.icc if estimate.icc is not None else 0.0
    rate = math.fsum(c / n for c, n in clusters) / len(clusters) if clusters else 0.0
    return SuccessPilot(rate, max(0.0, icc), len(clusters), int(estimate.calls))


def cost_pilot(trials: Mapping[str, Sequence[float]]) -> CostPilot:
    """Estimate the sd of the log ratio of two sessions of one task from positive costs."""
    logs = [
        [math.log(value) for value in rows if value > 0]
        for rows in trials.values()
        if any(value > 0 for value in rows)
    ]
    values = [value for rows in trials.values() for value in rows if value > 0]
    mean = math.fsum(values) / len(values) if values else 0.0
    return CostPilot(mean, math.sqrt(2.0 * _within_variance(logs)), len(logs), len(values))


def _within_variance(groups: Sequence[Sequence[float]]) -> float:
    """Pooled variance between trials of one task; between all if each task has one."""
    freedom = sum(len(group) - 1 for group in groups)
    if freedom == 0:
        groups = [[value for group in groups for value in group]]
        freedom = len(groups[0]) - 1
    if freedom <= 0:
        return 0.0
    return math.fsum((v - math.fsum(g) / len(g)) ** 2 for g in groups for v in g) / freedom


def _rho(groups: Sequence[Sequence[float]], within: float, inverse: float) -> float:
    """Solve within = p(1-p) [rho + (1-rho) E(1/n)], so that the planner gets ``within`` back."""
    values = [value for group in groups for value in group]
    mean = math.fsum(values) / len(values)
    whole = mean * (1.0 - mean)
    if whole <= 0.0 or inverse >= 1.0 or len(values) < 2:
        return ASSUMED_ICC
    return min(1.0, max(0.0, (within / whole - inverse) / (1.0 - inverse)))


def _halves(groups: Sequence[Sequence[float]]) -> PairedT:
    differences = []
    for group in groups:
        half = len(group) // 2
        if half:
            first, second = group[:half], group[half : 2 * half]
            differences.append((math.fsum(second) - math.fsum(first)) / half)
    return paired_t(differences)


def _tau(groups: Sequence[Sequence[float]], within: float, halves: PairedT) -> float:
    sizes = [len(group) // 2 for group in groups if len(group) >= 2]
    if halves.n < 2:
        return 0.0
    expected = math.fsum(2.0 * within / size for size in sizes) / len(sizes)
    return math.sqrt(max(0.0, halves.sd * halves.sd - expected))
