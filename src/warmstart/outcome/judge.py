"""The judge: rules asked in the order of how much their evidence weighs; the first answer stands.

Explicit fields beat structure beats words. Adding a rule means adding a function to the table of
its kind of evidence, with a real shape as its test.
"""

from __future__ import annotations

from collections.abc import Callable

from warmstart.model import Certainty, Outcome, Request, Result, Status
from warmstart.outcome import explicit, structure, words
from warmstart.outcome.case import Case
from warmstart.outcome.prefilter import find_plain
from warmstart.outcome.tools import ToolKind, kind_of

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
UNANSWERED = Outcome(status=Status.UNANSWERED, certainty=Certainty.STRUCTURAL, evidence="no_result")


def judge(request: Request, result: Result | None, origin: str = "") -> Outcome:
    """What became of a call, and which rule says so.

    ``origin`` is the reader's name; a few rules know what a particular harness always writes.
    """
    if result is None:
        return UNANSWERED
    kind = kind_of(request.tool)
    plain = find_plain(kind, request, result, origin)
    return plain if plain is not None else apply_rules(kind, request, result, origin)


def apply_rules(kind: ToolKind, request: Request, result: Result, origin: str) -> Outcome:
    """What became of a call by the rules alone."""
    case = Case(request, result, origin, kind)
    if result.is_error is not None or result.exit_code is not None or result.status is not None:
        return _apply(explicit.RULES, case)
    return _apply(_rules_for(kind, result.text), case)


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
