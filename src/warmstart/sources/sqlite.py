"""Foreign SQLite databases, opened so that their owner cannot notice.

``mode=ro`` beside the owner's WAL, never a bare file copy: a database copied without its ``-wal``
loses rows. A file that is likely a live database is never opened with ``open()`` either: inside
the owner's own process, closing any descriptor of the file drops all of its POSIX locks.
"""

from __future__ import annotations

import atexit
import os
import shutil
import sqlite3
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from pathlib import Path
from typing import Self
from urllib.parse import quote

from warmstart.errors import SourceError
from warmstart.model import Session
from warmstart.sources.files import open_bytes, read_head, unreadable
from warmstart.sources.log import ReadLog
from warmstart.sources.reader import OpenSource, Unit
from warmstart.sources.sqlite_guard import ENDLESS, GuardedConnection
from warmstart.sources.unpacking import GZIP_MAGIC, ZSTD_MAGIC

BUSY_TIMEOUT_SECONDS = 5.0
UNPACKED_BYTES = 256 * 1024 * 1024
"""What a small packed database may unpack to on disk: unused pages shrink to nothing."""
DATABASE_NAME = "unpacked.db"
DATABASE_SUFFIXES = (".db", ".sqlite", ".sqlite3")
DATABASE_MAGIC = b"SQLite format 3\x00"


@contextmanager
def open_database(path: Path) -> Iterator[GuardedConnection]:
    """A read-only connection; a compressed file is unpacked to a private copy.

    Only ordinary tables can be read through it, one query at a time, and no query runs for ever.

    Raises:
        SourceError: not there, not a database, locked for too long, damaged, or unsafe to read.
    """
    plain = _plain_file(path)
    connection = _connect(plain, path)
    try:
        with closing(connection):
            connection.guard(sum(_size_of(file) for file in (plain, _wal_of(plain))))
            yield connection
    except (sqlite3.Error, UnicodeDecodeError) as error:
        # A damaged file can make SQLite's own complaint text that is not UTF-8.
        raise connection.explain(error) from error
    finally:
        if connection.is_endless:
            _ENDLESS.add(_identify(plain))


_ENDLESS: set[tuple[Path, int, int]] = set()
"""Databases in which a query found no end: their other sessions are not tried one by one."""


def _identify(path: Path) -> tuple[Path, int, int]:
    stat = path.stat()
    return path.absolute(), stat.st_size, stat.st_mtime_ns


def _connect(path: Path, named: Path) -> GuardedConnection:
    uri = f"file:{quote(str(path.resolve()))}?mode=ro"
    # With no -wal beside it there is no writer and the file alone is the whole truth; opened any
    # other way, SQLite would leave a -wal and a -shm behind, or fail where it may not.
    is_immutable = not _wal_of(path).exists() and _is_wal_mode(path)
    if is_immutable:
        uri += "&immutable=1"
    try:
        if _ENDLESS and path.exists() and _identify(path) in _ENDLESS:
            raise sqlite3.DatabaseError(ENDLESS)
        connection = sqlite3.connect(
            uri, uri=True, timeout=BUSY_TIMEOUT_SECONDS, factory=GuardedConnection
        )
    except sqlite3.Error as error:
        raise SourceError(f"cannot read {str(named)!r}: {error}", path=named) from error
    connection.path, connection.is_immutable = named, is_immutable
    return connection


class DatabaseReader(ABC):
    """Base of readers whose units are sessions of a database: all share one connection."""

    def read(self, unit: Unit, log: ReadLog) -> Iterator[Session]:
        """The sessions of a unit, over a connection of its own."""
        with self.open(unit.path) as source:
            yield from source.read(unit, log)

    def open(self, path: Path) -> AbstractContextManager[OpenSource]:
        """Keep one connection for as many units of a database as are read."""
        return _OpenDatabase(self, path)

    @abstractmethod
    def read_rows(
        self, connection: GuardedConnection, unit: Unit, log: ReadLog
    ) -> Iterator[Session]:
        """The sessions of a unit."""


