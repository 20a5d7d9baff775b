"""One conversation of one agent, with its calls joined and judged."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from warmstart.model.message import Message, Request, Result, Tokens
from warmstart.model.outcome import Outcome

NO_TOKENS = Tokens()


class Link(StrEnum):
    """Why a session has a parent."""

    COMPACTION = "compaction"
    SUBAGENT = "subagent"
    BRANCH = "branch"
    RESET = "reset"
    UNKNOWN = "unknown"


class Parent(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The session this one came from."""

    id: str
    """Full id, ``origin:native_id``."""
    link: Link


class Compaction(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A point where the conversation was replaced by a summary of itself, or cleared."""

    at: int
    """Index into ``Session.messages`` of the first message after it."""
    trigger: str | None = None
    """"auto" or "manual" where the source says; "clear" where nothing of it was kept."""
    tokens_before: int | None = None
    tokens_after: int | None = None


class Call(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A tool call joined to its result by id, whatever stands between them."""

    request: Request
    result: Result | None
    outcome: Outcome
    position: int
    """0 for the first counted call of the session."""
    message: int
    """Index into ``Session.messages`` of the message that asked."""

    @property
    def tool(self) -> str:
        """The tool's name as the agent wrote it."""
        return self.request.tool


class Session(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A conversation. ``calls`` holds the counted ones only; ``messages`` holds everything."""

    origin: str
    """The reader's name: which format it was read from."""
    native_id: str
    messages: tuple[Message, ...] = ()
    calls: tuple[Call, ...] = ()
    agent: str
    """Which agent wrote it ("hermes", "claude_code"); equals ``origin`` unless the format is shared
    by many agents."""
    agent_version: str | None = None
    platform: str | None = None
    """Where the user spoke to the agent ("cli", "telegram"), where the format says."""
    model: str | None = None
    title: str | None = None
    project: str | None = None
    """The working directory, or what the format has in its place (a suite, a repository)."""
    git_branch: str | None = None
    started_at: float | None = None
    ended_at: float | None = None
    """The last moment anything was written, where the source does not say more."""
    end_reason: str | None = None
    parent: Parent | None = None
    compactions: tuple[Compaction, ...] = ()
    tokens: Tokens = NO_TOKENS
    cost_usd: float | None = None
    task: str | None = None
    """The benchmark task it was a run of, where the format names one."""
    reward: float | None = None
    """The task's own score where the format has one: the best ground truth there is."""
    path: str | None = None
    """The file it was read from."""

    @property
    def id(self) -> str:
        """Identity everywhere: ``origin:native_id``."""
        return f"{self.origin}:{self.native_id}"
