from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warmstart.stats.noninferiority import hall_bound, p_not_inferior

differences = st.lists(st.floats(-1, 1).map(lambda x: round(x, 3)), min_size=3, max_size=30)


@given(differences, st.floats(0.001, 0.3))
def test_p_agrees_with_the_bound(values: list[float], margin: float) -> None:
    p = p_not_inferior(values, margin)
    assert 0.0 <= p <= 1.0
    if max(values) > min(values) and abs(p - 0.025) > 1e-6:
        assert (p < 0.025) == (hall_bound(values).high < margin)


@given(differences, st.floats(0.001, 0.3), st.floats(0.001, 0.3))
def test_a_wider_margin_is_never_harder(values: list[float], one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert p_not_inferior(values, high) <= p_not_inferior(values, low) + 1e-9


@pytest.mark.parametrize(
    ("values", "margin", "p"),
    [
        ([0.0] * 30, 0.1, 0.9**30),
        ([0.2] * 30, 0.1, 1.0),
        ([0.0, 0.1], 0.5, 1.0),
        ([-1.0] * 5, 0.2, 0.0),
    ],
)
def test_no_spread_is_no_certainty(values: list[float], margin: float, p: float) -> None:
    assert p_not_inferior(values, margin) == pytest.approx(p)


def test_harm_as_large_as_the_margin_is_seldom_passed() -> None:
    rng = random.Random(4)  # noqa: S311 - simulated data
    runs = [[rng.gauss(0.05, 0.1) for _ in range(30)] for _ in range(400)]
    passed = sum(p_not_inferior(run, 0.05) <= 0.025 for run in runs)
    assert passed / len(runs) < 0.06
