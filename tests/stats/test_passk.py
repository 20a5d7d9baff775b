"""pass@1 and pass^k."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warmstart.stats.passk import compare_pass, pass_hat_k

TASKS = st.lists(
    st.integers(1, 7).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), min_size=1,
    max_size=8,
)  # fmt: skip


@given(TASKS, st.integers(1, 4))
def test_pass_hat_k_is_the_share_of_k_subsets_that_are_all_solved(
    tasks: list[tuple[int, int]], k: int
) -> None:
    shares = []
    for solved, trials in tasks:
        subsets = list(itertools.combinations([1] * solved + [0] * (trials - solved), k))
        if subsets:
            shares.append(sum(all(s) for s in subsets) / len(subsets))
    expected = sum(shares) / len(shares) if shares else 0.0
    assert pass_hat_k(tasks, k) == pytest.approx(expected)


def test_one_trial_weighs_every_task_the_same() -> None:
    assert pass_hat_k([(1, 1), (0, 9)], 1) == 0.5
    assert pass_hat_k([], 1) == 0.0


def test_pass_hat_k_needs_twice_k_trials_and_twenty_tasks_to_be_called_reliable() -> None:
    control, treatment = [(1, 4)] * 20, [(3, 4)] * 20
    assert compare_pass(control, treatment, 2).reliable
    assert not compare_pass(control, treatment, 3).reliable
    assert not compare_pass(control[:19], treatment[:19], 1).reliable
    assert compare_pass(control, treatment, 1).difference.estimate == pytest.approx(0.5)


def test_tasks_with_too_few_trials_are_left_out_of_both_arms() -> None:
    compared = compare_pass([(1, 1), (2, 2)], [(2, 2), (0, 2)], 2)
    assert compared.difference.n == 1
    assert (compared.control, compared.treatment) == (1.0, 0.0)
