"""Settles the starts of sessions: finds their transcripts, judges them, updates the records.

A start knows its session by the id the agent was given. Where the agent made one up itself, the
session is the one of that agent, in that folder, that began next with the same first message; if
the message is not known, several that fit are left alone. A session settles one start, a start
settles once, and only when its session has been quiet for a while. Example calls of the warm-up
never count, and of a session that was there before its start only what came after does.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import islice

from warmstart.app.checks import judge_success
from warmstart.app.core import Workspace
from warmstart.app.facts import MASKED, LateMask, read_facts
from warmstart.app.starts import find_start, hash_message, open_starts
from warmstart.app.templates import open_library
from warmstart.errors import NotFoundError, UsageError
from warmstart.facts import CUT, derive_facts, find_first_words
from warmstart.library import Retired
from warmstart.model import Arm, Call, Link, Selection, Session, SessionFacts, Status, last_active
from warmstart.sources import ReadLog
from warmstart.store import RecordedStart, TemplateDB

IDLE_SECONDS = 600.0
"""A session that nothing was written to for this long is over."""
LATE_SECONDS = 300.0
"""How long after its start a session may begin; agents that install things first take a while."""
EARLY_SECONDS = 5.0
"""Clocks differ."""
KEPT_SECONDS = 35 * 86_400.0
"""Older starts are not looked for: agents delete their sessions after a month."""
NAME_THEMSELVES = frozenset({"codex"})
"""Agents that take a session's id from its warm-up and make one up where there is none."""
EVERY = 1 << 40
NO_MESSAGE = hash_message("")


