"""From a path or an address to an open database, and to a new one where there is none.

A new file is built beside its place and put there whole: a full disk or a kill leaves no file where
the store should be, and of several processes that begin at once all get the store of the first.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from warmstart.home import find_home, find_store
from warmstart.store.backend import Backend, Options
from warmstart.store.errors import StoreError
from warmstart.store.migrations import check_version, migrate
from warmstart.store.sqlite_backend import SQLiteBackend, name_part

POSTGRESQL_SCHEMES = ("postgresql://", "postgres://")
BESIDE = ("", "-wal", "-shm", "-journal")
"""A database and the files SQLite keeps beside it."""


def find_location(path: Path | str | None) -> Path | str:
    """An address as it is, anything else as a path; without one, the store of the home."""
    location = path or find_store(find_home())
    if isinstance(location, str) and location.startswith(POSTGRESQL_SCHEMES):
        return location
    return Path(location)


def connect(location: Path | str, options: Options) -> Backend:
    """An open backend, whose contents have not been checked."""
    if isinstance(location, str):
        from warmstart.store.postgres_backend import (  # noqa: PLC0415 - an optional driver
            PostgresBackend,
        )

        return PostgresBackend(location, options)
    return SQLiteBackend(location.expanduser().absolute(), options)


def check_filled(backend: Backend) -> None:
    """Refuse to read a database without tables, or one that is not a store.

    Raises:
        StoreError: nothing was ever stored in it, or it is another program's.
    """
    if check_version(backend) == 0:
        raise StoreError(
            f"the store {backend.location!r} is empty: nothing was stored in it yet",
            path=backend.location,
            hint="it is filled by: warmstart sessions import PATH",
        )


def ensure_store(location: Path) -> None:
    """Create an empty store unless there is a file; an existing one is not touched.

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
    """Delete a database file of ours and the files beside it."""
    for suffix in BESIDE:
        with suppress(OSError):
            path.with_name(path.name + suffix).unlink()


def put_in_place(part: Path, path: Path) -> None:
    """Give a finished file its name.

    Raises:
        FileExistsError: there is a file of that name, which stays.
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
