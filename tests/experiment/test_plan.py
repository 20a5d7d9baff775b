from __future__ import annotations

import tomllib
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warmstart.errors import UsageError
from warmstart.experiment.plan import (
    Design,
    Direction,
    Metric,
    Plan,
    PlanError,
    Runner,
    RunnerKind,
    TaskSet,
    check_plan,
    compare_plans,
    format_plan,
    hash_plan,
    parse_plan,
    to_data,
)
from warmstart.stats.sequential import StoppingRule

PLAN = Plan(
    name="first",
    registered="2026-01-02T03:04:05Z",
    design=Design(arms=("cold", "warm:reads"), trials=3, rule=StoppingRule.ANYTIME),
    tasks=TaskSet(count=20, sha256="ab" * 32, excluded=("t1",)),
    runner=Runner(url="http://127.0.0.1:1", model="m", input_price=3.0, output_price=15.0),
    templates={"reads": "cd" * 32},
)
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)


def test_a_plan_survives_its_file() -> None:
    assert parse_plan(format_plan(PLAN)) == PLAN


@given(TEXT, TEXT, st.floats(0, 1, exclude_min=True), st.integers())
def test_any_text_and_number_survives_the_file(
    preamble: str, model: str, margin: float, seed: int
) -> None:
    design = replace(PLAN.design, preamble=preamble, margin=margin, seed=seed)
    plan = replace(PLAN, design=design, runner=replace(PLAN.runner, model=model or "m"))
    again = parse_plan(format_plan(plan))
    assert again == plan
    assert hash_plan(again) == hash_plan(plan)


def test_the_file_is_toml_that_says_what_matters() -> None:
    data = tomllib.loads(format_plan(PLAN))
    assert data == to_data(PLAN)
    assert data["design"]["metric"] == "error_rate"
    assert data["runner"]["key_variable"] == ""
    assert "temperature" not in data["runner"]


def test_the_hash_is_of_the_content_not_of_the_layout() -> None:
    text = format_plan(PLAN)
    spaced = text.replace("trials = 3", "trials   =   3  # three")
    assert hash_plan(parse_plan(spaced)) == hash_plan(PLAN)
    changed = parse_plan(text.replace("trials = 3", "trials = 4"))
    assert hash_plan(changed) != hash_plan(PLAN)
    assert compare_plans(PLAN, changed) == ["design.trials: 3 -> 4"]


def test_a_plan_knows_how_many_trials_it_has() -> None:
    assert PLAN.total == 20 * 2 * 3


@pytest.mark.parametrize(
    ("design", "problem"),
    [
        ({"arms": ("cold",)}, "two arms"),
        ({"arms": ("cold", "cold")}, "two arms"),
        ({"arms": ("warm:a", "warm:b")}, "control"),
        ({"arms": ("cold", "token-matched")}, "token-matched needs a warm arm"),
        ({"trials": 0}, "trials"),
        ({"margin": -1.0}, "margin"),
        ({"alpha": 1.0}, "alpha"),
    ],
)
def test_a_design_that_cannot_be_is_refused(design: dict[str, Any], problem: str) -> None:
    with pytest.raises(PlanError, match=problem):
        check_plan(replace(PLAN, design=replace(PLAN.design, **design)))


@pytest.mark.parametrize(
    "runner",
    [
        {"url": "file:///etc/passwd"},
        {"url": "http://me:secret@host/v1"},
        {"model": ""},
        {"api": "other"},
        {"protocol": "xml"},
        {"key_variable": "sk-abcdefghijkl-123"},
        {"max_turns": 0},
        {"trial_timeout": 0.0},
        {"kind": RunnerKind.COMMAND},
    ],
)
def test_a_runner_that_cannot_be_is_refused(runner: dict[str, Any]) -> None:
    with pytest.raises(PlanError):
        check_plan(replace(PLAN, runner=replace(PLAN.runner, **runner)))


def test_a_name_that_is_no_name_of_a_folder_is_refused() -> None:
    with pytest.raises(PlanError):
        check_plan(replace(PLAN, name="../up"))


def test_an_arm_there_is_not_is_refused() -> None:
    with pytest.raises(UsageError, match="no such arm"):
        check_plan(replace(PLAN, design=replace(PLAN.design, arms=("cold", "hot"))))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("schema_version = 2", "schema_version = 1"),
        ("trials = 3", "trials = true"),
        ("trials = 3", 'trials = "x"'),
        ("trials = 3", "trials = 3\ncolour = 1"),
        ('metric = "error_rate"', 'metric = "luck"'),
        ("arms = [", "arms = 3 # ["),
        ("[design]", "[desing]"),
        ("[templates]", "[[templates]]"),
        ("name = ", "name ="),
    ],
)
def test_a_damaged_file_is_a_complaint(old: str, new: str) -> None:
    text = format_plan(PLAN)
    assert old in text
    damaged = text.replace(old, new, 1) if old != "name = " else text + "=\n"
    with pytest.raises(PlanError):
        parse_plan(damaged)


def test_enums_are_read_back_as_themselves() -> None:
    design = replace(PLAN.design, metric=Metric.SUCCESS, direction=Direction.HIGHER)
    assert parse_plan(format_plan(replace(PLAN, design=design))).design.direction is (
        Direction.HIGHER
    )
