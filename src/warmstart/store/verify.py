"""Checking that the store still holds what was written.

Everything that can be derived is derived again: each message's hash from its columns, each
session's counters from its messages, and SQLite's own page checks. Nothing is repaired here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from warmstart.store.backend import Backend, Dialect, OpenStore, Row, find_one
from warmstart.store.encoding import INSERT_COLUMNS, count_calls, decode_message, hash_columns
from warmstart.store.errors import StoreError

PAGE = 1000


class ProblemKind(StrEnum):
    """What can differ."""

    DAMAGED_FILE = "damaged_file"
    CONTENT_HASH = "content_hash"
    MESSAGE_COUNT = "message_count"
    TOOL_CALL_COUNT = "tool_call_count"


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreProblem:
    """One thing that differs."""

    kind: ProblemKind
    session_id: str | None = None
    message_id: int | None = None
    stored: str
    derived: str

    def __str__(self) -> str:
        where = f"session {self.session_id}" if self.session_id else "the store"
        if self.message_id is not None:
            where += f", message {self.message_id}"
        return f"{where}: {self.kind} is {self.stored}, should be {self.derived}"


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyReport:
    """What was looked at and what differs."""

    sessions: int
    messages: int
    problems: tuple[StoreProblem, ...]

    @property
    def is_clean(self) -> bool:
        """Whether nothing differs."""
        return not self.problems


def verify(db: OpenStore) -> VerifyReport:
    """Hashes and counters derived again, with every difference."""
    problems = list(_check_file(db.backend))
    is_readable = not problems
    sessions = messages = 0
    try:
        for row in _page_sessions(db.backend):
            sessions += 1
            found = list(_page_messages(db.backend, row["id"]))
            messages += len(found)
            problems += _check_session(row, found)
    except StoreError:
        # A damaged file, already named, need not be readable to its end.
        if is_readable:
            raise
    return VerifyReport(sessions=sessions, messages=messages, problems=tuple(problems))


def _check_file(backend: Backend) -> Iterator[StoreProblem]:
    if backend.dialect is not Dialect.SQLITE:
        return
    for row in backend.query("PRAGMA quick_check"):
        answer = str(next(iter(row.values())))
        if answer != "ok":
            yield StoreProblem(kind=ProblemKind.DAMAGED_FILE, stored=answer, derived="ok")


def _check_session(row: Row, messages: list[Row]) -> Iterator[StoreProblem]:
    active = [message for message in messages if message["active"]]
    for message in messages:
        derived = _derive_hash(message)
        if derived != message["content_hash"]:
            yield StoreProblem(
                kind=ProblemKind.CONTENT_HASH,
                session_id=row["id"],
                message_id=message["id"],
                stored=str(message["content_hash"]),
                derived=derived,
            )
    calls = sum(count_calls(_calls(message)) for message in active)
    for kind, derived_count in (
        (ProblemKind.MESSAGE_COUNT, len(active)),
        (ProblemKind.TOOL_CALL_COUNT, calls),
    ):
        if row[kind] != derived_count:
            yield StoreProblem(
                kind=kind, session_id=row["id"], stored=str(row[kind]), derived=str(derived_count)
            )


def _derive_hash(message: Row) -> str:
    try:
        return hash_columns([message[name] for name in INSERT_COLUMNS])
    except TypeError:
        # Bytes where text or a number was written.
        return "unreadable"


def _calls(message: Row) -> object:
    try:
        return decode_message({"tool_calls": message["tool_calls"]})["tool_calls"]
    except (TypeError, ValueError):
        # Text that is no longer JSON has already failed its hash.
        return None


def _page_sessions(backend: Backend) -> Iterator[Row]:
    after: str | None = ""
    sql = "SELECT id, message_count, tool_call_count FROM sessions WHERE id > ? ORDER BY id LIMIT 1"
    while row := find_one(backend, sql, after):
        yield row
        after = row["id"]


def _page_messages(backend: Backend, session_id: str) -> Iterator[Row]:
    columns = ", ".join(("id", *INSERT_COLUMNS, "active", "content_hash"))
    after = 0
    while rows := backend.query(
        f"SELECT {columns} FROM messages WHERE session_id = ? AND id > ? ORDER BY id LIMIT ?",
        (session_id, after, PAGE),
    ):
        yield from rows
        after = rows[-1]["id"]
