"""One session's calls as columns, and what can be read off them without their contents.

Only judged calls (ok or error) of tools that count take part in rates, positions and windows; the
others are counted by status. Everything here is per session and cheap when nothing failed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum
from functools import partial
from itertools import compress
from operator import not_
from typing import NamedTuple

from warmstart.facts.columns import ERROR_CLASS, SAME, SHAPE, CallColumns, columns_of
from warmstart.facts.verdicts import CLASSES, ERROR, IS_ERROR, MASKED_TABLE, OK, STATUS_TABLE
from warmstart.model import ErrorClass
from warmstart.model.facts import CallFact, SessionFacts
from warmstart.profile.rules import Rules
from warmstart.profile.tool_types import ToolType

__all__ = ["How", "Recovery", "Scan", "find_recoveries", "scan_calls"]

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

    whole: CallColumns
    """All of them."""
    mask: bytes
    """1 for each of them that is judged and of a tool that counts."""
    places: Sequence[int]
    """Where in ``whole`` those stand."""
    names: Sequence[str]
    """Every tool of the session, by its number."""
    numbers: Sequence[int]
    """The tool of each judged call, by its number."""
    masked: bytes
    """1 for each judged call that hides its own exit code."""
    failed: list[int]
    """Indices of the errors among the judged calls."""
    others: CallColumns
    """Calls of tools that count which were neither ok nor error."""
    trivial: CallColumns

    def column(self, which: int) -> Iterator[int]:
        """One column of the judged calls."""
        return compress(self.whole.column(which), self.mask)

    @property
    def calls(self) -> tuple[CallFact, ...]:
        """Judged calls of tools that count, in order."""
        calls = tuple(self.whole)
        return tuple(map(calls.__getitem__, self.places))

    @property
    def tools(self) -> list[str]:
        """The tool of each judged call."""
        return list(map(self.names.__getitem__, self.numbers))


_SAME_CALL, _NEW_VALUES, _NEW_ARGUMENTS, _OTHER_TOOL = How
_OTHER = str(ToolType.OTHER)
_make_scan = partial(tuple.__new__, Scan)
_make_recovery = partial(tuple.__new__, Recovery)
"""A named tuple's own constructor takes three times as long."""
_IS_JUDGED = bytes(place in {OK, ERROR} for place in STATUS_TABLE)
_IS_ERROR = STATUS_TABLE.translate(IS_ERROR)
_NOT = bytes(not place for place in range(256))
"""Tables that make a mask, a byte of 0 or 1 for each call, of how calls ended or of a mask."""
_NONE = columns_of(())
_NOTHING = Scan(_NONE, b"", (), (), (), b"", [], _NONE, _NONE)


def scan_calls(facts: SessionFacts, rules: Rules, known: dict[str, bool]) -> Scan:
    """Split a session's calls; ``known`` remembers which tools are trivial."""
    calls = columns_of(facts.calls)
    if not len(calls):
        return _NOTHING
    names, numbers, endings = calls.names, calls.tools, calls.endings
    dull = _find_dull(names, rules, known)
    places: Sequence[int] = range(len(endings))
    others = trivial = _NONE
    mask = judged = endings.translate(_IS_JUDGED)
    if 0 in judged or True in dull:
        counted = _look_up(numbers, bytes(map(not_, dull)))
        if True in dull:
            trivial = calls.take(counted.translate(_NOT))
        if 0 in judged:
            others = calls.take(_both(judged.translate(_NOT), counted))
        mask = _both(judged, counted)
        places, endings = list(compress(places, mask)), bytes(list(compress(endings, mask)))
        kept = list(compress(numbers, mask))
        numbers = bytes(kept) if isinstance(numbers, bytes) else kept
    errors = endings.translate(_IS_ERROR)
    failed = list(compress(range(len(errors)), errors)) if 1 in errors else []
    masked = endings.translate(MASKED_TABLE)
    return _make_scan((calls, mask, places, names, numbers, masked, failed, others, trivial))


def _find_dull(names: Sequence[str], rules: Rules, known: dict[str, bool]) -> list[bool]:
    """Which of the tools are trivial."""
    try:
        return [known[tool] for tool in names]
    except KeyError:
        known.update((tool, rules.is_trivial(tool)) for tool in names)
    return [known[tool] for tool in names]


def _look_up(numbers: Sequence[int], values: bytes) -> bytes:
    """A value for each number."""
    if isinstance(numbers, bytes):
        return numbers.translate(values.ljust(256, b"\0"))
    return bytes(map(values.__getitem__, numbers))


def _both(one: bytes, two: bytes) -> bytes:
    """Where both masks are 1; as whole numbers, because that is one step for all calls."""
    both = int.from_bytes(one, "little") & int.from_bytes(two, "little")
    return both.to_bytes(len(one), "little")


def find_recoveries(scan: Scan, types: dict[str, str]) -> Iterator[Recovery]:
    """For each failure the success that followed, where one did.

    The same tool is looked for first; failing that, a call of another tool of the same type that
    stands right behind the failure.
    """
    if not scan.failed:
        return
    names, numbers, failed = scan.names, scan.numbers, set(scan.failed)
    places, column = scan.places, scan.whole.column
    classes, sames, shapes = column(ERROR_CLASS), column(SAME), column(SHAPE)
    for index in scan.failed:
        repaired = _find_repair(scan, index, failed, types)
        if repaired is None:
            continue
        one, two = places[index], places[repaired]
        how = _OTHER_TOOL
        if numbers[index] == numbers[repaired]:
            how = _NEW_VALUES if shapes[one] == shapes[two] else _NEW_ARGUMENTS
            how = _SAME_CALL if sames[one] == sames[two] else how
        tool, by = names[numbers[index]], names[numbers[repaired]]
        yield _make_recovery((tool, CLASSES[classes[one]], index, repaired, by, how))


def _find_repair(scan: Scan, index: int, failed: set[int], types: dict[str, str]) -> int | None:
    names, numbers = scan.names, scan.numbers
    tool = numbers[index]
    after = numbers[index + 1 : index + 1 + REPAIR_WINDOW]
    for place, number in enumerate(after, index + 1):
        if number == tool and place not in failed:
            return place
    kind = types[names[tool]]
    if kind == _OTHER:
        return None
    for place, number in enumerate(after[:SWITCH_WINDOW], index + 1):
        if place not in failed and types[names[number]] == kind:
            return place
    return None
