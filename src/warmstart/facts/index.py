"""The file that keeps facts: ``facts.db`` in the home, private to its user.

Everything in it can be rebuilt. An index that other code wrote (tables, readers, judge, redaction:
``code_digest``) is deleted and rebuilt; nothing is ever migrated. A file that is damaged, or is not
an index, is moved aside. Writers take the file with BEGIN IMMEDIATE and wait for each other, so two
processes that refresh at once do the work twice at worst and never store a session twice.
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
from warmstart.facts.tables import CREATE

FILE = "facts.db"
BUSY_SECONDS = 10.0
MAX_TRIES = 60
USED_SECONDS = 60.0
"""How old the moment a set of sources was last asked for may become before it is written again."""
MAX_SOURCE_SETS = 20
"""How many sets of named paths are remembered beside the machine's own stores."""


class IndexUnavailableError(WarmstartError):
    """The index can be neither opened nor created; the caller must do without."""


class IndexDamagedError(IndexUnavailableError):
    """The index turned out to be damaged while it was read; it has been moved aside."""


@contextmanager
def open_index(path: Path) -> Iterator[sqlite3.Connection]:
    """The index, created if it is not there.

    Raises:
        IndexUnavailableError: its folder cannot be written to.
        IndexDamagedError: a page of it cannot be read; opening it again creates a new one.
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
    """What an index must be marked with to be used: a digest of the code that fills it."""
    return digest_code(*FACTS_CODE)


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
                for statement in CREATE:
                    connection.execute(statement)
                connection.execute("INSERT INTO meta VALUES (?, 0)", (stamp_schema(),))
    if _read_schema(connection) != stamp_schema():
        raise _ForeignSchemaError


def _read_schema(connection: sqlite3.Connection) -> str | int | None:
    """What the file is marked with, a number by earlier versions; None in an empty file.

    Raises:
        sqlite3.DatabaseError: it is not a database, or one with other tables.
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
            time.sleep(random.uniform(0.01, 0.1))  # noqa: S311 - a pause, not a secret
        else:
            return


def _is_full(error: sqlite3.Error) -> bool:
    return "full" in str(error) or "disk I/O" in str(error)


def _is_damage(error: sqlite3.Error) -> bool:
    code = getattr(error, "sqlite_errorcode", None) or 0
    return code & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def _is_busy(error: sqlite3.Error) -> bool:
    return "locked" in str(error) or "busy" in str(error)


def ensure_source_set(connection: sqlite3.Connection, name: str) -> int:
    """The number of a set of sources; the ones longest not asked for are deleted."""
    query = "SELECT id, used_at FROM source_set WHERE name = ?"
    row = connection.execute(query, (name,)).fetchone()
    now = time.time()
    if row is not None:
        if now - row[1] > USED_SECONDS:
            with transaction(connection):
                connection.execute("UPDATE source_set SET used_at = ? WHERE id = ?", (now, row[0]))
        return int(row[0])
    with transaction(connection):
        connection.execute(
            "INSERT OR IGNORE INTO source_set (name, used_at) VALUES (?, ?)", (name, now)
        )
        connection.execute(
            """DELETE FROM source_set WHERE name <> '' AND id NOT IN (
                SELECT id FROM source_set WHERE name <> '' ORDER BY used_at DESC LIMIT ?)""",
            (MAX_SOURCE_SETS,),
        )
    return int(connection.execute(query, (name,)).fetchone()[0])


def next_revision(connection: sqlite3.Connection) -> int:
    """A number that no earlier write had; called inside the transaction that writes."""
    connection.execute("UPDATE meta SET revision = revision + 1")
    return int(connection.execute("SELECT revision FROM meta").fetchone()[0])
