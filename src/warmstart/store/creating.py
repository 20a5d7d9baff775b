"""A new store file: built beside its place and put there whole.

Whatever goes wrong on the way (a full disk, a kill) leaves no file where the store should be, and
of several processes that begin at once all get the store of the first.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from warmstart.store.backend import Options
from warmstart.store.errors import StoreError
from warmstart.store.migrations import migrate
from warmstart.store.sqlite_backend import SQLiteBackend, name_part

BESIDE = ("", "-wal", "-shm", "-journal")
"""A database and the files SQLite keeps beside it."""


def ensure_store(location: Path) -> None:
    """Make an empty store unless there is a file; one that is there is not touched.

    Raises:
        StoreError: the folder cannot be written, or the disk is full.
    """
    path = Path(os.path.realpath(location))
    if path.exists():
        return
    part = name_part(path)
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        _build(part, str(location))
        with suppress(FileExistsError):  # Another process was first.
            put_in_place(part, path)
    except OSError as error:
        raise StoreError(
            f"the store {str(location)!r} cannot be used: {error.strerror or error}",
            path=str(location),
            hint="name a folder that exists and may be written",
        ) from error
    finally:
        remove_database(part)


def remove_database(path: Path) -> None:
    """Delete a database file of ours and what lies beside it."""
    for suffix in BESIDE:
        with suppress(OSError):
            path.with_name(path.name + suffix).unlink()


def put_in_place(part: Path, path: Path) -> None:
    """Give a finished file its name.

    Raises:
        FileExistsError: there is a file of that name; it stays.
    """
    try:
        os.link(part, path)
    except FileExistsError:
        raise
    except OSError:
        # Not every file system knows links; there a race between two processes remains.
        if path.exists():
            raise FileExistsError from None
        part.rename(path)


def _build(part: Path, location: str) -> None:
    backend = SQLiteBackend(part, Options(), location=location)
    try:
        migrate(backend)
        # All of it in the one file that is about to be moved, or an error now.
        backend.query("PRAGMA wal_checkpoint(TRUNCATE)")
    finally:
        backend.close()
