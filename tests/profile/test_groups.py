"""Sums over counted sessions are the sums over sessions one by one."""

from __future__ import annotations

from bisect import bisect_left
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warmstart.profile.groups import LANDMARKS, POSITION_EDGES, Keys, SessionGroups
from warmstart.profile.sums import Sums, add_cluster, zero


@st.composite
def any_session(draw: st.DrawFn) -> tuple[Keys, int, list[int]]:
    calls = draw(st.integers(0, 120))
    failed = sorted(place for place in draw(st.sets(st.integers(0, 120))) if place < calls)
    keys = Keys("", draw(st.sampled_from("ab")), draw(st.sampled_from(["", "m"])), "p",
                draw(st.integers(0, 3)), draw(st.integers(-1, 2)), "code" if calls else None)  # fmt: skip
    return keys, calls, failed


def add_one_by_one(sessions: list[tuple[Keys, int, list[int]]]) -> dict[str, dict[Any, Sums]]:
    clusters: dict[str, dict[Any, Sums]] = {}

    def add(dimension: str, key: object, errors: int, calls: int) -> None:
        sums = clusters.setdefault(dimension, {}).setdefault(key, zero())
        add_cluster(sums, errors, calls)

    for keys, calls, failed in sessions:
        for dimension, key in keys._asdict().items():
            if key is not None:
                add(dimension, key, len(failed), calls)
        for start, end in zip(POSITION_EDGES, (*POSITION_EDGES[1:], 10**9), strict=True):
            stop = min(end, calls)
            if start < calls:
                inside = bisect_left(failed, stop) - bisect_left(failed, start)
                add("position", start, inside, stop - start)
        for landmark in LANDMARKS:
            if calls > landmark:
                add(f"first{landmark}", calls, bisect_left(failed, landmark), landmark)
    return clusters


@given(st.lists(any_session(), max_size=12))
def test_counting_sessions_gives_the_sums_of_adding_each(
    sessions: list[tuple[Keys, int, list[int]]],
) -> None:
    groups = SessionGroups()
    for session in sessions:
        groups.add(*session)
    clusters: dict[str, dict[Any, Sums]] = {}
    groups.add_up(clusters, [0.0] * 7)
    assert clusters == add_one_by_one(sessions)


def test_the_gain_leaves_the_final_call_out() -> None:
    groups, gain = SessionGroups(), [0.0] * 7
    keys = Keys("", "a", "", "", 1, 0, "code")
    groups.add(keys, 10, [0, 7, 9])  # early one, late one, and the last call
    groups.add(keys, 4, [0])  # no fifth of four calls
    groups.add(keys, 5, [])
    groups.add_up({}, gain)
    assert gain == pytest.approx([2, 0.0, 0.0, 1, 3, 1, 3])
