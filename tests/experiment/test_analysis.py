"""From trials to figures."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from scipy import stats

from support.trials import simulate_trials
from warmstart.experiment.analysis import Question, analyse, question_of
from warmstart.experiment.plan import (
    Design,
    Direction,
    Metric,
    Plan,
    Runner,
    RunnerKind,
    TaskSet,
)
from warmstart.experiment.trial import Trial, TrialCall, TrialStatus
from warmstart.stats.noninferiority import Preservation
from warmstart.stats.sequential import StoppingRule

QUESTION = Question(control="cold", treatments=("warm:a",))
SUCCESS = replace(QUESTION, metric=Metric.SUCCESS, direction=Direction.HIGHER, margin=0.05)
ROWS = simulate_trials(30, 2, {"cold": 0.0, "warm:a": -0.8}, seed=4)


def _trial(task: str, arm: str, **fields: object) -> Trial:
    base = Trial(experiment="x", task=task, arm=arm, number=0, turns=1, tokens=10, seconds=1.0)
    return replace(base, **fields)


def _calls(errors: int, total: int) -> tuple[TrialCall, ...]:
    return tuple(TrialCall("t", error=i < errors, retry=False) for i in range(total))


def test_the_effect_is_the_paired_t_on_mean_session_rates_per_task() -> None:
    effect = analyse(ROWS, QUESTION).comparisons[0].primary
    rates: dict[str, dict[str, list[float]]] = {}
    for row in ROWS:
        rate = row.errors / len(row.calls)
        rates.setdefault(row.task, {}).setdefault(row.arm, []).append(rate)
    differences = [
        sum(arms["warm:a"]) / len(arms["warm:a"]) - sum(arms["cold"]) / len(arms["cold"])
        for arms in rates.values()
    ]
    theirs = stats.ttest_1samp(differences, 0.0)
    low, high = theirs.confidence_interval()
    assert effect.p == pytest.approx(theirs.pvalue)
    assert effect.interval == pytest.approx((low, high))
    assert effect.units == 30
    assert effect.sessions == (60, 60)
    assert effect.calls == tuple(
        sum(len(r.calls) for r in ROWS if r.arm == arm) for arm in ("cold", "warm:a")
    )


def test_counts_stand_beside_the_rate() -> None:
    detail = analyse(ROWS, QUESTION).comparisons[0].primary.errors
    assert detail is not None
    errors = sum(r.errors for r in ROWS if r.arm == "cold")
    assert detail.errors_per_task[0] == pytest.approx(errors / 30)
    assert detail.control.deff > 1
    assert detail.call_weighted is not None
    assert detail.call_weighted.estimate < 0
    assert detail.upper_when_zero == (None, None)


def test_an_arm_without_errors_gets_an_upper_bound() -> None:
    rows = [_trial(f"t{i}", arm, calls=_calls(errors, 10))
            for i in range(8) for arm, errors in (("cold", 3), ("warm:a", 0))]  # fmt: skip
    detail = analyse(rows, QUESTION).comparisons[0].primary.errors
    assert detail is not None
    assert detail.upper_when_zero[0] is None
    assert detail.upper_when_zero[1] == pytest.approx(1 - 0.05 ** (1.9 / 80))


def test_one_trial_of_success_uses_bonett_price_and_mcnemar() -> None:
    rows = [_trial(f"t{i:02}", arm, success=i % 3 == 0 if arm == "cold" else i % 4 != 0)
            for i in range(24) for arm in ("cold", "warm:a")]  # fmt: skip
    effect = analyse(rows, SUCCESS).comparisons[0].primary
    assert effect.success is not None
    wins, losses = effect.success.only_treatment, effect.success.only_control
    assert effect.p == pytest.approx(stats.binomtest(losses, wins + losses).pvalue)
    assert "McNemar" in effect.method
    assert effect.estimate == pytest.approx((wins - losses) / 24)


def test_repeated_trials_give_pass_hat_k() -> None:
    passes = analyse(ROWS, SUCCESS).comparisons[0].primary.success
    assert passes is not None
    assert [one.k for one in passes.passes] == [1, 2]
    assert passes.passes[1].control <= passes.passes[0].control
    assert passes.trials_per_task == (2, 2)


def test_crashes_and_timeouts_are_failures_even_without_a_check() -> None:
    rows = [
        _trial("a", "cold", success=True),
        _trial("a", "warm:a", status=TrialStatus.CRASHED),
        _trial("b", "cold", success=True),
        _trial("b", "warm:a", status=TrialStatus.TIMEOUT, success=True),
    ]
    analysis = analyse(rows, SUCCESS)
    assert analysis.comparisons[0].primary.treatment_value == 0.0
    assert (analysis.arms[1].crashed, analysis.arms[1].timeouts, analysis.arms[1].solved) == (
        1,
        1,
        0,
    )


def test_costs_are_compared_on_the_log_scale_with_failures_kept() -> None:
    question = replace(QUESTION, metric=Metric.TOKENS, margin=0.1)
    rows = [_trial(f"t{i}", arm, tokens=100 * (i + 1) // half, success=False)
            for i in range(9) for arm, half in (("cold", 1), ("warm:a", 2))]  # fmt: skip
    effect = analyse(rows, question).comparisons[0].primary
    assert effect.is_ratio
    assert effect.estimate == pytest.approx(0.5)
    assert effect.cost is not None
    assert effect.cost.bill_ratio == pytest.approx(0.5)
    assert effect.cost.median == (500.0, 250.0)
    assert effect.cost.robust_ratio == pytest.approx(0.5)


def test_every_metric_that_has_data_is_compared_primary_first() -> None:
    metrics = [e.metric for e in analyse(ROWS, SUCCESS).comparisons[0].effects]
    assert metrics[0] is Metric.SUCCESS
    assert set(metrics) == set(Metric)
    bare = [_trial("a", "cold"), _trial("a", "warm:a")]
    assert Metric.SUCCESS not in [e.metric for e in analyse(bare, QUESTION).comparisons[0].effects]


def test_arms_with_other_tasks_are_compared_by_cluster() -> None:
    observed = replace(QUESTION, paired=False)
    rows = [replace(r, task=f"{r.arm}-{r.task}") for r in ROWS]
    comparison = analyse(rows, observed).comparisons[0]
    assert {e.unit for e in comparison.effects} == {"task"}
    assert comparison.primary.p_sign_flip is None
    assert comparison.monitoring is None
    assert comparison.primary.interval.low < comparison.primary.estimate < 0
    assert math.isfinite(comparison.primary.mde80)
    single = [replace(r, task=f"{r.arm}-{r.task}-{r.number}", number=0) for r in ROWS]
    assert analyse(single, observed).comparisons[0].primary.unit == "session"


def test_observed_sessions_of_the_same_tasks_are_paired() -> None:
    comparison = analyse(ROWS, replace(QUESTION, paired=False)).comparisons[0]
    assert comparison.primary.p_sign_flip is not None


def test_a_trial_recorded_twice_counts_once_and_other_arms_not_at_all() -> None:
    analysis = analyse([*ROWS, *ROWS[:7], _trial("z", "stranger")], QUESTION)
    assert (analysis.duplicates, analysis.foreign) == (7, 1)
    assert analysis.comparisons[0].primary == analyse(ROWS, QUESTION).comparisons[0].primary


def test_monitoring_counts_only_tasks_with_all_their_trials() -> None:
    question = replace(QUESTION, rule=StoppingRule.ANYTIME, planned_tasks=30, trials=2)
    half = [r for r in ROWS if r.order < 50]
    comparison = analyse(half, question).comparisons[0]
    assert not comparison.complete
    assert comparison.monitoring is not None
    assert comparison.monitoring.seen == 12
    assert comparison.primary.units == 13
    assert len(comparison.monitoring.e_values) == 12
    assert analyse(ROWS, question).comparisons[0].complete


def test_several_arms_are_adjusted_and_shown_against_the_references() -> None:
    rows = simulate_trials(25, 1, {"cold": 0, "warm:a": -1.5, "warm:b": 0, "placebo": 0}, seed=2)
    question = replace(QUESTION, treatments=("warm:a", "warm:b"), references=("placebo",))
    first, second = analyse(rows, question).comparisons
    assert first.p_holm == pytest.approx(min(1.0, 2 * first.primary.p))
    assert second.p_holm >= second.primary.p
    assert [e.control for e in first.against_references] == ["placebo"]


def test_arm_summaries_hold_what_was_left_out_and_what_a_solved_task_costs() -> None:
    rows = [replace(r, warmup_calls=4, warmup_tokens=90, copied=i % 2) if r.arm != "cold" else r
            for i, r in enumerate(ROWS)]  # fmt: skip
    cold, warm = analyse(rows, QUESTION).arms
    assert cold.seeded_calls == 0
    assert cold.copy_rate is None
    assert warm.seeded_calls == 4 * 60
    assert warm.copy_rate == pytest.approx(warm.copied_sessions / 60)
    assert warm.tokens_per_solved == pytest.approx(warm.tokens / warm.solved)
    assert warm.cost_per_solved is not None
    assert sum(point.calls for point in warm.curve) == warm.calls
    assert warm.trend.sessions == 60


def test_a_smaller_warm_up_can_be_shown_to_be_not_inferior() -> None:
    rows = simulate_trials(60, 3, {"cold": 0.0, "warm:a": 0.0}, seed=5)
    kept = analyse(rows, replace(QUESTION, margin=0.05)).comparisons[0].preservation
    worse = analyse(ROWS, replace(QUESTION, direction=Direction.HIGHER)).comparisons[0].preservation
    assert kept is not None
    assert kept.answer is Preservation.PRESERVED
    assert worse is not None
    assert worse.answer is Preservation.DEGRADED


def test_a_partial_bill_is_no_bill() -> None:
    rows = [replace(ROWS[0], cost_usd=None), *ROWS[1:]]
    assert analyse(rows, QUESTION).arms[0].cost_usd is None


def test_the_task_table_has_every_task_in_every_arm() -> None:
    table = analyse(ROWS, QUESTION).tasks
    assert len(table) == 30
    assert all([arm.arm for arm in row.arms] == ["cold", "warm:a"] for row in table)
    assert table[0].arms[0].sessions == 2


def test_nothing_at_all_is_analysed_without_complaint() -> None:
    analysis = analyse([], QUESTION)
    assert analysis.comparisons[0].primary.units == 0
    assert analysis.comparisons[0].sequence == ()
    assert analysis.arms[0].sessions == 0
    unpaired = analyse([], replace(QUESTION, paired=False)).comparisons[0].primary
    assert unpaired.p == 1.0


def test_a_plan_becomes_a_question() -> None:
    design = Design(
        arms=("cold", "warm:a", "token-matched", "placebo"), trials=3, rule=StoppingRule.ANYTIME
    )
    plan = Plan(name="p", design=design, tasks=TaskSet(count=12, sha256="0"))
    question = question_of(plan)
    assert question.treatments == ("warm:a",)
    assert question.references == ("token-matched", "placebo")
    assert (question.planned_tasks, question.trials) == (12, 3)
    assert question.rule is StoppingRule.ANYTIME
    observed = replace(plan, runner=Runner(kind=RunnerKind.OBSERVED))
    assert question_of(observed).paired is False
    only = replace(plan, design=replace(design, arms=("cold", "placebo")))
    assert question_of(only).treatments == ("placebo",)


@pytest.mark.parametrize("rule", list(StoppingRule))
def test_every_registered_rule_has_its_statistics(rule: StoppingRule) -> None:
    assert StoppingRule(rule.value)
