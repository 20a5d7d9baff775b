"""Placeholder until the rule tables are in."""

from __future__ import annotations

from warmstart.model import Certainty, Outcome, Request, Result, Status


def judge(request: Request, result: Result | None, origin: str = "") -> Outcome:
    """What became of a call."""
    del request, origin
    if result is None:
        return Outcome(
            status=Status.UNANSWERED, certainty=Certainty.STRUCTURAL, evidence="no_result"
        )
    failed = bool(result.is_error) or result.exit_code not in (None, 0)
    return Outcome(
        status=Status.ERROR if failed else Status.OK,
        certainty=Certainty.EXPLICIT,
        evidence="field",
        harness_error=result.is_error,
        exit_code=result.exit_code,
    )
