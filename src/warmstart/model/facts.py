"""What is kept of a session so that it need not be read again: one small row per call.

Profiles, learning curves, compaction checks and the candidates for mining are all computed from
these. Contents stay in the source and are fetched for the few calls that were chosen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from warmstart.model.marker import Marker, MarkerKind
from warmstart.model.message import Tokens
from warmstart.model.outcome import Certainty, ErrorClass, Status
from warmstart.model.session import NO_TOKENS, Parent

__all__ = ["NO_VOICE", "CallFact", "Marker", "MarkerKind", "SessionFacts", "Voice"]


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
    same: int
    """Equal for calls of one tool with identical arguments (64-bit hash)."""
    shape: int
    """Equal for calls of one tool with the same argument names and kinds of value."""


class Voice(NamedTuple):
    """How the user writes, as counts over their own turns; styles are derived from it."""

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


NO_VOICE = Voice()


class SessionFacts(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One session without its contents."""

    id: str
    """``origin:native_id``."""
    origin: str
    agent: str
    agent_version: str | None = None
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
    voice: Voice = NO_VOICE
    path: str | None = None
    """The file or database it was read from."""
