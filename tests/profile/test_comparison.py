from __future__ import annotations

import random
from dataclasses import replace

from support.profiles import make_facts
from warmstart.model.facts import SessionFacts
from warmstart.profile.comparison import Comparison, collect_side, compare


def sessions(
    count: int, rate: float, name: str, seed: int = 1, *, tasks: bool = False
) -> list[SessionFacts]:
    draw = random.Random(seed)  # noqa: S311 - a simulation, no secret
    made = []
    for number in range(count):
        outcomes = "".join("x" if draw.random() < rate else "." for _ in range(30))
        task = f"task {number}" if tasks else None
        made.append(make_facts(outcomes, id=f"{name}:{number}", task=task))
    return made


def between(one: list[SessionFacts], two: list[SessionFacts]) -> Comparison:
    return compare(collect_side("A", one), collect_side("B", two))


def test_a_clear_difference_is_said_with_its_interval() -> None:
    found = between(sessions(40, 0.2, "a"), sessions(40, 0.05, "b", 2))
    assert found.verdict == "B is more reliable"
    assert found.difference.high < 0
    assert found.unit == "session"
    assert "points [" in found.sentence
    back = between(sessions(40, 0.05, "a"), sessions(40, 0.2, "b", 2))
    assert back.verdict == "A is more reliable"


def test_the_same_rate_is_inconclusive_and_says_what_could_be_seen() -> None:
    found = between(sessions(30, 0.1, "a"), sessions(30, 0.1, "b", 2))
    assert found.verdict == "inconclusive"
    assert "cannot tell" in found.sentence
    assert found.difference.mde80 > 0


def test_two_sessions_can_never_tell() -> None:
    found = between([make_facts("x" * 100, id="a:1")], [make_facts("." * 100, id="b:1")])
    assert found.verdict == "inconclusive"
    assert any("6 are needed" in reason for reason in found.reasons)


def test_few_errors_can_never_tell() -> None:
    found = between(sessions(40, 0.0, "a"), sessions(40, 0.3, "b"))
    assert found.verdict == "inconclusive"
    assert any("0 errors in A" in reason for reason in found.reasons)


def test_few_effective_calls_can_never_tell() -> None:
    good = [make_facts("." * 30, id=f"a:{n}") for n in range(8)]
    wild = [make_facts("x" * 30, id=f"b:{n}") for n in range(8)]
    found = between([*good, *wild[:1]], wild)
    assert found.verdict == "inconclusive"
    assert any("independent calls" in reason for reason in found.reasons)


def test_sessions_on_both_sides_are_a_reason_for_doubt() -> None:
    one = sessions(40, 0.2, "a")
    found = between(one, [*sessions(40, 0.05, "b"), one[0]])
    assert found.overlap == 1
    assert found.verdict == "inconclusive"


def test_shared_tasks_are_compared_within_each_task() -> None:
    one = sessions(30, 0.25, "a", tasks=True)
    two = sessions(30, 0.05, "b", 2, tasks=True)
    found = between(one, two)
    assert (found.unit, found.units) == ("task (paired)", (30, 30))
    assert found.p_sign_flip is not None
    assert found.verdict == "B is more reliable"


def test_numbers_of_different_suites_are_different_tasks() -> None:
    one = [make_facts("x...." * 6, id=f"a:{n}", task=str(n), project="air") for n in range(9)]
    two = [make_facts("x...." * 6, id=f"b:{n}", task=str(n), project="shop") for n in range(9)]
    assert between(one, two).unit == "task"
    assert between(one, [replace(facts, project="air") for facts in two]).unit == "task (paired)"


def test_different_tasks_are_clustered_by_task() -> None:
    one = sessions(20, 0.25, "a", tasks=True)
    two = [make_facts("x...." * 6, id=f"b:{n}", task=f"other {n % 10}") for n in range(20)]
    found = between(one, two)
    assert (found.unit, found.units) == ("task", (20, 10))


def test_tools_of_both_sides_are_set_side_by_side() -> None:
    found = between(sessions(10, 0.2, "a"), sessions(10, 0.1, "b", 2))
    assert [tool.tool for tool in found.tools] == ["bash"]
    assert found.tools[0].first.calls == 300


def test_an_empty_side_is_inconclusive() -> None:
    assert between([], sessions(10, 0.2, "b")).verdict == "inconclusive"
