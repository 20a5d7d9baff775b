"""Sessions that were started: found by their own id, before and after their transcripts are.

An agent's hook asks this at every message of the user, so nothing more is loaded than the answer
needs.
"""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from warmstart.app.core import Workspace
from warmstart.library.catalogue import find_store
from warmstart.store import RecordedStart, TemplateDB, open_template_db


def find_start(workspace: Workspace, agent: str, native_id: str) -> RecordedStart | None:
    """The start of the session an agent calls by that id, or None."""
    db = open_starts(workspace)
    if db is None:
        return None
    with closing(db):
        return db.find_start(agent, native_id)


def open_starts(workspace: Workspace) -> TemplateDB | None:
    """The store's rows of starts, for reading; None where there is no store yet."""
    location = find_store(workspace.home, None)
    if "://" not in location and not Path(location).exists():
        return None
    return open_template_db(location)


__all__ = ["find_start", "open_starts"]
