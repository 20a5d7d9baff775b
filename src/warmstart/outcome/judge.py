"""The judge: rules asked in the order of how much their evidence weighs; the first answer stands.

Explicit fields beat structure beats words. Adding a rule means adding a function to the table of
its kind of evidence, with a real shape as its test.
"""

from __future__ import annotations

from collections.abc import Callable

from warmstart.model import Certainty, Outcome, Request, Result, Status
from warmstart.outcome import explicit, structure, words
from warmstart.outcome.case import POWERSHELLS, Case
from warmstart.outcome.markers import find_head_code
from warmstart.outcome.plain import (
    EXIT_ZERO,
    EXIT_ZERO_MASKED,
    is_plain_answer,
    is_plain_brief,
    is_plain_output,
    may_show_exit,
    opens_like_harness,
)
from warmstart.outcome.shell import is_masked
from warmstart.outcome.tools import ToolKind, command_of, kind_of

Rule = Callable[[Case], Outcome | None]

_WORD_RULES: dict[ToolKind, tuple[Rule, ...]] = {
    ToolKind.SHELL: words.SHELL_RULES,
    ToolKind.CODE: words.CODE_RULES,
    ToolKind.READER: words.RULES,
    ToolKind.OTHER: words.RULES,
}


def _rules_by_opening(kind: ToolKind) -> dict[str, tuple[Rule, ...]]:
    """The rules for results without an explicit field, by the character they begin with."""
    before = structure.SHELL_RULES if kind is ToolKind.SHELL else ()
    after = structure.SHELL_LAST_RULES if kind is ToolKind.SHELL else ()
    return {
        opening: (*before, *rules, *after, *_WORD_RULES[kind])
        for opening, rules in structure.RULES_BY_OPENING.items()
    }


RULES = {kind: _rules_by_opening(kind) for kind in ToolKind}
_SHELL = ToolKind.SHELL
_CODE = ToolKind.CODE
_SILENT_RULES = (structure.marker_left_out, words.silent_search)
"""Those that may speak of a command that printed nothing."""
UNANSWERED = Outcome(status=Status.UNANSWERED, certainty=Certainty.STRUCTURAL, evidence="no_result")


def judge(request: Request, result: Result | None, origin: str = "") -> Outcome:
    """What became of a call, and which rule says so.

    ``origin`` is the reader's name; a few rules know what a particular harness always writes.
    """
    if result is None:
        return UNANSWERED
    kind = kind_of(request.tool)
    if result.is_error is not None or result.exit_code is not None or result.status is not None:
        return _apply(explicit.RULES, Case(request, result, origin, kind))
    if kind is _SHELL:
        return _judge_shell(request, result, origin)
    text = result.text
    if is_plain_answer(text) and (kind is not _CODE or is_plain_brief(text)):
        return words.NOTHING_WRONG
    return _apply(_rules_for(kind, text), Case(request, result, origin, kind, ""))


def _judge_shell(request: Request, result: Result, origin: str) -> Outcome:
    """The same for a command without an explicit field; most show their exit code plainly."""
    text = result.text
    line = command_of(request.arguments)
    code = find_head_code(text)
    evidence = "exit_marker"
    if code is None:
        if origin != "claude_code" or request.tool != "Bash" or opens_like_harness(text):
            return _judge_unmarked(request, result, origin, line)
        code, evidence = 0, "marker_left_out"
    if code == 0:
        if not is_masked(line) or request.tool in POWERSHELLS:
            return EXIT_ZERO[evidence]
        if "$?" not in line and is_plain_output(text):
            return EXIT_ZERO_MASKED[evidence]
    return _judge_seen(Case(request, result, origin, _SHELL, line), code, evidence)


def _judge_unmarked(request: Request, result: Result, origin: str, line: str) -> Outcome:
    """The same where no exit code is in plain sight."""
    text = result.text
    if origin != "claude_code" and is_plain_brief(text, line):
        return words.NOTHING_WRONG
    rules = _rules_for(_SHELL, text) if text else _SILENT_RULES
    return _apply(rules, Case(request, result, origin, _SHELL, line))


def _judge_seen(case: Case, code: int, evidence: str) -> Outcome:
    """What the rules say of an exit code that was found before they were asked."""
    if code == 0:
        case.remember_masked()
    if evidence == "marker_left_out" and may_show_exit(case.result.text):
        return _apply(_rules_for(_SHELL, case.result.text), case)
    return explicit.judge_exit(case, code, evidence, Certainty.STRUCTURAL)


def _rules_for(kind: ToolKind, text: str) -> tuple[Rule, ...]:
    by_opening = RULES[kind]
    opening = text[:1]
    if opening.isspace():
        opening = text[:80].lstrip()[:1]
    return by_opening.get(opening) or by_opening[structure.ANY_OPENING]


def _apply(rules: tuple[Rule, ...], case: Case) -> Outcome:
    for rule in rules:
        outcome = rule(case)
        if outcome is not None:
            return outcome
    return words.NOTHING_WRONG
