"""Migrations: from blank, from the oldest file, twice, and when one fails."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from warmstart.store import SessionDB, StoreError, StoreVersionError
from warmstart.store.backend import Backend, Options
from warmstart.store.migrations import MIGRATIONS, Migration, check_version, find_version, migrate
from warmstart.store.sqlite_backend import SQLiteBackend

LATEST = MIGRATIONS[-1].version
OLDEST = [step for step in MIGRATIONS if step.version == 1]


@pytest.fixture
def backend(address: str) -> Backend:
    if not address.startswith("postgresql"):
        return SQLiteBackend(Path(address), Options())
    from warmstart.store.postgres_backend import PostgresBackend

    return PostgresBackend(address, Options())


def recorded(backend: Backend) -> list[tuple[int, str]]:
    rows = backend.query("SELECT version, name FROM schema_version ORDER BY version")
    return [(row["version"], row["name"]) for row in rows]


def test_a_blank_database_gets_every_step_recorded(backend: Backend) -> None:
    migrate(backend)
    assert find_version(backend) == LATEST
    assert recorded(backend) == sorted({(step.version, step.name) for step in MIGRATIONS})
    backend.close()


def test_migrating_twice_is_nothing(backend: Backend) -> None:
    migrate(backend)
    before = backend.query("SELECT * FROM schema_version ORDER BY version")
    migrate(backend)
    assert backend.query("SELECT * FROM schema_version ORDER BY version") == before
    backend.close()


def test_the_oldest_store_is_brought_up_with_its_rows(backend: Backend, address: str) -> None:
    migrate(backend, OLDEST)
    backend.execute("INSERT INTO sessions (id, source, started_at) VALUES ('s1', 'cli', 1)")
    backend.close()
    with SessionDB.open(address) as db:
        assert db.get_session("s1") is not None
        db.append_message("s1", "user", "hello")
        assert len(db.search_messages("hello")) == 1


def test_a_step_that_fails_leaves_no_trace(backend: Backend) -> None:
    migrate(backend, OLDEST)
    broken = Migration(2, "m002_broken", ("CREATE TABLE extra (id TEXT)", "CREATE NONSENSE"))
    with pytest.raises(StoreError):
        migrate(backend, [*OLDEST, broken])
    assert find_version(backend) == 1
    with pytest.raises(StoreError, match="extra"):
        backend.query("SELECT * FROM extra")
    backend.close()


def test_a_newer_store_is_refused_with_a_hint(backend: Backend, address: str) -> None:
    migrate(backend)
    backend.execute("INSERT INTO schema_version VALUES (99, 1, 'm099_future')")
    with pytest.raises(StoreVersionError) as caught:
        check_version(backend)
    backend.close()
    assert "upgrade" in str(caught.value.hint)
    with pytest.raises(StoreVersionError, match="schema 99"):
        SessionDB.open(address, read_only=True)
    with pytest.raises(StoreVersionError, match="schema 99"):
        SessionDB.open(address)


def test_an_agents_own_database_is_refused_and_not_changed(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE schema_version (version INTEGER)")
        connection.execute("CREATE TABLE sessions (id TEXT)")
    before = path.read_bytes()
    with pytest.raises(StoreVersionError, match="not a warmstart store"):
        SessionDB(path)
    assert path.read_bytes() == before


def test_a_file_is_copied_before_it_is_migrated(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    backend = SQLiteBackend(path, Options())
    migrate(backend, OLDEST)
    backend.execute("INSERT INTO sessions (id, source, started_at) VALUES ('s1', 'cli', 1)")
    backend.close()
    SessionDB(path).close()
    copy = tmp_path / "store.db.v1.backup"
    assert copy.stat().st_mode & 0o777 == 0o600
    with closing(sqlite3.connect(copy)) as connection:
        assert connection.execute("SELECT id FROM sessions").fetchall() == [("s1",)]
        assert connection.execute("SELECT max(version) FROM schema_version").fetchone() == (1,)


def test_a_new_file_is_not_copied(tmp_path: Path) -> None:
    SessionDB(tmp_path / "store.db").close()
    SessionDB(tmp_path / "store.db").close()
    assert [path.name for path in tmp_path.iterdir()] == ["store.db"]
