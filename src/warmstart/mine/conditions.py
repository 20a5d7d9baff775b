"""Under which circumstances a tool fails more often, as far as the counts can carry it.

A condition is claimed only where it was met often enough, fails at least twice as often as the
rest, and Fisher's exact test leaves little room for chance.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import comb
from typing import Any, NamedTuple

from warmstart.mine.arguments import shape_of
from warmstart.mine.changes import targets_of
from warmstart.mine.trivial import is_trivial
from warmstart.model import Call, Session, Status
from warmstart.outcome import ToolKind, command_of, kind_of

MIN_ERRORS = 4
MIN_CALLS = 8
"""On either side of a comparison."""
MIN_RATIO = 2.0
MAX_P = 0.005
LONG_COMMAND = 300
_EDITING = ("edit", "patch", "replace", "write", "insert", "update")


class Condition(NamedTuple):
    """A circumstance and how it compares with the rest."""

    text: str
    errors: int
    calls: int
    other_errors: int
    other_calls: int


@dataclass(slots=True)
class _ToolCounts:
    calls: int = 0
    errors: int = 0
    met: Counter[str] = field(default_factory=Counter)
    failed: Counter[str] = field(default_factory=Counter)


def find_conditions(sessions: Iterable[Session]) -> dict[str, Condition]:
    """For each tool the circumstance that tells failures apart best, where there is one."""
    counts: dict[str, _ToolCounts] = {}
    for session in sessions:
        read: set[str] = set()
        for call in session.calls:
            if call.outcome.status in (Status.OK, Status.ERROR) and not is_trivial(call.tool):
                _count(counts.setdefault(call.tool, _ToolCounts()), call, read)
            if call.outcome.status is Status.OK:
                read |= targets_of(call.request.arguments)
    found = {tool: _best(one) for tool, one in counts.items()}
    return {tool: condition for tool, condition in found.items() if condition is not None}


def fisher_above(errors: int, calls: int, all_errors: int, all_calls: int) -> float:
    """Chance of at least this many errors among these calls if the condition meant nothing."""
    total = comb(all_calls, calls)
    top = min(calls, all_errors)
    ways = sum(
        comb(all_errors, k) * comb(all_calls - all_errors, calls - k)
        for k in range(errors, top + 1)
        if calls - k <= all_calls - all_errors
    )
    return ways / total


def _count(counts: _ToolCounts, call: Call, read: set[str]) -> None:
    failed = call.outcome.status is Status.ERROR
    counts.calls += 1
    counts.errors += failed
    circumstances = _circumstances(call, read)
    counts.met.update(circumstances)
    if failed:
        counts.failed.update(circumstances)


def _circumstances(call: Call, read: set[str]) -> set[str]:
    arguments = call.request.arguments
    if kind_of(call.tool) is ToolKind.SHELL:
        return _command_circumstances(command_of(arguments))
    met = {f"`{key}` is given" for key in arguments}
    met |= {f"`{key}` is {_SHAPE_WORDS[shape]}" for key, shape in _shapes(arguments)}
    name = call.tool.casefold()
    targets = targets_of(arguments)
    if targets and any(word in name for word in _EDITING) and not targets & read:
        met.add("the file was not read or written before in the session")
    return met


_SHAPE_WORDS = {
    "path:absolute": "an absolute path",
    "path:relative": "a relative path",
    "text:long": "longer than 120 characters",
    "text:lines": "several lines long",
    "bool:true": "true",
}


def _shapes(arguments: Mapping[str, Any]) -> list[tuple[str, str]]:
    shapes = [(str(key), shape_of(value)) for key, value in arguments.items()]
    return [(key, shape) for key, shape in shapes if shape in _SHAPE_WORDS]


def _command_circumstances(command: str) -> set[str]:
    checks = {
        "the command changes folder first (`cd`)": command.startswith("cd "),
        "the command has several lines": "\n" in command,
        f"the command is longer than {LONG_COMMAND} characters": len(command) > LONG_COMMAND,
        "the command has an unquoted `*`": "*" in command and "'" not in command
        and '"' not in command,
        "errors are thrown away (`2>/dev/null`)": "2>/dev/null" in command,
    }  # fmt: skip
    return {text for text, met in checks.items() if met}


def _best(counts: _ToolCounts) -> Condition | None:
    """The most telling one; ties go to the name."""
    if counts.errors < MIN_ERRORS:
        return None
    ranked = []
    for text in sorted(counts.met):
        errors, calls = counts.failed[text], counts.met[text]
        condition = Condition(text, errors, calls, counts.errors - errors, counts.calls - calls)
        chance = _chance(condition)
        if chance is not None:
            ranked.append((chance, text, condition))
    return min(ranked)[2] if ranked else None


def _chance(condition: Condition) -> float | None:
    """How likely the difference is by chance; None where too little was seen to speak of it."""
    _, errors, calls, other_errors, other_calls = condition
    if errors < MIN_ERRORS or calls < MIN_CALLS or other_calls < MIN_CALLS:
        return None
    if errors / calls < MIN_RATIO * max(other_errors, 0.5) / other_calls:
        return None
    chance = fisher_above(errors, calls, errors + other_errors, calls + other_calls)
    return chance if chance <= MAX_P else None
