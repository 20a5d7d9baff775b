"""In which order trials run: tasks shuffled, all arms of a task side by side, seeded.

A block is one task in every arm once; the order of arms is drawn for each block, so drift of
an endpoint over the hours falls on all arms alike. Repetitions of a task follow each other, so
that a look at the results finds whole tasks. Places are drawn by hash, not by a generator: the
order does not depend on the version of Python, and adding a task leaves the others in theirs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import NamedTuple


class Slot(NamedTuple):
    """One trial to be run."""

    order: int
    task: str
    arm: str
    number: int
    """0 for the first repetition."""

    @property
    def key(self) -> tuple[str, str, int]:
        """Identity inside its experiment, as in ``Trial.key``."""
        return (self.task, self.arm, self.number)


def build_schedule(
    tasks: Iterable[str], arms: Sequence[str], trials: int, seed: int
) -> tuple[Slot, ...]:
    """Every trial exactly once, in the order they are to run."""
    keys = [
        (task, arm, number)
        for task in sorted(set(tasks), key=lambda task: _draw(seed, "task", task))
        for number in range(trials)
        for arm in sorted(arms, key=lambda arm: _draw(seed, task, number, arm))
    ]
    return tuple(Slot(order, *key) for order, key in enumerate(keys))


def draw_seed(seed: int, task: str, number: int) -> int:
    """The seed an endpoint is sent: the same in every arm of a block."""
    return int.from_bytes(_draw(seed, "sample", task, number)[:4]) & 0x7FFFFFFF


def _draw(*parts: object) -> bytes:
    return sha256(repr(parts).encode("utf-8", "surrogatepass")).digest()
