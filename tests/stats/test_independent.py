"""Groups that share no task, and the split between arms."""

from __future__ import annotations

import math

import pytest
from scipy import stats

from warmstart.stats.independent import MISMATCH_P, sample_ratio, welch


def test_welch_is_scipys() -> None:
    a, b = [1.0, 2.5, 3.0, 4.2], [2.0, 5.0, 7.5, 1.0, 9.0]
    ours, theirs = welch(a, b), stats.ttest_ind(b, a, equal_var=False)
    interval = theirs.confidence_interval()
    assert ours.p == pytest.approx(theirs.pvalue)
    assert ours.interval == pytest.approx((interval.low, interval.high))


def test_welch_without_data_or_spread_does_not_raise() -> None:
    assert welch([1.0], [2.0, 3.0]).interval == (-math.inf, math.inf)
    assert welch([1.0, 1.0], [1.0, 1.0]).p == 1.0
    assert welch([1.0, 1.0], [2.0, 2.0]).p == 0.0


def test_a_broken_split_is_seen_and_a_fair_one_is_not() -> None:
    assert sample_ratio(500, 500) == 1.0
    assert sample_ratio(400, 600) < MISMATCH_P
    assert sample_ratio(900, 100, share=0.1) == pytest.approx(1.0)
    assert sample_ratio(0, 0) == 1.0
