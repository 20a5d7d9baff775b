"""Which sessions a command is about. Pure: it only looks at sessions that were already read.

Where to read (``paths``, ``format``) stands beside what to keep, so that one object travels from
the surface to the workspace.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Protocol

from warmstart.model.facts import SessionFacts
from warmstart.model.outcome import Status
from warmstart.model.session import Session


class Described(Protocol):
    """What a session, its facts and its row in a listing have in common."""

    @property
    def origin(self) -> str:
        """The reader's name."""

    @property
    def agent(self) -> str:
        """Which agent wrote it."""

    @property
    def model(self) -> str | None:
        """The model that answered most."""

    @property
    def project(self) -> str | None:
        """The working directory."""

    @property
    def platform(self) -> str | None:
        """Where the user spoke to the agent."""

    @property
    def started_at(self) -> float | None:
        """When it began."""

    @property
    def ended_at(self) -> float | None:
        """When it was last written to."""


class Extract(Described, Protocol):
    """A session without its messages, which were counted."""

    @property
    def messages(self) -> int:
        """Messages that count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Filters over sessions; a field left None (or empty) keeps everything."""

    paths: tuple[str, ...] = ()
    """Files, folders or stores to read; empty for every store found on this machine."""
    format: str | None = None
    """Read the paths as this format instead of detecting it."""
    source: str | None = None
    """Origin: the format a session was first read from."""
    agent: str | None = None
    model: str | None = None
    """A part of the model's name."""
    since: float | None = None
    """Last written at or after this moment, in seconds since the epoch."""
    until: float | None = None
    """Started before this moment."""
    tool: str | None = None
    """Called this tool at least once; ``*`` and ``?`` stand for other characters."""
    min_messages: int | None = None
    max_messages: int | None = None
    errors_only: bool = False
    project: str | None = None
    """A part of the project's path."""
    platform: str | None = None
    """Where the user spoke to the agent: cli, telegram."""

    def matches(self, session: Session) -> bool:
        """Whether a session passes every filter."""
        return (
            self._matches_names(session)
            and self._matches_time(session)
            and (not self._asks_size or self._matches_size(count_messages(session)))
            and (
                not self.errors_only
                or any(call.outcome.status is Status.ERROR for call in session.calls)
            )
            and self._matches_tools(call.tool for call in session.calls)
        )

    def matches_facts(self, facts: SessionFacts) -> bool:
        """Whether a session with these facts passes every filter."""
        failed = any(call.status is Status.ERROR for call in facts.calls)
        return self.matches_extract(facts, failed=failed, tools=(call.tool for call in facts.calls))

    def matches_extract(self, extract: Extract, *, failed: bool, tools: Iterable[str]) -> bool:
        """Whether a session passes every filter, by its row, its failures and its tools."""
        return (
            self._matches_names(extract)
            and self._matches_time(extract)
            and self._matches_size(extract.messages)
            and (failed or not self.errors_only)
            and self._matches_tools(tools)
        )

    @property
    def has_filters(self) -> bool:
        """Whether anything that was read may be left out."""
        return self != Selection(paths=self.paths, format=self.format)

    @property
    def _asks_size(self) -> bool:
        return self.min_messages is not None or self.max_messages is not None

    def _matches_names(self, session: Described) -> bool:
        return (
            (self.source is None or self.source == session.origin)
            and (self.agent is None or _fold(self.agent) == _fold(session.agent))
            and (self.model is None or _fold(self.model) in _fold(session.model))
            and (self.project is None or _fold(self.project) in _fold(session.project))
            and (self.platform is None or _fold(self.platform) == _fold(session.platform))
        )

    def _matches_time(self, session: Described) -> bool:
        if self.since is not None:
            last = last_active(session)
            if last is None or last < self.since:
                return False
        if self.until is not None:
            first = session.started_at if session.started_at is not None else session.ended_at
            return first is not None and first < self.until
        return True

    def _matches_size(self, size: int) -> bool:
        return (self.min_messages is None or size >= self.min_messages) and (
            self.max_messages is None or size <= self.max_messages
        )

    def _matches_tools(self, tools: Iterable[str]) -> bool:
        if self.tool is None:
            return True
        pattern = _fold(self.tool)
        return any(fnmatchcase(_fold(tool), pattern) for tool in tools)


def count_messages(session: Session) -> int:
    """Messages that happened in this session: no copies, nothing rewound, no warm-up."""
    return sum(message.counts for message in session.messages)


def last_active(session: Described) -> float | None:
    """When anything was last written to a session."""
    return session.ended_at if session.ended_at is not None else session.started_at


def _fold(text: str | None) -> str:
    return (text or "").casefold()
