"""When a template is harmful: the posterior, exact, against what it is compared with."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats

from warmstart.library.harm import (
    ModelComparison,
    SuccessCounts,
    chance_below,
    chance_of_less,
    find_harm,
)

GOOD, BAD, NONE = SuccessCounts(18, 2), SuccessCounts(3, 17), SuccessCounts()


def compare(
    warm: SuccessCounts,
    held_out: SuccessCounts = NONE,
    cold: SuccessCounts = NONE,
    model: str = "m",
) -> ModelComparison:
    return ModelComparison(model=model, warm=warm, held_out=held_out, cold=cold)


@pytest.mark.parametrize(
    ("one", "other"),
    [(GOOD, BAD), (BAD, GOOD), (NONE, NONE), (SuccessCounts(9, 0), SuccessCounts(200, 31))],
)
def test_the_chance_of_less_is_the_integral(one: SuccessCounts, other: SuccessCounts) -> None:
    x = stats.beta(one.successes + 1, one.failures + 1)
    y = stats.beta(other.successes + 1, other.failures + 1)
    expected = integrate.quad(lambda p: x.pdf(p) * y.sf(p), 0, 1, points=[x.mean(), y.mean()])[0]
    assert chance_of_less(one, other) == pytest.approx(expected, abs=1e-6)


@given(st.integers(0, 60), st.integers(0, 60), st.integers(0, 60), st.integers(0, 60))
def test_less_and_more_add_up(a: int, b: int, c: int, d: int) -> None:
    one, other = SuccessCounts(a, b), SuccessCounts(c, d)
    both = chance_of_less(one, other) + chance_of_less(other, one)
    assert both == pytest.approx(1, abs=1e-9)


@given(st.integers(0, 80), st.integers(0, 80), st.floats(0.01, 0.99))
def test_the_chance_below_is_the_beta_distribution(a: int, b: int, rate: float) -> None:
    expected = stats.beta.cdf(rate, a + 1, b + 1)
    assert chance_below(SuccessCounts(a, b), rate) == pytest.approx(expected, abs=1e-9)


def test_the_mean_begins_in_the_middle() -> None:
    assert SuccessCounts().mean == 0.5
    assert SuccessCounts(8, 0).mean == pytest.approx(0.9)


def test_worse_than_held_out_sessions_is_harmful_and_says_so() -> None:
    harm = find_harm([compare(BAD, held_out=GOOD)])
    assert harm is not None
    assert "3 of 20 sessions with it succeeded on m, 18 of 20 held out from it" in harm.reason


def test_cold_sessions_are_compared_where_nothing_was_held_out() -> None:
    harm = find_harm([compare(BAD, held_out=SuccessCounts(2, 1), cold=GOOD)])
    assert harm is not None
    assert "started cold" in harm.reason


def test_held_out_sessions_come_before_cold_ones() -> None:
    assert find_harm([compare(BAD, held_out=BAD, cold=GOOD)]) is None


@pytest.mark.parametrize(
    ("warm", "control"),
    [
        (SuccessCounts(0, 9), GOOD),
        (BAD, SuccessCounts(9, 0)),
        (SuccessCounts(15, 5), GOOD),
        (GOOD, BAD),
        (GOOD, GOOD),
    ],
)
def test_too_few_sessions_or_too_little_difference_is_no_harm(
    warm: SuccessCounts, control: SuccessCounts
) -> None:
    assert find_harm([compare(warm, held_out=control)]) is None


def test_without_comparison_only_what_nearly_always_fails_is_harmful() -> None:
    assert find_harm([compare(SuccessCounts(4, 16))]) is None
    assert find_harm([compare(SuccessCounts(0, 19))]) is None
    harm = find_harm([compare(SuccessCounts(0, 20), model="")])
    assert harm is not None
    assert "no sessions to compare with" in harm.reason


def test_a_template_that_does_well_on_another_model_stays() -> None:
    bad, good = compare(BAD, held_out=GOOD), compare(GOOD, held_out=BAD, model="n")
    assert find_harm([bad, good]) is None
    assert find_harm([good, bad]) is None
    assert find_harm([bad, compare(SuccessCounts(1, 1), model="n")]) is not None
