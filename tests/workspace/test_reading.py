"""Finding one session by its id."""

from __future__ import annotations

from pathlib import Path

from support.hermes_db import make_database, user
from warmstart.model.selection import Selection
from warmstart.sources import ReadLog
from warmstart.workspace import Workspace


def test_a_session_that_two_databases_have_is_told(tmp_path: Path) -> None:
    for name in ("one", "two"):
        make_database(tmp_path / "data" / f"{name}.db", {"twice-1": [user(f"hello {name}")]})
    workspace, log = Workspace.open(tmp_path / "home"), ReadLog()
    found = workspace.get_session("twice-1", Selection(paths=(str(tmp_path / "data"),)), log)
    assert found.path == str(tmp_path / "data" / "one.db")
    assert len(log.notes) == 1
    assert "hermes:twice-1 is in 2 files" in log.notes[0]
    one, quiet = str(tmp_path / "data" / "two.db"), ReadLog()
    assert workspace.get_session("twice-1", Selection(paths=(one,)), quiet).path == one
    assert not quiet.notes
