"""The gateway's sessions: which one a message belongs to, and what was said in it.

    store = SessionStore(folder, GatewayConfig())
    entry = store.get_or_create_session(source)
    store.append_to_transcript(entry.session_id, {"role": "user", "content": "hello"})

One store may be used from many threads, one database from many processes. What is true is in the
database, one row per key. A change is written over the revision it was decided on; if another
process was faster, the row is read and decided on again. A key is led to its new session
before the old one is ended, so a crash between the two loses nothing, and a session that a key
leads to is not ended.

A session whose agent still runs something is never ended by the clock; if the callback cannot say
whether it does, it counts as running.

A message is in its JSONL file before it goes to the database: if that fails, it is kept, and
reading takes whichever of the two holds more. A replacement goes to the database first and is whole
there or did not happen. A session's row is made with its first message: a conversation without one
leaves no row.
"""

from __future__ import annotations

import logging
import threading
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Self

from warmstart.gateway.callbacks import Guard, check_callback, check_result, is_running
from warmstart.gateway.chats import ChatTable
from warmstart.gateway.config import GatewayConfig
from warmstart.gateway.entry import SessionEntry
from warmstart.gateway.keys import build_key_for, check_scope, check_session_id
from warmstart.gateway.policy import SessionResetPolicy, describe_reset, find_expiry, to_utc
from warmstart.gateway.source import SessionSource
from warmstart.gateway.transcripts import TranscriptFolder, describe_chat, make_row
from warmstart.store import SessionDB, StoreError

DATABASE_NAME = "state.db"
RECENT_SECONDS = 120
MAX_KNOWN_ROWS = 4096
"""Sessions whose row is known to exist; beyond that, asking again is cheap."""
logger = logging.getLogger(__name__)


def read_clock() -> datetime:
    """The machine's wall clock without a zone: what entries hold unless a clock is given."""
    return datetime.now()  # noqa: DTZ005 - compared and stored in UTC, see ``to_utc``


