"""Whether a task was done, told from what the trial left behind.

Pure: reading the sandbox and running a command are handed in. A check that itself cannot be
carried out has not passed, and says why.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

from warmstart.model import Request
from warmstart.redact import redact

MAX_SEEN = 80
MAX_LOOKED_AT = 4000
MAX_PATTERN_LENGTH = 2000
MAX_ANSWER_CHARS = 100_000
TOO_SLOW = "the pattern of the check took too long"


class CheckKind(StrEnum):
    """What is looked at."""

    COMMAND = "command"
    """A shell line in the sandbox and its exit code."""
    FILE = "file"
    """The content of a file: equal, containing, matching, or equal as JSON."""
    ANSWER = "answer"
    """A regular expression on the last answer."""
    CALL = "call"
    """A call of a tool, with at least these arguments."""


class FileComparison(StrEnum):
    """How a file is compared with what is expected."""

    EQUALS = "equals"
    CONTAINS = "contains"
    JSON = "json"
    MATCHES = "matches"
    EXISTS = "exists"


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One condition of success."""

    kind: CheckKind
    target: str = ""
    """The command line, the path, or the tool."""
    comparison: FileComparison = FileComparison.EXISTS
    expected: Any = None
    pattern: str = ""


class CommandResult(NamedTuple):
    """How a command of a check ended."""

    exit_code: int
    output: str


def search_text(pattern: str, text: str) -> bool:
    """Whether a pattern is found; nothing here limits how long that takes."""
    return re.search(pattern, text, re.MULTILINE) is not None


class Left(NamedTuple):
    """What a trial left behind."""

    answer: str
    calls: Sequence[Request]
    """Its own calls that succeeded."""
    read: Callable[[str], str | None]
    """The text of a file of the sandbox, None where there is none."""
    run: Callable[[str], CommandResult]
    """Run a shell line in the sandbox."""
    search: Callable[[str, str], bool | None] = search_text
    """Whether a pattern is found in a text; None where that took too long."""


class CheckResult(NamedTuple):
    """Whether all checks held; the first that did not, in words."""

    passed: bool | None
    detail: str = ""


def parse_check(value: Any) -> Check:
    """A check from its JSON object.

    Raises:
        ValueError: it is none.
    """
    if not isinstance(value, dict):
        raise ValueError("'check' must be an object or a list of objects")  # noqa: TRY004 - one kind of complaint per line
    kinds = [kind for kind in CheckKind if kind in value]
    if len(kinds) != 1:
        raise ValueError("a check has exactly one of command, file, answer, call")
    return _PARSERS[kinds[0]](value)


def judge_task(checks: Sequence[Check], left: Left) -> CheckResult:
    """Whether every check holds; None where there is nothing to check."""
    if not checks:
        return CheckResult(None)
    for check in checks:
        problem = _JUDGES[check.kind](check, left)
        if problem:
            return CheckResult(passed=False, detail=problem)
    return CheckResult(passed=True)


def is_inside(path: str) -> bool:
    """Whether a path of a task stays in the sandbox, as it is written."""
    parts = path.replace("\\", "/").split("/")
    absolute = path.startswith(("/", "\\", "~")) or re.match(r"[A-Za-z]:", path) is not None
    return bool(path.strip()) and not absolute and ".." not in parts and "\0" not in path


def _parse_command(value: Mapping[str, Any]) -> Check:
    _only(value, {"command", "exit"})
    code = value.get("exit", 0)
    if isinstance(code, bool) or not isinstance(code, int):
        raise ValueError("'exit' must be an exit code")  # noqa: TRY004 - same
    return Check(kind=CheckKind.COMMAND, target=_text(value, "command"), expected=code)


def _parse_file(value: Mapping[str, Any]) -> Check:
    comparisons = [one for one in FileComparison if one in value]
    _only(value, {"file", *FileComparison})
    if len(comparisons) != 1:
        raise ValueError("a file check has exactly one of equals, contains, json, matches, exists")
    comparison = comparisons[0]
    expected = value[comparison]
    if comparison is FileComparison.MATCHES:
        _compile(expected)
    elif comparison is FileComparison.EXISTS:
        if not isinstance(expected, bool):
            raise ValueError("'exists' must be true or false")
    elif comparison is not FileComparison.JSON and not isinstance(expected, str):
        raise ValueError(f"{comparison.value!r} must be text")
    path = _text(value, "file")
    return Check(kind=CheckKind.FILE, target=path, comparison=comparison, expected=expected)


