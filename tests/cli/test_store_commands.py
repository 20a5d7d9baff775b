"""The live store from the command line."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from warmstart.cli.main import cli
from warmstart.samples import samples_path

Run = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Commands in a workspace that holds the sample sessions."""

    def invoke(*arguments: str) -> Result:
        environ = {"WARMSTART_HOME": str(tmp_path / "home"), "HOME": str(tmp_path)}
        return CliRunner().invoke(cli, ["sessions", *arguments], env=environ)

    assert invoke("import", str(samples_path())).exit_code == 0
    return invoke


def test_import_says_what_became_of_the_sessions(run: Run) -> None:
    again = run("import", str(samples_path()), "--json")
    report = json.loads(again.stdout)
    assert (report["imported"], report["skipped"]) == (0, 43)


def test_the_stores_own_sessions_are_not_imported_into_it_again(run: Run) -> None:
    assert json.loads(run("import", "--json").stdout)["imported"] == 0
    assert json.loads(run("verify", "--json").stdout)["sessions"] == 43


def test_a_backup_imported_into_its_own_store_adds_nothing(run: Run, tmp_path: Path) -> None:
    run("backup", str(tmp_path / "copy.db"))
    report = json.loads(run("import", str(tmp_path / "copy.db"), "--json").stdout)
    assert (report["imported"], report["skipped"]) == (0, 43)


def test_import_takes_the_same_filters_as_list(run: Run, tmp_path: Path) -> None:
    done = run(
        "import", str(samples_path()), "--source", "gemini", "--store", str(tmp_path / "g.db")
    )
    assert done.stdout.startswith("2 imported")


def test_search_finds_messages_by_their_words(run: Run) -> None:
    found = json.loads(run("search", "test_pricing.py", "--json", "--limit", "3").stdout)
    assert len(found["matches"]) == 3
    assert "test_pricing" in run("search", "test_pricing.py").stdout


@pytest.mark.parametrize("query", ["", "AND", '"', "C++", "foo.py OR", "(", "*", "NEAR/3"])
def test_any_text_is_a_query(run: Run, query: str) -> None:
    assert run("search", query).exit_code == 0


def test_verify_is_clean_after_an_import(run: Run) -> None:
    done = run("verify", "--json")
    assert done.exit_code == 0
    assert json.loads(done.stdout)["problems"] == []


def test_verify_names_what_was_changed_behind_the_store(run: Run, tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "home" / "store.db") as connection:
        connection.execute("UPDATE messages SET content = 'forged' WHERE id = 1")
    connection.close()
    done = run("verify")
    assert done.exit_code == 1
    assert "message 1: content_hash" in done.stdout


def test_backup_is_a_whole_store_and_never_overwrites(run: Run, tmp_path: Path) -> None:
    target = tmp_path / "copy.db"
    assert run("backup", str(target)).exit_code == 0
    assert run("backup", str(target)).exit_code == 2
    assert json.loads(run("verify", "--json", "--store", str(target)).stdout)["sessions"] == 43


def test_prune_asks_first_and_deletes_what_is_old(run: Run) -> None:
    assert run("prune").exit_code == 1
    deleted = json.loads(run("prune", "--yes", "--older-than", "0", "--json").stdout)["deleted"]
    assert deleted == 43


def test_sessions_of_the_store_are_listed_by_default(run: Run) -> None:
    listed = json.loads(run("list", "--json", "--all").stdout)["sessions"]
    assert {session["origin"] for session in listed} == {"live_store"}


def test_a_missing_store_is_said_with_the_next_command(tmp_path: Path) -> None:
    done = CliRunner().invoke(
        cli, ["sessions", "verify"], env={"WARMSTART_HOME": str(tmp_path / "none")}
    )
    assert done.exit_code == 3
    assert "sessions import" in done.stderr
