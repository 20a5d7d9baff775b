from __future__ import annotations

import math
import random

import pytest
from msgspec.structs import replace

from support.profiles import make_facts
from warmstart.model.facts import SessionFacts
from warmstart.present import to_json
from warmstart.profile.comparison import Comparison, collect_side, compare
from warmstart.stats.noninferiority import three_way


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


def test_a_side_without_judged_calls_has_no_difference() -> None:
    for one in ([], [make_facts("uu", id="a:1")]):
        found = between(one, sessions(10, 0.2, "b"))
        assert found.verdict == "inconclusive"
        assert found.sentence == "These data cannot tell: no judged calls in A."
        assert to_json(found)["difference"]["p"] is None


def test_a_tool_without_judged_calls_on_a_side_has_no_difference() -> None:
    found = between([make_facts("uu", id="a:1")], sessions(10, 0.2, "b"))
    assert all(math.isnan(tool.difference.p) for tool in found.tools)


def paired(letters: tuple[str, str], tasks: int, own: int = 0) -> Comparison:
    """Every task alike on each side, and as many tasks with errors that only one side did."""
    sides = []
    for name, outcomes in zip("ab", letters, strict=True):
        made = [make_facts(outcomes, id=f"{name}:{n}", task=f"task {n}") for n in range(tasks)]
        extra = [make_facts("x...." * 8, id=f"{name}:+{n}", task=f"{name} {n}") for n in range(own)]
        sides.append([*made, *extra])
    return between(*sides)


def test_errors_in_tasks_of_one_side_do_not_open_the_gates() -> None:
    found = paired(("." * 20, "x" + "." * 19), 6, own=10)
    assert found.verdict == "inconclusive"
    assert (found.first_rate.errors, found.second_rate.errors) == (0, 6)
    assert "0 errors in the paired tasks of A, 10 are needed" in found.reasons


def test_what_was_compared_and_what_was_left_out_is_counted() -> None:
    one = [*sessions(9, 0.2, "a", tasks=True), make_facts("u", id="a:u", task="unanswered")]
    found = between(one, sessions(7, 0.2, "b", 2, tasks=True))
    assert (found.units, found.unpaired) == ((7, 7), (3, 0))
    assert found.first_rate.calls == found.second_rate.calls == 210
    assert to_json(found)["unpaired"] == [3, 0]


def test_equal_differences_leave_three_tasks_of_n_open() -> None:
    found = paired(("xx" + "." * 38, "xxxx" + "." * 36), 10)
    assert found.difference.estimate == pytest.approx(0.05)
    assert (found.difference.low, found.difference.high) == pytest.approx((-0.25, 0.35))
    assert found.difference.mde80 == pytest.approx(0.3)
    assert found.difference.p == found.p_sign_flip == 2 / 2**10
    assert found.verdict == "inconclusive"
    assert any("all 10 differences are equal" in reason for reason in found.reasons)


def test_equal_differences_larger_than_that_are_a_difference() -> None:
    found = paired(("x" * 10 + "." * 30, "x" * 26 + "." * 14), 20)
    assert found.verdict == "A is more reliable"
    assert found.difference.low == pytest.approx(0.25)


def test_the_interval_of_equal_differences_is_that_of_the_three_way_answer() -> None:
    found = paired(("x" * 10 + "." * 30, "x" * 26 + "." * 14), 25)
    bounds = three_way([0.4] * 25, 0.02).interval
    assert (found.difference.low, found.difference.high) == pytest.approx(bounds)


def test_rates_that_are_equal_but_for_rounding_are_equal() -> None:
    letters = ["x" + "." * 9, "xx" + "." * 8, "xxx" + "." * 7]
    one = [make_facts(s, id=f"a:{n}{s}", task=f"t {n}") for n in range(20) for s in letters]
    two = [make_facts(s, id=f"b:{n}{s}", task=f"t {n}") for n in range(20) for s in letters[::-1]]
    found = between(one, two)
    assert (found.difference.estimate, found.p_sign_flip) == (0.0, 1.0)


@pytest.mark.parametrize(("tasks", "label"), [(6, True), (14, True), (15, False)])
def test_fewer_than_fifteen_pairs_are_a_pilot(tasks: int, label: bool) -> None:  # noqa: FBT001 - a parameter of pytest
    found = between(sessions(tasks, 0.2, "a", tasks=True), sessions(tasks, 0.3, "b", 2, tasks=True))
    assert found.pilot is label
    assert ("This is a pilot" in found.sentence) is label
    assert not between(sessions(9, 0.2, "a"), sessions(9, 0.2, "b", 2)).pilot


def test_two_tests_that_disagree_cannot_tell() -> None:
    errors = (40, 40, 40, 40, 40, 15)
    one = [make_facts("x" * 20 + "." * 80, id=f"a:{n}", task=f"t {n}") for n in range(6)]
    two = [
        make_facts("x" * e + "." * (100 - e), id=f"b:{n}", task=f"t {n}")
        for n, e in enumerate(errors)
    ]
    found = between(one, two)
    assert found.difference.decided
    assert "the t interval and the sign-flip test (p = 0.062) disagree" in found.reasons


def test_sessions_of_two_runs_may_have_the_same_ids() -> None:
    one, two = sessions(40, 0.2, "a", tasks=True), sessions(40, 0.05, "a", 2, tasks=True)
    first = [replace(facts, path=f"/first/{facts.id}") for facts in one]
    second = [replace(facts, path=f"/second/{facts.id}") for facts in two]
    found = between(first, second)
    assert (found.overlap, found.verdict) == (0, "B is more reliable")
    assert between(first, first).overlap == 40
