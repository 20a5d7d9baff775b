"""Claude Code's hook, as the agent calls it: a process with an event on stdin."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from warmstart.app import Workspace
from warmstart.app.starting import find_start
from warmstart.app.templates import open_library
from warmstart.integrations.claude_hook import answer_hook
from warmstart.model.template import Guidance, Template, TemplateState
from warmstart.model.warmup import Arm


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    monkeypatch.setenv("WARMSTART_HOME", str(tmp_path / "ws"))
    monkeypatch.setenv("WARMSTART_WARM_HOLDOUT", "0")
    workspace = Workspace(tmp_path / "ws")
    template = Template(
        name="fix-tests",
        anchors=("fix the failing test of the parser",),
        tags=("tests", "parser"),
        guidance=(Guidance(tool="Bash", text="Run pytest -q first.", calls=9, errors=3),),
    )
    with open_library(workspace) as library:
        library.save(template, state=TemplateState.APPROVED)
    return workspace


def event(**fields: Any) -> dict[str, Any]:
    known = {"hook_event_name": "UserPromptSubmit", "session_id": "s-1", "cwd": "/p"}
    return {**known, "prompt": "fix the failing test of the parser", **fields}


def test_the_first_message_gets_the_warm_up_and_the_next_nothing(workspace: Workspace) -> None:
    output = answer_hook(workspace, event())["hookSpecificOutput"]
    assert output["hookEventName"] == "UserPromptSubmit"
    assert "Run pytest -q first." in output["additionalContext"]
    assert answer_hook(workspace, event(prompt="and now the parser test again")) == {}
    assert answer_hook(workspace, event(session_id="s-2")) != {}


@pytest.mark.parametrize("has_answer", [True, False])
def test_a_session_with_a_history_began_without_us(
    has_answer: bool,  # noqa: FBT001 - the parameter of the test
    workspace: Workspace,
    tmp_path: Path,
) -> None:
    lines = ['{"type":"user","message":{"role":"user","content":"hi"}}']
    lines += ['{"parentUuid":"a","type":"assistant","message":{}}'] if has_answer else []
    transcript = tmp_path / "s-1.jsonl"
    transcript.write_text("\n".join(lines))
    answer = answer_hook(workspace, event(transcript_path=str(transcript)))
    assert (answer == {}) is has_answer
    assert (find_start(workspace, "claude_code", "s-1") is None) is has_answer


def test_a_transcript_that_is_not_there_is_no_history(workspace: Workspace) -> None:
    assert answer_hook(workspace, event(transcript_path="/nowhere/s-1.jsonl")) != {}
    assert answer_hook(workspace, event(session_id="s-2", transcript_path="\0")) != {}


def test_the_start_is_kept_under_the_sessions_own_id(workspace: Workspace) -> None:
    answer_hook(workspace, event())
    start = find_start(workspace, "claude_code", "s-1")
    assert start is not None
    assert (start.arm, start.template, start.cwd) == (Arm.WARM, "fix-tests", "/p")
    assert find_start(workspace, "claude_code", "s-9") is None


def test_a_session_nothing_fits_stays_cold_and_is_kept_too(workspace: Workspace) -> None:
    assert answer_hook(workspace, event(prompt="write a poem about autumn leaves")) == {}
    start = find_start(workspace, "claude_code", "s-1")
    assert start is not None
    assert start.arm is Arm.COLD


@pytest.mark.parametrize(
    "fields",
    [
        {"hook_event_name": "Stop"},
        {"session_id": None},
        {"session_id": ""},
        {"prompt": 7},
        {"prompt": "  "},
        {"hook_event_name": "SessionStart", "prompt": None},
    ],
)
def test_other_events_add_nothing(workspace: Workspace, fields: dict[str, Any]) -> None:
    assert answer_hook(workspace, event(**fields)) == {}


@pytest.mark.parametrize("text", ["", "not json", "[]", "{}"])
def test_the_command_never_stands_in_the_way(workspace: Workspace, text: str) -> None:
    del workspace
    command = [sys.executable, "-m", "warmstart", "hook", "claude-code"]
    run = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    assert run.stdout == ""


def test_the_command_prints_what_the_agent_reads(workspace: Workspace) -> None:
    del workspace
    command = [sys.executable, "-m", "warmstart", "hook", "claude-code"]
    text = json.dumps(event())
    run = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    assert "additionalContext" in json.loads(run.stdout)["hookSpecificOutput"]


def test_a_home_that_cannot_be_used_is_said_on_stderr(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("WARMSTART_HOME", str(tmp_path / "file" / "ws"))
    command = [sys.executable, "-m", "warmstart", "hook", "claude-code"]
    text = json.dumps(event())
    run = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    assert run.stdout == ""
    assert run.stderr.startswith("warmstart: ")


def test_tools_of_other_agents_are_left_out(workspace: Workspace) -> None:
    lines = (
        Guidance(tool="terminal", text="Use terminal.", calls=9, errors=3),
        Guidance(tool="mcp__shop__search", text="Search first.", calls=9, errors=3),
    )
    template = Template(name="mixed", anchors=("mend the broken lexer",), guidance=lines)
    with open_library(workspace) as library:
        library.save(template, state=TemplateState.APPROVED)
    answer = answer_hook(workspace, event(prompt="mend the broken lexer"))
    context = answer["hookSpecificOutput"]["additionalContext"]
    assert "Search first." in context
    assert "Use terminal." not in context
