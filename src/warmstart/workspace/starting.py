"""Sessions that were started: found by their own id, before and after their transcripts are."""

from __future__ import annotations

from warmstart.errors import NotFoundError
from warmstart.store.starts import RecordedStart
from warmstart.workspace.core import Workspace
from warmstart.workspace.templates import open_library


def find_start(workspace: Workspace, agent: str, native_id: str) -> RecordedStart | None:
    """The start of the session an agent calls by that id, or None."""
    try:
        with open_library(workspace, read_only=True) as library:
            return library.db.find_start(agent, native_id) if library.db else None
    except NotFoundError:
        return None
