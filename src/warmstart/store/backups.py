"""Copies of a store, and finding the newest one when the store is damaged.

A migration leaves its copy beside the store; where ``sessions backup`` put one is noted in a list
beside the store, because that can be anywhere and the store itself may not be readable then.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

LIST_SUFFIX = ".backups"
MIGRATION_COPIES = ".v*.backup"
MAX_LIST_BYTES = 100_000


class Backup(NamedTuple):
    """A copy of a store that can be read."""

    path: Path
    made_at: float
    sessions: int


def note_backup(store: Path, target: Path) -> None:
    """Remember where a copy was put; a folder that may not be written is no reason to fail."""
    line = f"{target.absolute()}\n".encode("utf-8", "surrogateescape")
    with suppress(OSError):
        handle = os.open(_list_of(store), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
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
        with _list_of(store).open("rb") as file:
            data = file.read(MAX_LIST_BYTES)
    except OSError:
        return []
    return [Path(line.decode("utf-8", "surrogateescape")) for line in data.splitlines() if line]


def _list_of(store: Path) -> Path:
    return store.with_name(store.name + LIST_SUFFIX)


def _age(path: Path) -> float:
    return -path.stat().st_mtime


def _look_into(path: Path) -> Backup | None:
    address = f"file:{quote(str(path))}?mode=ro&immutable=1"
    try:
        with closing(sqlite3.connect(address, uri=True)) as connection:
            (said,) = connection.execute("PRAGMA quick_check(1)").fetchone()
            (sessions,) = connection.execute("SELECT count(*) FROM sessions").fetchone()
    except sqlite3.Error:
        return None
    return Backup(path, path.stat().st_mtime, sessions) if said == "ok" else None
