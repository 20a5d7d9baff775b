"""Failed calls and the calls that put them right, counted over sessions.

Everything rests on judged calls: a failure, and the next call on the same thing. If that one
succeeded it is a repair; if not, it was a try that did not work, and lowers the rate of that
repair. A failure nothing repaired is not a pattern and is never kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import orjson

from warmstart.mine.abstract import Abstraction, Vocabulary
from warmstart.mine.candidates import ToolStat
from warmstart.mine.changes import TOKENS, VAGUE, describe_change, targets_of, tokens_of
from warmstart.mine.results import NOTHING, describe_result, show_result
from warmstart.mine.signature import WORDS, complaint_line, make_signature
from warmstart.mine.trivial import is_trivial
from warmstart.model import Call, Certainty, ErrorClass, Recovery, Session, Status
from warmstart.outcome import ToolKind, kind_of

WITHIN_CALLS = 8
MIN_LIKENESS = 0.25
SURE_LIKENESS = 0.5
"""How much two calls share when only one pair of them was seen, or the file is the same anyway."""
FEW_WORDS = 3
"""Below this many words beside the file's name, the file alone decides."""
MAX_PER_TOOL = 3
MAX_ERROR, MAX_REPAIR_RESULT = 200, 240
SAME = ("the same call again", "the same command again")
_MISSING = re.compile(
    r"command not found|is not recognized as|missing script|unrecognized subcommand|unknown command"
    r"|no rule to make target|executable file not found",
    re.IGNORECASE,
)
_ONLY_ERROR = re.compile(r"\{\"error\":\s?(?=\"(?:[^\"\\]|\\.)*\"\}$)")
_ELSEWHERE = frozenset(
    {ErrorClass.NOT_FOUND, ErrorClass.UNKNOWN_TOOL, ErrorClass.TIMEOUT, ErrorClass.BAD_ARGUMENTS}
)
"""Failures that another tool may repair."""


class Key(NamedTuple):
    """What makes two repairs the same."""

    tool: str
    error_class: ErrorClass
    signature: str
    repaired_by: str
    change: str


@dataclass(slots=True)
class Repairs:
    """All tries of one repair."""

    worked: list[tuple[str, Call, Call, str | None]] = field(default_factory=list)
    """Session, failed call, repairing call, project."""
    tries: int = 0


def collect_repairs(sessions: Iterable[Session]) -> dict[Key, Repairs]:
    """Every try after a failure, by what it was."""
    found: dict[Key, Repairs] = {}
    for session in sessions:
        for failed, tried, between in _find_tries(session.calls):
            key = _make_key(failed, tried, between)
            repairs = found.setdefault(key, Repairs())
            repairs.tries += 1
            if tried.outcome.status is Status.OK:
                repairs.worked.append((session.id, failed, tried, session.project))
    return {key: repairs for key, repairs in found.items() if repairs.worked}


def select_recoveries(
    repairs: Mapping[Key, Repairs],
    vocabulary: Vocabulary,
    stats: Mapping[str, ToolStat],
    limit: int,
) -> list[Recovery]:
    """The repairs worth knowing: seen in most sessions first, few per tool and per error."""
    per_tool: dict[str, int] = {}
    errors: set[tuple[str, str]] = set()
    chosen: list[Recovery] = []
    for key in sorted(repairs, key=lambda key: _order(key, repairs[key], stats)):
        if len(chosen) == limit or per_tool.get(key.tool, 0) == MAX_PER_TOOL:
            continue
        if not _is_informative(key, repairs[key]) or (key.tool, key.signature) in errors:
            continue
        errors.add((key.tool, key.signature))
        per_tool[key.tool] = per_tool.get(key.tool, 0) + 1
        chosen.append(_make_recovery(key, repairs[key], vocabulary))
    return chosen


def _is_informative(key: Key, repairs: Repairs) -> bool:
    """Whether a repair says what to do; what was seen once must say it exactly."""
    if key.change in (*SAME, *VAGUE) or key.error_class is ErrorClass.TEST_FAILURE:
        return False
    if len(repairs.worked) > 1:
        return True
    _, failed, repaired, _ = repairs.worked[0]
    if key.change.endswith(VAGUE) or not _is_sure(repaired):
        return False
    words, other = tokens_of(failed.request.arguments), tokens_of(repaired.request.arguments)
    return len(words & other) >= SURE_LIKENESS * min(len(words), len(other))


def _is_sure(call: Call) -> bool:
    return call.outcome.certainty is not Certainty.TEXTUAL and not call.outcome.masked


def _find_tries(calls: Sequence[Call]) -> Iterable[tuple[Call, Call, Sequence[Call]]]:
    """For each failure the next call on the same thing, and what happened in between."""
    for index, failed in enumerate(calls):
        if failed.outcome.status is not Status.ERROR or is_trivial(failed.tool):
            continue
        if failed.result is None or failed.request.raw:
            continue
        later = [
            call
            for call in calls[index + 1 : index + 1 + WITHIN_CALLS]
            if call.message > failed.message and call.outcome.status in (Status.OK, Status.ERROR)
        ]
        at = _find_next(failed, later)
        if at is not None:
            yield failed, later[at], later[:at]


