"""Rates and their clustered intervals against statsmodels and scipy."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from warmstart.stats.proportion import (
    Interval,
    clustered_difference,
    clustered_rate,
    paired_difference,
    upper_bound_when_zero,
    wilson,
)

CLUSTERS = st.lists(
    st.integers(0, 40).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), max_size=30
)


def _random_clusters(seed: int, count: int = 40) -> list[tuple[int, int]]:
    rng = random.Random(seed)  # noqa: S311 - simulated data
    sizes = [rng.randint(3, 60) for _ in range(count)]
    rates = [rng.betavariate(1.5, 10) for _ in sizes]
    return [(sum(rng.random() < p for _ in range(n)), n)
            for n, p in zip(sizes, rates, strict=True)]  # fmt: skip


@given(st.integers(0, 300), st.integers(0, 300), st.sampled_from([0.9, 0.95, 0.99]))
def test_wilson_is_scipys(hits: int, misses: int, level: float) -> None:
    interval = wilson(hits, hits + misses, level)
    if hits + misses == 0:
        assert interval == Interval(0.0, 1.0)
        return
    theirs = stats.binomtest(hits, hits + misses).proportion_ci(level, method="wilson")
    assert interval == pytest.approx((theirs.low, theirs.high), abs=1e-9)


def test_calls_are_worth_what_a_cluster_robust_regression_says() -> None:
    clusters = _random_clusters(1)
    errors = np.concatenate([np.r_[np.ones(e), np.zeros(n - e)] for e, n in clusters])
    groups = np.concatenate([np.full(n, i) for i, (_, n) in enumerate(clusters)])
    fit = sm.OLS(errors, np.ones_like(errors)).fit(
        cov_type="cluster", cov_kwds={"groups": groups, "use_correction": False}, use_t=True
    )
    count = len(clusters)
    error = float(fit.bse[0]) * math.sqrt(count / (count - 1))
    estimate = clustered_rate(clusters)
    rate, calls = estimate.rate, estimate.calls
    assert rate == pytest.approx(float(fit.params[0]))
    assert estimate.deff == pytest.approx(error**2 / (rate * (1 - rate) / calls), rel=1e-9)
    worth = calls / estimate.deff
    level = 2 * stats.norm.sf(stats.t.ppf(0.975, count - 1))
    limits = proportion_confint(rate * worth, worth, alpha=level, method="wilson")
    assert tuple(estimate.interval) == pytest.approx(limits, rel=1e-9)


def test_few_errors_do_not_prove_that_errors_come_alone() -> None:
    def high(errors: int) -> float:
        clusters = [(float(number < errors), 40.0) for number in range(50)]
        found = clustered_rate(clusters)
        return found.interval.high if errors else upper_bound_when_zero(found.n_eff)

    bounds = [high(errors) for errors in range(20)]
    assert bounds == sorted(bounds)


def test_clusters_more_alike_than_chance_make_calls_worth_no_more() -> None:
    alike = clustered_rate([(20, 400), (20, 400), (30, 600), (20, 410)])
    assert alike.icc is not None
    assert alike.icc < 0.0
    assert (alike.deff, alike.n_eff) == (1.0, alike.calls)
    even = clustered_difference([(2, 40)] * 3 + [(3, 61)], [(8, 40)] * 3 + [(12, 61)])
    simple = math.sqrt(sum(r * (1 - r) / 181 for r in (9 / 181, 36 / 181)))
    assert even.interval.high - even.estimate >= 1.96 * simple


def test_difference_of_equal_sized_clusters_is_the_welch_test_on_their_rates() -> None:
    rng = random.Random(3)  # noqa: S311 - simulated data
    a = [(rng.randint(0, 9), 20) for _ in range(12)]
    b = [(rng.randint(0, 14), 20) for _ in range(17)]
    ours = clustered_difference(a, b)
    theirs = stats.ttest_ind([e / n for e, n in b], [e / n for e, n in a], equal_var=False)
    interval = theirs.confidence_interval()
    assert ours.p == pytest.approx(theirs.pvalue, rel=1e-8)
    assert ours.df == pytest.approx(theirs.df, rel=1e-9)
    assert ours.interval == pytest.approx((interval.low, interval.high), rel=1e-8)


def test_icc_finds_the_correlation_it_was_given() -> None:
    rng = random.Random(5)  # noqa: S311 - simulated data
    clusters = []
    for _ in range(3000):
        p = rng.betavariate(0.1 * 9, 0.9 * 9)
        clusters.append((sum(rng.random() < p for _ in range(20)), 20))
    estimate = clustered_rate(clusters)
    assert estimate.icc == pytest.approx(0.10, abs=0.02)
    assert estimate.deff == pytest.approx(1 + 19 * 0.10, rel=0.12)


@given(CLUSTERS)
def test_rate_is_inside_its_interval_and_the_interval_inside_zero_and_one(
    clusters: list[tuple[int, int]],
) -> None:
    estimate = clustered_rate(clusters)
    low, high = estimate.interval
    assert 0.0 <= low <= estimate.rate <= high <= 1.0
    assert 0.0 <= estimate.n_eff <= estimate.calls
    assert estimate.calls == sum(n for _, n in clusters)


@given(CLUSTERS, CLUSTERS)
def test_difference_changes_sign_when_the_sides_are_swapped(
    a: list[tuple[int, int]], b: list[tuple[int, int]]
) -> None:
    one, two = clustered_difference(a, b), clustered_difference(b, a)
    assert one.estimate == pytest.approx(-two.estimate)
    assert one.p == pytest.approx(two.p)
    assert 0.0 <= one.p <= 1.0
    assert one.interval.low <= one.estimate <= one.interval.high


def test_no_error_at_all_still_has_an_upper_limit_that_clusters_widen() -> None:
    many = clustered_rate([(0, 10)] * 10)
    few = clustered_rate([(0, 50)] * 2)
    assert many.calls == few.calls == 100
    assert many.interval.low == few.interval.low == 0.0
    assert 0.03 < many.interval.high < few.interval.high
    assert upper_bound_when_zero(few.n_eff) > upper_bound_when_zero(many.n_eff) > 0.03
    assert upper_bound_when_zero(0) == 1.0


def test_one_session_against_another_is_no_evidence_for_a_small_gap() -> None:
    difference = clustered_difference([(9, 100)], [(6, 100)])
    assert difference.p > 0.3
    assert difference.interval.low < -0.1 < 0.05 < difference.interval.high


def test_nothing_excludes_nothing() -> None:
    assert clustered_rate([]).interval == Interval(0.0, 1.0)
    assert clustered_difference([], [(1, 2)]) == (0.0, Interval(-1.0, 1.0), 1.0, 0.0)


def test_paired_clusters_of_equal_size_give_the_paired_t_on_rates() -> None:
    rng = random.Random(8)  # noqa: S311 - simulated data
    pairs = [((rng.randint(0, 9), 20), (rng.randint(0, 9), 20)) for _ in range(15)]
    ours = paired_difference(pairs)
    theirs = stats.ttest_1samp([(b[0] - a[0]) / 20 for a, b in pairs], 0.0)
    low, high = theirs.confidence_interval()
    assert ours.p == pytest.approx(theirs.pvalue)
    assert ours.interval == pytest.approx((low, high))


def test_paired_clusters_without_calls_or_spread_do_not_raise() -> None:
    assert paired_difference([]).p == 1.0
    assert paired_difference([((0, 0), (1, 2)), ((0, 0), (1, 2))]).interval == (-1.0, 1.0)
    assert paired_difference([((1, 2), (1, 2))] * 3).p == 1.0
