"""The table of chats as entries, and ``sessions.json``.

An entry is written over the very revision of the row that it was read from. If another thread or
process changed the row since, nothing is written, and the caller decides again by what is there
now. Nothing is kept in memory between two calls.

``sessions.json`` is a copy for tools that read it, never the truth: it is written whole and
atomically, after each change if the settings want it, and read only into a table that is still
empty, from a gateway before ours.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import orjson

from warmstart.gateway.entry import SessionEntry, read_row, write_row
from warmstart.gateway.errors import RecordError
from warmstart.gateway.transcripts import write_file
from warmstart.store import Chat, SessionDB, StoreError

FILE_NAME = "sessions.json"
logger = logging.getLogger(__name__)


class ChatTable:
    """The entries of one scope of a database, by their session keys."""

    def __init__(
        self, db: SessionDB, scope: str, folder: Path, *, aware: bool, mirrors: bool
    ) -> None:
        self._db = db
        self._scope = scope
        self._folder = folder
        self._zone = UTC if aware else None
        self._mirrors = mirrors
        self._lock = threading.RLock()
        self._loaded = db.read_only

    def __len__(self) -> int:
        self._ensure_loaded()
        return self._db.count_chats(self._scope)

    def look(self, session_key: str) -> tuple[SessionEntry | None, Chat | None]:
        """The entry of a key and its row; a row that cannot be read has no entry."""
        self._ensure_loaded()
        row = self._db.find_chat(self._scope, session_key)
        return self._read(row), row

    def find(self, session_key: str) -> SessionEntry | None:
        """The entry of a key, or None."""
        return self.look(session_key)[0]

    def find_session(self, session_id: str) -> SessionEntry | None:
        """The entry that leads to a session, or None."""
        self._ensure_loaded()
        return self._read(self._db.find_session_chat(self._scope, session_id))

    def list(self) -> Iterator[SessionEntry]:
        """Every entry that can be read, by key; the others are reported in the log."""
        self._ensure_loaded()
        for row in list(self._db.list_chats(self._scope)):
            entry = self._read(row)
            if entry is not None:
                yield entry

    def put(self, entry: SessionEntry, *, reopen: bool = False) -> bool:
        """Write an entry over ``entry.stored``; False if that is not what the row is any more.

        With ``reopen`` the session that the entry leads to goes on if it had ended.
        """
        row = write_row(entry)
        revision = self._db.put_chat(self._scope, row, reopen=reopen)
        if not revision:
            return False
        entry.stored = row._replace(revision=revision)
        self._mirror()
        return True

    def touch(self, entry: SessionEntry, moment: datetime) -> bool:
        """Write only the time of the last activity of an entry that was read from its row."""
        row = entry.stored
        if row is None:
            return False
        seconds = moment.timestamp()
        revision = self._db.touch_chat(self._scope, row, seconds)
        if not revision:
            return False
        entry.updated_at = moment
        entry.stored = row._replace(updated_at=seconds, revision=revision)
        self._mirror()
        return True

    def change(
        self,
        session_key: str,
        change: Callable[[SessionEntry], None],
        session_id: str | None = None,
    ) -> SessionEntry | None:
        """Change the current entry of a key, if it leads to ``session_id`` (None: anywhere).

        None if there is no such entry. ``change`` is called again if another was faster.
        """
        while (entry := self.find(session_key)) is not None:
            if session_id is not None and entry.session_id != session_id:
                return None
            change(entry)
            if self.put(entry):
                return entry
        return None

    def save(self, entry: SessionEntry) -> bool:
        """Write what the holder of an entry changed, and keep what others changed meanwhile.

        False, and nothing is written, if its key leads to another session by now.
        """
        while not self.put(entry):
            before, (current, row) = self._read(entry.stored), self.look(entry.session_key)
            if before is None or current is None or current.session_id != before.session_id:
                return False
            for name in SessionEntry.__dataclass_fields__:
                if getattr(entry, name) == getattr(before, name):
                    setattr(entry, name, getattr(current, name))
            entry.stored = row
        return True

    def delete(self, entry: SessionEntry) -> bool:
        """Delete a key, unless its row was changed since the entry was read."""
        if entry.stored is None or not self._db.delete_chat(self._scope, entry.stored):
            return False
        self._mirror()
        return True

    def write_json(self) -> Path:
        """Write every entry to ``sessions.json``; the path written."""
        with self._lock:
            return write_sessions_file(self._folder, self.list())

    def _mirror(self) -> None:
        """Write ``sessions.json`` if the settings want it; a failure is only logged."""
        if not self._mirrors:
            return
        try:
            self.write_json()
        except StoreError as error:
            logger.warning("sessions.json could not be written: %s", error)

    def _ensure_loaded(self) -> None:
        if not self._loaded:
            with self._lock:
                self._load()

    def _load(self) -> None:
        if self._loaded:
            return
        if not self._db.count_chats(self._scope):
            for entry in read_sessions_file(self._folder):
                self._db.put_chat(self._scope, write_row(entry))
        self._loaded = True

    def _read(self, row: Chat | None) -> SessionEntry | None:
        if row is None:
            return None
        try:
            return read_row(row, self._zone)
        except RecordError as error:
            logger.warning("the entry of %r is ignored: %s", row.session_key, error)
            return None


def write_sessions_file(folder: Path, entries: Iterable[SessionEntry]) -> Path:
    """Write every entry to ``sessions.json`` by its key; the path written."""
    path = folder / FILE_NAME
    data = {entry.session_key: entry.to_dict() for entry in entries}
    write_file(path, orjson.dumps(data, option=orjson.OPT_INDENT_2))
    return path


def read_sessions_file(folder: Path) -> list[SessionEntry]:
    """The entries of ``sessions.json``; unusable ones are reported in the log."""
    path = folder / FILE_NAME
    try:
        data = orjson.loads(path.read_bytes())
    except FileNotFoundError:
        return []
    except (OSError, ValueError) as error:
        logger.warning("%s is ignored: %s", path, error)
        return []
    if not isinstance(data, dict):
        logger.warning("%s is ignored: not an object", path)
        return []
    entries = []
    for key, record in data.items():
        try:
            entries.append(SessionEntry.from_dict(record))
        except RecordError as error:
            logger.warning("entry %r of %s is ignored: %s", key, path, error)
    return entries
