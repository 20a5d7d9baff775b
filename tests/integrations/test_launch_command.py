"""``warmstart run`` as people type it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from support.launching import MESSAGE, make_template
from warmstart.app import Workspace
from warmstart.app.templates import open_library
from warmstart.model.template import TemplateState

HERMES = f"""#!{sys.executable}
import os, pathlib, sys
path = os.environ.get("HERMES_PREFILL_MESSAGES_FILE")
print(sys.argv[1:], "warm" if path and pathlib.Path(path).exists() else "cold", sys.stdin.read())
sys.exit(7)
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "hermes").write_text(HERMES)
    (programs / "hermes").chmod(0o755)
    monkeypatch.setenv("PATH", str(programs), prepend=os.pathsep)
    monkeypatch.setenv("WARMSTART_HOME", str(tmp_path / "ws"))
    monkeypatch.setenv("WARMSTART_WARM_HOLDOUT", "0")
    for name in ("WARMSTART_STORE", "HERMES_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    monkeypatch.setenv("COLUMNS", "200")
    with open_library(Workspace(tmp_path / "ws")) as library:
        library.save(make_template(), state=TemplateState.APPROVED)
    return tmp_path


def warmstart(*arguments: str, given: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "warmstart", *arguments]
    return subprocess.run(command, input=given, capture_output=True, text=True, check=False)


@pytest.mark.usefixtures("folder")
def test_the_agents_output_exit_code_and_stdin_are_its_own() -> None:
    done = warmstart("run", "--", "hermes", "chat", "-q", MESSAGE, given="words")
    assert done.returncode == 7
    assert done.stdout == f"['chat', '-q', '{MESSAGE}'] warm words\n"
    assert done.stderr.startswith("warmstart: warm: fix-cart@1")


@pytest.mark.usefixtures("folder")
def test_options_of_the_agent_are_not_ours() -> None:
    done = warmstart("run", "-q", "hermes", "chat", "--cold", "--", "-q")
    assert done.stdout == "['chat', '--cold', '--', '-q'] cold \n"
    assert done.stderr == ""


@pytest.mark.usefixtures("folder")
def test_a_look_says_what_would_be_started() -> None:
    done = warmstart("run", "--dry-run", "--", "hermes", "chat", "-q", MESSAGE)
    assert done.returncode == 0
    assert done.stdout.startswith("file: ")
    assert f"hermes chat -q '{MESSAGE}'" in done.stdout
    done = warmstart("run", "--dry-run", "--json", "--", "hermes", "chat", "-q", MESSAGE)
    found = json.loads(done.stdout)
    assert (found["schema_version"], found["arm"], found["template"]) == (1, "warm", "fix-cart")
    assert found["files"][0]["bytes"] > 100


@pytest.mark.usefixtures("folder")
def test_a_command_that_is_not_there_is_said_as_a_shell_says_it() -> None:
    done = warmstart("run", "--", "no-such-agent")
    assert done.returncode == 127
    assert done.stderr == "error: there is no command 'no-such-agent'\n"


def test_a_home_that_cannot_be_used_costs_the_warm_up_alone(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "file").write_text("")
    monkeypatch.setenv("WARMSTART_HOME", str(folder / "file" / "ws"))
    done = warmstart("run", "--", "hermes", "chat", "-q", MESSAGE)
    assert done.returncode == 7
    assert "cold" in done.stdout
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.usefixtures("folder")
def test_sync_has_a_table_and_json() -> None:
    assert "no start is waiting" in warmstart("sync").stderr
    warmstart("run", "--", "hermes", "chat", "-q", MESSAGE)
    done = warmstart("sync")
    assert "fix-cart@1" in done.stdout
    assert done.stderr.endswith("1 start: 1 not found\n")
    found = json.loads(warmstart("sync", "--json").stdout)
    assert found["totals"]["not found"] == 1
    assert found["starts"][0]["arm"] == "warm"
