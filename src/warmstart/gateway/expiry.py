"""The expiry watcher: flushes sessions that are over before anybody writes to them again.

    ExpiryWatcher(store, flush).run()                  in a thread, ``def flush(entry)``
    await AsyncExpiryWatcher(store, flush).run()       in a loop, ``async def flush(entry)``

Each session is flushed once. That it was is kept in its entry after the flush has returned, so a
restart flushes nothing twice; a flush that raises is tried again on later rounds, three times in
all, and never stops the others. One that is interrupted or cancelled counts as not tried. Several
watchers may look at one database: a session is claimed before it is flushed. A watcher that dies
in mid-flush leaves that one session to be flushed again once its claim is over: a flush callback
must tolerate that. No session is ended here: the next message does that.
"""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace

from warmstart.gateway.aio import AsyncSessionStore
from warmstart.gateway.callbacks import Guard, check_callback, check_result
from warmstart.gateway.entry import SessionEntry
from warmstart.gateway.errors import GatewayError
from warmstart.gateway.policy import to_utc
from warmstart.gateway.session_store import SessionStore

INTERVAL_SECONDS = 300.0
MAX_ATTEMPTS = 3
CLAIM_SECONDS = 600.0
"""How long a flush may take before another watcher may repeat it."""
HINT = "for an async def flush use AsyncExpiryWatcher"


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """What one look at all sessions did, by session id."""

    flushed: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()


@dataclass(slots=True)
class ExpiryWatcher:
    """Calls ``flush`` with the entry of every session that is past its policy.

    Raises:
        GatewayError: ``flush`` is an ``async def``, or returned something to be awaited.
    """

    store: SessionStore
    flush: Callable[[SessionEntry], object]
    interval_seconds: float = INTERVAL_SECONDS
    _stop: threading.Event = field(default_factory=threading.Event, repr=False)

    def __post_init__(self) -> None:
        check_callback("flush", self.flush, hint=HINT)

    def find_expired(self) -> list[SessionEntry]:
        """Sessions past their policy, with nothing running, that have not been flushed."""
        return find_expired(self.store)

    def check(self) -> Round:
        """Look at all sessions once and flush those that are over."""
        steps = _Steps(self.store)
        while (entry := steps.take()) is not None:
            try:
                with Guard(f"the flush of session {entry.session_id!r}") as guard:
                    result = self.flush(replace(entry))
                if guard.error is None:
                    check_result("flush", result, hint=HINT)
            except BaseException:
                steps.release(entry)
                raise
            steps.settle(entry, guard.error)
        return steps.done

    def run(self) -> None:
        """Look again and again until ``stop`` is called from another thread."""
        while not self._stop.is_set():
            with Guard("a round of the expiry watcher"):
                self.check()
            self._stop.wait(self.interval_seconds)

    def stop(self) -> None:
        """End ``run`` after its current round."""
        self._stop.set()


@dataclass(slots=True)
class AsyncExpiryWatcher:
    """Awaits ``flush`` with the entry of every session that is past its policy.

    The store is asked in worker threads; ``flush`` runs in the loop.
    """

    store: AsyncSessionStore
    flush: Callable[[SessionEntry], Awaitable[object]]
    interval_seconds: float = INTERVAL_SECONDS
    _stop: asyncio.Event = field(default_factory=asyncio.Event, repr=False)

    async def find_expired(self) -> list[SessionEntry]:
        """Sessions past their policy, with nothing running, that have not been flushed."""
        return await asyncio.to_thread(find_expired, self.store.store)

    async def check(self) -> Round:
        """Look at all sessions once and flush those that are over."""
        steps = _Steps(self.store.store)
        while (entry := await asyncio.to_thread(steps.take)) is not None:
            try:
                with Guard(f"the flush of session {entry.session_id!r}") as guard:
                    result = await _finish(self.flush(replace(entry)))
                if guard.error is None:
                    check_result("flush", result)
            except BaseException:
                await asyncio.to_thread(steps.release, entry)
                raise
            await asyncio.to_thread(steps.settle, entry, guard.error)
        return steps.done

    async def run(self) -> None:
        """Look again and again until ``stop`` is called or the task is cancelled."""
        while not self._stop.is_set():
            with Guard("a round of the expiry watcher"):
                await self.check()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stop.wait(), self.interval_seconds)

    def stop(self) -> None:
        """End ``run`` after its current round."""
        self._stop.set()


async def _finish(result: object) -> object:
    """The result of a flush; one that was cancelled by itself, not with the watcher, has failed."""
    try:
        return await result if inspect.isawaitable(result) else result
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        raise GatewayError("the flush was cancelled") from error


def find_expired(store: SessionStore) -> list[SessionEntry]:
    """Sessions past their policy, with nothing running, that have not been flushed."""
    return [
        entry
        for entry in store.list_sessions()
        if not entry.expiry_finalized
        and entry.flush_attempts < MAX_ATTEMPTS
        and store.is_session_expired(entry)
    ]


class _Steps:
    """One round, a session at a time: each is claimed, flushed by the watcher, and settled."""

    def __init__(self, store: SessionStore) -> None:
        self._store = store
        self._expired: Iterator[SessionEntry] | None = None
        self.done = Round()

    def take(self) -> SessionEntry | None:
        """The next session to flush, claimed; None if there is none left."""
        if self._expired is None:
            self._expired = iter(find_expired(self._store))
        for entry in self._expired:
            now = to_utc(self._store.now()).timestamp()
            if entry.claimed_until > now:
                continue
            entry.claimed_until = now + CLAIM_SECONDS
            if self._store.chats.put(entry):  # else another took it, or it goes on
                return entry
        return None

    def settle(self, claimed: SessionEntry, error: Exception | None) -> None:
        """Record that a session was flushed, or that its flush failed with an error."""

        def settle(entry: SessionEntry) -> None:
            # What was said during the flush has not been flushed.
            is_quiet = entry.updated_at == claimed.updated_at
            entry.expiry_finalized = is_quiet and error is None
            entry.flush_attempts += error is not None
            entry.claimed_until = 0.0

        self._store.chats.change(claimed.session_key, settle, claimed.session_id)
        ids = (claimed.session_id,)
        if error is None:
            self.done = replace(self.done, flushed=self.done.flushed + ids)
        else:
            self.done = replace(self.done, failed=self.done.failed + ids)

    def release(self, claimed: SessionEntry) -> None:
        """Release a session whose flush did not end: it is tried again."""

        def release(entry: SessionEntry) -> None:
            entry.claimed_until = 0.0

        self._store.chats.change(claimed.session_key, release, claimed.session_id)
