"""A store made again from what its damaged file still holds.

The new file has the damaged one's own schema, so an older store stays what it is until it is
migrated as usual. It is finished before anything changes; then the damaged file is kept under
another name and the new one takes its place in one step.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

from warmstart.model import TemplateState
from warmstart.store.backend import Options
from warmstart.store.creating import ensure_store, remove_database
from warmstart.store.errors import StoreBusyError, StoreDamagedError, StoreError
from warmstart.store.holders import find_writer
from warmstart.store.messages import recount
from warmstart.store.migrations import MIGRATIONS, migrate
from warmstart.store.salvage import DERIVED, TableRows, TableState, list_tables, open_damaged
from warmstart.store.search import WATERMARK
from warmstart.store.sqlite_backend import SQLiteBackend, create_private, name_part

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
"""Rows whose bytes were overwritten in place: SQLite reads them, and nobody else could."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Repaired:
    """What became of a damaged store."""

    sessions: int
    messages: int
    missing: int
    """Messages that sessions had by their own counters and that could not be read."""
    incomplete: tuple[str, ...]
    """Tables of which rows were lost; all of them where the file could not be read at all."""
    kept: Path
    """Where the damaged file is now."""


def repair_store(path: Path) -> Repaired:
    """Put a store of everything readable in the place of a damaged file, which is kept.

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
    return Repaired(
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
    """Without its version a store cannot be opened; what today's schema has is today's."""
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
    """Bring the new file in order: sessions for all messages, counters, today's schema."""
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
