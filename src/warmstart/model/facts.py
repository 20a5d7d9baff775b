"""What is kept of a session so that it need not be read again: one small row per call.

Profiles, learning curves, compaction checks and the candidates for mining are all computed from
these. Contents stay in the source and are fetched for the few calls that were chosen.

These records also define the tables of ``facts.db`` (``facts.tables``): a field added here is a
column there, so it must be a number, a text, a boolean, a ``StrEnum``, one of these or None, or a
record of such fields.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec

from warmstart.model.marker import Marker, MarkerKind
from warmstart.model.message import Tokens
from warmstart.model.outcome import Certainty, ErrorClass, Status
from warmstart.model.session import NO_TOKENS, Parent

__all__ = [
    "CallFact",
    "Marker",
    "MarkerKind",
    "SessionFacts",
    "StatusCounts",
    "UserStyleCounts",
]


class CallFact(NamedTuple):
    """One counted call. A tuple, because there are hundreds of thousands of them."""

    position: int
    """0 for the first counted call of the session."""
    message: int
    """Index into ``Session.messages`` of the message that asked."""
    turn: int
    """How many turns of the user came before it; 0 before the first."""
    tool: str
    status: Status
    certainty: Certainty
    error_class: ErrorClass | None
    masked: bool
    """The command hides its own exit code."""
    arguments_hash: int
    """Equal for calls of one tool with identical arguments (64-bit hash)."""
    signature_hash: int
    """Equal for calls of one tool with the same argument names and kinds of value."""
    evidence: str = ""
    """The rule that decided, as listed in docs/outcomes.md."""
    exit_code: int | None = None
    """The command's exit code as observed, or implied by a silent search."""


class StatusCounts(NamedTuple):
    """Calls by how they ended: one field per ``Status``, in its order."""

    ok: int = 0
    error: int = 0
    rejected: int = 0
    cancelled: int = 0
    unanswered: int = 0
    unknown: int = 0

    @classmethod
    def of(cls, calls: Iterable[CallFact]) -> StatusCounts:
        """The counts of some calls."""
        statuses = [call.status for call in calls]
        return cls(*map(statuses.count, Status)) if statuses else cls()


class UserStyleCounts(NamedTuple):
    """How the user writes, as counts over their own turns; styles are derived from them."""

    messages: int = 0
    words: int = 0
    questions: int = 0
    commands: int = 0
    """Turns that begin with an imperative verb or a slash command."""
    corrections: int = 0
    """Turns that say the agent's last step was wrong."""
    long: int = 0
    """Turns of 60 words or more."""
    short: int = 0
    """Turns of 6 words or fewer."""
    polite: int = 0
    """Turns with please, thanks and the like."""


class SessionFacts(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One session without its contents."""

    id: str
    """``origin:native_id``."""
    origin: str
    agent: str
    agent_version: str | None = None
    platform: str | None = None
    """Where the user spoke to the agent ("cli", "telegram")."""
    model: str | None = None
    title: str | None = None
    opening: str = ""
    """The user's first words, cut; what a listing shows where there is no title."""
    project: str | None = None
    git_branch: str | None = None
    started_at: float | None = None
    ended_at: float | None = None
    end_reason: str | None = None
    parent: Parent | None = None
    task: str | None = None
    reward: float | None = None
    cost_usd: float | None = None
    tokens: Tokens = NO_TOKENS
    messages: int = 0
    """Messages that count: no copies, nothing rewound, no warm-up."""
    turns: int = 0
    """The user's own turns."""
    warmups: int = 0
    """Messages a warm start put in; never part of any rate."""
    calls: Sequence[CallFact] = ()
    compactions: tuple[int, ...] = ()
    """For each compaction, the position of the first call after it."""
    markers: Sequence[Marker] = ()
    """The most used ones, most used first."""
    user_style: UserStyleCounts = UserStyleCounts()
    statuses: StatusCounts = StatusCounts()
    """Of ``calls``; known also where those were not loaded."""
    path: str | None = None
    """The file or database it was read from."""

    @property
    def native_id(self) -> str:
        """The agent's own id."""
        return self.id.removeprefix(f"{self.origin}:")
