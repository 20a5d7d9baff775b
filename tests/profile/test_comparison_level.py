"""Simulated pairs: few of them must not find a difference where there is none.

Sides are made of rows, without the sessions behind them, so that thousands can be compared.
"""

from __future__ import annotations

import random

import pytest

from warmstart.profile.comparison import Comparison, SessionErrors, Side, collect_side, compare

RUNS = 600
LIMIT = 0.075
"""5 % and three standard errors of so many runs."""
EMPTY = collect_side("none", []).profile


def a_side(rows: list[SessionErrors]) -> Side:
    return Side(label="side", rows=tuple(rows), profile=EMPTY, tool_sums={})


def a_row(draw: random.Random, name: str, task: str, rate: float, calls: int) -> SessionErrors:
    return SessionErrors(name, task, sum(draw.random() < rate for _ in range(calls)), calls)


def pairs(
    draw: random.Random, tasks: int, *, rates: tuple[float, float], calls: tuple[int, int]
) -> Comparison:
    """Both sides do the same tasks, some of which are harder, and each some of its own."""
    one, two = [], []
    for number in range(tasks):
        harder = draw.choice((0.0, 0.05))
        for rows, side, rate in ((one, "a", rates[0]), (two, "b", rates[1])):
            size = draw.randint(*calls)
            rows.append(a_row(draw, f"{side}{number}", f"task {number}", rate + harder, size))
    one += [a_row(draw, f"own a{n}", f"only a {n}", 0.6, 40) for n in range(4)]
    two += [a_row(draw, f"own b{n}", f"only b {n}", 0.1, 40) for n in range(7)]
    return compare(a_side(one), a_side(two))


@pytest.mark.parametrize("tasks", [6, 8, 11])
@pytest.mark.parametrize("calls", [(30, 90), (24, 24)])
def test_few_pairs_without_a_difference_keep_the_level(tasks: int, calls: tuple[int, int]) -> None:
    draw = random.Random(tasks)  # noqa: S311 - a simulation, no secret
    found = [pairs(draw, tasks, rates=(0.25, 0.25), calls=calls) for _ in range(RUNS)]
    assert sum(one.verdict != "inconclusive" for one in found) <= LIMIT * RUNS
    gated = sum(any("needed" in reason for reason in one.reasons) for one in found)
    assert gated < RUNS / 2, "the tests are to keep the level, not the gates alone"


def test_sessions_that_fail_as_a_whole_keep_the_level() -> None:
    draw = random.Random(5)  # noqa: S311 - a simulation, no secret
    decided = 0
    for _ in range(RUNS):
        sides: tuple[list[SessionErrors], list[SessionErrors]] = ([], [])
        for number in range(9):
            for rows, side in zip(sides, "ab", strict=True):
                rate = draw.choice((0.05, 0.05, 0.05, 0.9))
                rows.append(a_row(draw, f"{side}{number}", f"task {number}", rate, 80))
        decided += compare(*map(a_side, sides)).verdict != "inconclusive"
    assert decided <= LIMIT * RUNS


def test_a_real_difference_is_found_in_a_pilot() -> None:
    draw = random.Random(7)  # noqa: S311 - a simulation, no secret
    found = [pairs(draw, 10, rates=(0.15, 0.35), calls=(40, 80)) for _ in range(100)]
    assert sum(one.verdict == "A is more reliable" for one in found) > 80
    assert all(one.pilot and one.unpaired == (4, 7) for one in found)
