from __future__ import annotations

from dataclasses import replace

import pytest

from support.reports import WARM, ablation, crash_some, make_report
from warmstart.experiment.ablation import find_smallest
from warmstart.experiment.plan import Design, Direction, Metric
from warmstart.experiment.trial import Trial


def test_the_smallest_that_is_not_inferior_is_chosen() -> None:
    found = find_smallest(ablation().verdict.analysis)
    assert found.chosen is not None
    assert (found.chosen.arm, found.chosen.tokens) == (f"{WARM}/no-guidance", 600)
    assert next(row.arm for row in found.arms) == "cold"
    assert [row.not_inferior for row in found.arms] == [False, False, True]


def test_several_arms_make_it_harder_for_each() -> None:
    found = find_smallest(ablation().verdict.analysis)
    for row in found.arms:
        assert row.p_holm >= row.p


def test_an_arm_as_large_as_the_full_one_is_not_the_smallest() -> None:
    subject = make_report({WARM: -1.5, f"{WARM}/no-markers": -1.5}, tasks=60, trials=4)
    found = find_smallest(subject.verdict.analysis)
    assert found.arms[0].not_inferior
    assert found.chosen is None


def test_an_invalid_comparison_chooses_nothing() -> None:
    def shrink(trial: Trial) -> Trial:
        size = 10 if trial.arm != WARM else 600
        return replace(crash_some(trial) if trial.arm != WARM else trial, warmup_tokens=size)

    effects = {WARM: -2.0, f"{WARM}/examples-1": -2.0}
    found = find_smallest(make_report(effects, tasks=60, spoil=shrink).verdict.analysis)
    assert [row.valid for row in found.arms] == [False]
    assert found.chosen is None


@pytest.mark.parametrize("tasks", [10, 19])
def test_fewer_than_twenty_tasks_choose_nothing(tasks: int) -> None:
    effects = {WARM: -4.0, f"{WARM}/examples-1": -4.0}
    found = find_smallest(make_report(effects, tasks=tasks, trials=4).verdict.analysis)
    assert not any(row.not_inferior for row in found.arms)


def test_more_solved_tasks_are_no_harm() -> None:
    design = Design(arms=(), metric=Metric.SUCCESS, direction=Direction.HIGHER)
    effects = {WARM: -0.5, "cold": 0.8, f"{WARM}/examples-1": -2.5}
    found = find_smallest(make_report(effects, tasks=60, trials=4, design=design).verdict.analysis)
    harm = {row.arm: row.result.estimate for row in found.arms if row.result}
    assert harm["cold"] > 0 > harm[f"{WARM}/examples-1"]


def test_only_a_warm_control_asks_how_small() -> None:
    assert make_report({"cold": 0.0, WARM: 0.0}, tasks=6).smallest is None
    assert make_report({WARM: 0.0, "cold": 0.0}, tasks=6).smallest is not None
