"""Invalid before inconclusive before better, worse or equivalent."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.trials import simulate_trials
from warmstart.experiment.analysis import Question
from warmstart.experiment.plan import Direction, Metric
from warmstart.experiment.trial import Trial, TrialCall, TrialStatus
from warmstart.experiment.verdict import Conclusion, verdict_of
from warmstart.present.json import to_json
from warmstart.stats.sequential import StoppingRule

QUESTION = Question(control="cold", treatments=("warm:a",))
BETTER = simulate_trials(40, 2, {"cold": 0.0, "warm:a": -1.2}, seed=3)
NULL = simulate_trials(40, 2, {"cold": 0.0, "warm:a": 0.0}, seed=6)


def _swap(rows: list[Trial]) -> list[Trial]:
    return [replace(r, arm="cold" if r.arm == "warm:a" else "warm:a") for r in rows]


def _warm(rows: list[Trial], **fields: object) -> list[Trial]:
    return [replace(r, **fields) if r.arm == "warm:a" else r for r in rows]


def test_fewer_errors_are_better_and_more_are_worse() -> None:
    assert verdict_of(BETTER, QUESTION).conclusion is Conclusion.BETTER
    assert verdict_of(_swap(BETTER), QUESTION).conclusion is Conclusion.WORSE


def test_experiments_without_a_difference_rarely_claim_one() -> None:
    claims = 0
    for seed in range(40):
        rows = simulate_trials(16, 1, {"cold": 0.0, "warm:a": 0.0}, seed=seed)
        verdict = verdict_of(rows, QUESTION)
        claims += verdict.conclusion in (Conclusion.BETTER, Conclusion.WORSE)
    assert claims <= 5


def test_the_registered_direction_decides_what_better_means() -> None:
    question = replace(QUESTION, direction=Direction.HIGHER)
    assert verdict_of(BETTER, question).conclusion is Conclusion.WORSE


def test_no_difference_is_inconclusive_and_says_what_could_have_been_seen() -> None:
    verdict = verdict_of(NULL, QUESTION)
    assert verdict.conclusion is Conclusion.INCONCLUSIVE
    assert "visible with 80 % power" in verdict.headline
    assert "none that matters is ruled out" in verdict.headline
    assert "tasks, 80 + 80 sessions" in verdict.headline


def test_an_interval_inside_the_margin_is_equivalence() -> None:
    verdict = verdict_of(NULL, replace(QUESTION, margin=0.2))
    assert verdict.conclusion is Conclusion.EQUIVALENT


def test_identical_arms_keep_an_interval_with_a_width() -> None:
    rows = [replace(r, arm=arm) for r in NULL if r.arm == "cold" for arm in ("cold", "warm:a")]
    verdict = verdict_of(rows, QUESTION)
    assert verdict.conclusion is Conclusion.INCONCLUSIVE
    assert verdict.analysis.comparisons[0].primary.interval == (-3 / 40, 3 / 40)


def test_a_pilot_is_never_equivalence_and_is_labelled() -> None:
    rows = [r for r in NULL if r.task < "task-012"]
    verdict = verdict_of(rows, replace(QUESTION, margin=0.5))
    assert verdict.arms[0].pilot
    assert verdict.conclusion is Conclusion.INCONCLUSIVE


@pytest.mark.parametrize(
    ("rows", "name"),
    [
        ([r for r in BETTER if r.arm == "cold" or r.number == 0], "sample ratio"),
        ([r for r in BETTER if r.arm == "cold" or r.task > "task-004"], "tasks in both arms"),
        (_warm(BETTER, model="other"), "same model"),
        (_warm(BETTER, setup="other"), "same setup"),
        ([replace(r, warmup_calls=3) for r in BETTER], "control is cold"),
        (
            [replace(r, status=TrialStatus.CRASHED) if r.arm != "cold" and r.order % 3 == 0 else r
             for r in BETTER],
            "crashes alike",
        ),
    ],
)  # fmt: skip
def test_a_broken_comparison_is_invalid_whatever_its_p(rows: list[Trial], name: str) -> None:
    verdict = verdict_of(rows, QUESTION)
    assert verdict.conclusion is Conclusion.INVALID
    assert any(reason.startswith(name) for reason in verdict.arms[0].reasons)
    assert "cannot be compared" in verdict.headline


def test_tasks_under_way_in_one_arm_do_not_make_a_running_experiment_invalid() -> None:
    rows = [r for r in BETTER if r.arm == "cold" or r.task > "task-004"]
    question = replace(QUESTION, planned_tasks=60, trials=2)
    assert verdict_of(rows, question).conclusion is Conclusion.INCONCLUSIVE


def test_observed_crashes_are_compared_by_cluster() -> None:
    rows = [
        replace(r, task=f"{r.arm}{r.task}", status=TrialStatus.CRASHED)
        if r.arm != "cold"
        else replace(r, task=f"{r.arm}{r.task}")
        for r in BETTER
    ]
    verdict = verdict_of(rows, replace(QUESTION, paired=False))
    assert verdict.conclusion is Conclusion.INVALID


def test_timeouts_are_failures_and_no_reason_to_throw_success_away() -> None:
    question = replace(QUESTION, metric=Metric.SUCCESS, direction=Direction.HIGHER)
    rows = _warm([replace(r, success=r.order % 2 == 0) for r in NULL], status=TrialStatus.TIMEOUT)
    assert verdict_of(rows, question).conclusion is Conclusion.WORSE
    assert verdict_of(rows, QUESTION).conclusion is Conclusion.INVALID


def _rates(tasks: int, cold: int, warm: int, calls: int = 20) -> list[Trial]:
    return [
        Trial(experiment="x", task=f"t{i:03}", arm=arm, number=0, turns=1, tokens=1 + i, seconds=1.0,
              order=2 * i, calls=tuple(TrialCall("t", error=n < bad, retry=False) for n in range(calls)))
        for i in range(tasks)
        for arm, bad in (("cold", cold + i % 2), ("warm:a", warm))
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        (_rates(1, 9, 0), "one session against one"),
        (_rates(5, 9, 0), "at least 6 are needed"),
        (_rates(6, 1, 0), "errors in the arm that has more"),
        (_rates(10, 4, 0, calls=5), "independent ones"),
    ],
)
def test_too_little_data_is_inconclusive_whatever_its_p(rows: list[Trial], reason: str) -> None:
    verdict = verdict_of(rows, QUESTION)
    assert verdict.conclusion is Conclusion.INCONCLUSIVE
    assert reason in verdict.headline


def test_a_perfect_arm_can_win() -> None:
    assert verdict_of(_rates(20, 3, 0), QUESTION).conclusion is Conclusion.BETTER


def test_too_few_tasks_that_differ_say_nothing_about_success() -> None:
    rows = [replace(r, success=r.task < "t005" or r.arm == "cold") for r in _rates(9, 1, 1)]
    question = replace(QUESTION, metric=Metric.SUCCESS, direction=Direction.HIGHER)
    assert "4 tasks on which the arms differ" in verdict_of(rows, question).headline


def test_tests_that_disagree_are_inconclusive() -> None:
    rows = []
    for row in _rates(6, 0, 0):
        bad = 30 if row.arm == "warm:a" else 80 if row.task == "t005" else 31
        calls = tuple(TrialCall("t", error=n < bad, retry=False) for n in range(100))
        rows.append(replace(row, calls=calls))
    verdict = verdict_of(rows, QUESTION)
    assert verdict.conclusion is Conclusion.INCONCLUSIVE
    assert "the tests disagree" in verdict.headline


def test_a_fixed_design_makes_no_claim_before_its_end() -> None:
    question = replace(QUESTION, planned_tasks=60, trials=2)
    verdict = verdict_of(BETTER, question)
    assert verdict.conclusion is Conclusion.INCONCLUSIVE
    assert "40 of 60 planned tasks" in verdict.headline


def test_an_e_process_may_claim_before_the_end() -> None:
    question = replace(QUESTION, planned_tasks=60, trials=2, rule=StoppingRule.ANYTIME)
    strong = simulate_trials(40, 2, {"cold": 0.0, "warm:a": -2.0}, seed=3)
    assert verdict_of(strong, question).conclusion is Conclusion.BETTER
    assert verdict_of(NULL, question).conclusion is Conclusion.INCONCLUSIVE


def test_one_good_template_among_several_makes_the_headline() -> None:
    effects = {"cold": 0.0, "warm:a": -1.5, "warm:b": 0.0}
    rows = simulate_trials(40, 2, effects, seed=8)
    verdict = verdict_of(rows, replace(QUESTION, treatments=("warm:a", "warm:b")))
    assert verdict.conclusion is Conclusion.BETTER
    assert [arm.conclusion for arm in verdict.arms] == [Conclusion.BETTER, Conclusion.INCONCLUSIVE]


def test_a_treatment_is_also_shown_against_arms_with_other_text() -> None:
    rows = simulate_trials(20, 1, {"cold": 0.0, "warm:a": -1.0, "placebo": 0.0}, seed=8)
    arm = verdict_of(rows, replace(QUESTION, references=("placebo",))).arms[0]
    assert [line.split(":")[0] for line in arm.against_references] == ["against placebo"]


def test_secondary_metrics_are_judged_but_never_decide() -> None:
    arm = verdict_of(BETTER, QUESTION).arms[0]
    assert [m.primary for m in arm.metrics] == [True] + [False] * (len(arm.metrics) - 1)
    assert arm.conclusion is arm.metrics[0].conclusion
    tokens = next(m for m in arm.metrics if m.metric is Metric.TOKENS)
    assert ": x0." in tokens.sentence


def test_a_small_effect_inside_the_margin_is_said_to_be_one() -> None:
    verdict = verdict_of(BETTER, replace(QUESTION, margin=0.5))
    assert verdict.arms[0].reasons == ("the whole interval is inside the margin",)


def test_the_whole_verdict_is_json() -> None:
    data = json.loads(json.dumps(to_json(verdict_of(BETTER, QUESTION)), allow_nan=False))
    assert data["conclusion"] == "better"
    comparison = data["analysis"]["comparisons"][0]
    assert comparison["effects"][0]["interval"]["low"] < 0
    assert len(data["analysis"]["tasks"]) == 40
    assert comparison["sequence"][-1]["n"] == 40


def test_no_trials_and_no_arms_have_a_verdict_too() -> None:
    assert verdict_of([], QUESTION).conclusion is Conclusion.INCONCLUSIVE
    nobody = verdict_of([], replace(QUESTION, treatments=()))
    assert nobody.conclusion is Conclusion.INCONCLUSIVE
    json.dumps(to_json(nobody), allow_nan=False)


TRIALS = st.builds(
    Trial,
    experiment=st.just("x"),
    task=st.sampled_from("abcdefgh"),
    arm=st.sampled_from(("cold", "warm:a", "other")),
    number=st.integers(0, 2),
    status=st.sampled_from(TrialStatus),
    success=st.sampled_from((True, False, None)),
    calls=st.lists(st.builds(TrialCall, st.sampled_from("tu"), st.booleans(), st.booleans()),
                   max_size=4).map(tuple),
    turns=st.integers(0, 3),
    tokens=st.integers(0, 10**6),
    seconds=st.floats(0, 1e5),
)  # fmt: skip


@given(
    st.lists(TRIALS, max_size=30),
    st.sampled_from(Metric),
    st.sampled_from(StoppingRule),
    st.booleans(),
)
@settings(max_examples=50)
def test_any_trials_get_a_verdict_that_is_json(
    rows: list[Trial],
    metric: Metric,
    rule: StoppingRule,
    paired: bool,  # noqa: FBT001 - drawn
) -> None:
    question = replace(QUESTION, metric=metric, rule=rule, paired=paired, planned_tasks=8)
    verdict = verdict_of(rows, question)
    assert verdict.headline
    json.dumps(to_json(verdict), allow_nan=False)
