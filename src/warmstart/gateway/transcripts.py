"""What was said in a session: in a JSONL file, in the database, or in both.

A message is in the file before it goes to the database: should that fail, it is kept, and reading
prefers whichever of the two holds more. A replacement goes to the database first and is whole
there or did not happen.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from warmstart.gateway.config import GatewayConfig
from warmstart.gateway.jsonl import TranscriptFolder
from warmstart.gateway.names import check_session_id
from warmstart.gateway.routes import SessionRoutes
from warmstart.gateway.rows import append_first_row, append_row, replace_rows
from warmstart.store import SessionDB, StoreError

MAX_KNOWN_ROWS = 4096
"""Sessions whose row is known to exist; beyond that, asking again is cheap."""
logger = logging.getLogger(__name__)


class SessionTranscripts(SessionRoutes):
    """The transcripts of the sessions that keys lead to, and of all others."""

    def __init__(
        self,
        sessions_dir: Path | str,
        config: GatewayConfig,
        has_active_processes_fn: Callable[[str], bool] | None = None,
        db: SessionDB | None = None,
        now: Callable[[], datetime] | None = None,
    ) -> None:
        super().__init__(sessions_dir, config, has_active_processes_fn, db, now)
        self._files = TranscriptFolder(self.sessions_dir)
        self._known_rows: set[str] = set()
        self._transcript_lock = threading.RLock()

    def resolve_session_id(self, wanted: str) -> str | None:
        """The stored session with that id, or the only one with that prefix."""
        check_session_id(wanted)
        found = self._db.resolve_session_id(wanted) if self._db is not None else None
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
        with self._transcript_lock:
            if self._keeps_files:
                self._files.append(session_id, message)
            if self._db is None or skip_db:
                return
            try:
                self._append_row(self._db, session_id, message)
            except StoreError as error:
                if not self._keeps_files:
                    raise
                logger.warning("a message of %s is in its file only: %s", session_id, error)

    def rewrite_transcript(self, session_id: str, messages: Sequence[Mapping[str, Any]]) -> None:
        """Replace everything that was said; if it fails, what was there is still read."""
        check_session_id(session_id)
        with self._transcript_lock:
            if self._db is not None:
                entry = self.lookup_by_session_id(session_id)
                replace_rows(self._db, session_id, messages, entry)
            if self._keeps_files:
                self._files.rewrite(session_id, messages)

    def load_transcript(self, session_id: str) -> list[dict[str, Any]]:
        """What was said, from the database or the file, whichever holds more."""
        check_session_id(session_id)
        with self._transcript_lock:
            lines = self._files.read(session_id)
            if self._db is None:
                return lines
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

    @property
    def _keeps_files(self) -> bool:
        return self.config.transcripts != "db" or self._db is None

    def _append_row(self, db: SessionDB, session_id: str, message: Mapping[str, Any]) -> None:
        if session_id in self._known_rows:
            append_row(db, session_id, message)
            return
        append_first_row(db, session_id, message, self.lookup_by_session_id(session_id))
        if len(self._known_rows) >= MAX_KNOWN_ROWS:
            self._known_rows.clear()
        self._known_rows.add(session_id)
