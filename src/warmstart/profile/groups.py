"""Error rates by group, from how many sessions had how many calls and where the errors were.

Most sessions of a group differ in nothing but their number of calls, so sessions are counted by it
and only those with errors are looked at one by one. The sums are those of ``add_cluster`` for each
session in turn.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from functools import lru_cache, partial
from typing import Any, NamedTuple

from warmstart.profile.sums import Sums, add_clusters, add_errors, zero

__all__ = ["LANDMARKS", "POSITION_EDGES", "Keys", "SessionGroups", "make_keys"]

Clusters = dict[str, dict[Any, Sums]]
LANDMARKS = (5, 10, 20, 50)
"""The first so many calls of longer sessions, by how long those became."""
POSITION_EDGES = (0, 10, 20, 30, 40, 50, 75, 100, 150, 200, 300, 500, 1000)
"""Where the bins of error rate by position begin."""


class Keys(NamedTuple):
    """The groups a session is in: its value in every dimension."""

    all: str
    agent: str
    model: str
    project: str
    messages: int
    week: int
    task_type: str | None
    """None where no call was judged."""


make_keys = partial(tuple.__new__, Keys)
"""From a tuple of all values; the class's own constructor takes three times as long."""


class SessionGroups:
    """Sessions with calls, collected until they are added up."""

    __slots__ = ("_failures", "_keys", "_sizes")

    def __init__(self) -> None:
        self._keys: list[Keys] = []
        self._sizes: list[int] = []
        self._failures: list[tuple[int, list[int]]] = []

    def add(self, keys: Keys, calls: int, failed: list[int]) -> None:
        """One more session: its number of judged calls, and the indices of the errors."""
        if failed:
            self._failures.append((len(self._keys), failed))
        self._keys.append(keys)
        self._sizes.append(calls)

    def add_up(self, clusters: Clusters, gain: list[float]) -> None:
        """Everything collected, into the sums of a summary."""
        sizes = Counter(filter(None, self._sizes))
        failures = [(self._sizes[place], failed) for place, failed in self._failures]
        found = {
            **self._count_groups(),
            "position": _count_positions(sizes, failures),
            **{f"first{mark}": _count_first(mark, sizes, failures) for mark in LANDMARKS},
        }
        clusters.update((dimension, groups) for dimension, groups in found.items() if groups)
        _add_gain(gain, sizes, failures)

    def _count_groups(self) -> Clusters:
        sizes = self._sizes
        found: Clusters = {}
        for dimension, keys in zip(Keys._fields, zip(*self._keys, strict=True), strict=False):
            groups = found[dimension] = defaultdict(zero)
            for (key, calls), times in Counter(zip(keys, sizes, strict=True)).items():
                if key is not None:
                    add_clusters(groups[key], calls, times)
            for place, failed in self._failures:
                add_errors(groups[keys[place]], len(failed), sizes[place])
        return found


Sizes = Counter[int]
Failures = Sequence[tuple[int, list[int]]]
"""Of each session with errors, its judged calls and the indices of the errors."""


def _count_positions(sizes: Sizes, failures: Failures) -> dict[int, Sums]:
    """Errors by how far into its session a call stands."""
    groups: dict[int, Sums] = defaultdict(zero)
    for calls, times in sizes.items():
        for start, stop in _bins(calls):
            add_clusters(groups[start], stop - start, times)
    for calls, failed in failures:
        before = 0
        for start, stop in _bins(calls):
            until = bisect_left(failed, stop)
            if until > before:
                add_errors(groups[start], until - before, stop - start)
                before = until
    return groups


@lru_cache(maxsize=4096)
def _bins(calls: int) -> tuple[tuple[int, int], ...]:
    """Begin and end of the bins that a session of so many calls reaches into."""
    ends = (*POSITION_EDGES[1:], calls)
    pairs = zip(POSITION_EDGES, ends, strict=True)
    return tuple((start, min(end, calls)) for start, end in pairs if start < calls)


def _count_first(landmark: int, sizes: Sizes, failures: Failures) -> dict[int, Sums]:
    """Errors among the first calls, by how many calls there were in the end."""
    groups: dict[int, Sums] = defaultdict(zero)
    for calls, times in sizes.items():
        if calls > landmark:
            add_clusters(groups[calls], landmark, times)
    for calls, failed in failures:
        if calls > landmark and failed[0] < landmark:
            add_errors(groups[calls], bisect_left(failed, landmark), landmark)
    return groups


def _add_gain(gain: list[float], sizes: Sizes, failures: Failures) -> None:
    """Late minus early: the first fifth against the last fifth before the final call."""
    for calls, times in sizes.items():
        if calls >= 5:
            _add(gain, (times, 0, 0, 0, times * (calls // 5), 0, times * (calls // 5)))
    for calls, failed in failures:
        window = calls // 5
        if window:
            early = bisect_left(failed, window)
            late = bisect_left(failed, calls - 1) - bisect_left(failed, calls - 1 - window)
            change = (late - early) / window
            _add(gain, (0, change, change * change, early, 0, late, 0))


def _add(sums: list[float], values: Iterable[float]) -> None:
    for place, value in enumerate(values):
        sums[place] += value
