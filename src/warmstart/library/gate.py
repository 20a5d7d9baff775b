"""The one gate between a template and an agent: what nobody approved is refused.

    stored = require_approved(library.get(name), unreviewed=False)

Every surface that sends a template's text somewhere goes through here. A draft passes where the
caller asked for unreviewed text in so many words, and then says so; what is quarantined or retired
never passes.
"""

from __future__ import annotations

from warmstart.errors import UsageError
from warmstart.library.guard import find_flags
from warmstart.library.model import Stored, list_review_steps
from warmstart.model import TemplateState

__all__ = ["UnapprovedError", "require_approved", "say_unreviewed"]

MAX_KINDS = 5


class UnapprovedError(UsageError):
    """A template that may not be used; ``spec`` and ``state`` say which and why."""

    def __init__(self, stored: Stored, problem: str, *, hint: str) -> None:
        super().__init__(f"the template {stored.spec} {problem}", hint=hint)
        self.spec = stored.spec
        self.state = stored.state


def require_approved(stored: Stored, *, unreviewed: bool = False, way: str = "") -> Stored:
    """The template, if it may be used.

    Args:
        stored: the version that is about to be used.
        unreviewed: a draft will do.
        way: how this caller is told that, as ``--unreviewed``; empty where it cannot be.

    Raises:
        UnapprovedError: it is not approved.
    """
    state = stored.state
    if state is TemplateState.APPROVED or (unreviewed and state is TemplateState.DRAFT):
        return stored
    problem = f"is {_describe(stored)}{_name_flags(stored)}"
    steps = list_review_steps(stored.spec)
    hint = f"a person reads it and approves it: {steps[0]}; {steps[1]}"
    if way and state is TemplateState.DRAFT:
        hint += f"; to use it unread: {way}"
    raise UnapprovedError(stored, problem, hint=hint)


def say_unreviewed(stored: Stored) -> str:
    """What is said when a draft is used because someone asked for unreviewed text."""
    return f"{stored.spec} is a draft that nobody has reviewed{_name_flags(stored)}"


def _describe(stored: Stored) -> str:
    if stored.state is TemplateState.DRAFT:
        return "a draft that nobody has reviewed"
    why = f": {stored.reason}" if stored.reason else ""
    return f"{stored.state}{why}"


def _name_flags(stored: Stored) -> str:
    """The kinds of what was found in it; the words are for the page a person reads."""
    kinds = sorted({flag.rpartition(": ")[2] for flag in find_flags(stored.template)})
    if not kinds:
        return ""
    more = ", …" if len(kinds) > MAX_KINDS else ""
    return f", flagged for {', '.join(kinds[:MAX_KINDS])}{more}"
