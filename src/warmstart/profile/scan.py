"""One session's calls as columns, and what can be read off them without their contents.

Only judged calls (ok or error) of tools that count take part in rates, positions and windows; the
others are counted by status. Everything here is per session and cheap when nothing failed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import NamedTuple

from warmstart.model.facts import CallFact, SessionFacts
from warmstart.model.outcome import ErrorClass, Status
from warmstart.profile.rules import Rules
from warmstart.profile.tool_types import ToolType

__all__ = ["How", "Recovery", "Scan", "find_recoveries", "scan_calls"]

OK, ERROR = Status.OK, Status.ERROR
REPAIR_WINDOW = 10
"""A failure counts as repaired when the same tool works again within this many judged calls."""
SWITCH_WINDOW = 3
"""Another tool of the same type counts as the repair only this soon."""


class How(StrEnum):
    """What was different about the call that worked."""

    SAME_CALL = "same call again"
    NEW_VALUES = "other values"
    NEW_ARGUMENTS = "other arguments"
    OTHER_TOOL = "another tool"


class Recovery(NamedTuple):
    """A failed call and the call that put it right."""

    tool: str
    error_class: ErrorClass | None
    failed: int
    """Index among the judged calls."""
    repaired: int
    by: str
    how: How

    @property
    def distance(self) -> int:
        """Calls from the failure to the success."""
        return self.repaired - self.failed


class Scan(NamedTuple):
    """A session's calls, cut to what rates are made of."""

    calls: Sequence[CallFact]
    """Judged calls of tools that count, in order."""
    tools: Sequence[str]
    failed: list[int]
    """Indices of the errors among ``calls``."""
    others: list[CallFact]
    """Calls of tools that count which were neither ok nor error."""
    trivial: list[CallFact]


def scan_calls(facts: SessionFacts, rules: Rules, known: dict[str, bool]) -> Scan:
    """Split a session's calls; ``known`` remembers which tools are trivial."""
    calls: Sequence[CallFact] = tuple(facts.calls)
    tools = [call[3] for call in calls]
    used = set(tools)
    for tool in used.difference(known):
        known[tool] = rules.is_trivial(tool)
    trivial: list[CallFact] = []
    others: list[CallFact] = []
    if any(map(known.__getitem__, used)):
        trivial = [call for call in calls if known[call[3]]]
        calls = [call for call in calls if not known[call[3]]]
    failed = _find_not_ok(calls)
    if any(calls[index][4] != ERROR for index in failed):
        others, calls = _take_out_others(calls)
        failed = _find_not_ok(calls)
    if len(calls) != len(tools):
        tools = [call[3] for call in calls]
    return Scan(calls, tools, failed, others, trivial)


def _find_not_ok(calls: Sequence[CallFact]) -> list[int]:
    return [index for index, call in enumerate(calls) if call[4] != OK]


def _take_out_others(calls: Sequence[CallFact]) -> tuple[list[CallFact], list[CallFact]]:
    judged = (OK, ERROR)
    others = [call for call in calls if call[4] not in judged]
    return others, [call for call in calls if call[4] in judged]


def find_recoveries(scan: Scan, types: dict[str, str]) -> Iterator[Recovery]:
    """For each failure the success that followed, where one did.

    The same tool is looked for first; failing that, a call of another tool of the same type that
    stands right behind the failure.
    """
    for index in scan.failed:
        repaired = _find_repair(scan, index, types)
        if repaired is None:
            continue
        failed, success = scan.calls[index], scan.calls[repaired]
        yield Recovery(failed[3], failed[6], index, repaired, success[3], _compare(failed, success))


def _find_repair(scan: Scan, index: int, types: dict[str, str]) -> int | None:
    tool = scan.tools[index]
    after = scan.calls[index + 1 : index + 1 + REPAIR_WINDOW]
    for distance, call in enumerate(after, 1):
        if call[3] == tool and call[4] == OK:
            return index + distance
    kind = types[tool]
    if kind == ToolType.OTHER:
        return None
    for distance, call in enumerate(after[:SWITCH_WINDOW], 1):
        if call[4] == OK and types[call[3]] == kind:
            return index + distance
    return None


def _compare(failed: CallFact, success: CallFact) -> How:
    if failed[3] != success[3]:
        return How.OTHER_TOOL
    if failed[8] == success[8]:
        return How.SAME_CALL
    return How.NEW_VALUES if failed[9] == success[9] else How.NEW_ARGUMENTS
