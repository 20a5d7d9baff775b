"""``warmstart run`` and ``warmstart sync``: what they print."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from support.hermes_db import answers, asks, change, make_database, user
from support.launching import MESSAGE, make_template
from warmstart.app import Workspace
from warmstart.app.templates import open_library
from warmstart.model.template import TemplateState

Run = Callable[..., Result]
COMMAND = ("--", "hermes", "chat", "-q", MESSAGE)
PASSED = '{"output": "4 passed", "exit_code": 0, "error": null}'


@pytest.fixture(autouse=True)
def agent(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program called hermes that only ends, and a template that fits."""
    (home / "bin").mkdir()
    (home / "bin" / "hermes").write_text(f"#!{sys.executable}\nraise SystemExit(5)\n")
    (home / "bin" / "hermes").chmod(0o755)
    monkeypatch.setenv("PATH", str(home / "bin"), prepend=os.pathsep)
    monkeypatch.setenv("WARMSTART_WARM_HOLDOUT", "0")
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.chdir(home)
    with open_library(Workspace(home / "ws")) as library:
        library.save(make_template(), state=TemplateState.APPROVED)


def test_the_exit_code_is_the_agents(run: Run) -> None:
    done = run("run", *COMMAND)
    assert done.exit_code == 5
    assert done.stderr.startswith("warmstart: warm: fix-cart@1")
    assert run("run", "--quiet", *COMMAND).stderr == ""


def test_a_look_prints_files_variables_and_command(run: Run) -> None:
    done = run("run", "--dry-run", *COMMAND)
    assert done.exit_code == 0
    file, command = done.stdout.splitlines()
    assert file.startswith("file: ")
    assert command.startswith("HERMES_PREFILL_MESSAGES_FILE=")
    assert command.endswith(f"hermes chat -q '{MESSAGE}'")
    assert done.stderr.startswith("warm: ")


def test_a_look_as_json_has_the_reason(run: Run) -> None:
    found = json.loads(run("run", "--dry-run", "--json", "--cold", *COMMAND).stdout)
    assert (found["arm"], found["files"], found["reason"]) == ("cold", [], "cold: as asked")


def test_a_command_that_is_not_there(run: Run) -> None:
    done = run("run", "--", "no-such-agent")
    assert (done.exit_code, done.stdout) == (127, "")


def test_sync_says_what_became_of_each_start(run: Run, home: Path) -> None:
    run("run", *COMMAND)
    rows = [user(MESSAGE), asks(("c", "terminal", {"command": "pytest"})), answers("c", PASSED)]
    with open_library(Workspace(home / "ws")) as library:
        (start,) = library.require_db().list_starts()
    session = {"cwd": str(home)}
    database = make_database(home / ".hermes" / "state.db", {"s1": rows}, {"s1": session})
    assert "not found" in run("sync", "--idle", "0").stdout
    change(database, "UPDATE sessions SET started_at = ?", start.started_at)
    done = run("sync", "--idle", "0")
    assert "fix-cart@1      1    0  yes   settled  hermes:s1" in done.stdout
    assert done.stderr == "1 start: 1 settled\n"
    assert run("sync").stderr == "no start is waiting to be settled; see: warmstart run\n"


def test_sync_as_json(run: Run) -> None:
    run("run", *COMMAND)
    found = json.loads(run("sync", "--json").stdout)
    assert found["schema_version"] == 1
    assert found["totals"] == {"settled": 0, "running": 0, "not found": 1, "ambiguous": 0}
    (row,) = found["starts"]
    assert (row["template"], row["arm"], row["result"]) == ("fix-cart", "warm", "not found")
