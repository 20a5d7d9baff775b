"""One session's calls, split into what rates are made of and the rest.

Only judged calls (ok or error) of tools that count take part in rates, positions and windows; the
others are counted by status. Everything here is per session and cheap when nothing failed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum
from functools import partial
from operator import itemgetter
from typing import NamedTuple

from warmstart.model import CallFact, ErrorClass, SessionFacts, Status
from warmstart.profile.rules import ToolRules
from warmstart.profile.tool_types import ToolType

__all__ = ["How", "RepairedCall", "Scan", "find_recoveries", "scan_calls"]

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


class RepairedCall(NamedTuple):
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
    """The tool of each of them."""
    names: Sequence[str]
    """Every tool of the session, in the order of its first call."""
    failed: list[int]
    """Indices of the errors among the judged calls."""
    others: Sequence[CallFact]
    """Calls of tools that count which were neither ok nor error."""
    trivial: Sequence[CallFact]


_SAME_CALL, _NEW_VALUES, _NEW_ARGUMENTS, _OTHER_TOOL = How
_OTHER = str(ToolType.OTHER)
_OK, _ERROR = Status.OK, Status.ERROR
_make_recovery = partial(tuple.__new__, RepairedCall)
"""A named tuple's own constructor takes three times as long."""
_tool_of = itemgetter(CallFact._fields.index("tool"))
_NOTHING = Scan((), (), (), [], (), ())


def scan_calls(facts: SessionFacts, rules: ToolRules, known: dict[str, bool]) -> Scan:
    """Split a session's calls; ``known`` remembers which tools are trivial."""
    if not facts.calls:
        return _NOTHING
    names = list(dict.fromkeys(map(_tool_of, facts.calls)))
    for tool in names:
        if tool not in known:
            known[tool] = rules.is_trivial(tool)
    judged: list[CallFact] = []
    failed: list[int] = []
    others: list[CallFact] = []
    trivial: list[CallFact] = []
    for call in facts.calls:
        if known[call.tool]:
            trivial.append(call)
        elif call.status is _OK:
            judged.append(call)
        elif call.status is _ERROR:
            failed.append(len(judged))
            judged.append(call)
        else:
            others.append(call)
    return Scan(judged, list(map(_tool_of, judged)), names, failed, others, trivial)


def find_recoveries(scan: Scan, types: dict[str, str]) -> Iterator[RepairedCall]:
    """For each failure the success that followed, where one did.

    The same tool is looked for first; failing that, a call of another tool of the same type that
    follows the failure closely.
    """
    failed = set(scan.failed)
    for index in scan.failed:
        repaired = _find_repair(scan, index, failed, types)
        if repaired is None:
            continue
        one, two = scan.calls[index], scan.calls[repaired]
        how = _OTHER_TOOL
        if one.tool == two.tool:
            is_alike = one.signature_hash == two.signature_hash
            how = _NEW_VALUES if is_alike else _NEW_ARGUMENTS
            how = _SAME_CALL if one.arguments_hash == two.arguments_hash else how
        yield _make_recovery((one.tool, one.error_class, index, repaired, two.tool, how))


def _find_repair(scan: Scan, index: int, failed: set[int], types: dict[str, str]) -> int | None:
    tool = scan.tools[index]
    after = scan.tools[index + 1 : index + 1 + REPAIR_WINDOW]
    for place, other in enumerate(after, index + 1):
        if other == tool and place not in failed:
            return place
    kind = types[tool]
    if kind == _OTHER:
        return None
    for place, other in enumerate(after[:SWITCH_WINDOW], index + 1):
        if place not in failed and types[other] == kind:
            return place
    return None
