from __future__ import annotations

import math
import random
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warmstart.profile.scores import (
    MAIN,
    VARIANTS,
    Trend,
    add_scores,
    finish_trend,
    score_session,
)
from warmstart.profile.strata import split_strata
from warmstart.stats.trend import TrendResult, score_trend

CALLS = st.lists(st.tuples(st.sampled_from("abc"), st.booleans()), max_size=30)
GUARDS = {"guard 0": 0, MAIN: 1, "guard 5": 5}
NO_RETRIES = "guard 1, no retries"


def score(tools: list[str], failed: list[int]) -> dict[str, list[float]]:
    return score_session(len(tools), split_strata(tools, failed))


def gather(sessions: Iterable[list[tuple[str, bool]]]) -> dict[str, list[float]]:
    sums: dict[str, list[float]] = {name: [0.0] * 8 for name in VARIANTS}
    for calls in sessions:
        failed = [index for index, (_, error) in enumerate(calls) if error]
        if failed:
            add_scores(sums, score([tool for tool, _ in calls], failed))
    return sums


def assert_same(ours: Trend, theirs: TrendResult) -> None:
    assert ours.informative == theirs.informative
    assert ours.z == pytest.approx(theirs.z, abs=1e-6)
    assert ours.log_odds == pytest.approx(theirs.log_odds, abs=1e-6)
    if math.isfinite(theirs.interval.low):
        assert (ours.low, ours.high) == pytest.approx(theirs.interval, abs=1e-5)
    assert ours.errors <= theirs.errors


@given(st.lists(CALLS, max_size=12), st.sampled_from(list(GUARDS)))
def test_running_sums_give_what_the_score_test_gives(
    sessions: list[list[tuple[str, bool]]], variant: str
) -> None:
    ours = finish_trend(variant, gather(sessions)[variant], None)
    given = [[(tool, error, False) for tool, error in calls] for calls in sessions]
    assert_same(ours, score_trend(given, GUARDS[variant]))


@given(st.lists(st.lists(st.booleans(), max_size=30), max_size=12))
def test_first_attempts_are_scored_as_a_session_of_their_own(sessions: list[list[bool]]) -> None:
    calls = [[("a", error) for error in session] for session in sessions]
    ours = finish_trend(NO_RETRIES, gather(calls)[NO_RETRIES], None)
    given = [
        [("a", error, False) for error, before in zip(s, [False, *s], strict=False) if not before]
        for s in sessions
    ]
    assert_same(ours, score_trend(given, 1))


@given(CALLS)
def test_tools_by_number_are_scored_as_tools_by_name(calls: list[tuple[str, bool]]) -> None:
    names = [tool for tool, _ in calls]
    failed = [index for index, (_, error) in enumerate(calls) if error]
    numbers = bytes("abc".index(name) for name in names)
    by_number = score_session(len(numbers), split_strata(numbers, failed))
    assert by_number == score(names, failed)


def test_chance_has_no_trend_with_retries_or_without() -> None:
    """Leaving retries out must not make one: the call after a failure goes, whatever it was."""
    draw = random.Random(11)  # noqa: S311 - a simulation, no secret
    sums = gather(
        [(draw.choice("ab"), draw.random() < 0.2) for _ in range(30)] for _ in range(2500)
    )
    for variant in VARIANTS:
        assert abs(finish_trend(variant, sums[variant], None).z) < 3


def test_a_session_longer_than_the_table_is_scored_the_same_way() -> None:
    tools = ["bash"] * 5000
    failed = [10, 4000]
    sums: dict[str, list[float]] = {}
    add_scores(sums, score(tools, failed))
    calls = [("bash", index in failed) for index in range(5000)]
    theirs = score_trend([[(tool, error, False) for tool, error in calls]])
    assert finish_trend(MAIN, sums[MAIN], None).log_odds == pytest.approx(theirs.log_odds)


def test_errors_at_the_start_only_make_a_falling_trend() -> None:
    sums: dict[str, list[float]] = {}
    for _ in range(30):
        add_scores(sums, score(["bash"] * 30, [0, 2]))
    for _ in range(3):
        add_scores(sums, score(["bash"] * 30, [20]))
    trend = finish_trend(MAIN, sums[MAIN], None)
    assert trend.falls
    assert not trend.rises
    assert trend.odds_ratio < 1
