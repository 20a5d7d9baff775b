"""Distribution functions against scipy."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats

from warmstart.stats.special import (
    beta_cdf,
    binomial_two_sided,
    normal_cdf,
    normal_quantile,
    t_cdf,
    t_quantile,
)

PROBABILITY = st.floats(1e-12, 1 - 1e-12)


@given(st.floats(-30, 30))
def test_normal_cdf_is_scipys(x: float) -> None:
    assert normal_cdf(x) == pytest.approx(stats.norm.cdf(x), rel=1e-11, abs=1e-200)


@given(PROBABILITY)
def test_normal_quantile_is_scipys(p: float) -> None:
    assert normal_quantile(p) == pytest.approx(stats.norm.ppf(p), rel=1e-9, abs=1e-12)


@given(st.floats(0, 1), st.floats(0.1, 400), st.floats(0.1, 400))
def test_beta_cdf_is_scipys(x: float, a: float, b: float) -> None:
    assert beta_cdf(x, a, b) == pytest.approx(special.betainc(a, b, x), abs=1e-11)


@given(st.floats(-60, 60), st.floats(0.5, 5000))
def test_t_cdf_is_scipys(t: float, df: float) -> None:
    assert t_cdf(t, df) == pytest.approx(stats.t.cdf(t, df), rel=1e-8, abs=1e-13)


@given(st.floats(1e-5, 1 - 1e-5), st.floats(1, 3000))
def test_t_quantile_is_scipys(p: float, df: float) -> None:
    assert t_quantile(p, df) == pytest.approx(stats.t.ppf(p, df), rel=1e-8, abs=1e-9)


@given(st.integers(0, 60), st.integers(0, 60), st.sampled_from([0.5, 0.3, 0.05]))
def test_binomial_test_is_scipys(hits: int, misses: int, p: float) -> None:
    n = hits + misses
    expected = stats.binomtest(hits, n, p).pvalue if n else 1.0
    assert binomial_two_sided(hits, n, p) == pytest.approx(expected, rel=1e-8)


def test_limits_are_answered_without_an_exception() -> None:
    assert normal_quantile(0.0) == -math.inf
    assert normal_quantile(1.0) == math.inf
    assert normal_quantile(0.5) == 0.0
    assert t_quantile(0.975, 0.0) == math.inf
    assert t_quantile(0.5, 3.0) == 0.0
    assert t_quantile(0.975, math.inf) == pytest.approx(1.959964, abs=1e-6)
    assert t_cdf(1.0, 0.0) == 0.5
    assert t_cdf(math.inf, 5.0) == 1.0
    assert t_cdf(1.0, 1e12) == normal_cdf(1.0)
    assert binomial_two_sided(0, 0) == 1.0
