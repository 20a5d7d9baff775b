"""Verdicts on calls of Claude Code, which flags every result as an error or not.

Most results are not flagged, and then there is little left to judge: only a shell may show an exit
code of its own, or hide a failure. Each answer given here without the judge is the judge's.
"""

from __future__ import annotations

from typing import Any

from warmstart.facts.asking import Tool
from warmstart.facts.verdicts import encode_verdict
from warmstart.model import Certainty, Outcome, Request, Result, Status
from warmstart.outcome import judge
from warmstart.outcome.case import hides_exit
from warmstart.outcome.markers import HEAD_MARKERS, MARKER_CHARS
from warmstart.outcome.output import HEADER_LETTERS
from warmstart.outcome.plain import is_plain_output

__all__ = ["ORIGIN", "find_verdict"]

ORIGIN = "claude_code"
"""Whose rules results are judged by."""


def _code(*, masked: bool) -> int:
    outcome = Outcome(status=Status.OK, certainty=Certainty.EXPLICIT, evidence="", masked=masked)
    return encode_verdict(outcome)


SAID_OK = _code(masked=False)
SAID_OK_MASKED = _code(masked=True)


def find_verdict(
    tool: Tool,
    arguments: dict[str, Any],
    line: str,
    text: str,
    *,
    is_error: bool,
    status: Status | None,
) -> int:
    """The verdict's number on a call with its result; ``line`` is the command of a shell."""
    if not is_error and status is None:
        if not tool.is_shell:
            return SAID_OK
        if text[:4] not in HEAD_MARKERS and "xit" not in text[-MARKER_CHARS:]:
            if not hides_exit(tool.name, line):
                return SAID_OK
            if _hides_nothing(line, text):
                return SAID_OK_MASKED
    request = Request(tool=tool.name, arguments=arguments)
    result = Result(text=text, is_error=is_error, status=status)
    return encode_verdict(judge(request, result, ORIGIN))


def _hides_nothing(line: str, text: str) -> bool:
    """Whether no failure can be found in what a command printed that hides its exit code."""
    return text[:1] not in HEADER_LETTERS and "$?" not in line and is_plain_output(text)
