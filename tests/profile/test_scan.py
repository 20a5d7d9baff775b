from __future__ import annotations

from support.profiles import make_calls, make_facts
from warmstart.profile.rules import DEFAULT_RULES
from warmstart.profile.scan import How, RepairedCall, Scan, find_recoveries, scan_calls
from warmstart.profile.tool_types import classify_tool


def scan(tools: list[str], outcomes: str, **fields: object) -> Scan:
    facts = make_facts(calls=make_calls(tools, outcomes, **fields))
    return scan_calls(facts, DEFAULT_RULES, {})


def repairs(seen: Scan) -> list[RepairedCall]:
    return list(find_recoveries(seen, {tool: classify_tool(tool) for tool in seen.tools}))


def test_calls_are_split_into_judged_others_and_trivial() -> None:
    seen = scan(["bash", "todo", "bash", "bash"], "x.r.")
    assert [call.position for call in seen.calls] == [0, 3]
    assert seen.failed == [0]
    assert len(seen.others) == len(seen.trivial) == 1


def test_a_repair_is_the_next_success_of_the_same_tool() -> None:
    found = repairs(scan(["bash", "read_file", "bash"], "x.."))
    assert [(one.repaired, one.by, one.distance) for one in found] == [(2, "bash", 2)]


def test_what_was_changed_is_told_from_the_arguments() -> None:
    def how(sames: list[int], shapes: list[int]) -> How:
        return repairs(scan(["bash", "bash"], "x.", sames=sames, shapes=shapes))[0].how

    assert how([1, 1], [1, 1]) is How.SAME_CALL
    assert how([1, 2], [1, 1]) is How.NEW_VALUES
    assert how([1, 2], [1, 2]) is How.NEW_ARGUMENTS


def test_another_tool_of_the_same_type_repairs_only_right_behind() -> None:
    near = repairs(scan(["read_file", "bash", "search_files"], "x.."))
    assert [(one.by, one.how) for one in near] == [("search_files", How.OTHER_TOOL)]
    far = repairs(scan(["read_file", "bash", "bash", "bash", "search_files"], "x...."))
    assert far == []


def test_tools_of_no_type_do_not_stand_in_for_each_other() -> None:
    assert repairs(scan(["book_flight", "cancel_flight"], "x.")) == []


def test_a_success_far_away_is_no_repair() -> None:
    assert repairs(scan(["bash"] + ["edit"] * 10 + ["bash"], "x" + "x" * 10 + ".")) == []


def test_each_failure_of_a_run_is_repaired_by_the_same_success() -> None:
    found = repairs(scan(["bash"] * 3, "xx."))
    assert [(one.failed, one.repaired) for one in found] == [(0, 2), (1, 2)]
