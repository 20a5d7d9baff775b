"""Rules on fields whose meaning is success or failure. They beat everything else.

The one thing a field cannot say is whose failure it was: a harness flags a user's "no", and a
command exits 1 because it found nothing. Those are distinguished here.
"""

from __future__ import annotations

from warmstart.model import Certainty, Outcome, Status
from warmstart.outcome.case import Case
from warmstart.outcome.complaints import (
    find_complaint,
    find_hidden_complaint,
    find_reported_status,
)
from warmstart.outcome.markers import find_exit_code
from warmstart.outcome.refusals import REFUSAL_WORDS, find_refusal
from warmstart.outcome.shell import explain_exit, may_be_benign
from warmstart.outcome.tools import ToolKind


def source_states_ending(case: Case) -> Outcome | None:
    """The source itself says rejected or cancelled."""
    status = case.result.status
    return None if status is None else case.end(status, "source_states_ending", Certainty.EXPLICIT)


def harness_flags_error(case: Case) -> Outcome | None:
    """The agent's framework flagged the result as an error."""
    if case.result.is_error is not True:
        return None
    code = case.result.exit_code
    if code is None and case.kind is ToolKind.SHELL:
        code = find_exit_code(case)
    return judge_exit(case, code, "harness_flags_error", Certainty.EXPLICIT)


def exit_field(case: Case) -> Outcome | None:
    """The source keeps the command's exit code in a field."""
    code = case.result.exit_code
    return None if code is None else judge_exit(case, code, "exit_field", Certainty.EXPLICIT)


def harness_flags_success(case: Case) -> Outcome | None:
    """The framework has an error flag and did not raise it."""
    if case.result.is_error is not False:
        return None
    if case.kind is ToolKind.SHELL:
        code = find_exit_code(case)
        if code is not None:
            return judge_exit(case, code, "exit_marker", Certainty.STRUCTURAL)
        if case.is_masked():
            return judge_exit(case, 0, "harness_flags_success", Certainty.EXPLICIT)
    return case.end(Status.OK, "harness_flags_success", Certainty.EXPLICIT)


def judge_exit(case: Case, code: int | None, evidence: str, certainty: Certainty) -> Outcome:
    """What an exit code means for this command: benign, masked, or what it says."""
    if code == 0:
        complaint = _hidden_complaint(case) if case.is_masked() else None
        if complaint is not None:
            return case.fail(complaint, Certainty.TEXTUAL, exit_code=0)
        return case.end(Status.OK, evidence, certainty, exit_code=0)
    refusal = find_refusal(case.head) if case.opening() in REFUSAL_WORDS else None
    if refusal is not None:
        return case.end(
            refusal.status, refusal.name, certainty, exit_code=code, reason=refusal.reason
        )
    reason = _benign_reason(case, code)
    if reason is not None:
        return case.end(Status.OK, "benign_exit", certainty, exit_code=code, reason=reason)
    return case.fail(evidence, certainty, exit_code=code)


def _benign_reason(case: Case, code: int | None) -> str | None:
    """Why a non-zero exit is not a failure, unless an earlier command of the chain complained."""
    if code is None or not may_be_benign(case.line, code):
        return None
    reason = explain_exit(case.command(), code)
    return None if reason and case.command().chained and find_complaint(case) else reason


def _hidden_complaint(case: Case) -> str | None:
    """What the output of a command that hides its exit code says of a failure."""
    status = find_reported_status(case)
    if status is not None:
        return "reported_status" if status and not explain_exit(case.command(), status) else None
    return find_hidden_complaint(case)


RULES = (source_states_ending, harness_flags_error, exit_field, harness_flags_success)
