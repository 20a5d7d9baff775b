"""Which sessions a command is about. Pure: it only looks at sessions that were already read.

Where to read (``paths``, ``format``) stands beside what to keep, so that one object travels from
the surface to the workspace.
"""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase

from warmstart.model.outcome import Status
from warmstart.model.session import Session


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

    def matches(self, session: Session) -> bool:
        """Whether a session passes every filter."""
        return (
            self._matches_names(session)
            and self._matches_time(session)
            and self._matches_size(session)
            and self._matches_calls(session)
        )

    def _matches_names(self, session: Session) -> bool:
        return (
            (self.source is None or self.source == session.origin)
            and (self.agent is None or _fold(self.agent) == _fold(session.agent))
            and (self.model is None or _fold(self.model) in _fold(session.model))
            and (self.project is None or _fold(self.project) in _fold(session.project))
        )

    def _matches_time(self, session: Session) -> bool:
        if self.since is not None:
            last = last_active(session)
            if last is None or last < self.since:
                return False
        if self.until is not None:
            first = session.started_at if session.started_at is not None else session.ended_at
            return first is not None and first < self.until
        return True

    def _matches_size(self, session: Session) -> bool:
        if self.min_messages is None and self.max_messages is None:
            return True
        size = count_messages(session)
        return (self.min_messages is None or size >= self.min_messages) and (
            self.max_messages is None or size <= self.max_messages
        )

    def _matches_calls(self, session: Session) -> bool:
        if self.errors_only and not any(c.outcome.status is Status.ERROR for c in session.calls):
            return False
        if self.tool is None:
            return True
        pattern = _fold(self.tool)
        return any(fnmatchcase(_fold(call.tool), pattern) for call in session.calls)


def count_messages(session: Session) -> int:
    """Messages that happened in this session: no copies, nothing rewound, no warm-up."""
    return sum(message.counts for message in session.messages)


def last_active(session: Session) -> float | None:
    """When anything was last written to a session."""
    return session.ended_at if session.ended_at is not None else session.started_at


def _fold(text: str | None) -> str:
    return (text or "").casefold()
