"""Verdicts of the calls that make up most of a database, without building a case for the judge.

Each answer here is one the judge would give too, and whatever is not plain is left to it (None).
A result that is one JSON object speaks by a few fields; which ones, and what overrules them, is
the judge's own order of rules, followed for objects only.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from warmstart.facts.quiet import is_output, is_quiet, is_unsigned
from warmstart.facts.verdicts import encode_verdict
from warmstart.model import Certainty, ErrorClass, Outcome, Status
from warmstart.outcome.case import (
    FIRST_WORD,
    HEAD_CHARS,
    POWERSHELLS,
    TAIL_CHARS,
    classify_output,
    read_output,
)
from warmstart.outcome.markers import HEAD_MARKERS, MARKER_CHARS, find_end_code
from warmstart.outcome.output import HEADER_LETTERS
from warmstart.outcome.plain import is_plain_answer, is_plain_output
from warmstart.outcome.refusals import REFUSAL_WORDS, find_refusal
from warmstart.outcome.shell import (
    explain_exit,
    is_masked,
    list_programs,
    may_be_benign,
    read_command,
)
from warmstart.outcome.structure import complaint_in, fields_at_ends, printed_in, unescape
from warmstart.outcome.tools import ToolKind, command_of


def _code(certainty: Certainty, *, masked: bool = False) -> int:
    outcome = Outcome(status=Status.OK, certainty=certainty, evidence="", masked=masked)
    return encode_verdict(outcome)


def _failure_code(error_class: ErrorClass) -> int:
    return encode_verdict(
        Outcome(
            status=Status.ERROR,
            certainty=Certainty.STRUCTURAL,
            evidence="",
            error_class=error_class,
        )
    )


NOTHING_WRONG = _code(Certainty.TEXTUAL)
SAID_OK = _code(Certainty.STRUCTURAL)
SAID_OK_MASKED = _code(Certainty.STRUCTURAL, masked=True)
_FAILED = {error_class: _failure_code(error_class) for error_class in ErrorClass}
_TELLING = frozenset({
    "exit_code", "exitCode", "returncode", "metadata", "error", "success", "ok", "isError",
    "is_error", "status",
})  # fmt: skip
_LEFT_OUT = frozenset({
    "exit_code", "exitCode", "returncode", "metadata", "isError", "is_error",
})  # fmt: skip
"""Of these, what is left to the judge."""
_FAILED_WORDS = ("error", "failed", "failure")
_HEADS = ('{"success"', '{"error"', '{"status"', '{"ok"')
_HEAD_STATUS = '{"status": "'
_HEAD_RAN = '{"status": "success"'
_HEAD_SUCCESS = '{"success": true'
_TAIL_EXIT = '", "exit_code": 0, "error": null}'
_END_CHARS = 500
"""How much of a long object's end the judge looks at."""


def find_verdict(kind: ToolKind, tool: str, arguments: Mapping[str, Any], text: str) -> int | None:
    """The verdict's number where it is plain to see; None to ask the judge."""
    return FINDERS[kind](tool, arguments, text)


def _find_for_shell(tool: str, arguments: Mapping[str, Any], text: str) -> int | None:
    if text[:2] == '{"':
        return _find_exit(tool, arguments, text)
    return _find_output(tool, arguments, text)


def _find_for_code(tool: str, arguments: Mapping[str, Any], text: str) -> int | None:
    del tool, arguments
    if text[:2] != '{"':
        return None
    code = _find_at_ends(text) if len(text) > TAIL_CHARS else _find_in_whole(text)
    if code == NOTHING_WRONG and '"status"' in text:
        return SAID_OK if text.startswith(_HEAD_RAN) else None
    if code == NOTHING_WRONG:
        # The judge reads the object as output then.
        return code if "\n" not in text and is_quiet(text) else None
    return code


def _find_for_others(tool: str, arguments: Mapping[str, Any], text: str) -> int | None:
    del tool, arguments
    if text[:2] != '{"':
        return NOTHING_WRONG if is_plain_answer(text) else None
    return _find_at_ends(text) if len(text) > TAIL_CHARS else _find_in_whole(text)


def _find_in_whole(text: str) -> int | None:
    try:
        data = orjson.loads(text)
    except orjson.JSONDecodeError:
        data = _load_front(text)
    if type(data) is not dict:
        return None
    return NOTHING_WRONG if _TELLING.isdisjoint(data) else _read_fields(data)


def _load_front(text: str) -> Any:
    """The object that a text begins with; a harness may have put words of its own behind it."""
    if text[-1] == "}":
        return None
    try:
        return orjson.loads(text[: text.rfind("}") + 1])
    except orjson.JSONDecodeError:
        return None


