"""``SessionDB``: the whole store as one object.

    with SessionDB("sessions.db") as db:
        db.append_message("s1", "user", "hello")

The parts it is made of each hold one topic; here is only how a store is opened and kept in order.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self, Unpack

from warmstart.errors import UsageError
from warmstart.store.backend import Dialect, Options
from warmstart.store.backups import note_backup
from warmstart.store.chats import Chats
from warmstart.store.conversation import Conversations
from warmstart.store.creating import ensure_store
from warmstart.store.errors import StoreError
from warmstart.store.listing import Listing
from warmstart.store.messages import AppendResult
from warmstart.store.migrations import find_version, migrate
from warmstart.store.opening import check_filled, connect, find_location
from warmstart.store.part import read_meta, write_meta
from warmstart.store.search import Search, catch_up, drop_index
from warmstart.store.sessions import SessionFields, Sessions
from warmstart.store.sqlite_backend import SQLiteBackend
from warmstart.store.templatedb import TemplateDB
from warmstart.store.titles import Titles
from warmstart.store.transfer import Transfer
from warmstart.store.verify import Verify
from warmstart.store.views import Views

META_PREFIX = "user:"


class SessionDB(
    Conversations, Transfer, Sessions, Listing, Titles, Search, Views, Chats, TemplateDB, Verify
):
    """Sessions and their messages, in one SQLite file or one PostgreSQL schema."""

    def __init__(
        self,
        db_path: Path | str | None = None,
        read_only: bool = False,  # noqa: FBT001, FBT002 - the callers' signature
        *,
        deadline_seconds: float = 30.0,
        durability: Literal["normal", "full"] = "normal",
    ) -> None:
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
    def open(cls, url_or_path: Path | str | None = None, **options: Any) -> Self:
        """The store at a path or at a postgresql:// address."""
        return cls(url_or_path, **options)

    @property
    def read_only(self) -> bool:
        """Whether it was opened for reading alone."""
        return self._backend.options.read_only

    @property
    def schema_version(self) -> int:
        """Which migrations it has had; a store opened for reading may be older than we are."""
        return find_version(self._backend)

    @property
    def _conn(self) -> sqlite3.Connection:
        """The raw connection, by the name that maintenance scripts for SQLite files expect."""
        if not isinstance(self._backend, SQLiteBackend):
            raise UsageError("only a SQLite store has a file connection")
        return self._backend.connection

    def append_to(
        self,
        session_id: str,
        messages: Iterable[Mapping[str, Any]],
        source: str,
        **fields: Unpack[SessionFields],
    ) -> AppendResult:
        """Append a batch and make its session known, in one transaction."""
        batch = list(messages)

        def work() -> AppendResult:
            self.ensure_session(session_id, source, **fields)
            return self.append_messages(session_id, batch)

        return self._backend.write(work)

    def get_meta(self, key: str) -> str | None:
        """A value kept beside the sessions."""
        return read_meta(self._backend, META_PREFIX + key)

    def set_meta(self, key: str, value: str) -> None:
        """Keep a value beside the sessions."""
        self._backend.write(lambda: write_meta(self._backend, META_PREFIX + key, value))

    def vacuum(self) -> None:
        """Give deleted space back and build the search index anew."""
        if self._backend.dialect is Dialect.SQLITE:
            self._backend.write(lambda: drop_index(self._backend))
            catch_up(self._backend, wait=True)
        self._backend.execute("VACUUM")
        if self._backend.dialect is Dialect.SQLITE:
            self._backend.query("PRAGMA wal_checkpoint(TRUNCATE)")

    def backup(self, target: Path | str) -> Path:
        """Copy the store to a new file while it is in use; the file."""
        path = Path(target)
        if path.exists():
            raise UsageError(f"{str(path)!r} exists already", hint="name a new file")
        if isinstance(self._backend, SQLiteBackend):
            self._backend.backup(path)
            note_backup(self._backend.path, path)
        else:
            self._copy_rows(path)
        return path

    def _copy_rows(self, path: Path) -> None:
        """The sessions, messages and chats of a server, as a store in a file of its own."""
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
                    path=self._backend.location,
                )
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