class SessionStore:
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
            has_active_processes_fn: given a session key, says whether something still runs there.
            on_auto_reset: called with each entry that expired and was replaced;
                ``expiry_finalized`` says whether a watcher had flushed it.
            db: a database shared with its owner, who closes it.
            now: the clock; with a time zone, entries have one too.

        Raises:
            GatewayError: a callback is an ``async def``.
        """
        check_callback("has_active_processes_fn", has_active_processes_fn)
        check_callback("on_auto_reset", on_auto_reset)
        check_callback("now", now)
        check_scope(config.scope)
        self.sessions_dir = Path(sessions_dir)
        self.config = config
        self._has_active_processes_fn = has_active_processes_fn
        self._on_auto_reset = on_auto_reset
        self.now = now or read_clock
        self._owns_db = db is None
        opened = open_database(self.sessions_dir, config) if db is None else db
        self._db = opened
        self._files = TranscriptFolder(self.sessions_dir)
        self._keeps_files = config.transcripts != "db"
        self._known_rows: set[str] = set()
        self._lock = threading.RLock()
        self.chats = ChatTable(
            opened,
            config.scope,
            self.sessions_dir,
            aware=self.now().tzinfo is not None,
            mirrors=config.write_sessions_json,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the database, if it was opened here."""
        if self._owns_db:
            self._db.close()

    def get_or_create_session(
        self,
        source: SessionSource,
        force_new: bool = False,  # noqa: FBT001, FBT002 - as agents call it
    ) -> SessionEntry:
        """The session a message belongs to: the one it had, or a new one if that is over."""
        session_key = build_key_for(self.config, source)
        while True:
            old, row = self.chats.look(session_key)
            reason = self._find_reset_reason(old, source) if old and not force_new else None
            if old is None or reason is not None or force_new:
                new = self._make_entry(session_key, source, old if reason else None, reason)
                new.stored = row
                if self.chats.put(new):
                    break
            elif self._count_activity(old):
                return old
        if old is not None:
            self._end(old, reason)
        return new

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

        def add(entry: SessionEntry) -> None:
            entry.input_tokens += input_tokens
            entry.output_tokens += output_tokens
            entry.cache_read_tokens += cache_read_tokens
            entry.cache_write_tokens += cache_write_tokens
            entry.total_tokens = entry.input_tokens + entry.output_tokens
            if last_prompt_tokens is not None:
                entry.last_prompt_tokens = last_prompt_tokens
            entry.note_activity(self.now())

        entry = self.chats.change(session_key, add)
        if entry is not None and (input_tokens or output_tokens):
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
        return self._lead(session_key, make_session_id(self.now()), display_name, "session_reset")

    def switch_session(self, session_key: str, target_session_id: str) -> SessionEntry | None:
        """Lead a key to a session that exists already; None if the key leads nowhere.

        Raises:
            UnsafeNameError: the id could name a file elsewhere.
        """
        check_session_id(target_session_id)
        return self._lead(session_key, target_session_id, None, "session_switch")

    def suspend_session(self, session_key: str) -> bool:
        """Let the next message start a new session, whatever the policy; False if unknown."""

        def suspend(entry: SessionEntry) -> None:
            entry.suspended = True

        return self.chats.change(session_key, suspend) is not None

    def suspend_recently_active(self, max_age_seconds: float = RECENT_SECONDS) -> int:
        """Suspend every session active within that time; the number of sessions.

        For the start of a gateway that was killed: what was under way then is not resumed.
        """
        cutoff = to_utc(self.now()) - timedelta(seconds=max_age_seconds)

        def suspend(entry: SessionEntry) -> None:
            entry.suspended = True

        recent = [
            entry
            for entry in self.list_sessions()
            if not entry.suspended and to_utc(entry.updated_at) >= cutoff
        ]
        changed = (self.chats.change(one.session_key, suspend, one.session_id) for one in recent)
        return sum(entry is not None for entry in changed)

    def take_reset_notice(self, entry: SessionEntry) -> str | None:
        """The notice that a chat's session was reset, for the person in it; None if none is due.

        It is given out once, to whichever process asks first; then ``was_auto_reset`` is False.
        It is None, too, if there were no messages before or the policy wants no notice here.
        """
        was_due = False

        def clear(current: SessionEntry) -> None:
            nonlocal was_due
            was_due, current.was_auto_reset = current.was_auto_reset, False

        if not entry.was_auto_reset:
            return None
        current = self.chats.change(entry.session_key, clear, entry.session_id)
        entry.was_auto_reset = False
        if current is None or not was_due:
            return None
        entry.stored = current.stored
        policy = self._find_policy(current)
        if not current.reset_had_activity or not policy.notifies(current.platform):
            return None
        return describe_reset(policy, current.auto_reset_reason)

    def save_entry(self, entry: SessionEntry) -> bool:
        """Store what was changed in an entry; what others changed in it meanwhile is kept.

        False, and nothing is stored, if its key leads to another session by now.
        """
        return self.chats.save(entry)

    def find_entry(self, session_key: str) -> SessionEntry | None:
        """What a key leads to, without counting as activity."""
        return self.chats.find(session_key)

    def lookup_by_session_id(self, session_id: str) -> SessionEntry | None:
        """The entry that leads to a session now."""
        return self.chats.find_session(session_id)

    def list_sessions(self, active_minutes: int | None = None) -> list[SessionEntry]:
        """Every session a key leads to now, the latest active first."""
        entries = list(self.chats.list())
        if active_minutes is not None:
            cutoff = to_utc(self.now()) - timedelta(minutes=active_minutes)
            entries = [entry for entry in entries if to_utc(entry.updated_at) >= cutoff]
        return sorted(entries, key=lambda entry: to_utc(entry.updated_at), reverse=True)

    def has_any_sessions(self) -> bool:
        """Whether there was ever a session besides the one that is being started."""
        keys, stored = len(self.chats), self._db.session_count()
        if (stored, keys) != (1, 1):
            return stored > 1 or keys > 1
        current = self.list_sessions()
        return not (current and self._db.get_session(current[0].session_id))

    def prune_old_entries(self, max_age_days: int) -> int:
        """Delete keys that were not used for so long; transcripts stay. The number of keys."""
        cutoff = to_utc(self.now()) - timedelta(days=max_age_days)
        old = [entry for entry in self.list_sessions() if to_utc(entry.updated_at) < cutoff]
        ask = self._has_active_processes_fn
        return sum(self.chats.delete(one) for one in old if not is_running(ask, one.session_key))

    def write_sessions_json(self) -> Path:
        """Write all entries to ``sessions.json``; the path written."""
        return self.chats.write_json()

    def is_session_expired(self, entry: SessionEntry) -> bool:
        """Whether a session is past its policy and nothing runs in it."""
        return self._find_reset_reason(entry) is not None

    def find_state(self, entry: SessionEntry) -> str:
        """Whether a session is "open", or why the next message starts a new one."""
        return self._find_reset_reason(entry) or "open"

    def resolve_session_id(self, wanted: str) -> str | None:
        """The stored session with that id, or the only one with that prefix."""
        check_session_id(wanted)
        found = self._db.resolve_session_id(wanted)
        return found or (wanted if self._files.path(wanted).is_file() else None)

    def get_transcript_path(self, session_id: str) -> Path:
        """Where a session's JSONL transcript is."""
        return self._files.path(session_id)

    def append_to_transcript(
        self,
        session_id: str,
        message: Mapping[str, Any],
        skip_db: bool = False,  # noqa: FBT001, FBT002 - as agents call it
    ) -> None:
        """Keep one message; ``skip_db`` where the agent has put it into the database itself.

        Raises:
            UnsafeNameError: the id could name a file elsewhere.
            StoreError: the database could not be written and no file keeps the message.
        """
        check_session_id(session_id)
        with self._lock:
            if self._keeps_files:
                self._files.append(session_id, message)
            if skip_db:
                return
            try:
                self._append_row(session_id, make_row(message))
            except StoreError as error:
                if not self._keeps_files:
                    raise
                logger.warning("a message of %s is in its file only: %s", session_id, error)

    def rewrite_transcript(self, session_id: str, messages: Sequence[Mapping[str, Any]]) -> None:
        """Replace everything that was said; if it fails, what was there is still read."""
        check_session_id(session_id)
        rows = [make_row(message) for message in messages]
        with self._lock:
            if rows or self._db.get_session(session_id) is not None:
                source, fields = describe_chat(self.lookup_by_session_id(session_id))
                self._db.ensure_session(session_id, source, **fields)
                self._db.replace_messages(session_id, rows)
            if self._keeps_files:
                self._files.rewrite(session_id, messages)

    def load_transcript(self, session_id: str) -> list[dict[str, Any]]:
        """What was said, from the database or the file, whichever holds more."""
        check_session_id(session_id)
        with self._lock:
            lines = self._files.read(session_id)
            try:
                rows = self._db.get_messages_as_conversation(session_id)
                # Messages taken back or compacted away are stored too: a file that has them
                # as well does not hold more.
                holds_more = len(lines) > max(len(rows), self._db.message_count(session_id))
            except StoreError as error:
                if not lines:
                    raise
                logger.warning("%s is read from its file only: %s", session_id, error)
                return lines
        return lines if holds_more else rows

    def _find_reset_reason(
        self, entry: SessionEntry, source: SessionSource | None = None
    ) -> str | None:
        """Why the next message, from ``source`` if that is known, starts a new session."""
        if entry.suspended:
            return "suspended"
        reason = find_expiry(self._find_policy(source or entry), entry.updated_at, self.now())
        if reason is None or is_running(self._has_active_processes_fn, entry.session_key):
            return None
        return reason

    def _find_policy(self, chat: SessionSource | SessionEntry) -> SessionResetPolicy:
        return self.config.get_reset_policy(platform=chat.platform, session_type=chat.chat_type)

    def _make_entry(
        self,
        session_key: str,
        source: SessionSource,
        expired: SessionEntry | None,
        reason: str | None,
    ) -> SessionEntry:
        """A new session, in place of one that expired for a reason or of none."""
        now = self.now()
        return SessionEntry(
            session_key=session_key,
            session_id=make_session_id(now),
            created_at=now,
            updated_at=now,
            origin=replace(source),
            display_name=source.chat_name,
            platform=source.platform,
            chat_type=source.chat_type,
            was_auto_reset=expired is not None,
            auto_reset_reason=reason,
            reset_had_activity=expired is not None and had_activity(self._db, expired),
        )

    def _lead(
        self, session_key: str, session_id: str, display_name: str | None, end_reason: str
    ) -> SessionEntry | None:
        """Lead a key to another session, with the same origin, and end the one it led to."""
        while (old := self.find_entry(session_key)) is not None:
            if old.session_id == session_id:
                return old
            new = old.start_over(session_id, self.now())
            if display_name is not None:
                new.display_name = display_name
            if self.chats.put(new, reopen=True):
                self._db.end_left_session(old.session_id, end_reason)
                return new
        return None

    def _count_activity(self, entry: SessionEntry) -> bool:
        """Store that a message came; False if the row was changed since it was looked at."""
        if entry.expiry_finalized or entry.flush_attempts:
            entry.note_activity(self.now())
            return self.chats.put(entry)
        return self.chats.touch(entry, self.now())

    def _end(self, entry: SessionEntry, reason: str | None) -> None:
        """End what a key led to, and report it if it expired for a reason."""
        self._db.end_left_session(entry.session_id, reason or "session_reset")
        if reason is not None and self._on_auto_reset is not None:
            with Guard(f"on_auto_reset for {entry.session_key!r}"):
                check_result("on_auto_reset", self._on_auto_reset(entry))

    def _append_row(self, session_id: str, row: dict[str, Any]) -> None:
        """One message and, with the first, its session's row in the same transaction."""
        if session_id in self._known_rows:
            self._db.append_message(session_id, **row)
            return
        source, fields = describe_chat(self.lookup_by_session_id(session_id))
        self._db.append_to(session_id, [row], source, **fields)
        if len(self._known_rows) >= MAX_KNOWN_ROWS:
            self._known_rows.clear()
        self._known_rows.add(session_id)


def open_database(sessions_dir: Path, config: GatewayConfig) -> SessionDB:
    """The database that the settings name, else the one in the folder."""
    if config.database:
        return SessionDB.open(config.database)
    sessions_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    return SessionDB(sessions_dir / DATABASE_NAME)


def make_session_id(now: datetime) -> str:
    """A new id that sorts by time and is unique across machines."""
    return f"{now:%Y%m%d_%H%M%S}_{uuid.uuid4().hex[:8]}"


def had_activity(db: SessionDB, entry: SessionEntry) -> bool:
    """Whether a session has messages or used tokens."""
    if entry.total_tokens or entry.last_prompt_tokens:
        return True
    row = db.get_session(entry.session_id)
    return bool(row and row.get("message_count"))
