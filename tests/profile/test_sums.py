from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warmstart.profile.sums import Sums, add_cluster, add_sums, contrast, rate_of, zero
from warmstart.stats.proportion import clustered_difference, clustered_rate, upper_bound_when_zero

CLUSTERS = st.lists(
    st.integers(0, 60).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), max_size=25
)


def gather(clusters: list[tuple[int, int]]) -> Sums:
    sums = zero()
    for errors, calls in clusters:
        add_cluster(sums, errors, calls)
    return sums


@given(CLUSTERS)
def test_sums_give_the_interval_that_the_sessions_give(clusters: list[tuple[int, int]]) -> None:
    ours, theirs = rate_of(gather(clusters)), clustered_rate(clusters)
    assert ours.sessions == theirs.clusters
    assert (ours.rate or 0.0) == pytest.approx(theirs.rate)
    assert ours.deff == pytest.approx(theirs.deff)
    if ours.errors:
        assert (ours.low, ours.high) == pytest.approx(theirs.interval, abs=1e-7)
    if 0 < ours.errors < ours.calls and theirs.icc is not None:
        assert ours.icc == pytest.approx(theirs.icc, abs=1e-7)


@given(CLUSTERS, CLUSTERS)
def test_differences_are_those_of_the_sessions(
    one: list[tuple[int, int]], two: list[tuple[int, int]]
) -> None:
    ours, theirs = contrast(gather(one), gather(two)), clustered_difference(one, two)
    assert ours.estimate == pytest.approx(theirs.estimate)
    assert (ours.low, ours.high) == pytest.approx(theirs.interval, abs=1e-6)
    assert ours.p == pytest.approx(theirs.p, abs=1e-6)


def test_no_error_gives_an_upper_bound_and_not_zero() -> None:
    rate = rate_of(gather([(0, 20)] * 10))
    assert (rate.rate, rate.low) == (0.0, 0.0)
    assert rate.high == upper_bound_when_zero(rate.n_eff) > 0.01


def test_calls_that_go_together_widen_the_interval() -> None:
    alike = rate_of(gather([(2, 20)] * 5 + [(1, 20)] * 5))
    apart = rate_of(gather([(15, 20), *[(0, 20)] * 9]))
    assert apart.rate == alike.rate
    assert apart.high - apart.low > 2 * (alike.high - alike.low)


@given(CLUSTERS, CLUSTERS)
def test_sums_add_up(one: list[tuple[int, int]], two: list[tuple[int, int]]) -> None:
    assert add_sums([gather(one), gather(two)]) == pytest.approx(gather(one + two))
