"""The table of starts: sessions that were started, warm or not, and how they went.

A start is written when a session begins and settled once when its transcript has been read; both
update the counts of its template in the same transaction, so counts and rows always agree. A start
settles exactly once, and a session settles at most one start.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from warmstart.errors import NotFoundError, UsageError
from warmstart.model import Arm
from warmstart.store.backend import (
    Backend,
    Clause,
    OpenStore,
    Row,
    Value,
    find_one,
    join_clauses,
)
from warmstart.store.values import check_id, make_storable

COLUMNS = (
    "agent", "model", "template", "template_id", "version", "arm", "form", "message_hash",
    "started_at", "cwd", "native_id",
)  # fmt: skip
INSERT = f"INSERT INTO starts ({', '.join(COLUMNS)}) VALUES ({', '.join('?' * len(COLUMNS))})"
COUNT_USE = """INSERT INTO template_records (template_id, model, arm, uses) VALUES (?, ?, ?, 1)
    ON CONFLICT (template_id, model, arm) DO UPDATE SET uses = template_records.uses + 1"""
COUNT_OUTCOME = """UPDATE template_records SET successes = successes + ?, failures = failures + ?,
    calls = calls + ?, errors = errors + ? WHERE template_id = ? AND model = ? AND arm = ?"""
SETTLE = """UPDATE starts SET session_id = ?, calls = ?, errors = ?, success = ?, settled_at = ?
    WHERE id = ? AND settled_at IS NULL"""
DEFAULT_LIMIT = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """One session as it began."""

    agent: str
    arm: Arm
    model: str | None = None
    template: str | None = None
    """The template that was used, or that fitted and was held out."""
    template_id: str | None = None
    version: int | None = None
    form: str = ""
    """How the warm-up was given to the agent; ends in ``unreviewed`` if nobody approved it."""
    message_hash: str = ""
    started_at: float
    cwd: str | None = None
    native_id: str | None = None
    """The id the agent is expected to give the session, if that is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedStart(Start):
    """A start as the store has it."""

    id: int
    session_id: str | None = None
    """``origin:native_id`` of the session it turned out to be."""
    calls: int | None = None
    errors: int | None = None
    success: bool | None = None
    """None where nothing says whether the task was done."""
    settled_at: float | None = None


def record_start(db: OpenStore, start: Start) -> int:
    """Store a start and count the use of its template; the start's id."""
    values = _encode(start)

    def work() -> int:
        row_id = db.backend.insert(INSERT, values)
        db.backend.execute(COUNT_USE, _record_key(start))
        return int(row_id or 0)

    return db.backend.write(work)


def get_start(db: OpenStore, start_id: int) -> RecordedStart:
    """One start.

    Raises:
        NotFoundError: no start has that id.
    """
    row = find_one(db.backend, "SELECT * FROM starts WHERE id = ?", start_id)
    if row is None:
        raise NotFoundError(f"no start has the id {start_id}", wanted=str(start_id))
    return _decode(row)


def find_start(db: OpenStore, agent: str, native_id: str) -> RecordedStart | None:
    """The first start of the session that an agent calls by that id, or None."""
    sql = "SELECT * FROM starts WHERE native_id = ? AND agent = ? ORDER BY id LIMIT 1"
    row = find_one(db.backend, sql, native_id, agent)
    return None if row is None else _decode(row)


def list_starts(
    db: OpenStore,
    *,
    unsettled: bool | None = None,
    template_id: str | None = None,
    since: float | None = None,
    limit: int = DEFAULT_LIMIT,
) -> list[RecordedStart]:
    """Starts, oldest first: all of them, or only unsettled or settled ones."""
    clauses: list[Clause] = []
    if unsettled is not None:
        clauses.append((f"settled_at IS {'' if unsettled else 'NOT '}NULL", []))
    if template_id is not None:
        clauses.append(("template_id = ?", [template_id]))
    if since is not None:
        clauses.append(("started_at >= ?", [since]))
    condition, values = join_clauses(clauses)
    rows = db.backend.query(
        f"SELECT * FROM starts WHERE {condition} ORDER BY started_at, id LIMIT ?",
        [*values, limit],
    )
    return [_decode(row) for row in rows]


def settle_start(
    db: OpenStore,
    start_id: int,
    session_id: str,
    calls: int,
    errors: int,
    success: bool | None,  # noqa: FBT001 - the callers' signature
) -> bool:
    """Record how a start went; False, and nothing changes, if it was settled before.

    Raises:
        NotFoundError: there is no such start.
        UsageError: the numbers are impossible, or the session settled another start.
    """
    if not 0 <= errors <= calls:
        raise UsageError(f"{errors} errors in {calls} calls are impossible")
    check_id(session_id)

    def work() -> bool:
        start = get_start(db, start_id)
        if start.settled_at is not None:
            return False
        _check_free(db.backend, session_id, start_id)
        outcome = None if success is None else int(success)
        values = (session_id, calls, errors, outcome, time.time(), start_id)
        # On PostgreSQL another writer may have been first since the row was read.
        if not db.backend.execute(SETTLE, values):
            return False
        counts = (int(success is True), int(success is False), calls, errors)
        db.backend.execute(COUNT_OUTCOME, (*counts, *_record_key(start)))
        return True

    return db.backend.write(work)


def _check_free(backend: Backend, session_id: str, start_id: int) -> None:
    sql = "SELECT id FROM starts WHERE session_id = ? AND id <> ?"
    other = find_one(backend, sql, session_id, start_id)
    if other is not None:
        raise UsageError(f"the session {session_id!r} settled start {other['id']} already")


def _record_key(start: Start) -> tuple[str, str, str]:
    """Starts without a template count too: they are what templates are compared with."""
    return (start.template_id or "", start.model or "", str(start.arm))


def _encode(start: Start) -> list[Value]:
    values: list[Value] = []
    for name in COLUMNS:
        value = getattr(start, name)
        values.append(make_storable(str(value)) if isinstance(value, str) else value)
    return values


def _decode(row: Row) -> RecordedStart:
    row["arm"] = Arm(row["arm"])
    row["success"] = None if row["success"] is None else bool(row["success"])
    return RecordedStart(**row)
