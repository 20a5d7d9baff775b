"""Distribution functions against scipy."""

from __future__ import annotations

import math

import pytest
from hypothesis import assume, given
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


@given(st.floats(-60, 60), st.floats(0.5, 1e9))
def test_t_cdf_is_scipys(t: float, df: float) -> None:
    assert t_cdf(t, df) == pytest.approx(stats.t.cdf(t, df), rel=1e-9, abs=1e-300)


@given(st.floats(0, 690), st.floats(-1, 9))
def test_tails_of_t_keep_their_digits_down_to_nothing(minus_log: float, log_df: float) -> None:
    df = 10.0**log_df
    t = float(stats.t.isf(math.exp(-minus_log) / 2, df))
    assume(t < 1e150)  # beyond, the square that scipy takes is infinite
    assert t_cdf(-t, df) == pytest.approx(stats.t.sf(t, df), rel=1e-9, abs=1e-300)


def test_a_far_tail_is_not_nought() -> None:
    assert t_cdf(-10.9, 3691.0) == pytest.approx(1.492853919888935e-27, rel=1e-9)
    assert t_cdf(-1e200, 1.0) == pytest.approx(1e-200 / math.pi)
    assert t_cdf(-1e200, 1e6) == 0.0
    assert t_cdf(-1e-200, 3.0) == t_cdf(1e-200, 1e6) == 0.5


@pytest.mark.parametrize("df", [2e4, 200.0])
def test_the_ways_to_a_tail_meet_without_a_step(df: float) -> None:
    for t in (0.5, 1.7, 1.8, 4.0, 12.0, 30.0):
        below, above = t_cdf(-t, df * (1 - 1e-12)), t_cdf(-t, df * (1 + 1e-12))
        assert below == pytest.approx(above, rel=1e-10)


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
    assert t_cdf(1.0, 1e12) == pytest.approx(normal_cdf(1.0), rel=1e-11)
    assert t_cdf(1.0, math.inf) == normal_cdf(1.0)
    assert binomial_two_sided(0, 0) == 1.0
