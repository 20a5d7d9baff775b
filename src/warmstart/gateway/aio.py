"""The session store for programs with an event loop.

    store = AsyncSessionStore(SessionStore(folder, config))
    entry = await store.get_or_create_session(source)

One thin proxy: every public method of the store, awaited, runs in a worker thread, so the loop
never waits for a disk or a lock. There is no second implementation to keep in step.
"""

from __future__ import annotations

import asyncio
import functools
from typing import Any, Self

from warmstart.gateway.session_store import SessionStore


class AsyncSessionStore:
    """The methods of a ``SessionStore``, each to be awaited; other attributes as they are."""

    def __init__(self, store: SessionStore) -> None:
        self.store = store

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"{type(self).__name__!r} has no attribute {name!r}")
        value = getattr(self.store, name)
        return functools.partial(asyncio.to_thread, value) if callable(value) else value

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await asyncio.to_thread(self.store.close)
