"""Which sessions may teach."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from support.mining import make_shop, make_worked
from warmstart.facts import derive_facts
from warmstart.mine import MiningRules
from warmstart.mine.candidates import _repair_kinds, plan_mining
from warmstart.mine.rules import find_cap, find_reason, tally
from warmstart.model import Link, Parent, SessionFacts, Status

LOOSE = MiningRules(max_error_rate=0.5)
OK = ("Bash", {"command": "ls"}, "a.py", False)
BAD = ("Bash", {"command": "ls x"}, "no such file", True)


def good() -> SessionFacts:
    return derive_facts(make_shop(1)[0])


def verdict(facts: SessionFacts, rules: MiningRules = LOOSE) -> str:
    return find_reason(tally(facts, rules), 0.5) or "qualified"


def test_a_session_that_passes_every_rule_qualifies() -> None:
    assert find_reason(tally(good(), LOOSE), 0.5) is None


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"calls": ()}, "no calls"),
        ({"messages": 29}, "too few messages"),
        ({"parent": Parent(id="x:1", link=Link.SUBAGENT)}, "fragment of a subagent"),
        ({"end_reason": "max_steps_exceeded"}, "ended in an error"),
        ({"end_reason": "APIError"}, "ended in an error"),
        ({"reward": 0.0}, "task not solved"),
    ],
)
def test_each_rule_names_its_reason(change: dict[str, Any], reason: str) -> None:
    assert verdict(replace(good(), **change)) == reason


def test_a_reward_beats_length_and_errors() -> None:
    session = make_worked("t", [OK, BAD, BAD], reward=1.0)
    assert find_reason(tally(derive_facts(session), MiningRules()), 0.01) is None


def test_a_last_call_without_an_answer_means_cut_off() -> None:
    facts = good()
    last = facts.calls[-1]._replace(status=Status.UNANSWERED)
    assert verdict(replace(facts, calls=(*facts.calls[:-1], last))) == (
        "cut off in the middle of a call"
    )


def test_bookkeeping_alone_teaches_nothing() -> None:
    steps = [("TodoWrite", {"todos": []}, "ok", False)] * 30 + [OK] * 9
    assert verdict(derive_facts(make_worked("b", steps))) == "mostly bookkeeping"


def test_few_judged_calls_are_not_enough() -> None:
    facts = derive_facts(make_worked("f", [OK] * 7))
    assert verdict(replace(facts, messages=40)) == "too few judged calls"


def test_the_cap_is_the_median_of_those_that_pass_the_rest() -> None:
    rates = [0, 0, 1, 2, 2, 3, 4, 9, 9]
    tallies = [
        tally(derive_facts(make_worked(f"s{i}", [OK] * (20 - bad) + [BAD] * bad)), MiningRules())
        for i, bad in enumerate(rates)
    ]
    assert find_cap(tallies, MiningRules()) == pytest.approx(0.1)
    assert find_cap(tallies, MiningRules(max_error_rate=0.3)) == 0.3
    assert find_cap(tallies[:3], MiningRules()) == 0.15


def test_every_session_is_either_chosen_from_or_counted_by_reason() -> None:
    short = make_worked("short", [OK] * 3)
    facts = [derive_facts(session) for session in [*make_shop(3), short]]
    plan = plan_mining(facts, LOOSE, max_sessions=10)
    assert plan.looked_at == len(plan.qualified) + sum(plan.left_out.values()) == 4
    assert plan.left_out == {"too few messages": 1}
    assert any("30 messages" in rule for rule in plan.rules)


def test_sessions_with_too_many_errors_still_teach_repairs() -> None:
    facts = [derive_facts(session) for session in make_shop(4)]
    clean = [derive_facts(make_worked(f"c{n}", [OK] * 20)) for n in range(2)]
    plan = plan_mining([*facts, *clean], MiningRules(max_error_rate=0.0), max_sessions=6)
    assert {one.id for one in plan.exemplary} == {"claude_code:c0", "claude_code:c1"}
    assert {one.id for one in plan.repairs} == {f"claude_code:shop-{n}" for n in range(4)}


def test_no_more_sessions_are_fetched_than_asked_for() -> None:
    facts = [derive_facts(session) for session in make_shop(6)]
    assert len(plan_mining(facts, LOOSE, max_sessions=3).fetched) == 3


def test_a_failure_before_a_success_of_its_tool_counts_as_repaired() -> None:
    assert _repair_kinds(derive_facts(make_worked("v", [OK, BAD, OK]))).total() == 1
    assert _repair_kinds(derive_facts(make_worked("v", [OK, BAD]))).total() == 0
