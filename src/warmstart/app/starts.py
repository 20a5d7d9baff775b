"""Starts as the store keeps them: found by a session's own id, and settled when it is over.

An agent's hook asks for a start at every message of the user, so nothing more is loaded than the
answer needs.
"""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from warmstart.app.core import Workspace
from warmstart.home import find_store
from warmstart.store import open_template_db

if TYPE_CHECKING:
    from warmstart.library import Library, Retired
    from warmstart.store import RecordedStart, TemplateDB

__all__ = ["StartOutcome", "find_start", "hash_message", "open_starts", "settle_start"]


class StartOutcome(NamedTuple):
    """What became of a session that was started."""

    session_id: str
    """``origin:native_id``."""
    calls: int
    errors: int
    success: bool | None
    """None where nothing shows whether the task was done."""


def find_start(workspace: Workspace, agent: str, native_id: str) -> RecordedStart | None:
    """The start of the session that an agent calls by that id, or None."""
    db = open_starts(workspace)
    if db is None:
        return None
    with closing(db):
        return db.find_start(agent, native_id)


def open_starts(workspace: Workspace) -> TemplateDB | None:
    """The store's rows of starts, for reading; None where there is no store yet."""
    location = find_store(workspace.home)
    if "://" not in location and not Path(location).exists():
        return None
    return open_template_db(location)


def settle_start(library: Library, start_id: int, outcome: StartOutcome) -> list[Retired]:
    """Keep the outcome of a start; returns the templates that their records now retire.

    Raises:
        NotFoundError: there is no such start.
        UsageError: the numbers contradict each other, or the session settled another start.
    """
    is_new = library.require_db().settle_start(
        start_id, outcome.session_id, outcome.calls, outcome.errors, outcome.success
    )
    return library.retire_harmful() if is_new else []


def hash_message(message: str) -> str:
    """A message as the store knows it: enough to find it again, nothing to read."""
    from hashlib import sha256  # noqa: PLC0415 - loads OpenSSL; a hook's later messages need none

    return sha256(message.encode("utf-8", "replace")).hexdigest()[:16]
