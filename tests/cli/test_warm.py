"""``warmstart warm``."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import Result

from support.warming import make_template
from warmstart.app import Workspace
from warmstart.app.templates import open_library
from warmstart.cli.warm import FORMS
from warmstart.model.template import TemplateState
from warmstart.warm import RENDERERS

Run = Callable[..., Result]
MESSAGE = "fix the failing checkout test"


@pytest.fixture(autouse=True)
def library(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WARMSTART_STORE", raising=False)
    monkeypatch.chdir(home)
    with open_library(Workspace.open()) as found:
        found.save(make_template(), state=TemplateState.APPROVED)


def test_the_content_is_on_stdout_and_the_reason_on_stderr(run: Run) -> None:
    result = run("warm", MESSAGE)
    assert result.stdout.startswith("Below are notes and worked examples")
    assert "warm: fix-tests@1, about" in result.stderr
    assert "(fix-tests fits best" in result.stderr


def test_a_terminal_gets_nothing_it_would_obey(home: Path) -> None:
    with open_library(Workspace.open()) as found:
        template = make_template("odd", guidance=(), anchors=("paint it",), system_context="")
        example = replace(template.examples[0], result="\x1b]0;title\x07red")
        found.save(replace(template, examples=(example,)), state=TemplateState.APPROVED)
    code = "from warmstart.cli.main import main; main()"
    command = [sys.executable, "-c", code, "warm", "--template", "odd", "-q"]
    reader, writer = os.openpty()
    subprocess.run(command, stdout=writer, cwd=home, check=True)
    os.close(writer)
    shown = os.read(reader, 1 << 16)
    os.close(reader)
    assert b"red" in shown
    assert b"\x1b" not in shown


def test_nothing_is_printed_when_nothing_fits(run: Run) -> None:
    result = run("warm", "what does this poem mean")
    assert (result.exit_code, result.stdout) == (0, "")
    assert "cold: no template shares a word" in result.stderr


def test_explain_prints_the_ranking_and_the_parts(run: Run) -> None:
    result = run("warm", MESSAGE, "--explain", "--tool", "terminal")
    assert result.stdout.startswith("TEMPLATE")
    assert "in  guidance:terminal" in result.stdout
    assert "out example:2: this session has no tool patch" in result.stdout


def test_json_has_everything(run: Run) -> None:
    result = json.loads(run("warm", MESSAGE, "--json", "--as", "openai", "-q").stdout)
    assert result["schema_version"] == 1
    assert (result["template"], result["arm"], result["version"]) == ("fix-tests", "warm", 1)
    assert result["content"]["messages"][-1] == {"role": "user", "content": MESSAGE}
    assert result["ranking"][0]["name"] == "fix-tests"
    cold = json.loads(run("warm", "poem", "--json").stdout)
    assert (cold["content"], cold["template"], cold["arm"]) == (None, None, "cold")


@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_written(run: Run, form: str) -> None:
    result = run("warm", MESSAGE, "--as", form)
    assert result.exit_code == 0
    assert "pytest -q" in result.stdout


def test_a_file_is_private_and_never_replaced_unasked(run: Run, home: Path) -> None:
    path = home / "prefill.json"
    arguments = ("warm", MESSAGE, "--as", "hermes-prefill", "-o", path)
    assert run(*arguments).exit_code == 0
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert json.loads(path.read_bytes())[0]["role"] == "user"
    assert "exists already" in run(*arguments).stderr
    assert run(*arguments, "--force").exit_code == 0


def test_a_skill_is_written_as_a_folder(run: Run, home: Path) -> None:
    assert run("warm", MESSAGE, "--as", "skill", "-o", home / "skills").exit_code == 0
    assert (home / "skills" / "fix-tests" / "SKILL.md").read_text().startswith("---\nname:")


def test_the_budget_is_kept_and_named_templates_need_no_message(run: Run) -> None:
    result = json.loads(run("warm", "--template", "fix-tests", "--budget", 300, "--json").stdout)
    assert 0 < result["tokens"] <= 300
    assert result["reason"] == "fix-tests was asked for by name"
    assert run("warm").exit_code == 2
    assert run("warm", "--template", "nothing").exit_code == 3


def test_only_a_recorded_start_counts_as_a_use(run: Run) -> None:
    run("warm", MESSAGE)
    result = json.loads(run("warm", MESSAGE, "--record", "--json", "--seed", "s").stdout)
    with open_library(Workspace.open()) as found:
        assert found.db
        assert [row.id for row in found.db.list_starts()] == [result["start"]]


def test_bad_settings_end_in_one_line(run: Run, home: Path) -> None:
    (home / "ws" / "config.toml").write_text("[warm]\nholdout = 2\n")
    result = run("warm", MESSAGE)
    assert result.exit_code == 2
    assert "holdout must be at most 1.0" in result.stderr


def test_the_options_name_what_there_is() -> None:
    assert set(FORMS) == set(RENDERERS)