class _OpenDatabase:
    """One connection for many reads of a database, opened on the first of them.

    A database at rest is read as a file that does not change. When its owner begins to write, the
    next read gets a new connection.
    """

    def __init__(self, reader: DatabaseReader, path: Path) -> None:
        self._reader = reader
        self._path = path
        self._wal = str(_wal_of(path))
        self._stack = ExitStack()
        self._connection: GuardedConnection | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection = None
        self._stack.close()

    def read(self, unit: Unit, log: ReadLog) -> Iterator[Session]:
        """The sessions of a unit.

        Raises:
            SourceError: as ``open_database`` does.
        """
        known = self._connection
        if known is not None and known.is_immutable and self._has_wal():
            self.__exit__()
        if self._connection is None:
            self._connection = self._stack.enter_context(open_database(self._path))
        yield from self._reader.read_rows(self._connection, unit, log)

    def _has_wal(self) -> bool:
        # Asked for every session, and most of the time there is none: ``Path`` takes ten times as
        # long to say so.
        return os.path.exists(self._wal)  # noqa: PTH110


def _size_of(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _is_wal_mode(path: Path) -> bool:
    """By its header; a live owner in WAL mode always has a -wal, so this opens nothing in use."""
    try:
        with path.open("rb") as file:
            return file.read(20)[18:] == b"\x02\x02"
    except OSError:
        return False


def _wal_of(path: Path) -> Path:
    return path.with_name(path.name + "-wal")


def _plain_file(path: Path) -> Path:
    """The database itself, or an unpacked private copy of it."""
    return _UNPACKED.copy_of(path) if _is_packed(path) else path


class _Unpacked:
    """The last packed database that was read, unpacked once for all of its sessions.

    The copy goes when another one is read, when the packed file changes, and with the process.
    """

    def __init__(self) -> None:
        self._of: tuple[Path, int, int] | None = None
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    def copy_of(self, path: Path) -> Path:
        """The unpacked file, private to this process."""
        stat = path.stat()
        of = (path.absolute(), stat.st_size, stat.st_mtime_ns)
        if self._folder is None or of != self._of:
            self.drop()
            folder = tempfile.TemporaryDirectory(prefix="warmstart-")
            try:
                _unpack(path, Path(folder.name) / DATABASE_NAME)
            except BaseException:
                folder.cleanup()
                raise
            atexit.register(self.drop)
            self._of, self._folder = of, folder
        return Path(self._folder.name) / DATABASE_NAME

    def drop(self) -> None:
        """Remove the copy."""
        atexit.unregister(self.drop)
        if self._folder is not None:
            self._folder.cleanup()
        self._of = self._folder = None


_UNPACKED = _Unpacked()


def _unpack(path: Path, target: Path) -> None:
    with open_bytes(path, spare=UNPACKED_BYTES) as packed, target.open("wb") as plain:
        shutil.copyfileobj(packed, plain, 1 << 20)


def _is_packed(path: Path) -> bool:
    if is_named_database(path):
        return False
    try:
        with path.open("rb") as file:
            return file.read(4).startswith((GZIP_MAGIC, ZSTD_MAGIC))
    except OSError as error:
        raise unreadable(path, error) from error


def is_named_database(path: Path) -> bool:
    """Whether a file is a database by its name or by the log beside it; it must not be opened.

    A live database always has a ``-wal`` or is found by its name.
    """
    return path.suffix in DATABASE_SUFFIXES or _wal_of(path).exists()


def is_database(path: Path) -> bool:
    """Whether the file is an SQLite database (compressed or not), judged by its first bytes."""
    return is_named_database(path) or read_head(path, len(DATABASE_MAGIC)) == DATABASE_MAGIC


def list_tables(connection: GuardedConnection) -> frozenset[str]:
    """Names of the tables."""
    rows = connection.select("SELECT name FROM sqlite_master WHERE type = 'table'")
    return frozenset(row[0] for row in rows)
