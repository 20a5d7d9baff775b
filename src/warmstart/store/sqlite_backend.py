"""SQLite: one file, many processes.

Every write is ``BEGIN IMMEDIATE``: the write lock is taken before anything is read, so a
transaction never fails halfway for want of it, and waiting for it is the only place where a busy
file shows. The busy timeout is short and the retry jittered, so that writers do not march in step.
Files are private to their user. ``isolation_level`` is None: no statement opens a transaction
that was not asked for.
"""

from __future__ import annotations

import os
import random
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path
from urllib.parse import quote

from warmstart.store.backend import Dialect, Options, Row, T, Value
from warmstart.store.errors import StoreBusyError, StoreDamagedError, StoreError

MAX_CACHE_KB = 65_536
"""Room for the index of 100,000 chats; only what is used is taken."""
BUSY_TIMEOUT_SECONDS = 0.05
MIN_PAUSE_SECONDS, MAX_PAUSE_SECONDS = 0.001, 0.02
BUSY = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})
HINTS = {
    sqlite3.SQLITE_FULL: "free some space; nothing that was stored before is lost",
    sqlite3.SQLITE_IOERR: "check the disk, its space and its quota",
    sqlite3.SQLITE_READONLY: "the file or its folder may not be written; open it read-only",
    sqlite3.SQLITE_CANTOPEN: "check that the folder exists and may be written",
}
DAMAGED = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
LOCKS = Path("/proc/locks")
WAL_WRITE_LOCK_BYTE = 120
"""Where in the ``-shm`` file SQLite's WAL mode puts the lock of the one writer."""
NOT_TEXT = "decode to UTF-8"
"""What Python's driver says, without a code, of text whose bytes were overwritten."""


class SQLiteBackend:
    """One connection to one file, usable from any thread."""

    dialect = Dialect.SQLITE

    def __init__(self, path: Path, options: Options, *, location: str | None = None) -> None:
        self.path = path
        self.location = location or str(path)
        self.options = options
        self._lock = threading.RLock()
        self.connection = self._open()

    def query(self, sql: str, parameters: Sequence[Value] = ()) -> list[Row]:
        """Rows of a statement that returns rows."""
        with self._lock:
            cursor = self._run(sql, parameters)
            try:
                return [dict(row) for row in cursor]
            except sqlite3.Error as error:
                raise self._translate(error) from error

    def execute(self, sql: str, parameters: Sequence[Value] = ()) -> int:
        """Run a statement; the number of rows it changed."""
        with self._lock:
            return self._run(sql, parameters).rowcount

    def insert(self, sql: str, parameters: Sequence[Value] = ()) -> int | None:
        """Insert one row; its id, None if it was there (3 us less than RETURNING)."""
        with self._lock:
            cursor = self._run(sql, parameters)
            return cursor.lastrowid if cursor.rowcount else None

    def write(self, work: Callable[[], T], *, wait: bool = True, durable: bool = True) -> T:
        """Run ``work`` in one immediate transaction, or inside the one that is open."""
        with self._lock:
            if self.connection.in_transaction:
                return work()
            if not durable and self.options.durability == "full":
                return self._write_relaxed(work)
            try:
                self._begin(wait=wait)
                result = work()
                self.connection.execute("COMMIT")
            except sqlite3.Error as error:
                self._roll_back()
                raise self._translate(error) from error
            except BaseException:
                self._roll_back()
                raise
            return result

    def _write_relaxed(self, work: Callable[[], T]) -> T:
        """Leave the flush to the next full commit: the WAL is flushed up to its end."""
        self._run("PRAGMA synchronous = normal", ())
        try:
            return self.write(work)
        finally:
            self._run("PRAGMA synchronous = full", ())

    def backup(self, target: Path) -> None:
        """Copy the store page by page while others go on writing."""
        # Two processes that migrate at once copy to the same target, each by a part of its own.
        part = name_part(target)
        try:
            create_private(part)
            with closing(sqlite3.connect(part)) as copy, self._lock:
                self.connection.backup(copy, pages=4096)
                # A copy is one file, whatever happens to what lies beside it.
                copy.execute("PRAGMA journal_mode = DELETE")
            part.replace(target)
        except sqlite3.Error as error:
            raise self._translate(error) from error
        except OSError as error:
            raise self._unusable(error) from error
        finally:
            part.unlink(missing_ok=True)

    def close(self) -> None:
        """Close the connection; SQLite folds the WAL into the file when it was the last."""
        with self._lock, suppress(sqlite3.Error):
            self.connection.close()

    def _open(self) -> sqlite3.Connection:
        try:
            if self.options.read_only:
                return self._connect_reading()
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            create_private(self.path)
            return self._connect(f"file:{quote(str(self.path))}?mode=rw")
        except sqlite3.Error as error:
            raise self._translate(error) from error
        except OSError as error:
            raise self._unusable(error) from error

    def _connect_reading(self) -> sqlite3.Connection:
        if not self.path.is_file():
            raise StoreError(f"there is no store at {self.location!r}", path=self.location)
        address = f"file:{quote(str(self.path))}?mode=ro"
        try:
            return self._connect(address)
        except sqlite3.OperationalError as error:
            if _code(error) not in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY):
                raise
            # WAL mode needs a -shm beside the file; where none can be made, no one writes either.
            return self._connect(address + "&immutable=1")

    def _connect(self, address: str) -> sqlite3.Connection:
        connection = sqlite3.connect(
            address,
            uri=True,
            timeout=self.options.deadline_seconds,
            isolation_level=None,
            check_same_thread=False,
        )
        connection.row_factory = sqlite3.Row
        try:
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
            connection.execute("PRAGMA foreign_keys = ON")
            connection.execute(f"PRAGMA cache_size = -{MAX_CACHE_KB}")
            connection.execute(f"PRAGMA synchronous = {self.options.durability}")
            connection.execute(f"PRAGMA busy_timeout = {int(BUSY_TIMEOUT_SECONDS * 1000)}")
        except sqlite3.Error:
            connection.close()
            raise
        return connection

    def _run(self, sql: str, parameters: Sequence[Value]) -> sqlite3.Cursor:
        try:
            return self.connection.execute(sql, parameters)
        except sqlite3.Error as error:
            if _code(error) not in BUSY or self.connection.in_transaction:
                raise self._translate(error) from error
        except (UnicodeEncodeError, OverflowError) as error:
            raise StoreError(
                f"the store {self.location!r} cannot take a value: {error}", path=self.location
            ) from error
        return self._run_patiently(sql, parameters)

    def _run_patiently(self, sql: str, parameters: Sequence[Value]) -> sqlite3.Cursor:
        """Wait for what does not begin with taking the lock: VACUUM, a checkpoint, a recovery."""
        give_up_at = time.monotonic() + self.options.deadline_seconds
        while True:
            try:
                return self.connection.execute(sql, parameters)
            except sqlite3.Error as error:
                if _code(error) not in BUSY or time.monotonic() >= give_up_at:
                    raise self._translate(error) from error
            _pause()

    def _begin(self, *, wait: bool) -> None:
        try:
            self.connection.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            if _code(error) not in BUSY or not wait:
                raise
            self._begin_patiently()

    def _begin_patiently(self) -> None:
        give_up_at = time.monotonic() + self.options.deadline_seconds
        while True:
            _pause()
            try:
                self.connection.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError as error:
                if _code(error) not in BUSY or time.monotonic() >= give_up_at:
                    raise
            else:
                return

    def _roll_back(self) -> None:
        # After a full disk SQLite has already rolled back by itself.
        with suppress(sqlite3.Error):
            if self.connection.in_transaction:
                self.connection.execute("ROLLBACK")

    def _translate(self, error: sqlite3.Error) -> StoreError:
        code = _code(error)
        if code in BUSY:
            holder = find_writer(self.path)
            return StoreBusyError(
                f"the store {self.location!r} was held by {holder or 'another process'}"
                f" for more than {self.options.deadline_seconds:g} s",
                path=self.location,
                holder=holder,
            )
        if code in DAMAGED or NOT_TEXT in str(error):
            return StoreDamagedError(self.location, str(error))
        return StoreError(
            f"the store {self.location!r} failed: {error}",
            path=self.location,
            hint=HINTS.get(code),
        )

    def _unusable(self, error: OSError) -> StoreError:
        reason = error.strerror or str(error)
        return StoreError(
            f"the store {self.location!r} cannot be used: {reason}",
            path=self.location,
            hint="name a folder that exists and may be written",
        )


