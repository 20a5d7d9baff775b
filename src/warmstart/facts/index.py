"""The file that remembers facts: ``facts.db`` in the home, private to its user.

Everything in it can be made again. An index with other tables, or that other code wrote (readers,
judge, redaction: ``code_digest``), is deleted and begun from nothing; nothing is ever migrated. A
file that is damaged or no index at all is moved aside. Writers take the file with BEGIN IMMEDIATE
and wait for each other, so two processes that refresh at once do the work twice at worst and never
leave a session in it twice.
"""

from __future__ import annotations

import os
import random
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from warmstart.errors import WarmstartError
from warmstart.facts.code_digest import FACTS_CODE, digest_code

FILE = "facts.db"
SCHEMA = 5
"""Raised when a table changes; a changed meaning of what is in it shows in the code's digest."""
BUSY_SECONDS = 10.0
MAX_TRIES = 60
USED_SECONDS = 60.0
"""How old the moment a place was asked for last may become before it is written again."""
MAX_PLACES = 20
"""How many sets of paths, named one time or another, are remembered beside the machine's stores."""
TABLES = (
    "CREATE TABLE meta (schema TEXT NOT NULL, revision INTEGER NOT NULL)",
    "CREATE TABLE places (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, used REAL NOT NULL)",
    """CREATE TABLE units (
        id INTEGER PRIMARY KEY, place INTEGER NOT NULL REFERENCES places ON DELETE CASCADE,
        root TEXT NOT NULL, reader TEXT NOT NULL, path BLOB NOT NULL, key TEXT NOT NULL,
        fingerprint TEXT NOT NULL, position INTEGER NOT NULL, skips BLOB, seen BLOB, state BLOB,
        UNIQUE (place, reader, path, key))""",
    """CREATE TABLE sessions (
        id INTEGER PRIMARY KEY, unit INTEGER NOT NULL REFERENCES units ON DELETE CASCADE,
        revision INTEGER NOT NULL, key TEXT NOT NULL, ord REAL NOT NULL, name TEXT NOT NULL,
        origin TEXT NOT NULL, agent TEXT NOT NULL, model TEXT, project TEXT, started_at REAL,
        ended_at REAL, messages INTEGER NOT NULL, statuses BLOB NOT NULL, tools BLOB NOT NULL,
        details BLOB NOT NULL, calls BLOB NOT NULL)""",
    "CREATE UNIQUE INDEX sessions_in_order ON sessions (unit, key, ord)",
    """CREATE TABLE summaries (
        place INTEGER NOT NULL REFERENCES places ON DELETE CASCADE, chunk INTEGER NOT NULL,
        version TEXT NOT NULL, stamp BLOB NOT NULL, data BLOB NOT NULL,
        PRIMARY KEY (place, chunk, version)) WITHOUT ROWID""",
)


class IndexUnavailableError(WarmstartError):
    """The index can be neither opened nor made; the caller must do without."""


class IndexDamagedError(IndexUnavailableError):
    """The index turned out to be damaged while it was read; it has been put aside."""


@contextmanager
def open_index(path: Path) -> Iterator[sqlite3.Connection]:
    """The index, made if it is not there.

    Raises:
        IndexUnavailableError: its folder cannot be written to.
        IndexDamagedError: a page of it cannot be read; opening it again makes a new one.
    """
    connection = _connect(path)
    try:
        yield connection
    except sqlite3.DatabaseError as error:
        if not _is_damage(error):
            raise
        connection.close()
        move_aside(path)
        raise IndexDamagedError(
            f"the facts in {str(path)!r} were damaged ({error}) and are rebuilt; nothing is lost,"
            " they are derived from your sessions",
            hint="run the command again",
        ) from error
    finally:
        connection.close()


def _connect(path: Path) -> sqlite3.Connection:
    for attempt in range(3):
        try:
            _ensure_private(path)
            connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)
        except (OSError, sqlite3.OperationalError) as error:
            raise _unavailable(path, error) from error
        try:
            _prepare(connection)
        except IndexUnavailableError:
            connection.close()
            raise
        except sqlite3.OperationalError as error:
            connection.close()
            if _is_busy(error) and attempt < 2:
                continue
            raise _unavailable(path, error) from error
        except (sqlite3.DatabaseError, _ForeignSchemaError):
            connection.close()
            move_aside(path)
        else:
            return connection
    raise _unavailable(path, None)


class _ForeignSchemaError(Exception):
    """Another version wrote the file."""


def stamp_schema() -> str:
    """What an index must be marked with to be used: the tables' version, and the code's digest."""
    return f"{SCHEMA}:{digest_code(*FACTS_CODE)}"


