from __future__ import annotations

from dataclasses import replace

import pytest

from support.reports import (
    CASES,
    WARM,
    ablation,
    better,
    costs,
    inconclusive,
    invalid,
    make_report,
    worse,
)
from support.trials import simulate_trials
from warmstart.experiment.analysis import question_of
from warmstart.experiment.arms import BASELINE_ARM
from warmstart.experiment.plan import Design, Metric
from warmstart.experiment.report import ExperimentReport
from warmstart.experiment.verdict import Conclusion, verdict_of
from warmstart.figures import money, p_value, points, times
from warmstart.present import markdown
from warmstart.present.document import Callout, Document
from warmstart.present.experiment import report_document
from warmstart.present.terminal import lay_out

WIDE = 2000


def terminal(report: ExperimentReport) -> str:
    lines = lay_out(report_document(report), WIDE, details=True)
    return "\n".join("".join(span.text for span in line) for line in lines)


def write_markdown(report: ExperimentReport) -> str:
    return markdown.write_markdown(report_document(report))


def answers(document: Document) -> list[Callout]:
    return [block for block in document.blocks if isinstance(block, Callout)]


@pytest.mark.parametrize("case", CASES)
def test_every_report_says_what_it_rests_on(case: str) -> None:
    report = CASES[case]()
    for text in (terminal(report), write_markdown(report)):
        for word in (report.hash, "registered 2026-01-31", "alpha 0.05", "2 tasks left out"):
            assert word in text
        assert f"of {report.total:,} sessions" in text


def test_a_gain_a_loss_and_neither_are_told_apart() -> None:
    assert "warm:shop is better than cold." in terminal(better())
    assert "warm:shop is worse than cold." in terminal(worse())
    assert "none that matters is ruled out" in terminal(inconclusive())
    assert "cannot be compared" in terminal(invalid())


def test_the_next_step_follows_from_the_answer() -> None:
    assert "warmstart template approve shop" in terminal(better())
    assert "warmstart template retire shop" in terminal(worse())
    assert "needs about" in terminal(inconclusive())
    assert "Repair what failed" in terminal(invalid())


def test_an_invalid_comparison_gives_no_effect_in_its_answer() -> None:
    answer = str(answers(report_document(invalid()))[0].content)
    assert "interval" not in answer
    assert "crashes alike" in answer


def test_what_a_gain_costs_stands_beside_it() -> None:
    answer = str(answers(report_document(better()))[0].content)
    assert "Beside it: tasks solved" in answer
    assert "tokens" in answer


def test_deviations_and_unreadable_lines_are_said() -> None:
    text = terminal(worse())
    assert "deviation: the plan was changed after 12 trials: design.margin: 0.02 -> 0.03" in text
    assert "1 line of the trial file cannot be read" in text


def _row(text: str, table: str, arm: str) -> list[str]:
    rows = text.partition(table)[2].splitlines()
    return next(row for row in rows if row.startswith(f"| {arm} |")).split(" | ")


def test_crashes_are_counted_per_arm() -> None:
    text = write_markdown(invalid())
    assert _row(text, "crashed", "cold")[3] == "0"
    assert _row(text, "crashed", "warm:shop")[3] == "20"


def test_example_calls_and_copies_are_those_of_warm_arms_only() -> None:
    text = write_markdown(better())
    assert _row(text, "| example calls", "warm:shop")[2] == "180"
    assert _row(text, "| example calls", "warm:shop")[5].endswith("% |")
    assert _row(text, "| example calls", "cold")[2] == "0"
    assert _row(text, "| example calls", "cold")[5] == "- |"


def test_other_text_of_the_same_size_stands_beside_the_effect() -> None:
    text = terminal(better())
    assert "warm:shop against token-matched: " in text
    assert "warm:shop against placebo: " in text


def test_the_smallest_visible_effect_is_said_where_nothing_is_shown() -> None:
    assert "Smallest effect visible with 80 % power: " in terminal(inconclusive())


def test_an_ablation_names_the_smallest_that_does_as_well() -> None:
    text = terminal(ablation())
    assert "is warm:shop/no-guidance (600 tokens)" in text
    assert "| warm:shop/no-guidance | not inferior | 600 |" in write_markdown(ablation())


def test_too_few_tasks_for_an_ablation_are_said() -> None:
    report = make_report({WARM: -1.0, f"{WARM}/no-guidance": -1.0}, tasks=12)
    assert "That takes at least 20 tasks; there are 12." in terminal(report)


def test_an_unfinished_experiment_says_so_and_how_to_go_on() -> None:
    report = make_report({"cold": 0.0, WARM: -0.5}, tasks=10, planned=40)
    text = terminal(report)
    assert "unfinished: 40 of 160 sessions" in text
    assert "warmstart experiment run first" in text
    assert not report.decided


def test_a_pilot_is_called_one() -> None:
    report = make_report({"cold": 0.0, WARM: -0.5}, tasks=8)
    assert "· pilot" in terminal(report)
    assert "· pilot" in write_markdown(report)


def test_one_arm_alone_is_a_pilot_for_the_next() -> None:
    plan = make_report({"cold": 0.0, WARM: 0.0}).plan
    plan = replace(plan, design=Design(arms=(BASELINE_ARM,), control=BASELINE_ARM))
    rows = simulate_trials(6, 1, {BASELINE_ARM: 0.0})
    verdict = verdict_of(rows, question_of(plan))
    report = ExperimentReport(plan=plan, hash="x", done=6, verdict=verdict)
    assert "warmstart experiment plan --pilot first" in terminal(report)
    assert "no treatment arm" in write_markdown(report)
    assert not report.decided


def test_tasks_are_listed_from_gain_to_loss() -> None:
    text = write_markdown(worse())
    rows = text.partition("Task by task")[2].splitlines()[4:]
    changes = [row.split("|")[4].strip() for row in rows if row.startswith("| task")]
    numbers = [float(one.removesuffix(" points")) for one in changes]
    assert numbers == sorted(numbers)
    assert len(numbers) == 30


def test_figures_keep_their_units() -> None:
    assert points(-0.028) == "-2.8 points"
    assert points(0.0) == "0.0 points"
    assert points(-0.0001) == "0.0 points"
    assert points(float("inf")) == times(float("inf")) == "unlimited"
    assert (money(None), money(0.0123), money(12.345)) == ("-", "$0.012", "$12.35")
    assert (p_value(0.0), p_value(None)) == ("< 0.001", "-")


def test_an_experiment_by_cost_lists_tasks_as_ratios() -> None:
    text = write_markdown(costs())
    rows = [row for row in text.partition("Task by task")[2].splitlines() if "task-" in row]
    assert len(rows) == 40
    assert all(" x" in row for row in rows)


def test_equivalent_arms_are_chosen_by_their_cost() -> None:
    report = make_report({"cold": -4.0, WARM: -4.0}, tasks=60, trials=4)
    arm = replace(report.verdict.arms[0], conclusion=Conclusion.EQUIVALENT)
    report = replace(report, verdict=replace(report.verdict, arms=(arm,)))
    assert "keep whichever costs less" in terminal(report)


def test_shorter_forms_by_cost_have_ratios_too() -> None:
    design = Design(arms=(), metric=Metric.TOKENS)
    report = make_report({WARM: -1.0, "cold": 0.0}, tasks=25, design=design)
    assert "x1." in write_markdown(report).partition("harm")[2]
