"""Reading what a damaged store file still holds, table by table and row by row.

A damaged page takes with it the rows it held. Rows are asked for in the order of their row ids;
where that fails, the first id behind the damage that can be read again is searched for. Nothing
is ever written to the damaged file.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from warmstart.store.creating import remove_database
from warmstart.store.errors import StoreVersionError
from warmstart.store.sqlite_backend import create_private, name_part

MAX_PROBLEMS = 20
MAGIC, HEADER_BYTES = b"SQLite format 3\0", 100
MAX_ROW_ID = 1 << 62
DERIVED = "message_words"
"""The search index and its inner tables; made again from the messages when they are searched."""
OWN_TABLES = frozenset({"schema_version", "sessions", "messages"})
LIST_TABLES = "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY rowid"


@dataclass(frozen=True, slots=True, kw_only=True)
class TableState:
    """How much of a table can be read."""

    name: str
    rows: int
    is_whole: bool
    """False where rows are missing that a damaged page held; nobody knows how many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Damage:
    """What is wrong with a store file, and what it still holds."""

    problems: tuple[str, ...]
    """In SQLite's own words, the first of them."""
    tables: tuple[TableState, ...]

    def count(self, table: str) -> int:
        """How many rows of a table can be read."""
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
    """The file, to be read only; bytes that are not text any more are replaced."""
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
    """How long the file should be by its own header; 0 where it has none."""
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
    """What SQLite's own check says of a table and its indexes."""
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
