"""The judge: rules asked in the order of how much their evidence weighs; the first answer stands.

Explicit fields beat structure beats words. Adding a rule means adding a function to the table of
its kind of evidence, with a real shape as its test.
"""

from __future__ import annotations

from warmstart.model import Certainty, Outcome, Request, Result, Status
from warmstart.outcome import explicit, structure, words
from warmstart.outcome.case import Case
from warmstart.outcome.tools import ToolKind

RULES = {
    ToolKind.SHELL: structure.SHELL_RULES + words.SHELL_RULES,
    ToolKind.CODE: structure.RULES + words.CODE_RULES,
    ToolKind.READER: structure.RULES + words.RULES,
    ToolKind.OTHER: structure.RULES + words.RULES,
}
"""Rules for results without an explicit field, by the kind of tool."""

UNANSWERED = Outcome(status=Status.UNANSWERED, certainty=Certainty.STRUCTURAL, evidence="no_result")


def judge(request: Request, result: Result | None, origin: str = "") -> Outcome:
    """What became of a call, and which rule says so.

    ``origin`` is the reader's name; a few rules know what a particular harness always writes.
    """
    if result is None:
        return UNANSWERED
    case = Case(request, result, origin)
    for rule in explicit.RULES if case.is_explicit else RULES[case.kind]:
        outcome = rule(case)
        if outcome is not None:
            return outcome
    return words.nothing_wrong(case)
