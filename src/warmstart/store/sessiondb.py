"""``SessionDB``: the whole store as one object.

    with SessionDB("sessions.db") as db:
        db.append_message("s1", "user", "hello")

Each method below is a function of the module that holds its table; here is only the list of them,
and how a store is opened, copied and kept in order.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Literal, Self

from warmstart.errors import UsageError
from warmstart.store import (
    chats,
    conversations,
    listing,
    messages,
    search,
    sessions,
    transfer,
    verify,
)
from warmstart.store.backend import Dialect, Options, read_meta, write_meta
from warmstart.store.errors import StoreError
from warmstart.store.migrations import find_version, migrate
from warmstart.store.opening import check_filled, connect, ensure_store, find_location
from warmstart.store.repair import note_backup
from warmstart.store.sqlite_backend import SQLiteBackend
from warmstart.store.template_db import TemplateDB

META_PREFIX = "user:"


class SessionDB(TemplateDB):
    """Sessions and their messages, in one SQLite file or one PostgreSQL schema."""

    def __init__(
        self,
        db_path: Path | str | None = None,
        read_only: bool = False,  # noqa: FBT001, FBT002 - the callers' signature
        *,
        deadline_seconds: float = 30.0,
        durability: Literal["normal", "full"] = "normal",
    ) -> None:
        """Open a store, and create or migrate it unless it is opened for reading alone.

        Args:
            db_path: a file or a postgresql:// address; by default the store of the home.
            read_only: nothing is created or changed.
            deadline_seconds: how long a write waits for other processes before it fails.
            durability: ``full`` survives a power cut, ``normal`` the death of the process.

        Raises:
            StoreError: it cannot be opened, or is not a store that this version can use.
        """
        options = Options(
            read_only=read_only, deadline_seconds=deadline_seconds, durability=durability
        )
        self.db_path = find_location(db_path)
        if isinstance(self.db_path, Path) and not read_only:
            ensure_store(self.db_path.expanduser().absolute())
        backend = connect(self.db_path, options)
        try:
            check_filled(backend) if read_only else migrate(backend)
        except BaseException:
            backend.close()
            raise
        super().__init__(backend)

    @classmethod
    def open(
        cls,
        url_or_path: Path | str | None = None,
        *,
        read_only: bool = False,
        deadline_seconds: float = 30.0,
        durability: Literal["normal", "full"] = "normal",
    ) -> Self:
        """The store at a path or at a postgresql:// address."""
        return cls(url_or_path, read_only, deadline_seconds=deadline_seconds, durability=durability)

    @property
    def read_only(self) -> bool:
        """Whether it was opened for reading alone."""
        return self.backend.options.read_only

    @property
    def schema_version(self) -> int:
        """The version of its schema; a store opened for reading may be older than this code."""
        return find_version(self.backend)

    @property
    def _conn(self) -> sqlite3.Connection:
        """The raw connection, by the name that maintenance scripts for SQLite files expect."""
        if not isinstance(self.backend, SQLiteBackend):
            raise UsageError("only a SQLite store has a file connection")
        return self.backend.connection

    create_session = sessions.create_session
    ensure_session = sessions.ensure_session
    get_session = sessions.get_session
    resolve_session_id = sessions.resolve_session_id
    end_session = sessions.end_session
    reopen_session = sessions.reopen_session
    promote_to_session_reset = sessions.promote_to_session_reset
    update_system_prompt = sessions.update_system_prompt
    update_session_model = sessions.update_session_model
    update_session_cwd = sessions.update_session_cwd
    update_token_counts = sessions.update_token_counts
    set_session_archived = sessions.set_session_archived
    delete_session = sessions.delete_session
    delete_session_if_empty = sessions.delete_session_if_empty
    prune_sessions = sessions.prune_sessions
    archive_sessions = sessions.archive_sessions

    MAX_TITLE_LENGTH = sessions.MAX_TITLE_LENGTH
    sanitize_title = staticmethod(sessions.sanitize_title)
    set_session_title = sessions.set_session_title
    set_title = sessions.set_session_title
    get_session_title = sessions.get_session_title
    get_session_by_title = sessions.get_session_by_title
    resolve_session_by_title = sessions.resolve_session_by_title
    get_next_title_in_lineage = sessions.get_next_title_in_lineage

    list_sessions = listing.list_sessions
    list_sessions_rich = listing.list_sessions_rich
    search_sessions = listing.search_sessions
    session_count = listing.session_count

    append_message = messages.append_message
    append_messages = messages.append_messages
    append_to = messages.append_to
    replace_messages = messages.replace_messages
    archive_and_compact = messages.archive_and_compact
    clear_messages = messages.clear_messages
    rewind_to_message = messages.rewind_to_message
    restore_rewound = messages.restore_rewound
    get_messages = messages.get_messages
    message_count = messages.message_count
    has_platform_message_id = messages.has_platform_message_id

    get_messages_as_conversation = conversations.get_messages_as_conversation
    get_messages_around = conversations.get_messages_around
    get_anchored_view = conversations.get_anchored_view
    get_lineage = conversations.get_lineage
    get_conversation_root = conversations.get_conversation_root
    get_compression_tip = conversations.get_compression_tip
    get_compression_lineage = conversations.get_compression_lineage

    search_messages = search.search_messages
    index_messages = search.index_messages

    find_chat = chats.find_chat
    find_session_chat = chats.find_session_chat
    list_chats = chats.list_chats
    iterate_chats = chats.iterate_chats
    count_chats = chats.count_chats
    put_chat = chats.put_chat
    touch_chat = chats.touch_chat
    delete_chat = chats.delete_chat
    take_chats = chats.take_chats
    end_left_session = chats.end_left_session

    export_session = transfer.export_session
    export_all = transfer.export_all
    iterate_exports = transfer.iterate_exports
    import_sessions = transfer.import_sessions

    verify = verify.verify

    def get_meta(self, key: str) -> str | None:
        """A value stored beside the sessions, or None."""
        return read_meta(self.backend, META_PREFIX + key)

    def set_meta(self, key: str, value: str) -> None:
        """Store a value beside the sessions."""
        self.backend.write(lambda: write_meta(self.backend, META_PREFIX + key, value))

    def vacuum(self) -> None:
        """Give deleted space back to the disk and rebuild the search index."""
        if self.backend.dialect is Dialect.SQLITE:
            self.backend.write(lambda: search.drop_index(self.backend))
            self.index_messages()
        self.backend.execute("VACUUM")
        if self.backend.dialect is Dialect.SQLITE:
            self.backend.query("PRAGMA wal_checkpoint(TRUNCATE)")

    def backup(self, target: Path | str) -> Path:
        """Copy the store to a new file while it is in use; the file.

        Raises:
            UsageError: there is a file already, or no folder for it.
        """
        path = Path(target)
        if path.exists():
            raise UsageError(f"{str(path)!r} exists already", hint="name a new file")
        if isinstance(self.backend, SQLiteBackend):
            self.backend.backup(path)
            note_backup(self.backend.path, path)
        else:
            self._copy_rows(path)
        return path

    def _copy_rows(self, path: Path) -> None:
        """Write the sessions, messages and chats of a server to a store in a file."""
        part = path.with_name(f"{path.name}.part")
        if not path.parent.is_dir():
            raise UsageError(f"no such folder: {str(path.parent)!r}", hint="create it first")
        try:
            with SessionDB(part) as copy:
                report = copy.import_sessions(self.iterate_exports())
                copy.take_chats(self.iterate_chats())
            if report["errors"]:
                raise StoreError(
                    f"{len(report['errors'])} sessions could not be copied: {report['errors'][0]}",
                    path=self.backend.location,
                )
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
