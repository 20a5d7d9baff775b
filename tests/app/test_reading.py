"""Finding one session by its id."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from support.hermes_db import add_session, make_database, user
from warmstart.app import Workspace
from warmstart.app.facts import read_facts, read_rows
from warmstart.model import Selection
from warmstart.sources import ReadLog


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


def test_a_copy_of_a_database_counts_once_with_what_it_holds_more(tmp_path: Path) -> None:
    short, long = [user("hello")], [user("hello"), user("and more")]
    make_database(tmp_path / "data" / "a.db", {"one-1": short, "two-1": long})
    make_database(tmp_path / "data" / "b.db", {"one-1": long, "two-1": short})
    make_database(tmp_path / "data" / "c.db", {"three-1": short})
    # Another session that only shares its id.
    make_database(tmp_path / "data" / "d.db", {})
    add_session(tmp_path / "data" / "d.db", "three-1", long, started_at=7.0)
    workspace, log = Workspace.open(tmp_path / "home"), ReadLog()
    selection = Selection(paths=(str(tmp_path / "data"),))
    found = [(facts.id, facts.messages) for facts in read_facts(workspace, selection, log)]
    assert sorted(found) == [
        ("hermes:one-1", 2), ("hermes:three-1", 1), ("hermes:three-1", 2), ("hermes:two-1", 2)
    ]  # fmt: skip
    assert log.counts == {"copy of a session that another database holds": 2}
    rows = list(read_rows(workspace, replace(selection, min_messages=2), ReadLog()))
    assert len(rows) == 3
