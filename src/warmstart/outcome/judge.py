"""The judge: rules asked in the order of how much their evidence weighs; the first answer stands.

Explicit fields beat structure beats words. Adding a rule means adding a function to the table of
its kind of evidence, with a real shape as its test.
"""

from __future__ import annotations

from collections.abc import Callable

from warmstart.model import Certainty, Outcome, Request, Result, Status
from warmstart.outcome import explicit, structure, words
from warmstart.outcome.case import Case
from warmstart.outcome.plain import find_plain_outcome, is_plain_answer, is_plain_brief
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
    line = ""
    if kind is _SHELL:
        line = command_of(request.arguments)
        plain = find_plain_outcome(request.tool, line, result.text, origin)
    elif is_plain_answer(result.text) and (kind is not _CODE or is_plain_brief(result.text)):
        plain = words.NOTHING_WRONG
    else:
        plain = None
    if plain is not None:
        return plain
    by_opening = RULES[kind]
    rules = by_opening.get(result.text[:80].lstrip()[:1]) or by_opening[structure.ANY_OPENING]
    return _apply(rules, Case(request, result, origin, kind, line))


def _apply(rules: tuple[Rule, ...], case: Case) -> Outcome:
    for rule in rules:
        outcome = rule(case)
        if outcome is not None:
            return outcome
    return words.NOTHING_WRONG
