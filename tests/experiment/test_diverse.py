from __future__ import annotations

from warmstart.experiment.diverse import choose_diverse
from warmstart.experiment.tasks import Task

KINDS = {
    "read": "Read the report in folder number {n} and sum it up",
    "mail": "Send an invitation by mail to customer {n}",
    "plot": "Draw a chart of temperatures for week {n}",
}
TASKS = [
    Task(id=f"{kind}{n}", prompt=text.format(n=n), tags=(kind,))
    for kind, text in KINDS.items()
    for n in range(20)
]


def test_few_tasks_cover_every_kind() -> None:
    for seed in range(5):
        chosen = choose_diverse(TASKS, 3, seed)
        assert {task.tags[0] for task in chosen} == set(KINDS)


def test_the_choice_follows_from_the_seed_and_not_from_the_order() -> None:
    one, other = choose_diverse(TASKS, 7, 2), choose_diverse(TASKS[::-1], 7, 2)
    assert {task.id for task in one} == {task.id for task in other}
    assert [task.id for task in one] == [t.id for t in TASKS if t in one]
    assert {task.id for task in choose_diverse(TASKS, 7, 3)} != {task.id for task in one}


def test_all_are_taken_where_there_are_no_more() -> None:
    assert choose_diverse(TASKS[:4], 9) == TASKS[:4]
    assert choose_diverse([], 9) == []
