"""The expiry watcher: flushes sessions that are over before anybody writes to them again.

Each session is flushed once. That it was is kept in its entry, so a restart flushes nothing twice;
a flush that raises is tried again on later rounds, three times in all, and never stops the others.
Several watchers may look at one database: a session is claimed before it is flushed. A watcher that
dies between a flush and its note leaves that one session to be flushed again once its claim is
over: a flush callback must bear that. Nothing is ended here: the next message does that, and tells
the person why.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from warmstart.gateway.callbacks import Guard
from warmstart.gateway.entry import SessionEntry
from warmstart.gateway.routes import SessionRoutes

INTERVAL_SECONDS = 300.0
MAX_ATTEMPTS = 3
CLAIM_SECONDS = 600.0
"""How long a flush may take before another watcher takes it for dead."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """What one look at all sessions did, by session id."""

    flushed: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()


@dataclass(slots=True)
class ExpiryWatcher:
    """Calls ``flush`` with the entry of every session that is past its policy."""

    store: SessionRoutes
    flush: Callable[[SessionEntry], object]
    interval_seconds: float = INTERVAL_SECONDS
    _stop: threading.Event = field(default_factory=threading.Event, repr=False)

    def find_expired(self) -> list[SessionEntry]:
        """Sessions past their policy, with nothing running, that are still to be flushed."""
        return [
            entry
            for entry in self.store.list_sessions()
            if not entry.expiry_finalized
            and entry.flush_attempts < MAX_ATTEMPTS
            and self.store.is_session_expired(entry)
        ]

    def check(self) -> Round:
        """Look at all sessions once and flush those that are over."""
        flushed: list[str] = []
        failed: list[str] = []
        for entry in self.find_expired():
            if not self.store.claim_flush(entry, CLAIM_SECONDS):
                continue
            with Guard(f"the flush of session {entry.session_id!r}") as guard:
                self.flush(entry)
            self.store.mark_flushed(entry, failed=guard.error is not None)
            (flushed if guard.error is None else failed).append(entry.session_id)
        return Round(flushed=tuple(flushed), failed=tuple(failed))

    def run(self) -> None:
        """Look again and again until ``stop`` is called from another thread."""
        while not self._stop.is_set():
            with Guard("a round of the expiry watcher"):
                self.check()
            self._stop.wait(self.interval_seconds)

    def stop(self) -> None:
        """End ``run`` after the flush it is at."""
        self._stop.set()
