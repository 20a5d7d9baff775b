"""The plugin inside a real Hermes, with a scripted model on loopback."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from support.agents import find_hermes
from support.warming import make_template
from warmstart.app import Workspace
from warmstart.app.syncing import sync_starts
from warmstart.app.templates import open_library
from warmstart.model.template import TemplateState
from warmstart.model.warmup import Arm
from warmstart.sources import ReadLog
from warmstart.store import RecordedStart
from warmstart.testing import Prompt, Reply, ScriptedEndpoint, ToolCall

pytestmark = pytest.mark.agents
TASK = "Fix the failing checkout test"
SECONDS = 240


def answer(prompt: Prompt) -> Reply:
    """A model that does what the task's words ask for, one call after another."""
    seen = sum(len(message.results) for message in prompt.since_asked)
    if TASK in prompt.asked:
        calls = (
            ToolCall("terminal", {"command": "echo 4 passed # pytest -q"}),
            ToolCall("terminal", {"command": "ls /no/such/folder"}),
        )
    elif "templates are there" in prompt.asked:
        calls = (ToolCall("warm_session", {"action": "list"}),)
    elif "Delegate" in prompt.asked and "delegate_task" in prompt.tool_names:
        calls = (ToolCall("delegate_task", {"goal": f"{TASK} of the cart", "context": "none"}),)
    else:
        calls = ()
    return Reply(calls=(calls[seen],)) if seen < len(calls) else Reply("All done.")


class Hermes:
    """A machine of its own with Hermes, the plugin and one approved template."""

    def __init__(self, command: Path, root: Path, endpoint: ScriptedEndpoint) -> None:
        self.command, self.endpoint = command, endpoint
        self.home, self.project = root / "hermes", root / "project"
        self.workspace = Workspace(root / "ws")
        for folder in (self.home, self.project):
            folder.mkdir()
        self.speak("chat_completions", "/v1")
        with open_library(self.workspace) as library:
            library.save(make_template(), state=TemplateState.APPROVED)
        self.environ = {
            "PATH": os.environ["PATH"],
            "HOME": str(root),
            "HERMES_HOME": str(self.home),
            "WARMSTART_HOME": str(self.workspace.home),
            "WARMSTART_WARM_HOLDOUT": "0",
        }

    def speak(self, api_mode: str, path: str) -> None:
        """Let Hermes reach the model through one of its APIs."""
        provider = {
            "name": "scripted",
            "base_url": f"{self.endpoint.url}{path}",
            "api_key": "none",
            "api_mode": api_mode,
            "model": "scripted",
        }
        config = {
            "model": {"default": "scripted", "provider": "custom:scripted"},
            "custom_providers": [provider],
            "plugins": {"enabled": ["warmstart"]},
        }
        (self.home / "config.yaml").write_text(json.dumps(config))

    def run(self, *words: str, **environ: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self.command, *words],
            cwd=self.project,
            env={**self.environ, **environ},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )

    def ask(self, *words: str, **environ: str) -> list[Mapping[str, Any]]:
        """One headless turn; the requests that offered tools, which those for a title do not."""
        before = len(self.endpoint.requests)
        done = self.run("chat", *words, **environ)
        assert done.returncode == 0, done.stdout + done.stderr
        return [one.body for one in self.endpoint.requests[before:] if one.body.get("tools")]

    def chat(self, *words: str, **environ: str) -> list[list[dict[str, Any]]]:
        """The same; the messages of each request."""
        return [list(body["messages"]) for body in self.ask(*words, **environ)]

    def starts(self) -> list[RecordedStart]:
        with open_library(self.workspace) as library:
            return library.require_db().list_starts()


@pytest.fixture
def hermes(tmp_path: Path) -> Iterator[Hermes]:
    command = find_hermes()
    with ScriptedEndpoint(answer) as endpoint:
        yield Hermes(command, tmp_path, endpoint)