def find_writer(database: Path) -> str | None:
    """``process 4711 (name)`` for the process that is writing the database now, or None.

    Only used to word an error: where ``/proc/locks`` is missing, the answer is None.
    """
    try:
        inode = database.with_name(database.name + "-shm").stat().st_ino
        lines = LOCKS.read_text().splitlines()
    except OSError:
        return None
    return next((_name_process(pid) for pid in _list_writers(lines, inode)), None)


def _list_writers(lines: list[str], inode: int) -> Iterator[int]:
    for line in lines:
        words = line.split()
        if len(words) < 8 or "WRITE" not in words or not words[-3].endswith(f":{inode}"):
            continue
        start, end = words[-2], words[-1]
        last = WAL_WRITE_LOCK_BYTE if end == "EOF" else int(end)
        if int(start) <= WAL_WRITE_LOCK_BYTE <= last:
            yield int(words[-4])


def _name_process(pid: int) -> str:
    if pid == os.getpid():
        return f"process {pid} (this one, through another connection)"
    try:
        return f"process {pid} ({Path(f'/proc/{pid}/comm').read_text().strip()})"
    except OSError:
        return f"process {pid}"


def name_part(path: Path) -> Path:
    """A unique name beside the path, for a file that will take its place."""
    return path.with_name(f".{path.name}.{os.getpid()}-{os.urandom(4).hex()}.part")


def create_private(path: Path) -> None:
    """Create the file if there is none, readable and writable by its user alone.

    An existing one is not opened: closing any descriptor of a database drops every lock this
    process holds on it.
    """
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))


def _code(error: sqlite3.Error) -> int:
    """The primary result code; -1 where the driver itself complains."""
    code = getattr(error, "sqlite_errorcode", None)
    return -1 if code is None else int(code) & 0xFF


def _pause() -> None:
    time.sleep(random.uniform(MIN_PAUSE_SECONDS, MAX_PAUSE_SECONDS))  # noqa: S311 - only jitter
