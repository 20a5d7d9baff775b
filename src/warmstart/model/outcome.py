"""What became of a tool call, and what that judgement rests on.

``status`` is the answer; ``harness_error`` and ``exit_code`` are what was observed. They are kept
apart because they disagree for good reasons: ``grep`` without a match exits 1 and is ok, a user's
"no" is flagged as an error by the agent's framework and is not one of the agent's.
"""

from __future__ import annotations

from enum import StrEnum

import msgspec


class Status(StrEnum):
    """How a call ended."""

    OK = "ok"
    ERROR = "error"
    REJECTED = "rejected"
    """The user, a policy or a hook refused; the agent did nothing wrong by asking."""
    CANCELLED = "cancelled"
    """Stopped from outside: an interrupt, or another call of the same batch failing first."""
    UNANSWERED = "unanswered"
    """The transcript has no result for it. Never counted as a success."""
    UNKNOWN = "unknown"
    """There is a result, and nothing in it decides (it was cut away by a compaction, say)."""


class Certainty(StrEnum):
    """What kind of evidence decided; explicit beats structural beats textual."""

    EXPLICIT = "explicit"
    """A field of the source whose meaning is success or failure."""
    STRUCTURAL = "structural"
    """A shape only the tool or its harness writes: result JSON, an exit-code marker."""
    TEXTUAL = "textual"
    """Words at the head or tail of the result, read in the context of the tool."""


class ErrorClass(StrEnum):
    """Why a call failed, in words a user would choose."""

    NOT_FOUND = "not_found"
    PERMISSION = "permission"
    TIMEOUT = "timeout"
    SYNTAX = "syntax"
    BAD_ARGUMENTS = "bad_arguments"
    UNKNOWN_TOOL = "unknown_tool"
    NONZERO_EXIT = "nonzero_exit"
    NETWORK = "network"
    RATE_LIMIT = "rate_limit"
    CONFLICT = "conflict"
    TEST_FAILURE = "test_failure"
    CRASH = "crash"
    OTHER = "other"


class Outcome(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The judgement of one call."""

    status: Status
    certainty: Certainty
    evidence: str
    """Name of the rule that decided, as listed in docs/outcomes.md."""
    harness_error: bool | None = None
    """The agent's own error flag, where it has one."""
    exit_code: int | None = None
    """The command's exit code as observed (or, for a silent ``grep``, implied)."""
    error_class: ErrorClass | None = None
    """Set exactly when ``status`` is error."""
    reason: str | None = None
    """Why a result that looks like a failure is not one ("no match"), for people."""
    masked: bool = False
    """The command hides its own exit code (``| tail``, ``|| true``): zero proves nothing."""

    @property
    def observed_failure(self) -> bool:
        """Whether the harness or the exit code reported failure, whatever that turned out to mean.

        This is the question a log's own error field answers: a benign exit 1 counts, a failure
        that a pipe hid does not. Where nothing was observed, the judgement itself answers.
        """
        if self.harness_error:
            return True
        if self.exit_code is not None:
            return self.exit_code != 0
        if self.harness_error is not None:
            return False
        return self.status is Status.ERROR
