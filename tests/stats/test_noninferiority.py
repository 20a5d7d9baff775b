"""Preserved, degraded or not known."""

from __future__ import annotations

import math
import random

import pytest

from warmstart.stats.noninferiority import Preservation, hall_bound, three_way
from warmstart.stats.paired import paired_t


def _differences(n: int, shift: float, seed: int = 1, sd: float = 0.02) -> list[float]:
    rng = random.Random(seed)  # noqa: S311 - simulated data
    return [rng.gauss(shift, sd) for _ in range(n)]


def test_symmetric_differences_get_the_t_interval() -> None:
    values = [-3.0, -1.0, 0.0, 1.0, 3.0]
    assert hall_bound(values) == pytest.approx(paired_t(values).interval)


def test_right_skew_moves_both_limits_up() -> None:
    values = [0.0] * 15 + [0.1, 0.2, 0.5]
    hall, t = hall_bound(values), paired_t(values).interval
    assert hall.low > t.low
    assert hall.high > t.high


def test_limits_undo_halls_transformation() -> None:
    values = [0.0, 0.0, 0.1, 0.2, 0.9, 0.1]
    t, n = paired_t(values), len(values)
    mean = t.estimate
    skew = (sum((v - mean) ** 3 for v in values) / n) / (
        sum((v - mean) ** 2 for v in values) / n
    ) ** 1.5
    a = skew / math.sqrt(n)
    for limit, sign in zip(hall_bound(values), (1, -1), strict=True):
        x = (mean - limit) / t.se
        back = x + a * x**2 / 3 + a**2 * x**3 / 27 + a / 6
        assert back == pytest.approx(sign * 2.570582, abs=1e-5)


@pytest.mark.parametrize(
    ("values", "answer"),
    [
        (_differences(40, 0.0), Preservation.PRESERVED),
        (_differences(40, 0.05), Preservation.DEGRADED),
        (_differences(80, 0.01), Preservation.WORSE_INSIDE_MARGIN),
        (_differences(40, 0.01, sd=0.2), Preservation.INCONCLUSIVE),
        (_differences(19, 0.0), Preservation.INCONCLUSIVE),
        (_differences(10, 0.01, sd=0.2), Preservation.INCONCLUSIVE),
        (_differences(10, 0.05), Preservation.DEGRADED),
        (_differences(4, 0.05, sd=0.001), Preservation.INCONCLUSIVE),
        ([], Preservation.INCONCLUSIVE),
    ],
)
def test_the_three_ways(values: list[float], answer: Preservation) -> None:
    judged = three_way(values, 0.02)
    assert judged.answer is answer
    assert judged.n == len(values)
    assert judged.reason


def test_equal_differences_have_an_interval_without_width() -> None:
    assert hall_bound([0.1, 0.1, 0.1]) == pytest.approx((0.1, 0.1))
    assert hall_bound([0.1, 0.2]) == (-math.inf, math.inf)


def test_sessions_that_all_show_no_change_are_enough_only_if_there_are_many() -> None:
    assert three_way([0.0] * 100, 0.02).answer is Preservation.INCONCLUSIVE
    assert three_way([0.0] * 200, 0.02).answer is Preservation.PRESERVED
