from __future__ import annotations

from itertools import groupby

from hypothesis import given
from hypothesis import strategies as st

from warmstart.experiment.schedule import build_schedule, draw_seed

NAMES = st.lists(st.text(min_size=1, max_size=6), min_size=1, max_size=6, unique=True)


@given(NAMES, NAMES, st.integers(1, 4), st.integers())
def test_every_trial_comes_exactly_once(
    tasks: list[str], arms: list[str], trials: int, seed: int
) -> None:
    slots = build_schedule(tasks, arms, trials, seed)
    assert len({slot.key for slot in slots}) == len(slots) == len(tasks) * len(arms) * trials
    assert [slot.order for slot in slots] == list(range(len(slots)))


@given(NAMES, NAMES, st.integers(1, 4), st.integers())
def test_a_block_is_one_task_in_every_arm(
    tasks: list[str], arms: list[str], trials: int, seed: int
) -> None:
    slots = build_schedule(tasks, arms, trials, seed)
    blocks = [
        [slot.arm for slot in block]
        for _, block in groupby(slots, key=lambda slot: (slot.task, slot.number))
    ]
    assert all(sorted(block) == sorted(arms) for block in blocks)
    assert len(blocks) == len(tasks) * trials


def test_the_seed_decides_the_order_and_nothing_else_does() -> None:
    tasks, arms = [f"t{i}" for i in range(20)], ["cold", "warm:x"]
    first = build_schedule(tasks, arms, 2, 1)
    assert build_schedule(tasks[::-1], arms[::-1], 2, 1) == first
    assert [s.key for s in build_schedule(tasks, arms, 2, 2)] != [s.key for s in first]


def test_arms_take_turns_at_being_first() -> None:
    slots = build_schedule([f"t{i}" for i in range(100)], ["a", "b"], 1, 5)
    first = sum(slot.arm == "a" for slot in slots[::2])
    assert 30 < first < 70


def test_the_order_is_the_same_on_every_version() -> None:
    slots = build_schedule(["x", "y"], ["cold", "warm:t"], 1, 1)
    assert [(slot.task, slot.arm) for slot in slots] == [
        ("x", "warm:t"), ("x", "cold"), ("y", "warm:t"), ("y", "cold"),
    ]  # fmt: skip
    assert draw_seed(1, "x", 0) == draw_seed(1, "x", 0) != draw_seed(1, "x", 1)
    assert 0 <= draw_seed(1, "x", 0) < 2**31
