"""Sessions to list, to read and to write: each use case returns one result.

A listing keeps one small row per session, never the session itself; rows come from the facts index,
so only sessions that are new or have changed are read.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple, Protocol

from warmstart.app.core import Workspace
from warmstart.app.facts import Progress, read_rows
from warmstart.app.redaction import open_redactor, redact_texts
from warmstart.errors import NotFoundError
from warmstart.export import EXPORTERS
from warmstart.model import Call, Described, Selection, Session, SessionFacts, Status, last_active
from warmstart.sources import ReadLog
from warmstart.wire import encode_line

__all__ = [
    "CallTally",
    "ListedSession",
    "SessionExport",
    "SessionList",
    "ShownSession",
    "export_sessions",
    "find_period",
    "list_sessions",
    "share_texts",
    "shorten_ids",
    "show_session",
]

MIN_ID_LENGTH = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class CallTally:
    """Calls by how they ended."""

    statuses: Counter[Status]

    @classmethod
    def of(cls, calls: Iterable[Call]) -> CallTally:
        """Count calls."""
        return cls(statuses=Counter(call.outcome.status for call in calls))

    @property
    def calls(self) -> int:
        """All of them."""
        return self.statuses.total()

    @property
    def errors(self) -> int:
        """Those that failed."""
        return self.statuses[Status.ERROR]

    @property
    def judged(self) -> int:
        """Those that say something about the agent: ok or error."""
        return self.statuses[Status.OK] + self.statuses[Status.ERROR]

    @property
    def rate(self) -> float | None:
        """Errors among the judged; None where nothing was."""
        return self.errors / self.judged if self.judged else None


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedSession:
    """A row of a listing."""

    facts: SessionFacts
    """Without calls and markers."""
    native_id: str
    tally: CallTally

    @property
    def id(self) -> str:
        """``origin:native_id``."""
        return self.facts.id

    @property
    def when(self) -> float | None:
        """When it was last written to."""
        return last_active(self.facts)

    @property
    def name(self) -> str:
        """The title as it was given, or the user's first words."""
        return self.facts.title or self.facts.opening


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionList:
    """The newest of the sessions selected, and totals over all of them."""

    rows: tuple[ListedSession, ...]
    """Newest first."""
    ids: Mapping[str, str]
    """For each row, the shortest text that finds it among all."""
    found: int
    totals: CallTally
    log: ReadLog
    selection: Selection
    """What was asked for, to say so where nothing matches."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownSession:
    """One session as it was read."""

    session: Session
    log: ReadLog


class SessionExport(NamedTuple):
    """Sessions on their way out."""

    lines: Iterator[bytes]
    """One per session; raises ``NotFoundError`` where there is no session to write."""
    log: ReadLog
    """What could not be read, once all lines were taken."""


class Named(Protocol):
    """A session by its two ids."""

    @property
    def id(self) -> str:
        """``origin:native_id``."""

    @property
    def native_id(self) -> str:
        """The agent's own id."""


def list_sessions(
    workspace: Workspace,
    selection: Selection,
    *,
    limit: int | None = None,
    on_progress: Progress | None = None,
) -> SessionList:
    """The sessions selected, the newest first.

    Raises:
        NotFoundError: there is nothing at a path.
    """
    log = ReadLog()
    rows = list(read_rows(workspace, selection, log, on_progress=on_progress))
    rows.sort(key=_age_key, reverse=True)
    listed = tuple(_make_row(row) for row in rows[:limit])
    return SessionList(
        rows=listed,
        ids=shorten_ids(rows, listed),
        found=len(rows),
        totals=CallTally(statuses=_add_up(rows)),
        log=log,
        selection=selection,
    )


def _age_key(row: SessionFacts) -> tuple[bool, float, str]:
    when = last_active(row)
    return when is not None, when or 0.0, row.id


