from __future__ import annotations

from dataclasses import replace

import pytest

from warmstart.experiment.plan import Metric
from warmstart.experiment.sizing import (
    Assumptions,
    find_reach,
    learn_from_pilot,
    list_sizes,
)
from warmstart.experiment.trial import Trial, TrialCall


def _trial(task: int, number: int, errors: int) -> Trial:
    calls = tuple(TrialCall("t", i < errors, retry=False) for i in range(20))
    return Trial(
        experiment="e", task=f"t{task}", arm="cold", number=number, calls=calls,
        success=task % 2 == 0, tokens=1000 + 100 * task + 10 * number, cost_usd=0.5,
    )  # fmt: skip


PILOT = [_trial(task, number, (task + number) % 4) for task in range(12) for number in range(3)]


def test_the_known_effect_needs_the_known_number_of_tasks() -> None:
    sizes = {size.trials: size.tasks for size in list_sizes(Assumptions(), (1, 3, 5))}
    assert sizes[1] == pytest.approx(164, abs=6)
    assert sizes[3] == pytest.approx(61, abs=3)


def test_more_arms_cost_more_sessions_and_tasks() -> None:
    two, four = (list_sizes(Assumptions(arms=arms), (3,))[0] for arms in (2, 4))
    assert two.tasks is not None
    assert four.tasks is not None
    assert four.tasks > two.tasks
    assert four.sessions == four.tasks * 3 * 4


def test_money_follows_from_the_price_of_a_session() -> None:
    given = Assumptions(cost_per_session=0.02)
    assert find_reach(given, 50, 2).cost_usd == pytest.approx(50 * 2 * 2 * 0.02)
    assert list_sizes(Assumptions(), (1,))[0].cost_usd is None


def test_an_effect_of_nothing_is_never_seen() -> None:
    assert list_sizes(Assumptions(expected=0.09), (1,))[0].tasks is None


def test_more_tasks_see_smaller_effects() -> None:
    for metric in (Metric.ERROR_RATE, Metric.SUCCESS):
        few, many = (find_reach(Assumptions(metric=metric), n, 1) for n in (20, 200))
        assert many.smallest < few.smallest
        assert many.power >= few.power
    ratio = Assumptions(metric=Metric.TOKENS, control=1.0, expected=0.8)
    assert find_reach(ratio, 20, 1).smallest < find_reach(ratio, 200, 1).smallest < 1


def test_a_pilot_takes_the_place_of_assumptions() -> None:
    learned = learn_from_pilot(Assumptions(), PILOT, "pilot")
    assert learned.pilot == "pilot"
    assert learned.calls == pytest.approx(20)
    assert learned.control == pytest.approx(0.075)
    assert learned.expected / learned.control == pytest.approx(0.057 / 0.09)
    assert learned.cost_per_session == pytest.approx(0.5)


def test_a_pilot_serves_every_metric() -> None:
    success = learn_from_pilot(replace(Assumptions(), metric=Metric.SUCCESS), PILOT, "p")
    assert success.control == pytest.approx(0.5)
    cost = replace(Assumptions(), metric=Metric.TOKENS, control=1.0, expected=0.8)
    assert learn_from_pilot(cost, PILOT, "p").sd_log_ratio < cost.sd_log_ratio


def test_a_pilot_without_cold_trials_changes_nothing() -> None:
    given = Assumptions()
    assert (
        learn_from_pilot(given, [replace(t, arm="warm:x", cost_usd=None) for t in PILOT], "p")
        == given
    )