def _unavailable(path: Path, error: BaseException | None) -> IndexUnavailableError:
    why = getattr(error, "strerror", None) or str(error or "it cannot be replaced")
    return IndexUnavailableError(f"cannot keep facts in {str(path)!r}: {why}")


def _ensure_private(path: Path) -> None:
    """The file, for its user alone from its first byte on."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))


def _prepare(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("PRAGMA foreign_keys = ON")
    if _read_schema(connection) is None:
        with transaction(connection):
            if _read_schema(connection) is None:
                for table in TABLES:
                    connection.execute(table)
                connection.execute("INSERT INTO meta VALUES (?, 0)", (stamp_schema(),))
    if _read_schema(connection) != stamp_schema():
        raise _ForeignSchemaError


def _read_schema(connection: sqlite3.Connection) -> str | int | None:
    """What the file is marked with, a number by earlier versions; None in an empty file.

    Raises:
        sqlite3.DatabaseError: it is no database, or one with other tables.
    """
    names = {row[0] for row in connection.execute("SELECT name FROM sqlite_master")}
    if not names:
        return None
    if "meta" not in names:
        raise _ForeignSchemaError
    row = connection.execute("SELECT schema FROM meta").fetchone()
    return row[0] if row else -1


def move_aside(path: Path) -> None:
    """Take away a file that cannot be used, so that an index can stand in its place.

    An index is deleted, and with it any that was moved aside earlier: what older versions kept was
    not masked. A file that is damaged, or somebody else's, stays beside it as ``.old``.
    """
    old = path.with_name(f"{path.name}.old")
    for file in (path, old):
        if _is_index(file):
            with suppress(OSError):
                file.unlink()
    with suppress(OSError):
        path.replace(old)
    for suffix in ("-wal", "-shm"):
        with suppress(OSError):
            path.with_name(path.name + suffix).unlink()


def _is_index(path: Path) -> bool:
    """Whether a file is an index of any version."""
    try:
        address = f"{path.absolute().as_uri()}?mode=ro"
        with closing(sqlite3.connect(address, uri=True, timeout=BUSY_SECONDS)) as connection:
            return _read_schema(connection) is not None
    except (sqlite3.Error, _ForeignSchemaError, OSError):
        return False


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """All of it or nothing; waits for another writer.

    Raises:
        IndexUnavailableError: the disk is full.
    """
    try:
        _begin(connection)
        yield
        connection.execute("COMMIT")
    except BaseException as error:
        if connection.in_transaction:  # SQLite may have given up by itself
            connection.execute("ROLLBACK")
        if isinstance(error, sqlite3.OperationalError) and _is_full(error):
            raise IndexUnavailableError(f"cannot keep facts: {error}") from error
        raise


def _begin(connection: sqlite3.Connection) -> None:
    for attempt in range(MAX_TRIES):
        try:
            connection.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            if not _is_busy(error) or attempt == MAX_TRIES - 1:
                raise
            time.sleep(random.uniform(0.01, 0.1))  # noqa: S311 - a pause, no secret
        else:
            return


def _is_full(error: sqlite3.Error) -> bool:
    return "full" in str(error) or "disk I/O" in str(error)


def _is_damage(error: sqlite3.Error) -> bool:
    code = getattr(error, "sqlite_errorcode", None) or 0
    return code & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def _is_busy(error: sqlite3.Error) -> bool:
    return "locked" in str(error) or "busy" in str(error)


def ensure_place(connection: sqlite3.Connection, name: str) -> int:
    """The number of a set of sources; the ones longest not asked for are forgotten."""
    row = connection.execute("SELECT id, used FROM places WHERE name = ?", (name,)).fetchone()
    if row is not None:
        if time.time() - row[1] > USED_SECONDS:
            with transaction(connection):
                connection.execute("UPDATE places SET used = ? WHERE id = ?", (time.time(), row[0]))
        return int(row[0])
    with transaction(connection):
        connection.execute(
            "INSERT OR IGNORE INTO places (name, used) VALUES (?, ?)", (name, time.time())
        )
        connection.execute(
            """DELETE FROM places WHERE name <> '' AND id NOT IN (
                SELECT id FROM places WHERE name <> '' ORDER BY used DESC LIMIT ?)""",
            (MAX_PLACES,),
        )
    row = connection.execute("SELECT id FROM places WHERE name = ?", (name,)).fetchone()
    return int(row[0])


def next_revision(connection: sqlite3.Connection) -> int:
    """A number no earlier write had; inside the transaction that writes."""
    connection.execute("UPDATE meta SET revision = revision + 1")
    return int(connection.execute("SELECT revision FROM meta").fetchone()[0])
