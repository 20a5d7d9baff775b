"""A few tasks that differ as much as possible, to learn from before anything is tested.

Each further task is the one least like those already taken, by the words of its prompt, its tags
and its tools. The first is drawn by the seed; the same tasks and seed give the same choice.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

from warmstart.experiment.tasks import Task
from warmstart.warm import list_terms

__all__ = ["choose_diverse"]


def choose_diverse(tasks: Sequence[Task], count: int, seed: int = 1) -> list[Task]:
    """At most ``count`` of the tasks, in the order of the file."""
    if len(tasks) <= count:
        return list(tasks)
    drawn = sorted(tasks, key=lambda task: _draw(seed, task.id))
    features = {task.id: _describe(task) for task in drawn}
    chosen = [drawn[0]]
    nearest = {task.id: _likeness(features, task, chosen[0]) for task in drawn[1:]}
    while len(chosen) < count:
        # min keeps the first of equals, and the order is the seed's.
        best = min((task for task in drawn if task.id in nearest), key=lambda t: nearest[t.id])
        chosen.append(best)
        del nearest[best.id]
        for task in drawn:
            if task.id in nearest:
                nearest[task.id] = max(nearest[task.id], _likeness(features, task, best))
    taken = {task.id for task in chosen}
    return [task for task in tasks if task.id in taken]


def _describe(task: Task) -> frozenset[str]:
    tools = [*(task.tools or ()), *(tool.name for tool in task.tool_definitions)]
    labels = [f"tag:{tag}" for tag in task.tags] + [f"tool:{tool}" for tool in tools]
    return frozenset([*list_terms(task.prompt), *labels, f"difficulty:{task.difficulty}"])


def _likeness(features: dict[str, frozenset[str]], one: Task, other: Task) -> float:
    a, b = features[one.id], features[other.id]
    return len(a & b) / (len(a | b) or 1)


def _draw(seed: int, name: str) -> bytes:
    return sha256(repr((seed, name)).encode("utf-8", "surrogatepass")).digest()
