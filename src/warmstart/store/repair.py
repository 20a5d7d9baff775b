"""Damaged store files: what can still be read, a new file of it, and the newest backup.

A damaged page takes with it the rows it held. Rows are read in the order of their row ids; where
that fails, the next readable id after the damage is searched for. Nothing is ever written to the
damaged file.

A repaired store has the damaged one's own schema, so an older store stays what it is until it is
migrated as usual. It is finished before anything changes; then the damaged file is kept under
another name and the new one takes its place in one step.

A migration leaves its copy beside the store; where ``sessions backup`` put one is noted in a list
beside the store, because that can be anywhere and the store itself may not be readable then.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

from warmstart.model import TemplateState
from warmstart.store.backend import Options
from warmstart.store.errors import (
    StoreBusyError,
    StoreDamagedError,
    StoreError,
    StoreVersionError,
)
from warmstart.store.messages import recount
from warmstart.store.migrations import MIGRATIONS, migrate
from warmstart.store.opening import ensure_store, remove_database
from warmstart.store.search import WATERMARK
from warmstart.store.sqlite_backend import SQLiteBackend, create_private, find_writer, name_part

LIST_SUFFIX = ".backups"
MIGRATION_COPIES = ".v*.backup"
MAX_LIST_BYTES = 100_000
MAX_PROBLEMS = 20
MAGIC, HEADER_BYTES = b"SQLite format 3\0", 100
MAX_ROW_ID = 1 << 62
DERIVED = "message_words"
"""The search index and its inner tables; rebuilt from the messages when they are searched."""
OWN_TABLES = frozenset({"schema_version", "sessions", "messages"})
LIST_TABLES = "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY rowid"
SCHEMA = """SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%'
    AND name NOT LIKE ? ORDER BY type = 'table' DESC, rowid"""
ALL = ("every table",)
ADOPT = """INSERT INTO sessions (id, source, started_at)
    SELECT session_id, 'unknown', min(timestamp) FROM messages
    WHERE session_id NOT IN (SELECT id FROM sessions) GROUP BY session_id"""
STATES = ", ".join(f"'{state}'" for state in TemplateState)
MISSING = """SELECT coalesce(sum(max(0, s.message_count - (SELECT count(*) FROM messages m
    WHERE m.session_id = s.id AND m.active = 1))), 0) FROM sessions s"""
JUNK = (
    """DELETE FROM sessions WHERE typeof(id) <> 'text' OR typeof(source) <> 'text'
        OR typeof(started_at) NOT IN ('real', 'integer')""",
    """DELETE FROM messages WHERE typeof(session_id) <> 'text' OR typeof(role) <> 'text'
        OR typeof(timestamp) NOT IN ('real', 'integer')""",
    # Without its row a template is quarantined, which is the safe side.
    f"DELETE FROM templates WHERE NOT json_valid(summary) OR state NOT IN ({STATES})",
)
"""Rows whose bytes were overwritten in place: SQLite reads them, but no reader can use them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableState:
    """How much of a table can be read."""

    name: str
    rows: int
    is_whole: bool
    """False if rows of a damaged page are missing; their number is unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Damage:
    """What is wrong with a store file, and what it still holds."""

    problems: tuple[str, ...]
    """The first of them, as SQLite words them."""
    tables: tuple[TableState, ...]

    def count(self, table: str) -> int:
        """The number of rows of a table that can be read."""
        return sum(state.rows for state in self.tables if state.name == table)


def examine(path: Path) -> Damage:
    """Look at a damaged store file.

    Raises:
        StoreVersionError: it is another program's database.
    """
    try:
        with open_damaged(path) as connection:
            names = list_tables(connection, path)
            problems = [line for name in names for line in list_problems(connection, name)]
            tables = tuple(_count(connection, name) for name in names)
    except (sqlite3.Error, OSError) as error:
        return Damage(problems=(str(error),), tables=())
    return Damage(problems=tuple(problems[:MAX_PROBLEMS]), tables=tables)


@contextmanager
def open_damaged(path: Path) -> Iterator[sqlite3.Connection]:
    """The file, for reading alone; bytes that are no longer text are replaced."""
    with _padded(path) as readable:
        address = f"file:{quote(str(readable))}?mode=ro"
        with closing(sqlite3.connect(address, uri=True)) as connection:
            connection.text_factory = _decode
            connection.row_factory = sqlite3.Row
            yield connection


@contextmanager
def _padded(path: Path) -> Iterator[Path]:
    """A copy of full length where the end of a file is missing: SQLite reads no shorter ones."""
    length = _find_length(path)
    if length <= path.stat().st_size:
        yield path
        return
    copy = name_part(path)
    log = path.with_name(f"{path.name}-wal")
    try:
        create_private(copy)
        shutil.copyfile(path, copy)
        os.truncate(copy, length)
        if log.exists():
            shutil.copyfile(log, copy.with_name(f"{copy.name}-wal"))
        yield copy
    finally:
        remove_database(copy)


def _find_length(path: Path) -> int:
    """The file's length by its own header; 0 if it has none."""
    with path.open("rb") as file:
        header = file.read(HEADER_BYTES)
    if not header.startswith(MAGIC) or len(header) < HEADER_BYTES:
        return 0
    page_size = int.from_bytes(header[16:18])
    return int.from_bytes(header[28:32]) * (65_536 if page_size == 1 else page_size)


