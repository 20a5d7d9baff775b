"""Stopping rules and the e-process."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from warmstart.stats.eprocess import BETS, e_values, sym_cs
from warmstart.stats.paired import paired_t
from warmstart.stats.sequential import StoppingRule, monitor


def _normal(n: int, shift: float, seed: int) -> list[float]:
    rng = random.Random(seed)  # noqa: S311 - simulated data
    return [rng.gauss(shift, 1.0) for _ in range(n)]


def test_a_fixed_design_has_no_look_before_the_end() -> None:
    values = _normal(99, 2.0, 3)
    assert not monitor(values, 100, StoppingRule.FIXED).significant
    assert monitor([*values, 2.0], 100, StoppingRule.FIXED).significant


def test_the_e_process_stops_where_it_first_passes_its_limit() -> None:
    found = monitor(_normal(80, 1.0, 6), 80, StoppingRule.ANYTIME)
    assert found.stopped_at is not None
    assert found.e_values[found.stopped_at - 1] >= 20.0
    assert max(found.e_values[: found.stopped_at - 1]) < 20.0


@given(st.lists(st.integers(-9, 9).map(float), min_size=1, max_size=9))
@settings(max_examples=40)
def test_the_mean_e_value_over_all_sign_patterns_is_one(values: list[float]) -> None:
    patterns = [[]]
    for value in values:
        patterns = [[*p, s * value] for p in patterns for s in (1, -1)]
    last = [list(e_values(p))[-1] for p in patterns]
    assert sum(last) / len(last) == pytest.approx(1.0)


def test_zero_differences_leave_the_e_value_alone() -> None:
    assert list(e_values([0.0, 0.0])) == [1.0, 1.0]
    assert len(BETS) == 5


def test_overwhelming_evidence_does_not_overflow() -> None:
    assert math.isfinite(list(e_values([1.0] * 5000))[-1])


def test_the_confidence_sequence_narrows_and_contains_the_t_interval_at_the_end() -> None:
    values = _normal(150, 0.4, 7)
    points = sym_cs(values)
    lows = [p.interval.low for p in points]
    assert lows == sorted(lows)
    t = paired_t(values).interval
    assert points[-1].interval.low < t.low < t.high < points[-1].interval.high
    assert points[-1].interval.high - points[-1].interval.low < 2.5 * (t.high - t.low)


def test_the_confidence_sequence_covers_the_truth_at_all_times() -> None:
    misses = 0
    for seed in range(30):
        points = sym_cs(_normal(30, 0.3, seed))
        misses += any(not p.interval.low <= 0.3 <= p.interval.high for p in points)
    assert misses <= 4


def test_early_on_the_confidence_sequence_excludes_nothing() -> None:
    assert sym_cs([]) == []
    assert sym_cs([0.5, 0.1])[0].interval == (-math.inf, math.inf)
