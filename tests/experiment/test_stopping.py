from __future__ import annotations

from dataclasses import replace

from warmstart.experiment.analysis import Question
from warmstart.experiment.stopping import find_stop
from warmstart.experiment.trial import Trial, TrialCall
from warmstart.stats.sequential import StoppingRule

TASKS = [f"t{i:02}" for i in range(40)]
QUESTION = Question(
    control="cold", treatments=("warm:x",), rule=StoppingRule.ANYTIME, planned_tasks=40, trials=1
)


def _trial(task: str, arm: str, errors: int) -> Trial:
    calls = tuple(TrialCall("read_file", i < errors, retry=False) for i in range(10))
    return Trial(experiment="e", task=task, arm=arm, number=0, calls=calls)


def _trials(tasks: list[str], gap: int) -> list[Trial]:
    return [
        trial
        for at, task in enumerate(tasks)
        for trial in (_trial(task, "cold", 2 + gap + at % 2), _trial(task, "warm:x", 2))
    ]


def test_a_large_effect_stops_a_run_before_its_end() -> None:
    reason = find_stop(_trials(TASKS[:30], 5), QUESTION, TASKS)
    assert reason is not None
    assert StoppingRule.ANYTIME.value in reason


def test_nothing_stops_where_nothing_differs() -> None:
    trials = [
        _trial(task, arm, 2 + (at + (arm == "cold")) % 2)
        for at, task in enumerate(TASKS)
        for arm in ("cold", "warm:x")
    ]
    assert find_stop(trials, QUESTION, TASKS) is None


def test_a_fixed_plan_never_stops_early() -> None:
    question = replace(QUESTION, rule=StoppingRule.FIXED)
    assert find_stop(_trials(TASKS, 7), question, TASKS) is None


def test_every_treatment_has_to_be_decided() -> None:
    question = replace(QUESTION, treatments=("warm:x", "warm:y"))
    assert find_stop(_trials(TASKS, 7), question, TASKS) is None


def test_tasks_behind_a_gap_do_not_count_yet() -> None:
    later = _trials(TASKS[1:], 7)
    assert find_stop(later, QUESTION, TASKS) is None
    assert find_stop([*_trials(TASKS[:1], 7), *later], QUESTION, TASKS) is not None