def _add_up(rows: Sequence[SessionFacts]) -> Counter[Status]:
    totals = map(sum, zip(*(row.statuses for row in rows), strict=True)) if rows else ()
    return Counter(dict(zip(Status, totals, strict=False)))


def _make_row(facts: SessionFacts) -> ListedSession:
    return ListedSession(
        facts=facts,
        native_id=facts.native_id,
        tally=CallTally(statuses=Counter(dict(zip(Status, facts.statuses, strict=True)))),
    )


def show_session(workspace: Workspace, wanted: str, selection: Selection) -> ShownSession:
    """The session whose id is, or begins with, ``wanted``, as it was read.

    Raises:
        NotFoundError: no session has it.
        AmbiguousError: more than one begins with it.
    """
    log = ReadLog()
    return ShownSession(session=workspace.get_session(wanted, selection, log), log=log)


def share_texts(workspace: Workspace, value: object) -> object:
    """Records with every text in them fit to be sent: no secrets, home folders, users or hosts.

    The texts are walked twice, so that what is found in a late one is taken out of early ones too.
    """
    redactor = open_redactor(workspace, pii=True)
    redact_texts(value, redactor)
    return redact_texts(value, redactor)


def export_sessions(
    workspace: Workspace, items: Sequence[str], selection: Selection, target: str
) -> SessionExport:
    """Sessions as lines of JSON, made while they are taken; items are paths and ids mixed."""
    log = ReadLog()
    return SessionExport(_write_lines(workspace, items, selection, target, log), log)


def _write_lines(
    workspace: Workspace, items: Sequence[str], selection: Selection, target: str, log: ReadLog
) -> Iterator[bytes]:
    export, written = EXPORTERS[target], 0
    for session in _find_sessions(workspace, items, selection, log):
        written += 1
        yield encode_line(export(session))
    if not written:
        raise NotFoundError(
            "no session matches", wanted=", ".join(items), hint="warmstart sessions list"
        )


def _find_sessions(
    workspace: Workspace, items: Sequence[str], selection: Selection, log: ReadLog
) -> Iterator[Session]:
    paths = tuple(item for item in items if Path(item).exists())
    ids = [item for item in items if item not in paths]
    selection = replace(selection, paths=paths)
    if not ids:
        yield from workspace.read_sessions(selection, log)
    for wanted in ids:
        session = workspace.get_session(wanted, selection, log)
        if selection.matches(session):
            yield session


def find_period(sessions: Iterable[Described]) -> tuple[float, float] | None:
    """When the first session began and the last was written to; None where none has a time."""
    firsts, lasts = [], []
    for one in sessions:
        first = one.started_at if one.started_at is not None else one.ended_at
        last = last_active(one)
        if first is not None and last is not None:
            firsts.append(first)
            lasts.append(last)
    return (min(firsts), max(lasts)) if firsts else None


def shorten_ids(rows: Iterable[Named], shown: Iterable[Named] | None = None) -> dict[str, str]:
    """For each id shown, the shortest text that finds it among all; eight characters at least."""
    named = {(row.native_id, row.id) for row in rows}
    origins = Counter(native for native, _ in named)
    natives = sorted(origins)
    wanted = named if shown is None else {(row.native_id, row.id) for row in shown}
    return {
        full: _shorten(native, natives) if origins[native] == 1 else full for native, full in wanted
    }


def _shorten(native: str, natives: Sequence[str]) -> str:
    """An id cut where it differs from its neighbors in the sorted list."""
    if not native.isprintable():  # half an escape sequence would not be cleaned away
        return native
    at = bisect_left(natives, native)
    neighbors = (*natives[max(at - 1, 0) : at], *natives[at + 1 : at + 2])
    shared = max((_shared_length(native, other) for other in neighbors), default=0)
    length = max(shared + 1, MIN_ID_LENGTH)
    # Cutting off a character or two makes an id no shorter to type, only odd to read.
    return native if len(native) - length < 4 else native[:length]


def _shared_length(one: str, other: str) -> int:
    """How many characters two ids begin with in common."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))
