"""Sample size and power, from assumptions and from pilots."""

from __future__ import annotations

import math
import random

import pytest
from scipy import stats

from warmstart.stats.pilot import cost_pilot, error_pilot, success_pilot
from warmstart.stats.planning import (
    Scenario,
    cost_scenario,
    error_rate_scenario,
    minimum_detectable_effect,
    noncentral_t_cdf,
    power,
    required_tasks,
    success_scenario,
)


@pytest.mark.parametrize("df", [2.0, 5.0, 19.0, 150.0])
@pytest.mark.parametrize("shift", [0.0, 1.5, 4.0])
def test_noncentral_t_is_scipys(df: float, shift: float) -> None:
    for x in (-1.0, 2.0, 5.0):
        assert noncentral_t_cdf(x, df, shift) == pytest.approx(
            stats.nct.cdf(x, df, shift), abs=1e-6
        )


@pytest.mark.parametrize(
    ("scenario", "tasks"),
    [
        (error_rate_scenario(0.09, 0.057, rho=0.02), (91, 36, 25)),
        (error_rate_scenario(0.09, 0.057, rho=0.10), (164, 61, 40)),
        (error_rate_scenario(0.09, 0.057, rho=0.20), (256, 91, 58)),
        (error_rate_scenario(0.09, 0.057, rho=0.06, calls=6), (319, 112, 71)),
        (success_scenario(0.42, 0.52), (243, 88, 57)),
        (success_scenario(0.42, 0.57), (108, 40, 26)),
    ],
)
def test_tasks_for_eighty_percent_with_one_three_and_five_trials(
    scenario: Scenario, tasks: tuple[int, ...]
) -> None:
    assert tuple(required_tasks(scenario, trials) for trials in (1, 3, 5)) == tasks


def test_tasks_for_a_cost_ratio() -> None:
    assert required_tasks(cost_scenario(0.8, 0.5)) == 42
    assert required_tasks(cost_scenario(0.8, 0.9)) == 130


def test_required_tasks_is_the_first_number_that_reaches_the_target() -> None:
    scenario = error_rate_scenario(0.12, 0.06)
    tasks = required_tasks(scenario, 2, target=0.9)
    assert tasks is not None
    assert power(scenario, tasks, 2) >= 0.9 > power(scenario, tasks - 1, 2)


def test_an_effect_of_nothing_is_never_found() -> None:
    assert required_tasks(error_rate_scenario(0.09, 0.09)) is None
    assert power(error_rate_scenario(0.09, 0.09), 50) == pytest.approx(0.05, abs=1e-6)


def test_the_minimum_detectable_effect_has_eighty_percent_power() -> None:
    scenario = error_rate_scenario(0.09, 0.09)
    effect = minimum_detectable_effect(scenario, 60, 3)
    assert power(scenario._replace(effect=effect), 60, 3) == pytest.approx(0.8, abs=0.01)


def test_designs_that_cannot_answer_say_so() -> None:
    assert power(cost_scenario(0.5, 0.1), 1) == 0.0
    assert minimum_detectable_effect(cost_scenario(0.5, 0.1), 1) == math.inf
    assert power(Scenario(0.1, 0.0, 0.0, 0.0), 5) == 1.0
    assert power(Scenario(0.0, 0.0, 0.0, 0.0), 5) == 0.0


def _pilot(rho: float, tasks: int, trials: int) -> dict[str, list[tuple[int, int]]]:
    rng = random.Random(3)  # noqa: S311 - simulated data
    found = {}
    for task in range(tasks):
        mean = rng.betavariate(3, 20)
        rows = []
        for _ in range(trials):
            p = rng.betavariate(mean * (1 - rho) / rho, (1 - mean) * (1 - rho) / rho)
            n = max(1, round(rng.lognormvariate(3.0, 0.6)))
            rows.append((sum(rng.random() < p for _ in range(n)), n))
        found[str(task)] = rows
    return found


def test_an_aa_pilot_gives_back_the_world_it_came_from() -> None:
    pilot = error_pilot(_pilot(0.10, 400, 4))
    assert pilot.rho == pytest.approx(0.10, abs=0.03)
    assert pilot.rate == pytest.approx(3 / 23, abs=0.02)
    assert pilot.tau < 0.03
    assert pilot.halves.p > 0.01
    assert (pilot.tasks, pilot.sessions) == (400, 1600)


def test_one_trial_per_task_puts_the_tasks_into_rho() -> None:
    assert error_pilot(_pilot(0.10, 400, 1)).rho > error_pilot(_pilot(0.10, 400, 4)).rho


def test_empty_pilots_fall_back_to_assumptions() -> None:
    assert error_pilot({}).rho == error_pilot({"a": [(0, 0)]}).rho == 0.10
    assert error_pilot({"a": [(1, 5)]}).rho == 0.10
    assert success_pilot({}) == (0.0, 0.0, 0, 0)
    assert cost_pilot({}).sd_log_ratio == 0.0


def test_success_pilot_finds_how_alike_trials_of_a_task_are() -> None:
    rng = random.Random(6)  # noqa: S311 - simulated data
    trials = {}
    for task in range(600):
        p = rng.betavariate(0.42 * 1.5, 0.58 * 1.5)
        trials[str(task)] = [rng.random() < p for _ in range(4)]
    pilot = success_pilot(trials)
    assert pilot.icc == pytest.approx(0.40, abs=0.06)
    assert pilot.rate == pytest.approx(0.42, abs=0.05)


def test_cost_pilot_finds_the_spread_of_a_log_ratio() -> None:
    rng = random.Random(7)  # noqa: S311 - simulated data
    trials = {}
    for task in range(300):
        level = rng.gauss(7, 1)
        trials[str(task)] = [math.exp(rng.gauss(level, 0.4)) for _ in range(3)]
    assert cost_pilot(trials).sd_log_ratio == pytest.approx(0.4 * math.sqrt(2), abs=0.04)
