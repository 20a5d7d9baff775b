"""What was said in a session: in a JSONL file, in the database, or in both.

A message is in the file before it goes to the database: should that fail, it is kept, and reading
prefers whichever of the two holds more. A replacement goes to the database first and is whole
there or did not happen. A session's row is made with its first message, from what its entry knows:
a conversation in which nothing was said leaves no row.
"""

from __future__ import annotations

import logging
import threading
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from warmstart.gateway.entry import SessionEntry
from warmstart.gateway.jsonl import TranscriptFolder
from warmstart.gateway.names import check_session_id
from warmstart.store import SessionDB, SessionFields, StoreError

MAX_KNOWN_ROWS = 4096
"""Sessions whose row is known to exist; beyond that, asking again is cheap."""
_COLUMNS = frozenset({
    "content", "tool_name", "tool_calls", "tool_call_id", "token_count", "finish_reason",
    "reasoning", "reasoning_content", "reasoning_details", "codex_reasoning_items",
    "codex_message_items", "platform_message_id", "observed", "timestamp",
})  # fmt: skip
logger = logging.getLogger(__name__)


class Transcripts(ABC):
    """The transcripts of a gateway's sessions."""

    def __init__(self, db: SessionDB, folder: Path, *, keeps_files: bool) -> None:
        self._db = db
        self._files = TranscriptFolder(folder)
        self._keeps_files = keeps_files
        self._known_rows: set[str] = set()
        self._lock = threading.RLock()

    @abstractmethod
    def lookup_by_session_id(self, session_id: str) -> SessionEntry | None:
        """The entry that leads to a session now."""

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
                self._append_row(session_id, _make_row(message))
            except StoreError as error:
                if not self._keeps_files:
                    raise
                logger.warning("a message of %s is in its file only: %s", session_id, error)

    def rewrite_transcript(self, session_id: str, messages: Sequence[Mapping[str, Any]]) -> None:
        """Replace everything that was said; if it fails, what was there is still read."""
        check_session_id(session_id)
        rows = [_make_row(message) for message in messages]
        with self._lock:
            if rows or self._db.get_session(session_id) is not None:
                source, fields = _describe_chat(self.lookup_by_session_id(session_id))
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

    def _append_row(self, session_id: str, row: dict[str, Any]) -> None:
        """One message and, with the first, its session's row in the same transaction."""
        if session_id in self._known_rows:
            self._db.append_message(session_id, **row)
            return
        source, fields = _describe_chat(self.lookup_by_session_id(session_id))
        self._db.append_to(session_id, [row], source, **fields)
        if len(self._known_rows) >= MAX_KNOWN_ROWS:
            self._known_rows.clear()
        self._known_rows.add(session_id)


def _describe_chat(entry: SessionEntry | None) -> tuple[str, SessionFields]:
    """What a session's row says about the chat it belongs to: its platform and its ids."""
    source = entry.platform.value if entry and entry.platform else "unknown"
    if entry is None or entry.origin is None:
        return source, {}
    return source, {
        "user_id": entry.origin.user_id,
        "session_key": entry.session_key,
        "chat_id": entry.origin.chat_id,
        "chat_type": entry.origin.chat_type,
        "thread_id": entry.origin.thread_id,
    }


def _make_row(message: Mapping[str, Any]) -> dict[str, Any]:
    """A role, and every part of the message that the database has a column for."""
    row = {name: value for name, value in message.items() if value is not None and name in _COLUMNS}
    role = message.get("role")
    row["role"] = role if isinstance(role, str) and role else "unknown"
    if role == "tool" and isinstance(message.get("name"), str):
        row.setdefault("tool_name", message["name"])
    return row
