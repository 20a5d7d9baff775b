"""Several templates against one control: what is left of a p-value after more than one try."""

from __future__ import annotations

import math
from collections.abc import Sequence
from random import Random

__all__ = ["benjamini_hochberg", "holm", "max_t_permutation"]


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjusted p-values that keep the family-wise error rate (Holm 1979), in the order given."""
    adjusted = [1.0] * len(p_values)
    running = 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        running = max(running, (len(p_values) - rank) * p_values[index])
        adjusted[index] = min(1.0, running)
    return adjusted


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """Adjusted p-values that keep the false discovery rate (Benjamini and Hochberg 1995).

    For screening lists only; claims use ``holm``.
    """
    count = len(p_values)
    adjusted = [1.0] * count
    running = 1.0
    order = sorted(range(count), key=p_values.__getitem__, reverse=True)
    for place, index in enumerate(order):
        running = min(running, p_values[index] * count / (count - place))
        adjusted[index] = running
    return adjusted


def max_t_permutation(
    table: Sequence[Sequence[float]], seed: int = 0, resamples: int = 2_000
) -> list[float]:
    """Adjusted p per treatment; each row is one task: control first, then the treatments.

    Permutes all arm labels inside each task and keeps the largest |t| (Westfall and Young 1993).
    Sharper than Holm because the arms share their control. All 1.0 with fewer than two tasks.
    """
    arms = len(table[0]) - 1 if table else 0
    if len(table) < 2:
        return [1.0] * arms
    observed = _abs_t(table, arms)
    rng = Random(seed)  # noqa: S311 - resampling, not secrets
    hits = [1] * arms
    for _ in range(resamples):
        largest = max(_abs_t([rng.sample(row, arms + 1) for row in table], arms)) + 1e-12
        for arm, value in enumerate(observed):
            hits[arm] += largest >= value
    return [hit / (1 + resamples) for hit in hits]


def _abs_t(table: Sequence[Sequence[float]], arms: int) -> list[float]:
    n = len(table)
    result = []
    for arm in range(1, arms + 1):
        differences = [row[arm] - row[0] for row in table]
        total = math.fsum(differences)
        square = math.fsum(d * d for d in differences)
        spread = (square - total * total / n) / (n - 1)
        result.append(_ratio(abs(total) / n, math.sqrt(max(0.0, spread) / n)))
    return result


def _ratio(top: float, bottom: float) -> float:
    if bottom > 1e-12 * top:
        return top / bottom
    return math.inf if top > 0.0 else 0.0