def _parse_answer(value: Mapping[str, Any]) -> Check:
    _only(value, {"answer"})
    return Check(kind=CheckKind.ANSWER, pattern=_compile(value["answer"]).pattern)


def _parse_call(value: Mapping[str, Any]) -> Check:
    call = value["call"]
    _only(value, {"call"})
    if not isinstance(call, dict):
        raise ValueError("'call' must be an object with 'tool'")  # noqa: TRY004 - one kind of complaint per line
    _only(call, {"tool", "arguments"})
    arguments = call.get("arguments", {})
    if not isinstance(arguments, dict):
        raise ValueError("'arguments' must be an object")  # noqa: TRY004 - same
    return Check(kind=CheckKind.CALL, target=_text(call, "tool"), expected=arguments)


_PARSERS = {
    CheckKind.COMMAND: _parse_command,
    CheckKind.FILE: _parse_file,
    CheckKind.ANSWER: _parse_answer,
    CheckKind.CALL: _parse_call,
}


def _only(value: Mapping[str, Any], known: set[str]) -> None:
    unknown = sorted(set(map(str, value)) - known)
    if unknown:
        raise ValueError(f"a check of this kind has no field {unknown[0]!r}")


def _text(value: Mapping[str, Any], name: str) -> str:
    text = value.get(name)
    if not isinstance(text, str) or not text:
        raise ValueError(f"{name!r} of a check must be text")
    return text


def _compile(pattern: Any) -> re.Pattern[str]:
    if not isinstance(pattern, str) or len(pattern) > MAX_PATTERN_LENGTH:
        raise ValueError("a pattern must be text of reasonable length")
    try:
        return re.compile(pattern, re.MULTILINE)
    except re.error as error:
        raise ValueError(f"{pattern!r} is not a valid regular expression: {error}") from error


def _judge_command(check: Check, left: Left) -> str:
    code, output = left.run(check.target)
    if code == check.expected:
        return ""
    return f"the check command exited {code}: {_short(output, tail=True)}"


def _judge_file(check: Check, left: Left) -> str:
    found = left.read(check.target)
    if check.comparison is FileComparison.EXISTS:
        exists = found is not None
        if exists == check.expected:
            return ""
        return f"{check.target} is {'there' if exists else 'not there'}"
    if found is None:
        return f"{check.target} is not there"
    if check.comparison is FileComparison.MATCHES:
        matched = left.search(str(check.expected), found)
        if matched is None:
            return TOO_SLOW
    else:
        matched = _holds(check, found)
    return "" if matched else f"{check.target} holds {_short(found)}"


def _holds(check: Check, found: str) -> bool:
    match check.comparison:
        case FileComparison.EQUALS:
            return found.strip() == str(check.expected).strip()
        case FileComparison.CONTAINS:
            return str(check.expected) in found
        case _:
            return _same_json(found, check.expected)


def _same_json(found: str, expected: Any) -> bool:
    try:
        return bool(json.loads(found) == expected)
    except (ValueError, RecursionError):
        return False


def _judge_answer(check: Check, left: Left) -> str:
    matched = left.search(check.pattern, left.answer[:MAX_ANSWER_CHARS])
    if matched is None:
        return TOO_SLOW
    return "" if matched else f"the answer was {_short(left.answer)}"


def _judge_call(check: Check, left: Left) -> str:
    wanted = check.expected
    for request in left.calls:
        given = request.arguments
        if request.tool == check.target and all(
            name in given and given[name] == value for name, value in wanted.items()
        ):
            return ""
    return f"{check.target} was not called as expected"


_JUDGES = {
    CheckKind.COMMAND: _judge_command,
    CheckKind.FILE: _judge_file,
    CheckKind.ANSWER: _judge_answer,
    CheckKind.CALL: _judge_call,
}


def _short(text: str, *, tail: bool = False) -> str:
    """One end of a text, for people; masked before it is cut, as no rule knows half a key."""
    end = text[-MAX_LOOKED_AT:] if tail else text[:MAX_LOOKED_AT]
    flat = " ".join(redact(end).text.split())
    if len(flat) > MAX_SEEN:
        flat = f"…{flat[1 - MAX_SEEN :]}" if tail else f"{flat[: MAX_SEEN - 1]}…"
    return repr(flat)