def cut_prefix(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Everything before the real task."""
    at = next(i for i, one in enumerate(messages) if one.get("content") == TASK)
    return messages[:at]


def is_warm(messages: list[dict[str, Any]]) -> bool:
    return "call_warm_" in json.dumps(messages)


def test_a_session_starts_warm_keeps_its_bytes_and_is_settled(hermes: Hermes) -> None:
    first = hermes.chat("-q", TASK)
    assert len(first) == 3
    prefix = cut_prefix(first[0])
    asked = [call["id"] for one in prefix for call in one.get("tool_calls", ())]
    assert asked
    assert asked == [one["tool_call_id"] for one in prefix if one["role"] == "tool"]
    assert [one["role"] for one in prefix].count("system") == 1
    assert [cut_prefix(one) for one in first] == [prefix] * 3

    (start,) = hermes.starts()
    assert (start.agent, start.arm, start.template) == ("hermes", Arm.WARM, "fix-tests")
    assert (start.calls, start.errors) == (2, 1)
    assert start.session_id == f"hermes:{start.native_id}"

    with closing(sqlite3.connect(f"file:{hermes.home}/state.db?mode=ro", uri=True)) as database:
        rows = database.execute("SELECT * FROM messages").fetchall()
        prompts = database.execute("SELECT system_prompt FROM sessions").fetchall()
    assert len(rows) == 6
    assert "call_warm_" not in repr(rows)
    assert "Run pytest with -q" not in repr(prompts)

    (again, *_) = hermes.chat("--resume", start.native_id or "", "-q", "Thank you")
    assert cut_prefix(again) == prefix
    assert len(hermes.starts()) == 1

    shown = hermes.run("warm", "profile", start.native_id or "", "--json")
    assert shown.returncode == 0, shown.stderr
    profile = json.loads(shown.stdout)["profile"]
    assert (profile["calls"], profile["warmups"]) == (2, 0)


def test_the_responses_api_gets_items_and_instructions(hermes: Hermes) -> None:
    hermes.speak("codex_responses", "/v1")
    for body in hermes.ask("-q", TASK):
        items = body["input"]
        calls = [item["call_id"] for item in items if item.get("type") == "function_call"]
        results = [item["call_id"] for item in items if item.get("type") == "function_call_output"]
        assert calls[0].startswith("call_warm_")
        assert calls == results
        assert "Run pytest with -q" in body["instructions"]
    assert [(start.arm, start.calls) for start in hermes.starts()] == [(Arm.WARM, 2)]


def test_the_messages_api_gets_alternating_turns(hermes: Hermes) -> None:
    hermes.speak("anthropic_messages", "/anthropic")
    for body in hermes.ask("-q", TASK):
        roles = [message["role"] for message in body["messages"]]
        assert roles == ["user", "assistant"] * (len(roles) // 2) + ["user"]
        assert is_warm(body["messages"])
    assert [(start.arm, start.calls) for start in hermes.starts()] == [(Arm.WARM, 2)]


def test_a_session_whose_end_nobody_told_is_left_to_sync(
    hermes: Hermes, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = hermes.run("-z", TASK)
    assert done.returncode == 0, done.stdout + done.stderr
    (start,) = hermes.starts()
    assert (start.arm, start.settled_at) == (Arm.WARM, None)
    for name in ("HOME", "HERMES_HOME"):
        monkeypatch.setenv(name, hermes.environ[name])
    report = sync_starts(hermes.workspace, ReadLog(), idle_seconds=0.0)
    assert [(one.calls, one.errors) for one in report.rows] == [(2, 1)]
    (start,) = hermes.starts()
    assert start.session_id == f"hermes:{start.native_id}"


def test_the_model_can_use_the_tool(hermes: Hermes) -> None:
    sent = hermes.chat("-q", "Which templates are there?")
    result = next(one for one in reversed(sent[-1]) if one["role"] == "tool")
    found = json.loads(result["content"])
    assert found["success"]
    assert found["templates"][0]["name"] == "fix-tests"


def test_commands_print_and_end_with_their_own_code(hermes: Hermes) -> None:
    listed = hermes.run("warm", "list")
    assert listed.returncode == 0
    assert "fix-tests" in listed.stdout
    shown = hermes.run("warm", "test", "fix-tests", "Fix the cart", "--json")
    assert json.loads(shown.stdout)["rendered"]["messages"][-1]["content"] == "Fix the cart"
    missing = hermes.run("warm", "delete", "nothing", "--yes")
    assert (missing.returncode, missing.stdout) == (3, "")
    assert "there is no template" in missing.stderr


def test_a_subagent_stays_cold(hermes: Hermes) -> None:
    sent = hermes.chat("-q", "Delegate this")
    child = [one for one in sent if any(TASK in str(m.get("content")) for m in one[-1:])]
    assert child
    assert not any(map(is_warm, child))
    assert [start.arm for start in hermes.starts()] == [Arm.COLD]


def test_a_home_that_cannot_be_used_costs_the_session_nothing(
    hermes: Hermes, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    sent = hermes.chat("-q", TASK, WARMSTART_HOME=str(tmp_path / "file" / "ws"))
    assert len(sent) == 3
    assert not any(map(is_warm, sent))
