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
from warmstart.model import Certainty, Outcome, Status
from warmstart.outcome.case import POWERSHELLS, TAIL_CHARS
from warmstart.outcome.markers import MARKER_CHARS
from warmstart.outcome.output import HEADER_LETTERS
from warmstart.outcome.plain import is_plain_answer, is_plain_output
from warmstart.outcome.shell import is_masked
from warmstart.outcome.tools import ToolKind, command_of


def _code(certainty: Certainty, *, masked: bool = False) -> int:
    outcome = Outcome(status=Status.OK, certainty=certainty, evidence="", masked=masked)
    return encode_verdict(outcome)


NOTHING_WRONG = _code(Certainty.TEXTUAL)
SAID_OK = _code(Certainty.STRUCTURAL)
SAID_OK_MASKED = _code(Certainty.STRUCTURAL, masked=True)
_TELLING = frozenset({
    "exit_code", "exitCode", "returncode", "metadata", "error", "success", "ok", "isError",
    "is_error", "status",
})  # fmt: skip
_EXITS = frozenset({"exit_code", "exitCode", "returncode", "metadata"})
_HEADS = ('{"success"', '{"error"', '{"status"', '{"ok"')
_HEAD_STATUS = '{"status": "'
_HEAD_RAN = '{"status": "success"'
_HEAD_SUCCESS = '{"success": true'
_TAIL_EXIT = '", "exit_code": 0, "error": null}'
_END_CHARS = 500
"""How much of a long object's end the judge looks at."""


def find_verdict(kind: ToolKind, tool: str, arguments: Mapping[str, Any], text: str) -> int | None:
    """The verdict's number where nothing speaks against the call; None to ask the judge."""
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
        return None
    if type(data) is not dict:
        return None
    return NOTHING_WRONG if _TELLING.isdisjoint(data) else _read_fields(data)


def _find_output(tool: str, arguments: Mapping[str, Any], text: str) -> int | None:
    """A shell's answer that is bare output, in which nothing complains."""
    if tool in POWERSHELLS or not is_output(text):
        return None
    line = command_of(arguments)
    if "diff" in line or "cmp" in line or "commit" in line:
        return None
    return NOTHING_WRONG if is_unsigned(text, line) and is_quiet(text) else None


def _read_fields(data: dict[str, Any]) -> int | None:
    """What an object's own fields say, unless they speak of an exit code or a failure."""
    if not _EXITS.isdisjoint(data) or data.get("error"):
        return None
    success, fine = data.get("success"), data.get("ok")
    if success is False or fine is False or "isError" in data or "is_error" in data:
        return None
    status = data.get("status")
    if status is not None and (type(status) is not str or status in ("error", "failed", "failure")):
        return None
    return SAID_OK if "error" in data or success is True or fine is True else NOTHING_WRONG


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
    """A shell's answer with an exit code of zero, and no other marker of one at its end."""
    if tool in POWERSHELLS or _has_marker(text[-MARKER_CHARS:]):
        return None
    line = command_of(arguments)
    if len(text) > TAIL_CHARS:
        if not text.endswith(_TAIL_EXIT) or text.startswith(_HEADS) or is_masked(line):
            return None
        return SAID_OK
    try:
        data = orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
    if type(data) is not dict or not _exited_well(data):
        return None
    return _settle_masked(line, data) if is_masked(line) else SAID_OK


def _has_marker(end: str) -> bool:
    """Whether an exit code may be written out at the end of a result."""
    return "xit c" in end or "xit C" in end or "xited" in end


def _exited_well(data: dict[str, Any]) -> bool:
    code = data.get("exit_code")
    if type(code) is not int or code != 0:
        return False
    return not data.get("error") and data.get("status") != "blocked"


def _settle_masked(line: str, data: dict[str, Any]) -> int | None:
    """The zero of a command that hides its exit code counts where what it printed is plain."""
    printed = data.get("output")
    if not isinstance(printed, str) or not printed or "$" in line:
        return None
    # What harnesses put around an output shifts the windows that are looked at.
    if printed[0] in HEADER_LETTERS or printed[-1] in ">]" or "\x1b" in printed:
        return None
    return SAID_OK_MASKED if is_plain_output(printed.rstrip()) else None


FINDERS = {
    ToolKind.SHELL: _find_for_shell,
    ToolKind.CODE: _find_for_code,
    ToolKind.READER: _find_for_others,
    ToolKind.OTHER: _find_for_others,
}
