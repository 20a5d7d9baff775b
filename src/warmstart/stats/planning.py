"""How many tasks an experiment needs, and what it could see with the tasks it has.

Var(mean difference) = [tau^2 + (v0 + v1) / K] / T for T tasks with K trials per arm: ``tau`` is
the sd of the true effect between tasks, ``v`` the variance of one session given its task.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from warmstart.stats.special import normal_cdf, t_quantile

__all__ = [
    "Scenario",
    "cost_scenario",
    "error_rate_scenario",
    "minimum_detectable_effect",
    "power",
    "required_tasks",
    "session_variance",
    "success_scenario",
]

MAX_TASKS = 1_000_000
_STEPS = 240


class Scenario(NamedTuple):
    """What is expected to happen, on the scale of the test (rate, share solved, log of cost)."""

    effect: float
    """Treatment minus control."""
    variance_control: float
    """Of one session given its task."""
    variance_treatment: float
    tau: float
    """Standard deviation of the true effect between tasks."""

    def standard_error(self, tasks: int, trials: int) -> float:
        """Of the mean difference over ``tasks`` tasks."""
        noise = (self.variance_control + self.variance_treatment) / trials
        return math.sqrt((self.tau * self.tau + noise) / tasks)


def session_variance(rate: float, rho: float, calls: float, cv: float = 0.8) -> float:
    """Variance of one session's error rate given its task.

    p(1-p)[rho + (1-rho) E(1/n)] for beta-binomial errors (Williams 1982), with E(1/n) taken as
    (1 + cv^2) / mean calls, which is exact for lognormal lengths.
    """
    inverse = min(1.0, (1.0 + cv * cv) / calls) if calls > 0 else 1.0
    return rate * (1.0 - rate) * (rho + (1.0 - rho) * inverse)


def error_rate_scenario(
    control: float,
    treatment: float,
    *,
    calls: float = 25.0,
    cv: float = 0.8,
    rho: float = 0.10,
    tau: float = 0.03,
) -> Scenario:
    """Error rates of two arms; ``rho`` is the correlation of calls within a session."""
    return Scenario(
        treatment - control,
        session_variance(control, rho, calls, cv),
        session_variance(treatment, rho, calls, cv),
        tau,
    )


def success_scenario(
    control: float, treatment: float, *, icc: float = 0.40, tau: float = 0.10
) -> Scenario:
    """Shares of tasks solved; ``icc`` is how alike two trials of one task are."""
    return Scenario(
        treatment - control,
        control * (1.0 - control) * (1.0 - icc),
        treatment * (1.0 - treatment) * (1.0 - icc),
        tau,
    )


def cost_scenario(ratio: float, sd_log_ratio: float, tau: float = 0.0) -> Scenario:
    """Cost ratio treatment over control; ``sd_log_ratio`` is that of one pair of sessions."""
    half = sd_log_ratio * sd_log_ratio / 2.0
    return Scenario(math.log(ratio), half, half, tau)


def power(scenario: Scenario, tasks: int, trials: int = 1, alpha: float = 0.05) -> float:
    """Chance that the paired t test over tasks is significant (noncentral t, both sides)."""
    if tasks < 2:
        return 0.0
    error = scenario.standard_error(tasks, trials)
    if error <= 0.0:
        return 1.0 if scenario.effect else 0.0
    shift = scenario.effect / error
    df = tasks - 1.0
    critical = t_quantile(1.0 - alpha / 2.0, df)
    return 1.0 - noncentral_t_cdf(critical, df, shift) + noncentral_t_cdf(-critical, df, shift)


def noncentral_t_cdf(x: float, df: float, shift: float) -> float:
    """P(T <= x) by Simpson's rule over the scale: E[Phi(x S - shift)], S = chi / sqrt(df)."""
    width = 9.0 / math.sqrt(2.0 * df)
    low, high = max(1e-9, 1.0 - width), 1.0 + width
    step = (high - low) / _STEPS
    log_scale = math.log(2.0) + df / 2.0 * math.log(df / 2.0) - math.lgamma(df / 2.0)
    total = 0.0
    for i in range(_STEPS + 1):
        s = low + i * step
        density = math.exp(log_scale + (df - 1.0) * math.log(s) - df * s * s / 2.0)
        weight = 1.0 if i in (0, _STEPS) else 4.0 if i % 2 else 2.0
        total += weight * density * normal_cdf(x * s - shift)
    return min(1.0, max(0.0, total * step / 3.0))


def required_tasks(
    scenario: Scenario, trials: int = 1, *, target: float = 0.80, alpha: float = 0.05
) -> int | None:
    """Fewest tasks that reach the target power, by bisection; None if a million do not."""
    if power(scenario, MAX_TASKS, trials, alpha) < target:
        return None
    low, high = 1, 2
    while power(scenario, high, trials, alpha) < target:
        low, high = high, high * 2
    while high - low > 1:
        middle = (low + high) // 2
        if power(scenario, middle, trials, alpha) < target:
            low = middle
        else:
            high = middle
    return high


def minimum_detectable_effect(
    scenario: Scenario,
    tasks: int,
    trials: int = 1,
    *,
    target: float = 0.80,
    alpha: float = 0.05,
) -> float:
    """Smallest absolute effect seen with the target power: (t_(1-alpha/2) + t_target) x se.

    The scenario's own effect is not used. For cost it is on the log scale: exp(-x) is the ratio.
    Infinite with fewer than two tasks.
    """
    if tasks < 2:
        return math.inf
    df = tasks - 1.0
    critical = t_quantile(1.0 - alpha / 2.0, df) + t_quantile(target, df)
    return critical * scenario.standard_error(tasks, trials)
