"""Opening the live store: one way, wherever it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from warmstart.app import Workspace
from warmstart.errors import NotFoundError
from warmstart.store import SessionDB, StoreBusyError


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    monkeypatch.delenv("WARMSTART_STORE", raising=False)
    return Workspace(tmp_path / "home")


def test_the_store_is_the_one_named_then_the_variable_s_then_the_home_s(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with workspace.open_store() as db:
        assert db.db_path == workspace.home / "store.db"
    monkeypatch.setenv("WARMSTART_STORE", str(tmp_path / "other.db"))
    with workspace.open_store() as db:
        assert db.db_path == tmp_path / "other.db"
    with workspace.open_store(str(tmp_path / "named.db")) as db:
        assert db.db_path == tmp_path / "named.db"
    with SessionDB() as db:
        assert db.db_path == tmp_path / "other.db"


def test_reading_creates_nothing(workspace: Workspace) -> None:
    with pytest.raises(NotFoundError, match=r"no store at .*store\.db"):
        workspace.open_store(read_only=True)
    assert not workspace.home.exists()


def test_the_home_of_another_store_is_not_created(workspace: Workspace, tmp_path: Path) -> None:
    workspace.open_store(str(tmp_path / "named.db")).close()
    assert not workspace.home.exists()


def test_patience_and_durability_reach_the_store(workspace: Workspace) -> None:
    with workspace.open_store() as holder, workspace.open_store(patience_seconds=0.01) as db:

        def hold() -> None:
            with pytest.raises(StoreBusyError):
                db.set_meta("key", "value")

        holder.backend.write(hold)
    with workspace.open_store(durability="full") as db:
        assert db.backend.query("PRAGMA synchronous")[0]["synchronous"] == 2