def _decode(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def list_tables(connection: sqlite3.Connection, path: Path) -> list[str]:
    """The tables that hold something of their own.

    Raises:
        StoreVersionError: they are another program's.
    """
    names = [row[0] for row in connection.execute(LIST_TABLES)]
    if names and not set(names) >= OWN_TABLES:
        raise StoreVersionError(
            f"{str(path)!r} is a database, but not a warmstart store",
            path=str(path),
            hint="name another file; a foreign store is read with `warmstart sessions`",
        )
    return [name for name in names if not name.startswith(("sqlite_", DERIVED))]


def list_problems(connection: sqlite3.Connection, table: str) -> list[str]:
    """What SQLite's own check reports about a table and its indexes."""
    found = []
    try:
        for row in connection.execute(f"PRAGMA integrity_check({table})"):
            lines = str(row[0]).splitlines()
            found += [line for line in lines if line != "ok" and not line.startswith("***")]
    except sqlite3.Error as error:
        found.append(str(error))
    return [f"{table}: {line}" for line in found]


def _count(connection: sqlite3.Connection, table: str) -> TableState:
    rows = TableRows(connection, table)
    return TableState(name=table, rows=sum(1 for _ in rows), is_whole=not rows.is_damaged)


class TableRows:
    """The rows of a table that can be read; ``is_damaged`` says afterwards whether all were."""

    def __init__(self, connection: sqlite3.Connection, table: str) -> None:
        self._connection = connection
        self._sql = f"SELECT rowid AS _row, * FROM {table} WHERE rowid >= ? ORDER BY rowid"
        self.is_damaged = False

    def __iter__(self) -> Iterator[dict[str, Any]]:
        begin: int | None = -MAX_ROW_ID
        while begin is not None:
            last = begin - 1
            try:
                for row in self._connection.execute(self._sql, (begin,)):
                    if row["_row"] <= last:
                        # Pages that lead in a circle would be read for ever.
                        raise sqlite3.DatabaseError
                    last = row["_row"]
                    yield {name: row[name] for name in row.keys() if name != "_row"}  # noqa: SIM118 - a row iterates over values
            except sqlite3.Error:
                self.is_damaged = True
                begin = self._find_readable(last + 1)
            else:
                begin = None

    def _find_readable(self, begin: int) -> int | None:
        """The first row id from ``begin`` on at which reading works again."""
        broken, step = begin, 1
        while not self._can_read(begin + step):
            broken, step = begin + step, step * 2
            if step > MAX_ROW_ID:
                return None
        works = begin + step
        while works - broken > 1:
            middle = (works + broken) // 2
            if self._can_read(middle):
                works = middle
            else:
                broken = middle
        return works

    def _can_read(self, begin: int) -> bool:
        with suppress(sqlite3.Error):
            self._connection.execute(f"{self._sql} LIMIT 1", (begin,)).fetchone()
            return True
        return False


@dataclass(frozen=True, slots=True, kw_only=True)
class RepairResult:
    """What a repair saved and lost."""

    sessions: int
    messages: int
    missing: int
    """Messages that sessions had by their own counters and that could not be read."""
    incomplete: tuple[str, ...]
    """Tables of which rows were lost; all of them where the file could not be read at all."""
    kept: Path
    """Where the damaged file is now."""


def repair_store(path: Path) -> RepairResult:
    """Replace a damaged file by a store of everything readable in it; the old file is kept.

    Raises:
        StoreError: it is being written, another program's, or there is no room for the new file.
    """
    holder = find_writer(path)
    if holder is not None:
        raise StoreBusyError(
            f"the store {str(path)!r} is being written by {holder}", path=str(path), holder=holder
        )
    part = name_part(path)
    try:
        incomplete = _copy_readable(path, part)
        sessions, messages, missing = _settle(part)
        kept = _swap(part, path)
    except (sqlite3.Error, OSError) as error:
        raise StoreError(
            f"the store {str(path)!r} could not be repaired: {error}; it is as it was",
            path=str(path),
            hint="check that its folder may be written and has room for a second file",
        ) from error
    finally:
        remove_database(part)
    return RepairResult(
        sessions=sessions, messages=messages, missing=missing, incomplete=incomplete, kept=kept
    )


def _copy_readable(path: Path, part: Path) -> tuple[str, ...]:
    """Write the new file; the tables of which rows were lost."""
    create_private(part)
    try:
        with open_damaged(path) as old, closing(sqlite3.connect(part)) as new:
            tables = list_tables(old, path)
            states = list(_copy_tables(old, new, tables))
            _ensure_version(new, path, tables)
            new.execute("DELETE FROM meta WHERE key = ?", (WATERMARK,))
            new.commit()
    except sqlite3.DatabaseError as error:
        if _is_unreadable(path):
            # Not even the list of tables is left: what is put there is a new store.
            remove_database(part)
            ensure_store(part)
            return ALL
        raise error from None
    return tuple(state.name for state in states if not state.is_whole)


def _is_unreadable(path: Path) -> bool:
    try:
        with open_damaged(path) as connection:
            return not list_tables(connection, path)
    except sqlite3.Error:
        return True


def _copy_tables(
    old: sqlite3.Connection, new: sqlite3.Connection, tables: list[str]
) -> Iterator[TableState]:
    for (sql,) in old.execute(SCHEMA, (f"{DERIVED}%",)).fetchall():
        new.execute(sql)
    for table in tables:
        rows = TableRows(old, table)
        taken = refused = 0
        for row in rows:
            marks = ", ".join("?" * len(row))
            sql = f"INSERT OR IGNORE INTO {table} ({', '.join(row)}) VALUES ({marks})"
            changed = new.execute(sql, list(row.values())).rowcount
            taken, refused = taken + changed, refused + 1 - changed
        is_whole = not rows.is_damaged and not refused
        yield TableState(name=table, rows=taken, is_whole=is_whole)


def _ensure_version(new: sqlite3.Connection, path: Path, tables: list[str]) -> None:
    """Record the newest schema if the version was lost and the file has all of its tables."""
    if new.execute("SELECT count(*) FROM schema_version").fetchone()[0]:
        return
    wanted = {
        sql.split()[2] for step in MIGRATIONS for sql in step.statements if "CREATE TABLE" in sql
    }
    if not wanted <= set(tables):
        raise StoreDamagedError(str(path), "it no longer says which schema it has")
    steps = {(step.version, time.time(), step.name) for step in MIGRATIONS}
    new.executemany("INSERT OR IGNORE INTO schema_version VALUES (?, ?, ?)", sorted(steps))


def _settle(part: Path) -> tuple[int, int, int]:
    """Put the new file in order: sessions for all messages, counters, the newest schema."""
    backend = SQLiteBackend(part, Options())
    try:
        migrate(backend)
        for sql in JUNK:
            backend.write(lambda sql=sql: backend.execute(sql))  # type: ignore[misc]
        (missing,) = backend.query(MISSING)[0].values()
        backend.write(lambda: backend.execute(ADOPT))
        sessions = [row["id"] for row in backend.query("SELECT id FROM sessions")]
        for session_id in sessions:
            with suppress(ValueError):  # Calls that are no longer JSON: verify names them.
                backend.write(lambda one=session_id: recount(backend, one))  # type: ignore[misc]
        (messages,) = backend.query("SELECT count(*) AS n FROM messages")[0].values()
        backend.query("PRAGMA wal_checkpoint(TRUNCATE)")
    finally:
        backend.close()
    return len(sessions), int(messages), int(missing)


def _swap(part: Path, path: Path) -> Path:
    """Keep the damaged file under another name and let the new one take its place."""
    stamp = time.strftime("%Y%m%d-%H%M%S")
    kept = path.with_name(f"{path.name}.damaged-{stamp}")
    number = 1
    while kept.exists():
        number += 1
        kept = path.with_name(f"{path.name}.damaged-{stamp}-{number}")
    try:
        os.link(path, kept)
    except OSError:
        path.rename(kept)  # No links here: for a moment there is no store.
    for suffix in ("-wal", "-shm", "-journal"):
        # A log that belongs to the old file must not be replayed into the new one.
        with suppress(FileNotFoundError):
            path.with_name(path.name + suffix).rename(kept.with_name(kept.name + suffix))
    part.replace(path)
    return kept


class Backup(NamedTuple):
    """A readable copy of a store."""

    path: Path
    made_at: float
    sessions: int


def note_backup(store: Path, target: Path) -> None:
    """Note where a copy was put; a folder that cannot be written is not an error."""
    line = f"{target.absolute()}\n".encode("utf-8", "surrogateescape")
    with suppress(OSError):
        handle = os.open(_backup_list(store), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            os.write(handle, line)
        finally:
            os.close(handle)


def find_newest_backup(store: Path) -> Backup | None:
    """The newest copy of a store that is still there and whole."""
    paths = {*store.parent.glob(f"{store.name}{MIGRATION_COPIES}"), *_read_list(store)}
    by_age = sorted((_age(path), path) for path in paths if path.is_file() and path != store)
    return next((found for _, path in by_age if (found := _look_into(path))), None)


def _read_list(store: Path) -> list[Path]:
    try:
        with _backup_list(store).open("rb") as file:
            data = file.read(MAX_LIST_BYTES)
    except OSError:
        return []
    return [Path(line.decode("utf-8", "surrogateescape")) for line in data.splitlines() if line]


def _backup_list(store: Path) -> Path:
    return store.with_name(store.name + LIST_SUFFIX)


def _age(path: Path) -> float:
    return -path.stat().st_mtime


def _look_into(path: Path) -> Backup | None:
    address = f"file:{quote(str(path))}?mode=ro&immutable=1"
    try:
        with closing(sqlite3.connect(address, uri=True)) as connection:
            (answer,) = connection.execute("PRAGMA quick_check(1)").fetchone()
            (sessions,) = connection.execute("SELECT count(*) FROM sessions").fetchone()
    except sqlite3.Error:
        return None
    return Backup(path, path.stat().st_mtime, sessions) if answer == "ok" else None