def _find_next(failed: Call, later: Sequence[Call]) -> int | None:
    """The same tool on the same thing; else, where that makes sense, another tool on it."""
    if later and later[0].tool == failed.tool and _lacks_program(failed):
        return 0  # what is run instead of a program that is missing shares no word with it
    words, targets = tokens_of(failed.request.arguments), targets_of(failed.request.arguments)
    for at, call in enumerate(later):
        if call.tool == failed.tool and _is_related(call, words, targets):
            return at
    if failed.outcome.error_class not in _ELSEWHERE:
        return None
    return next(
        (
            at
            for at, call in enumerate(later)
            if _replaces(failed, call) and _is_related(call, words, targets)
        ),
        None,
    )


def _lacks_program(failed: Call) -> bool:
    if kind_of(failed.tool) is not ToolKind.SHELL or failed.result is None:
        return False
    return _MISSING.search(failed.result.text[:1000]) is not None


def _replaces(failed: Call, other: Call) -> bool:
    """Whether another tool's success may stand for the failed call; reading repairs no change."""
    if other.outcome.status is not Status.OK or is_trivial(other.tool):
        return False
    if kind_of(other.tool) is not ToolKind.READER:
        return True
    return kind_of(failed.tool) in (ToolKind.READER, ToolKind.SHELL)


def _is_related(call: Call, words: frozenset[str], targets: frozenset[str]) -> bool:
    """Whether a call is about the same thing: the same file and, beside it, similar words."""
    theirs = targets_of(call.request.arguments)
    shared = targets & theirs
    names = frozenset(token for target in targets | theirs for token in TOKENS.findall(target))
    own, other = words - names, tokens_of(call.request.arguments) - names
    if shared and min(len(own), len(other)) < FEW_WORDS:
        return True
    if not shared and not (own and other):
        own, other = words, tokens_of(call.request.arguments)
    smaller = min(len(own), len(other))
    least = SURE_LIKENESS if shared else MIN_LIKENESS
    return bool(smaller) and len(own & other) / smaller >= least


def _make_key(failed: Call, tried: Call, between: Sequence[Call]) -> Key:
    error_class = failed.outcome.error_class or ErrorClass.OTHER
    text = failed.result.text if failed.result else ""
    return Key(
        failed.tool,
        error_class,
        make_signature(failed.request, error_class, text),
        tried.tool,
        describe_change(failed, tried, between),
    )


def _order(key: Key, repairs: Repairs, stats: Mapping[str, ToolStat]) -> tuple[object, ...]:
    sessions = len({session for session, *_ in repairs.worked})
    stat = stats.get(key.tool)
    return (
        -sessions,
        -len(repairs.worked) / repairs.tries,
        -len(repairs.worked),
        -(stat.weight if stat else 0.0),
        key,
    )


def _make_recovery(key: Key, repairs: Repairs, vocabulary: Vocabulary) -> Recovery:
    _, failed, repaired, project = min(repairs.worked, key=_shown_first)
    abstraction = Abstraction(vocabulary, project)
    failed_arguments = abstraction.arguments(failed.tool, failed.request.arguments)
    arguments = abstraction.arguments(repaired.tool, repaired.request.arguments)
    words = WORDS[key.error_class]
    text = "" if failed.result is None else failed.result.text
    error = abstraction.text(complaint_line(text)[:MAX_ERROR])
    result = "" if repaired.result is None else repaired.result.text
    return Recovery(
        tool=key.tool,
        error_class=key.error_class,
        signature=key.signature,
        failed_arguments=failed_arguments,
        error=_in_shape(text, error) if key.signature != words else words,
        repaired_by=key.repaired_by,
        arguments=arguments,
        result=describe_result(repaired.request, result, abstraction)[:MAX_REPAIR_RESULT],
        change=key.change,
        count=len(repairs.worked),
        tries=repairs.tries,
        sessions=len({session for session, *_ in repairs.worked}),
    )


def _in_shape(text: str, line: str) -> str:
    """The line as the tool wrote it: where an error is an object with one field, it stays one.

    Told as bare words, a model takes the example's error for a result.
    """
    opening = _ONLY_ERROR.match(text)
    return f"{opening[0]}{orjson.dumps(line).decode()}}}" if opening else line


def _shown_first(worked: tuple[str, Call, Call, str | None]) -> tuple[object, ...]:
    session, failed, repaired, _ = worked
    size = len(str(failed.request.arguments)) + len(str(repaired.request.arguments))
    empty = repaired.result is None or (
        show_result(repaired.request, repaired.result.text) == NOTHING
    )
    return (not _is_sure(repaired), empty, size // 200, session, failed.position)
