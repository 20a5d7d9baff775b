"""Repeated trials of one task: how often it is solved, and how often k times in a row.

A task is ``(solved, trials)``. pass@1 is the primary figure; pass^k (all of k trials solved) shows
reliability and needs far more data.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from warmstart.stats.paired import PairedT, paired_t

__all__ = ["MIN_TASKS", "PassComparison", "Solved", "compare_pass", "pass_hat_k"]

Solved = tuple[int, int]
"""Trials solved and trials run of one task."""

MIN_TASKS = 20
"""Below this the interval of pass^k covers too little (83 % with 10 tasks, k = n = 4)."""


class PassComparison(NamedTuple):
    """pass^k of two arms over the same tasks; k = 1 is pass@1."""

    k: int
    control: float
    treatment: float
    difference: PairedT
    reliable: bool
    """At least 20 tasks, each with at least 2k trials in both arms (any number for k = 1)."""


def pass_hat_k(tasks: Sequence[Solved], k: int) -> float:
    """Mean probability that k trials of a task are all solved, C(c,k)/C(n,k) (Yao et al. 2024).

    Tasks with fewer than k trials are left out; 0 if none is left.
    """
    values = [_hat(task, k) for task in tasks if task[1] >= k]
    return math.fsum(values) / len(values) if values else 0.0


def _hat(task: Solved, k: int) -> float:
    solved, trials = task
    return math.comb(solved, k) / math.comb(trials, k)


def compare_pass(
    control: Sequence[Solved], treatment: Sequence[Solved], k: int = 1
) -> PassComparison:
    """pass^k of the treatment minus the control, paired by task (same order in both)."""
    pairs = [(a, b) for a, b in zip(control, treatment, strict=True) if min(a[1], b[1]) >= k]
    difference = paired_t([_hat(b, k) - _hat(a, k) for a, b in pairs])
    enough = k == 1 or all(min(a[1], b[1]) >= 2 * k for a, b in pairs)
    return PassComparison(
        k=k,
        control=pass_hat_k([a for a, _ in pairs], k),
        treatment=pass_hat_k([b for _, b in pairs], k),
        difference=difference,
        reliable=enough and len(pairs) >= MIN_TASKS,
    )
