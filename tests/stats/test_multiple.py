"""Several arms: against statsmodels, and the permutation test against its own promise."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from warmstart.stats.multiple import benjamini_hochberg, holm, max_t_permutation

P_VALUES = st.lists(st.floats(0, 1), min_size=1, max_size=12)


@given(P_VALUES)
@settings(max_examples=8)  # statsmodels collects garbage in every call
def test_holm_is_statsmodels(p_values: list[float]) -> None:
    assert holm(p_values) == pytest.approx(list(multipletests(p_values, method="holm")[1]))


@given(P_VALUES)
def test_benjamini_hochberg_is_statsmodels(p_values: list[float]) -> None:
    theirs = list(multipletests(p_values, method="fdr_bh")[1])
    assert benjamini_hochberg(p_values) == pytest.approx(theirs)


def test_nothing_adjusted_is_nothing() -> None:
    assert holm([]) == benjamini_hochberg([]) == max_t_permutation([]) == []
    assert max_t_permutation([[1.0, 2.0, 3.0]]) == [1.0, 1.0]


def test_max_t_finds_the_arm_that_differs_and_only_that() -> None:
    rng = random.Random(4)  # noqa: S311 - simulated data
    table = [[rng.gauss(0, 1), rng.gauss(0, 1), rng.gauss(1.5, 1)] for _ in range(40)]
    idle, active = max_t_permutation(table, seed=1, resamples=400)
    assert active < 0.02
    assert idle > 0.1


def test_max_t_is_one_where_nothing_ever_differs() -> None:
    assert max_t_permutation([[1.0, 1.0]] * 5, resamples=50) == [1.0]


def test_max_t_can_reject_differences_without_any_spread() -> None:
    assert max_t_permutation([[0.0, 1.0]] * 12, resamples=400)[0] < 0.02
