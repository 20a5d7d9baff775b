"""The library, opened with a short wait because a user is waiting.

Commands wait half a minute for a store that another process holds; a session that is about to
start would rather be cold, and a session's end is found by ``warmstart sync`` as well.
"""

from __future__ import annotations

from warmstart.app import Library, Workspace, open_library

PATIENCE_SECONDS = 2.0


def open_soon(workspace: Workspace) -> Library:
    """The library, or an error soon; it holds the store open until it is closed.

    Raises:
        StoreError: the store cannot be opened in time.
    """
    return open_library(workspace, patience_seconds=PATIENCE_SECONDS)


__all__ = ["open_soon"]
