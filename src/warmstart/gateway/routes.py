"""Where session keys lead, and whether what they lead to is over.

What is true is in the database, one row per key; nothing here reads all of them but the listings.
A session whose agent still runs something is never ended by the clock, and if nobody can say
whether it runs, it is taken to.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Self

from warmstart.gateway.callbacks import Guard
from warmstart.gateway.config import GatewayConfig
from warmstart.gateway.entry import SessionEntry
from warmstart.gateway.index import RouteIndex
from warmstart.gateway.keys import build_key_for
from warmstart.gateway.mirror import read_mirror, write_mirror
from warmstart.gateway.platforms import Platform
from warmstart.gateway.policy import find_expiry, to_utc
from warmstart.gateway.source import SessionSource
from warmstart.store import SessionDB, StoreError

DATABASE_NAME = "state.db"
logger = logging.getLogger(__name__)
_Asked = tuple[Platform | None, str]
"""The platform and the chat type a policy is asked for."""


def read_clock() -> datetime:
    """The machine's wall clock without a zone: what entries hold unless a clock is given."""
    return datetime.now()  # noqa: DTZ005 - compared and stored in UTC, see ``to_utc``


class SessionRoutes:
    """The index of session keys and the rules by which its entries expire."""

    def __init__(
        self,
        sessions_dir: Path | str,
        config: GatewayConfig,
        has_active_processes_fn: Callable[[str], bool] | None = None,
        db: SessionDB | None = None,
        now: Callable[[], datetime] | None = None,
    ) -> None:
        self.sessions_dir = Path(sessions_dir)
        self.config = config
        self._has_active_processes_fn = has_active_processes_fn
        self._now = now or read_clock
        self._owns_db = db is None
        opened = self._open_database() if db is None else db
        self._db: SessionDB | None = opened
        aware = self._now().tzinfo is not None
        self._entries = RouteIndex(opened, config.scope, aware=aware)
        self._lock = threading.RLock()
        self._loaded = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the database, if it was opened here."""
        if self._owns_db and self._db is not None:
            self._db.close()

    def find_entry(self, session_key: str) -> SessionEntry | None:
        """What a key leads to, without counting as activity."""
        with self._lock:
            self._ensure_loaded()
            return self._entries.get(session_key)

    def lookup_by_session_id(self, session_id: str) -> SessionEntry | None:
        """The entry that leads to a session now."""
        with self._lock:
            self._ensure_loaded()
            return self._entries.find_session(session_id)

    def list_sessions(self, active_minutes: int | None = None) -> list[SessionEntry]:
        """Every session a key leads to now, the latest active first."""
        with self._lock:
            self._ensure_loaded()
            entries = list(self._entries.values())
        if active_minutes is not None:
            cutoff = to_utc(self._now()) - timedelta(minutes=active_minutes)
            entries = [entry for entry in entries if to_utc(entry.updated_at) >= cutoff]
        return sorted(entries, key=lambda entry: to_utc(entry.updated_at), reverse=True)

    def has_any_sessions(self) -> bool:
        """Whether there ever was a session besides the one that is being started now."""
        self._ensure_loaded()
        keys = len(self._entries)
        stored = self._db.session_count() if self._db is not None else 0
        if self._db is None or (stored, keys) != (1, 1):
            return stored > 1 or keys > 1
        current = self.list_sessions()
        return not (current and self._db.get_session(current[0].session_id))

    def save_entry(self, entry: SessionEntry) -> None:
        """Store what was changed in an entry."""
        with self._lock:
            self._entries[entry.session_key] = entry
            self._mirror()

    def _swap_entry(self, entry: SessionEntry) -> bool:
        """Store an entry that was just read and changed; False if another process was faster."""
        if not self._entries.swap(entry.session_key, entry):
            return False
        self._mirror()
        return True

    def claim_flush(self, entry: SessionEntry, seconds: float) -> bool:
        """Whether this process may flush a session now: no other does, and none has."""
        now = to_utc(self._now()).timestamp()
        with self._lock:
            if not self._entries.claim(entry, now + seconds, now):
                return False
            current = self._entries.get(entry.session_key)
            is_open = current is not None and current.session_id == entry.session_id
            if current is None or not is_open or current.expiry_finalized:
                self._entries.release(entry)
                return False
            return True

    def mark_flushed(self, entry: SessionEntry, *, failed: bool = False) -> None:
        """Note that a session was flushed, or that it failed; nothing if its key has moved on."""
        with self._lock:
            while True:
                current = self._entries.get(entry.session_key)
                if current is None or current.session_id != entry.session_id:
                    break
                current.expiry_finalized = not failed
                current.flush_attempts += failed
                if self._swap_entry(current):
                    break
            self._entries.release(entry)

    def prune_old_entries(self, max_age_days: int) -> int:
        """Forget keys that nobody used for so long; transcripts stay. Says how many."""
        cutoff = to_utc(self._now()) - timedelta(days=max_age_days)
        with self._lock:
            old = [
                entry.session_key
                for entry in self.list_sessions()
                if to_utc(entry.updated_at) < cutoff and not self._is_running(entry.session_key)
            ]
            for session_key in old:
                self._entries.pop(session_key, None)
        return len(old)

    def write_sessions_json(self) -> Path:
        """Write the index to ``sessions.json`` as it is now; the path written."""
        with self._lock:
            return write_mirror(self.sessions_dir, self._entries.values())

    def is_session_expired(self, entry: SessionEntry) -> bool:
        """Whether a session is past its policy and nothing runs in it."""
        return self._find_reset_reason(entry) is not None

    def find_state(self, entry: SessionEntry) -> str:
        """Whether a session is "open", or why the next message starts a new one."""
        return self._find_reset_reason(entry) or "open"

    def _is_session_expired(self, entry: SessionEntry) -> bool:
        return self.is_session_expired(entry)

    def _should_reset(self, entry: SessionEntry, source: SessionSource) -> str | None:
        """Why a message from ``source`` starts a new session, if it does."""
        platform_and_type = (source.platform, source.chat_type)
        return self._find_reset_reason(entry, platform_and_type)

    def _find_reset_reason(self, entry: SessionEntry, asked: _Asked | None = None) -> str | None:
        if entry.suspended:
            return "suspended"
        platform, chat_type = asked or (entry.platform, entry.chat_type)
        policy = self.config.get_reset_policy(platform=platform, session_type=chat_type)
        reason = find_expiry(policy, entry.updated_at, self._now())
        if reason is None or self._is_running(entry.session_key):
            return None
        return reason

    def _is_running(self, session_key: str) -> bool:
        """Whether something runs in a session; yes, if the one who should know fails."""
        if self._has_active_processes_fn is None:
            return False
        with Guard(f"has_active_processes_fn for {session_key!r}"):
            return bool(self._has_active_processes_fn(session_key))
        return True

    def _generate_session_key(self, source: SessionSource) -> str:
        return build_key_for(self.config, source)

    def _open_database(self) -> SessionDB:
        if self.config.database:
            return SessionDB.open(self.config.database)
        self.sessions_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        return SessionDB(self.sessions_dir / DATABASE_NAME)

    def _ensure_loaded(self) -> None:
        """Take over the ``sessions.json`` of a gateway before ours, once, into an empty index."""
        if self._loaded:
            return
        self._loaded = True
        if not self._entries and not self._entries.read_only:
            for entry in read_mirror(self.sessions_dir):
                self._entries[entry.session_key] = entry

    def _save(self) -> None:
        """Store what holders changed in the entries they were given."""
        with self._lock:
            self._entries.write_changes()
            self._mirror()

    def _mirror(self) -> None:
        """Keep the copy in step, if there is to be one; no message fails for want of it."""
        if not self.config.write_sessions_json:
            return
        try:
            self.write_sessions_json()
        except StoreError as error:
            logger.warning("sessions.json is behind: %s", error)
