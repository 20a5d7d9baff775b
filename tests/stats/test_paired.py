"""Tests on one difference per task against scipy, statsmodels and brute force."""

from __future__ import annotations

import itertools
import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar

from warmstart.stats.paired import (
    bonett_price,
    hodges_lehmann,
    log_ratio,
    mcnemar_exact,
    paired_t,
    sign_flip,
    wilcoxon,
)
from warmstart.stats.proportion import Interval

NUMBERS = st.lists(st.integers(-20, 20).map(float), max_size=40)


def _normal(n: int, shift: float, seed: int) -> list[float]:
    rng = random.Random(seed)  # noqa: S311 - simulated data
    return [rng.gauss(shift, 1.0) for _ in range(n)]


@pytest.mark.parametrize("n", [2, 6, 20, 150])
def test_paired_t_is_scipys(n: int) -> None:
    values = _normal(n, 0.3, n)
    ours, theirs = paired_t(values), stats.ttest_1samp(values, 0.0)
    interval = theirs.confidence_interval()
    assert ours.p == pytest.approx(theirs.pvalue, rel=1e-9)
    assert ours.interval == pytest.approx((interval.low, interval.high), rel=1e-9)


def test_degenerate_differences_get_the_widest_honest_answer() -> None:
    assert paired_t([]).interval == paired_t([1.0]).interval == Interval(-math.inf, math.inf)
    assert paired_t([0.0] * 5)[:3] == (0.0, Interval(0.0, 0.0), 1.0)
    assert paired_t([0.1] * 5).p == 0.0
    assert sign_flip([]) == sign_flip([0.0, 0.0]) == 1.0
    assert sign_flip([0.1] * 5) == 2 / 2**5
    assert wilcoxon([0.0]) == 1.0
    assert hodges_lehmann([]).n == 0


@given(st.lists(st.integers(-9, 9).map(float), min_size=1, max_size=9))
def test_few_sign_flips_are_all_of_them(values: list[float]) -> None:
    total = abs(sum(values))
    patterns = list(itertools.product((1, -1), repeat=len(values)))
    hits = sum(abs(sum(s * v for s, v in zip(p, values, strict=True))) >= total for p in patterns)
    assert sign_flip(values) == pytest.approx(hits / len(patterns))


@pytest.mark.parametrize("n", [15, 16, 17, 40])
def test_many_sign_flips_agree_with_scipys_permutation_test(n: int) -> None:
    values = _normal(n, 0.35, n)
    theirs = stats.permutation_test(
        (values,), sum, permutation_type="samples", n_resamples=20_000, rng=1
    )
    assert sign_flip(values, seed=7) == pytest.approx(theirs.pvalue, abs=0.025)
    assert sign_flip(values, seed=7) == sign_flip(values, seed=7)


@pytest.mark.parametrize("n", [5, 12, 30, 50])
def test_exact_wilcoxon_is_scipys(n: int) -> None:
    values = _normal(n, 0.4, n)
    assert wilcoxon(values) == pytest.approx(stats.wilcoxon(values, method="exact").pvalue)


def test_large_wilcoxon_is_scipys_normal_approximation() -> None:
    values = [round(v, 1) for v in _normal(120, 0.2, 9)]
    theirs = stats.wilcoxon(values, method="asymptotic", correction=False)
    assert wilcoxon(values) == pytest.approx(theirs.pvalue, rel=1e-9)


@given(st.lists(st.integers(-4, 4).map(float), min_size=1, max_size=9))
def test_wilcoxon_with_ties_counts_every_sign_pattern(values: list[float]) -> None:
    used = [v for v in values if v]
    ranks = stats.rankdata([abs(v) for v in used]) if used else []
    seen = sum(r for r, v in zip(ranks, used, strict=True) if v > 0)
    low = min(seen, sum(ranks) - seen)
    sums = [sum(r for r, on in zip(ranks, p, strict=True) if on)
            for p in itertools.product((0, 1), repeat=len(used))]  # fmt: skip
    expected = min(1.0, 2 * sum(s <= low + 1e-9 for s in sums) / len(sums))
    assert wilcoxon(values) == pytest.approx(expected)


def test_hodges_lehmann_limits_are_where_the_rank_test_turns() -> None:
    values = _normal(20, 0.5, 4)
    estimate = hodges_lehmann(values)
    low, high = estimate.interval
    assert wilcoxon([v - (low + 1e-6) for v in values]) > 0.05
    assert wilcoxon([v - (low - 1e-6) for v in values]) <= 0.05
    assert wilcoxon([v - (high + 1e-6) for v in values]) <= 0.05
    assert low < estimate.estimate < high


def test_five_differences_cannot_exclude_anything_by_rank() -> None:
    assert hodges_lehmann([1.0, 2.0, 3.0, 4.0, 5.0]).interval == Interval(-math.inf, math.inf)


def test_large_hodges_lehmann_has_a_finite_interval_around_its_centre() -> None:
    estimate = hodges_lehmann(_normal(80, 1.0, 3))
    assert 0.5 < estimate.interval.low < estimate.estimate < estimate.interval.high < 1.1


@given(st.integers(0, 40), st.integers(0, 40))
def test_mcnemar_is_statsmodels(b: int, c: int) -> None:
    expected = mcnemar([[3, b], [c, 4]], exact=True).pvalue if b + c else 1.0
    assert mcnemar_exact(b, c) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("b", "c", "n", "low", "high"), [(0, 0, 10, -0.2310, 0.2310), (8, 2, 30, -0.0145, 0.3895)]
)
def test_bonett_price_gives_the_values_of_its_formula(
    b: int, c: int, n: int, low: float, high: float
) -> None:
    assert bonett_price(b, c, n) == pytest.approx((low, high), abs=5e-5)


@given(st.integers(0, 30), st.integers(0, 30), st.integers(0, 30))
def test_bonett_price_mirrors_and_stays_in_range(b: int, c: int, rest: int) -> None:
    low, high = bonett_price(b, c, b + c + rest)
    assert -1.0 <= low <= high <= 1.0
    assert bonett_price(c, b, b + c + rest) == pytest.approx((-high, -low))


def test_log_ratio_is_the_t_test_on_logarithms_and_counts_what_has_no_ratio() -> None:
    rng = random.Random(2)  # noqa: S311 - simulated data
    pairs = [(rng.lognormvariate(0, 0.5), rng.lognormvariate(-0.2, 0.5)) for _ in range(30)]
    ours = log_ratio([*pairs, (0.0, 3.0)])
    theirs = stats.ttest_1samp([math.log(b / a) for a, b in pairs], 0.0)
    low, high = theirs.confidence_interval()
    assert ours.p == pytest.approx(theirs.pvalue)
    assert ours.interval == pytest.approx((math.exp(low), math.exp(high)))
    assert ours.dropped == 1
    assert log_ratio([]).interval == Interval(0.0, math.inf)


@given(NUMBERS)
def test_every_p_is_a_probability_and_does_not_change_with_the_sign(values: list[float]) -> None:
    mirrored = [-v for v in values]
    for test in (lambda v: paired_t(v).p, wilcoxon):
        assert 0.0 <= test(values) <= 1.0
        assert test(values) == pytest.approx(test(mirrored))
