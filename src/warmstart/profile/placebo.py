"""What happens at the same places of sessions that were left alone.

Compaction comes late and after long work, so some change would be seen there anyway. The same
windows at the same positions of uncompacted sessions show how much; the difference of differences
is what is left for compaction itself.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from warmstart.profile.windows import Calls, compare_windows
from warmstart.stats import PairedT, paired_t, t_quantile

__all__ = ["Placebo", "measure_placebo"]

MAX_PLACES = 40
"""Beyond this many positions an even selection of them is used."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Placebo:
    """The change without compaction, and what compaction adds to it."""

    sessions: int
    change: float
    low: float
    high: float
    net: float
    """Change at compactions minus change without."""
    net_low: float
    net_high: float


def measure_placebo(
    untouched: Sequence[Calls], places: Sequence[int], differences: Sequence[float], window: int
) -> Placebo | None:
    """One mean change per uncompacted session; None where fewer than two reach such a place."""
    chosen = _spread(sorted(set(places)))
    changes = [
        change for calls in untouched if (change := _mean_change(calls, chosen, window)) is not None
    ]
    if len(changes) < 2:
        return None
    alone, with_it = paired_t(changes), paired_t(differences)
    net = with_it.estimate - alone.estimate
    half = _welch_half(alone, with_it)
    return Placebo(
        sessions=alone.n,
        change=alone.estimate,
        low=alone.interval.low,
        high=alone.interval.high,
        net=net,
        net_low=net - half,
        net_high=net + half,
    )


def _spread(places: Sequence[int]) -> Sequence[int]:
    if len(places) <= MAX_PLACES:
        return places
    return [places[index * len(places) // MAX_PLACES] for index in range(MAX_PLACES)]


def _mean_change(calls: Calls, places: Sequence[int], window: int) -> float | None:
    changes = []
    for place in places:
        if place >= len(calls):
            break
        seen = compare_windows(calls[max(0, place - window) : place], calls[place : place + window])
        if seen.change is not None:
            changes.append(seen.change)
    return sum(changes) / len(changes) if changes else None


def _welch_half(one: PairedT, two: PairedT) -> float:
    """Half the 95 % interval of a difference of two means (Welch 1947)."""
    if two.n < 2:
        return math.inf
    a, b = one.se * one.se, two.se * two.se
    if a + b <= 0.0:
        return 0.0
    df = (a + b) ** 2 / (a * a / (one.n - 1) + b * b / (two.n - 1))
    return t_quantile(0.975, df) * math.sqrt(a + b)
