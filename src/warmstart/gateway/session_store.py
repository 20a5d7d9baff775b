"""The gateway's sessions: which one a message belongs to, and what was said in it.

    store = SessionStore(folder, GatewayConfig())
    entry = store.get_or_create_session(source)
    store.append_to_transcript(entry.session_id, {"role": "user", "content": "hello"})

One store may be used from many threads, one database from many processes. A key is led to its new
session before the old one is ended, so a crash between the two loses nothing.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from warmstart.gateway.callbacks import Guard
from warmstart.gateway.config import GatewayConfig
from warmstart.gateway.entry import SessionEntry
from warmstart.gateway.names import check_session_id
from warmstart.gateway.source import SessionSource
from warmstart.gateway.transcripts import SessionTranscripts
from warmstart.store import SessionDB


class _Step(NamedTuple):
    """The entry a key leads to next, and the one that it replaces, with the reason."""

    entry: SessionEntry
    ended: SessionEntry | None
    reason: str | None


class SessionStore(SessionTranscripts):
    """Finds, starts, resets and switches sessions, and keeps their transcripts."""

    def __init__(
        self,
        sessions_dir: Path | str,
        config: GatewayConfig,
        has_active_processes_fn: Callable[[str], bool] | None = None,
        on_auto_reset: Callable[[SessionEntry], object] | None = None,
        db: SessionDB | None = None,
        now: Callable[[], datetime] | None = None,
    ) -> None:
        """Open the store.

        Args:
            sessions_dir: where transcripts are, and the database unless the settings name one.
            config: the settings.
            has_active_processes_fn: told a session key, says whether something still runs there.
            on_auto_reset: told of each entry that expired and was replaced;
                ``expiry_finalized`` says whether a watcher had flushed it.
            db: a database shared with its owner, who closes it.
            now: the clock; with a time zone, entries have one too.
        """
        super().__init__(sessions_dir, config, has_active_processes_fn, db, now)
        self._on_auto_reset = on_auto_reset

    def get_or_create_session(
        self,
        source: SessionSource,
        force_new: bool = False,  # noqa: FBT001, FBT002 - as agents call it
    ) -> SessionEntry:
        """The session a message belongs to: the one it had, or a new one if that is over."""
        with self._lock:
            self._ensure_loaded()
            session_key = self._generate_session_key(source)
            step = self._take_step(session_key, source, force_new=force_new)
            while not self._swap_entry(step.entry):  # another gateway was faster: look again
                step = self._take_step(session_key, source, force_new=force_new)
            if step.ended is not None:
                self._end(step.ended, step.reason or "session_reset")
        if step.ended is not None and step.reason is not None and self._on_auto_reset is not None:
            with Guard(f"on_auto_reset for {session_key!r}"):
                self._on_auto_reset(step.ended)
        return step.entry

    def _take_step(self, session_key: str, source: SessionSource, *, force_new: bool) -> _Step:
        """What a message means for its key, as the key's row is now."""
        old = self._entries.recall(session_key)
        reason = self._should_reset(old, source) if old and not force_new else None
        if old is not None and reason is None and not force_new:
            return _Step(self._count_activity(old), None, None)
        entry = self._make_entry(session_key, source, old if reason else None, reason)
        return _Step(entry, old, reason)

    def update_session(
        self,
        session_key: str,
        input_tokens: int = 0,
        output_tokens: int = 0,
        cache_read_tokens: int = 0,
        cache_write_tokens: int = 0,
        last_prompt_tokens: int | None = None,
    ) -> None:
        """Add what a turn used; an unknown key is left alone."""
        with self._lock:
            self._ensure_loaded()
            while True:
                entry = self._entries.recall(session_key)
                if entry is None:
                    return
                entry.input_tokens += input_tokens
                entry.output_tokens += output_tokens
                entry.cache_read_tokens += cache_read_tokens
                entry.cache_write_tokens += cache_write_tokens
                entry.total_tokens = entry.input_tokens + entry.output_tokens
                if last_prompt_tokens is not None:
                    entry.last_prompt_tokens = last_prompt_tokens
                if self._swap_entry(self._count_activity(entry)):
                    break
        if self._db is not None and (input_tokens or output_tokens):
            self._db.update_token_counts(
                entry.session_id,
                input_tokens,
                output_tokens,
                cache_read_tokens=cache_read_tokens,
                cache_write_tokens=cache_write_tokens,
            )

    def reset_session(
        self, session_key: str, display_name: str | None = None
    ) -> SessionEntry | None:
        """Start over under the same key; None if the key leads nowhere."""
        with self._lock:
            old = self.find_entry(session_key)
            if old is None:
                return None
            new = self._lead(old, self._make_id(), display_name)
            self._end(old, "session_reset")
            return new

    def switch_session(self, session_key: str, target_session_id: str) -> SessionEntry | None:
        """Lead a key to a session that exists already; None if the key leads nowhere.

        Raises:
            UnsafeNameError: the id could name a file elsewhere.
        """
        check_session_id(target_session_id)
        with self._lock:
            old = self.find_entry(session_key)
            if old is None or old.session_id == target_session_id:
                return old
            if self._db is not None:
                self._db.reopen_session(target_session_id)
            new = self._lead(old, target_session_id, None)
            self._end(old, "session_switch")
            return new

    def suspend_session(self, session_key: str) -> bool:
        """Let the next message start a new session, whatever the policy; False if unknown."""
        with self._lock:
            entry = self.find_entry(session_key)
            if entry is None:
                return False
            entry.suspended = True
            self.save_entry(entry)
            return True

    def _make_entry(
        self,
        session_key: str,
        source: SessionSource,
        expired: SessionEntry | None,
        reason: str | None,
    ) -> SessionEntry:
        """A new session, in place of one that expired for a reason or of none."""
        now = self._now()
        return SessionEntry(
            session_key=session_key,
            session_id=self._make_id(now),
            created_at=now,
            updated_at=now,
            origin=replace(source),
            display_name=source.chat_name,
            platform=source.platform,
            chat_type=source.chat_type,
            was_auto_reset=expired is not None,
            auto_reset_reason=reason,
            reset_had_activity=expired is not None and self._had_activity(expired),
        )

    def _lead(self, old: SessionEntry, session_id: str, display_name: str | None) -> SessionEntry:
        """The same key and origin, another session."""
        now = self._now()
        entry = SessionEntry(
            session_key=old.session_key,
            session_id=session_id,
            created_at=now,
            updated_at=now,
            origin=old.origin,
            display_name=old.display_name if display_name is None else display_name,
            platform=old.platform,
            chat_type=old.chat_type,
        )
        self.save_entry(entry)
        return entry

    def _count_activity(self, entry: SessionEntry) -> SessionEntry:
        """What is said from now on has not been flushed."""
        entry.updated_at = self._now()
        entry.expiry_finalized = False
        entry.flush_attempts = 0
        return entry

    def _end(self, entry: SessionEntry, reason: str) -> None:
        if self._db is not None:
            self._db.end_session(entry.session_id, reason)

    def _had_activity(self, entry: SessionEntry) -> bool:
        if entry.total_tokens or entry.last_prompt_tokens:
            return True
        row = self._db.get_session(entry.session_id) if self._db is not None else None
        return bool(row and row.get("message_count"))

    def _make_id(self, now: datetime | None = None) -> str:
        """An id that sorts by time and that no two machines make."""
        moment = now or self._now()
        return f"{moment:%Y%m%d_%H%M%S}_{uuid.uuid4().hex[:8]}"
