"""From a path or an address to an open database, whichever of the two it is."""

from __future__ import annotations

from pathlib import Path

from warmstart.home import STORE_FILE, find_home
from warmstart.store.backend import Backend, Options
from warmstart.store.errors import StoreError
from warmstart.store.migrations import check_version
from warmstart.store.sqlite_backend import SQLiteBackend

POSTGRESQL_SCHEMES = ("postgresql://", "postgres://")
TEMPLATES_SCHEMA = 4
"""The store knows templates from this version of its schema on."""


def default_path() -> Path:
    """The store of the workspace."""
    return find_home() / STORE_FILE


def find_location(path: Path | str | None) -> Path | str:
    """An address as it is, anything else as a path; the workspace's store where none is given."""
    if isinstance(path, str) and path.startswith(POSTGRESQL_SCHEMES):
        return path
    return Path(path or default_path())


def connect(location: Path | str, options: Options) -> Backend:
    """An open backend; nothing is known yet of what is in it."""
    if isinstance(location, str):
        from warmstart.store.postgres_backend import (  # noqa: PLC0415 - an optional driver
            PostgresBackend,
        )

        return PostgresBackend(location, options)
    return SQLiteBackend(location.expanduser().absolute(), options)


def check_filled(backend: Backend) -> None:
    """Refuse to read a store in which nothing was ever stored.

    Raises:
        StoreError: a file without a table, as a full disk may have left it, or one we do not know.
    """
    if check_version(backend) == 0:
        raise StoreError(
            f"the store {backend.location!r} is empty: nothing was stored in it yet",
            path=backend.location,
            hint="it is filled by: warmstart sessions import PATH",
        )


def open_for_templates(location: Path | str) -> Backend | None:
    """A store to read templates' rows from; None if it is from before templates.

    Raises:
        StoreError: it cannot be read, or is newer than this warmstart.
    """
    backend = connect(find_location(location), Options(read_only=True))
    try:
        version = check_version(backend)
    except BaseException:
        backend.close()
        raise
    if version >= TEMPLATES_SCHEMA:
        return backend
    backend.close()
    return None
