"""The session store for programs with an event loop.

    store = AsyncSessionStore(SessionStore(folder, config))
    entry = await store.get_or_create_session(source)

Every public method of the store, with its own parameters, runs in a worker thread when awaited, so
the loop never waits for a disk or a lock. There is no second implementation to keep in step.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, ParamSpec, Self, TypeVar

from warmstart.gateway.session_store import SessionStore

P = ParamSpec("P")
T = TypeVar("T")


def _in_thread(method: Callable[P, T]) -> Callable[P, Coroutine[Any, Any, T]]:
    """The method as a coroutine function with the same parameters."""

    async def call(*args: P.args, **kwargs: P.kwargs) -> T:
        return await asyncio.to_thread(method, *args, **kwargs)

    return call


class AsyncSessionStore:
    """Every method of a ``SessionStore``, with the same parameters and types, to be awaited."""

    def __init__(self, store: SessionStore) -> None:
        self.store = store
        self.config = store.config
        self.sessions_dir = store.sessions_dir
        self.append_to_transcript = _in_thread(store.append_to_transcript)
        self.close = _in_thread(store.close)
        self.find_entry = _in_thread(store.find_entry)
        self.find_state = _in_thread(store.find_state)
        self.get_or_create_session = _in_thread(store.get_or_create_session)
        self.get_transcript_path = _in_thread(store.get_transcript_path)
        self.has_any_sessions = _in_thread(store.has_any_sessions)
        self.is_session_expired = _in_thread(store.is_session_expired)
        self.list_sessions = _in_thread(store.list_sessions)
        self.load_transcript = _in_thread(store.load_transcript)
        self.lookup_by_session_id = _in_thread(store.lookup_by_session_id)
        self.prune_old_entries = _in_thread(store.prune_old_entries)
        self.reset_session = _in_thread(store.reset_session)
        self.resolve_session_id = _in_thread(store.resolve_session_id)
        self.rewrite_transcript = _in_thread(store.rewrite_transcript)
        self.save_entry = _in_thread(store.save_entry)
        self.suspend_session = _in_thread(store.suspend_session)
        self.suspend_recently_active = _in_thread(store.suspend_recently_active)
        self.switch_session = _in_thread(store.switch_session)
        self.take_reset_notice = _in_thread(store.take_reset_notice)
        self.update_session = _in_thread(store.update_session)
        self.write_sessions_json = _in_thread(store.write_sessions_json)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()
