"""The demo runs the real commands, and leaves nothing behind."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from warmstart.cli.main import cli
from warmstart.samples import samples_path


def run(*options: str, width: int = 80) -> str:
    done = CliRunner().invoke(cli, ["demo", *options], env={"COLUMNS": str(width)})
    assert done.exit_code == 0, done.output
    assert done.stderr == ""
    return done.stdout


def state() -> dict[Path, tuple[int, int]]:
    paths = [path for path in samples_path().rglob("*") if "__pycache__" not in path.parts]
    return {path: (path.stat().st_size, path.stat().st_mtime_ns) for path in paths}


@pytest.fixture(scope="module")
def story() -> str:
    before, environ = state(), dict(os.environ)
    told = run()
    assert state() == before
    assert dict(os.environ) == environ
    return told


@pytest.fixture(scope="module")
def steps() -> list[dict[str, Any]]:
    found = json.loads(run("--json"))
    assert found["schema_version"] == 2
    steps: list[dict[str, Any]] = found["steps"]
    return steps


def test_every_step_is_a_command_that_can_be_typed(steps: list[dict[str, Any]]) -> None:
    commands = [step["command"].split()[1] for step in steps]
    assert {"doctor", "profile", "sessions", "template", "warm", "experiment"} == set(commands)
    assert all(step["output"] for step in steps if step["command"].split()[1] != "experiment")


def test_the_story_shows_the_commands_and_what_they_print(
    story: str, steps: list[dict[str, Any]]
) -> None:
    assert len(re.findall(r"^\$ warmstart ", story, re.MULTILINE)) == len(steps)
    assert "11.7 % error rate" in story
    assert "From earlier sessions with these tools:" in story


def test_the_verdict_is_called_a_demonstration(story: str, steps: list[dict[str, Any]]) -> None:
    assert "a demonstration, not a result" in " ".join(story.split())
    assert "better" in steps[-1]["output"]


def test_the_story_fits_a_narrow_terminal_and_obeys_nothing(story: str) -> None:
    assert max(map(len, story.splitlines())) <= 80
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", story)


def test_no_place_of_this_machine_is_in_the_story(story: str) -> None:
    assert str(samples_path()) not in story
    assert "warmstart-demo-" not in story
    assert "127.0.0.1" not in story


def test_the_story_ends_with_the_next_commands(story: str) -> None:
    assert "warmstart doctor" in story.rpartition("Next")[2]