def _find_output(tool: str, arguments: Mapping[str, Any], text: str) -> int | None:
    """A shell's answer that is bare output, with an exit code below it or without complaint."""
    if tool in POWERSHELLS:
        return None
    line = command_of(arguments)
    end = text[-MARKER_CHARS:]
    if "xit" in end:
        code = None if text[:4] in HEAD_MARKERS else find_end_code(end, line)
        if code is not None:
            return _find_failed_exit(line, text, code)
    if "diff" in line or "cmp" in line or "commit" in line or not is_output(text):
        return None
    programs = list_programs(line)
    return NOTHING_WRONG if is_unsigned(text, line, programs) and is_quiet(text, programs) else None


def _read_fields(data: dict[str, Any]) -> int | None:
    """What an object's own fields say, unless they speak of an exit code."""
    if not _LEFT_OUT.isdisjoint(data):
        return None
    success, fine = data.get("success"), data.get("ok")
    if success is False or fine is False or data.get("error"):
        return _find_failure(data)
    status = data.get("status")
    if status is not None and (type(status) is not str or status in _FAILED_WORDS):
        return None
    return SAID_OK if "error" in data or success is True or fine is True else NOTHING_WRONG


def _find_failure(data: dict[str, Any]) -> int | None:
    """An object that says it failed, and why."""
    if find_refusal(str(data.get("error") or data.get("message") or "")):
        return None
    return _FAILED[classify_output(read_output(complaint_in(data)), None)]


def _find_at_ends(text: str) -> int | None:
    """The same for a long object, of which only the first field and the last ones are looked at."""
    # Behind a closing brace a harness may have put words of its own, which move the window.
    end = text[-_END_CHARS:] if text[-1] == "}" else text[-TAIL_CHARS:]
    if '"error"' in end or '"exit' in end or '"returncode"' in end:
        return None
    if not text.startswith(_HEADS) or text.startswith(_HEAD_STATUS):
        return NOTHING_WRONG
    return SAID_OK if text.startswith(_HEAD_SUCCESS) else None


def _find_exit(tool: str, arguments: Mapping[str, Any], text: str) -> int | None:
    """A shell's answer with an exit code in a field, and no other marker of one at its end."""
    if tool in POWERSHELLS or _has_marker(text[-MARKER_CHARS:]):
        return None
    line = command_of(arguments)
    if len(text) > TAIL_CHARS:
        if text.endswith(_TAIL_EXIT) and not text.startswith(_HEADS):
            return _find_zero(line, text)
        return _read_exit(line, fields_at_ends(text[:HEAD_CHARS], text[-TAIL_CHARS:]))
    try:
        data = orjson.loads(text)
    except orjson.JSONDecodeError:
        data = _load_front(text)
    return _read_exit(line, data) if type(data) is dict else None


def _has_marker(end: str) -> bool:
    """Whether an exit code may be written out at the end of a result."""
    return "xit c" in end or "xit C" in end or "xited" in end


def _find_zero(line: str, text: str) -> int | None:
    """The zero that closes a long object."""
    if not is_masked(line):
        return SAID_OK
    printed = text[-_END_CHARS : -len(_TAIL_EXIT)]
    # A key there may be one that the judge reads.
    return None if '":' in printed else _settle_masked(line, unescape(printed))


def _read_exit(line: str, data: dict[str, Any]) -> int | None:
    """What an exit code among an object's fields says."""
    code, error = data.get("exit_code"), data.get("error")
    if type(code) is not int or data.get("status") == "blocked":
        return None
    if code == 0:
        if error:
            return _find_failure(data)
        return _settle_masked(line, data.get("output")) if is_masked(line) else SAID_OK
    if "exit_code_meaning" in data or (error and find_refusal(str(error))):
        return None
    return _find_failed_exit(line, printed_in(data), code)


def _settle_masked(line: str, printed: object) -> int | None:
    """The zero of a command that hides its exit code counts where what it printed is plain."""
    if not isinstance(printed, str) or not printed or "$?" in line or "$LASTEXITCODE" in line:
        return None
    # What harnesses put around an output shifts the windows that are looked at.
    if printed[0] in HEADER_LETTERS or printed[-1] in ">]" or "\x1b" in printed:
        return None
    return SAID_OK_MASKED if is_plain_output(printed.lstrip("\r\n").rstrip()) else None


def _find_failed_exit(line: str, printed: str, code: int) -> int | None:
    """A command that failed by its exit code, unless that may mean no harm."""
    if code == 0 or (may_be_benign(line, code) and explain_exit(read_command(line), code)):
        return None
    opening = FIRST_WORD.match(printed, 0, 80)
    if opening is not None and opening[1].lower() in REFUSAL_WORDS:
        head = printed if len(printed) <= TAIL_CHARS else printed[:HEAD_CHARS]
        if find_refusal(head):
            return None
    return _FAILED[classify_output(read_output(printed), code)]


FINDERS = {
    ToolKind.SHELL: _find_for_shell,
    ToolKind.CODE: _find_for_code,
    ToolKind.READER: _find_for_others,
    ToolKind.OTHER: _find_for_others,
}