class SyncResult(StrEnum):
    """What came of looking for a start's session."""

    SETTLED = "settled"
    RUNNING = "running"
    """Found, and written to a moment ago."""
    NOT_FOUND = "not found"
    AMBIGUOUS = "ambiguous"
    """More than one session fits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Synced:
    """One start and what was found."""

    start: RecordedStart
    result: SyncResult
    session_id: str | None = None
    calls: int | None = None
    errors: int | None = None
    success: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncReport:
    """Everything one run did."""

    rows: tuple[Synced, ...] = ()
    """Oldest start first."""
    retired: tuple[Retired, ...] = ()
    """Templates taken out of use because of their record."""

    def count(self, result: SyncResult) -> int:
        """How many starts came to this."""
        return sum(row.result is result for row in self.rows)


def sync_starts(
    workspace: Workspace,
    log: ReadLog,
    *,
    idle_seconds: float = IDLE_SECONDS,
    now: float | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> SyncReport:
    """Settle every start whose session is there and over; running it again changes nothing.

    Raises:
        StoreError: the store cannot be used.
    """
    moment = time.time() if now is None else now
    with open_library(workspace) as library:
        db = library.require_db()
        starts = db.list_starts(unsettled=True, since=moment - KEPT_SECONDS, limit=EVERY)
        if not starts:
            return SyncReport()
        since = min(start.started_at for start in starts) - EARLY_SECONDS
        facts = list(read_facts(workspace, Selection(since=since), log, on_progress=on_progress))
        search = _Search(workspace, facts, _list_taken(db, moment))
        rows = tuple(_settle(db, search, start, moment - idle_seconds) for start in starts)
        settled = any(row.result is SyncResult.SETTLED for row in rows)
        return SyncReport(rows=rows, retired=tuple(library.retire_harmful()) if settled else ())


def _list_taken(db: TemplateDB, now: float) -> set[str]:
    """Sessions that settled a start already."""
    settled = db.list_starts(unsettled=False, since=now - 2 * KEPT_SECONDS, limit=EVERY)
    return {start.session_id for start in settled if start.session_id}


def _settle(db: TemplateDB, search: _Search, start: RecordedStart, quiet_since: float) -> Synced:
    fitting = search.find(start)
    if len(fitting) != 1:
        return Synced(start=start, result=SyncResult.AMBIGUOUS if fitting else SyncResult.NOT_FOUND)
    facts = fitting[0]
    search.taken.add(facts.id)
    found = Synced(start=start, result=SyncResult.RUNNING, session_id=facts.id)
    if (last_active(facts) or 0.0) > quiet_since:
        return found
    judged = _judge(search.workspace, start, facts)
    try:
        db.settle_start(start.id, facts.id, judged.calls, judged.errors, judged.success)
    except UsageError:  # another process was first with this session
        return replace(found, result=SyncResult.NOT_FOUND, session_id=None)
    return replace(
        found,
        result=SyncResult.SETTLED,
        calls=judged.calls,
        errors=judged.errors,
        success=judged.success,
    )


def find_first_start(workspace: Workspace, agent: str, native_id: str) -> RecordedStart | None:
    """The start of a session, also of one whose agent gave it an id of its own; else None.

    The same rule as ``sync_starts`` has: settled already, or the same folder, hour and message.
    """
    known = find_start(workspace, agent, native_id)
    if known is not None:
        return known
    session_id = f"{agent}:{native_id}"
    starts = _list_unnamed(workspace, agent)
    settled = [start for start in starts if start.session_id == session_id]
    if settled:
        return settled[0]
    starts = [start for start in starts if start.session_id is None]
    session = _read(workspace, session_id) if starts else None
    if session is None:
        return None
    search = _Search(workspace, [derive_facts(session)], set())
    began = session.started_at or 0.0
    starts.sort(key=lambda start: abs(start.started_at - began))
    return next(filter(search.find, starts), None)


def _list_unnamed(workspace: Workspace, agent: str) -> list[RecordedStart]:
    """Starts of an agent that gives its sessions their ids itself."""
    db = open_starts(workspace)
    if db is None:
        return []
    with closing(db):
        starts = db.list_starts(since=time.time() - 2 * KEPT_SECONDS, limit=EVERY)
    return [start for start in starts if start.agent == agent and start.native_id is None]


@dataclass(frozen=True, slots=True)
class _JudgedSession:
    calls: int
    errors: int
    success: bool | None


def _judge(workspace: Workspace, start: RecordedStart, facts: SessionFacts) -> _JudgedSession:
    """Counts of the calls that came after the start, and whether the task was done."""
    session = _read(workspace, facts.id)
    if session is None:  # gone since it was indexed; its facts are all there is
        errors = sum(call.status is Status.ERROR for call in facts.calls)
        success = None if facts.reward is None else facts.reward > 0
        return _JudgedSession(len(facts.calls), errors, success)
    is_new = (session.started_at or start.started_at) >= start.started_at
    calls = [call for call in session.calls if is_new or _is_after(session, call, start)]
    errors = sum(call.outcome.status is Status.ERROR for call in calls)
    return _JudgedSession(len(calls), errors, judge_success(session, calls))


def _is_after(session: Session, call: Call, start: RecordedStart) -> bool:
    when = session.messages[call.message].timestamp
    return when is None or when >= start.started_at


def _read(workspace: Workspace, session_id: str) -> Session | None:
    try:
        return workspace.get_session(session_id, Selection(), ReadLog())
    except NotFoundError:
        return None


@dataclass(slots=True)
class _Search:
    """Sessions that may be what a start became."""

    workspace: Workspace
    facts: Sequence[SessionFacts]
    taken: set[str]
    by_id: dict[tuple[str, str], SessionFacts] = field(default_factory=dict)
    mask: LateMask = field(init=False)

    def __post_init__(self) -> None:
        for facts in self.facts:
            native = facts.id.partition(":")[2]
            for agent in {facts.agent, facts.origin}:
                self.by_id.setdefault((agent, native), facts)
        self.mask = LateMask(self.workspace)

    def find(self, start: RecordedStart) -> list[SessionFacts]:
        """The one session, several that fit alike, or none."""
        known = self.by_id.get((start.agent, start.native_id or ""))
        if known is not None:
            return [] if known.id in self.taken else [known]
        if _has_certain_id(start):
            return []  # it has no other id, so it is not there yet
        near = [facts for facts in self.facts if self._is_near(facts, start)]
        if start.message_hash in ("", NO_MESSAGE):
            return near
        near.sort(key=lambda facts: (abs((facts.started_at or 0.0) - start.started_at), facts.id))
        same = (facts for facts in near if self._has_message(facts, start.message_hash))
        return list(islice(same, 1))

    def _is_near(self, facts: SessionFacts, start: RecordedStart) -> bool:
        """Whether it is of that agent and folder, began right after, and is not taken."""
        if facts.id in self.taken or start.agent not in (facts.agent, facts.origin):
            return False
        if facts.parent is not None and facts.parent.link is Link.SUBAGENT:
            return False
        late = (facts.started_at or 0.0) - start.started_at
        return -EARLY_SECONDS <= late <= LATE_SECONDS and self._is_same_folder(facts, start)

    def _is_same_folder(self, facts: SessionFacts, start: RecordedStart) -> bool:
        """Formats without a folder are matched by the message alone."""
        if not facts.project or not start.cwd:
            return start.message_hash not in ("", NO_MESSAGE)
        if MASKED in facts.project:
            return facts.project in self.mask([start.cwd, os.path.realpath(start.cwd)])
        return os.path.realpath(facts.project) == os.path.realpath(start.cwd)

    def _has_message(self, facts: SessionFacts, wanted: str) -> bool:
        opening = facts.opening
        if opening.endswith(CUT) or MASKED in opening:  # a hash wants all of it, as it was written
            session = _read(self.workspace, facts.id)
            opening = find_first_words(session) if session else opening
        return wanted in (hash_message(opening), hash_message(opening.strip()))


def _has_certain_id(start: RecordedStart) -> bool:
    return start.native_id is not None and (
        start.arm is Arm.WARM or start.agent not in NAME_THEMSELVES
    )


__all__ = [
    "IDLE_SECONDS",
    "SyncReport",
    "SyncResult",
    "Synced",
    "find_first_start",
    "sync_starts",
]
