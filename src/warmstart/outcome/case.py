"""One call under judgement, and the ways a rule can decide it.

A rule sees the head and the tail of the result, never its middle: the cost of a judgement does
not grow with the result, and words in the middle of a file or a log say nothing about the call.
"""

from __future__ import annotations

import re
from functools import lru_cache

from warmstart.model import Certainty, ErrorClass, Outcome, Request, Result, Status
from warmstart.outcome.classes import classify
from warmstart.outcome.output import Output
from warmstart.outcome.shell import NO_COMMAND, ShellCommand, is_masked, read_command
from warmstart.outcome.tools import ToolKind, command_of

HEAD_CHARS = 500
TAIL_CHARS = 1000
_SHELL = ToolKind.SHELL
_OK = Status.OK
_ERROR = Status.ERROR
FIRST_WORD = re.compile(r"\s*(?:<\w+>\s*)?[^\w{]{0,6}((?:[Tt]he )?[\w'.]+)")
_ERROR_FIELD = re.compile(r"""\{\s*["']error["']\s*:\s*""")
POWERSHELLS = ("PowerShell", "powershell", "pwsh")


class Case:
    """What the rules look at. Built once per call; the costly parts only when a rule asks."""

    __slots__ = (
        "_command",
        "_masked",
        "_opening",
        "_output",
        "head",
        "kind",
        "line",
        "origin",
        "request",
        "result",
        "short",
        "tail",
    )

    def __init__(
        self,
        request: Request,
        result: Result,
        origin: str,
        kind: ToolKind,
        line: str | None = None,
    ) -> None:
        text = result.text
        self.request = request
        self.result = result
        self.origin = origin
        self.short = short = len(text) <= TAIL_CHARS
        """The windows hold the whole text."""
        self.head = text if short else text[:HEAD_CHARS]
        self.tail = text if short else text[-TAIL_CHARS:]
        self.kind = kind
        if line is None:
            line = command_of(request.arguments) if kind is _SHELL else ""
        self.line = line
        self._command: ShellCommand | None = None
        self._masked: bool | None = None
        self._opening: str | None = None
        self._output: Output | None = None

    def hear(self, text: str) -> Case:
        """The same call judged by a text that its result wraps."""
        seen = self.result
        # Written out: ``replace`` takes three times as long. Rules ask for nothing else.
        result = Result(
            text=text, is_error=seen.is_error, exit_code=seen.exit_code, status=seen.status
        )
        return Case(self.request, result, self.origin, self.kind, self.line)

    # Methods and no properties: Python calls these three times as fast.

    def opening(self) -> str:
        """The first word of the result in lower case, behind a tag or punctuation.

        "The" says nothing, so there it is the first two words.
        """
        if self._opening is None:
            found = FIRST_WORD.match(self.head, 0, 80)
            self._opening = found[1].lower() if found else ""
        return self._opening

    def output(self) -> Output:
        """The ends of what a command printed."""
        if self._output is None:
            self._output = Output(self.head, self.tail)
        return self._output

    def command(self) -> ShellCommand:
        """The command line of a shell call, taken apart."""
        if self._command is None:
            self._command = read_command(self.line) if self.line else NO_COMMAND
        return self._command

    def is_masked(self) -> bool:
        """Whether the command hides its exit code."""
        if self._masked is None:
            self._masked = hides_exit(self.request.tool, self.line)
        return self._masked

    def fail(
        self,
        evidence: str,
        certainty: Certainty,
        *,
        exit_code: int | None = None,
        error_class: ErrorClass | None = None,
    ) -> Outcome:
        """An error, with its class read from the windows unless the rule knows it."""
        seen = self.result.exit_code if exit_code is None else exit_code
        if error_class is None:
            error_class = classify_output(self.output(), seen)
        observed = (self.result.is_error, seen, exit_code == 0)
        return _share_outcome(_ERROR, evidence, certainty, observed, None, error_class)

    def end(
        self,
        status: Status,
        evidence: str,
        certainty: Certainty,
        *,
        exit_code: int | None = None,
        reason: str | None = None,
    ) -> Outcome:
        """Any ending but an error."""
        masked = exit_code == 0 and status is _OK and self.is_masked()
        seen = self.result.exit_code if exit_code is None else exit_code
        observed = (self.result.is_error, seen, masked)
        return _share_outcome(status, evidence, certainty, observed, reason, None)


def read_output(text: str) -> Output:
    """The ends of a text that a command printed."""
    if len(text) <= TAIL_CHARS:
        return Output(text, text)
    return Output(text[:HEAD_CHARS], text[-TAIL_CHARS:])


def classify_output(output: Output, exit_code: int | None) -> ErrorClass:
    """Why a call failed; the name of the field that holds the reason does not count."""
    head = output.head
    name = _ERROR_FIELD.match(head) if head[:1] == "{" else None
    if name is None:
        return classify(output.first, output.final, output.tail, exit_code)
    reason = head[name.end() :]
    first = reason.partition("\n")[0]
    if not output.is_short:
        return classify(first, output.final, output.tail, exit_code)
    return classify(first, reason.rpartition("\n")[2], reason, exit_code)


def hides_exit(tool: str, line: str) -> bool:
    """Whether a command hides its exit code; in PowerShell a pipe keeps $LASTEXITCODE."""
    return is_masked(line) and tool not in POWERSHELLS


@lru_cache(maxsize=4096)
def _share_outcome(
    status: Status,
    evidence: str,
    certainty: Certainty,
    observed: tuple[bool | None, int | None, bool],
    reason: str | None,
    error_class: ErrorClass | None,
) -> Outcome:
    """Outcomes repeat: a few hundred serve nearly all calls, so they are made once and shared."""
    harness_error, exit_code, masked = observed
    return Outcome(
        status=status,
        certainty=certainty,
        evidence=evidence,
        harness_error=harness_error,
        exit_code=exit_code,
        error_class=error_class,
        reason=reason,
        masked=masked,
    )
