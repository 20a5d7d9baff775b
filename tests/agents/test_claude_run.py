"""A real Claude Code, started warm, with a scripted model on loopback."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from support.agents import Computer, find_agent
from support.launching import MESSAGE, RESULT, make_advice
from warmstart.model.warmup import CALL_ID_PREFIX, Arm
from warmstart.testing import Prompt, Reply, ScriptedEndpoint, ToolCall

pytestmark = pytest.mark.agents
ADVICE = "Run pytest -q first."


def answer(prompt: Prompt) -> Reply:
    """A model that waits for MCP servers and uses ours, or runs one command, and then is done."""
    made = [call.tool for message in prompt.since_asked for call in message.requests]
    ours = next((tool for tool in prompt.tool_names if tool.endswith("__warm_list")), None)
    if not prompt.tool_names or ours in made or "Bash" in made:
        return Reply("All done.")
    if ours:
        return Reply(calls=(ToolCall(ours),))
    if "WaitForMcpServers" in prompt.tool_names:
        return Reply(calls=(ToolCall("WaitForMcpServers"),))
    return Reply(calls=(ToolCall("Bash", {"command": "echo hi", "description": "x"}),))


@pytest.fixture
def claude(tmp_path: Path) -> Iterator[Computer]:
    program = find_agent("claude")
    with ScriptedEndpoint(answer) as endpoint:
        yield Computer(tmp_path, endpoint, program)


def find_pairs(body: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Each example call that reached the model with the result that answers it."""
    blocks = [
        block
        for message in body["messages"]
        if isinstance(message["content"], list)
        for block in message["content"]
    ]
    calls = {block["id"]: block["name"] for block in blocks if block["type"] == "tool_use"}
    return [
        (calls.pop(block["tool_use_id"]), str(block["content"]))
        for block in blocks
        if block["type"] == "tool_result" and block["tool_use_id"].startswith(CALL_ID_PREFIX)
    ]


def list_transcripts(computer: Computer) -> list[Path]:
    return sorted((computer.user / ".claude" / "projects").rglob("*.jsonl"))


def test_the_model_is_shown_the_paired_example_before_the_task(claude: Computer) -> None:
    said = claude.warmstart("run", "--", "claude", "-p", MESSAGE)
    assert "All done." in said
    assert "warmstart: warm: fix-cart@1" in said
    for request in claude.endpoint.requests:
        assert find_pairs(request.body) == [("Bash", RESULT)]
    assert MESSAGE in claude.endpoint.requests[0].prompt.asked


def test_what_is_left_is_the_session_alone_and_its_examples_count_for_nothing(
    claude: Computer,
) -> None:
    claude.warmstart("run", "--", "claude", "-p", MESSAGE)
    (start,) = claude.starts()
    (transcript,) = list_transcripts(claude)
    assert transcript.stem == start.native_id
    assert list((claude.workspace.home / "launch").iterdir()) == []
    row = claude.sync()
    assert (row["session"], row["result"]) == (f"claude_code:{start.native_id}", "settled")
    assert (row["arm"], row["calls"]) == ("warm", 1)


def test_a_cold_start_shows_nothing_and_is_found_again(claude: Computer) -> None:
    claude.warmstart("run", "--cold", "--", "claude", "-p", MESSAGE)
    assert find_pairs(claude.endpoint.requests[0].body) == []
    assert claude.sync()["arm"] == "cold"


def test_a_message_on_stdin_chooses_and_arrives(claude: Computer) -> None:
    claude.warmstart("run", "--", "claude", "-p", given=MESSAGE)
    request = claude.endpoint.requests[0]
    assert find_pairs(request.body) == [("Bash", RESULT)]
    assert MESSAGE in request.prompt.asked


def test_a_session_of_the_users_own_gets_a_named_template_as_text(claude: Computer) -> None:
    claude.run("claude", "-p", "hello")
    (transcript,) = list_transcripts(claude)
    resume = ("claude", "-p", MESSAGE, "--resume", transcript.stem)
    claude.warmstart("run", "--", *resume)
    assert "pytest -q" not in claude.endpoint.requests[-1].prompt.system
    claude.warmstart("run", "--template", "fix-cart", "--", *resume)
    request = claude.endpoint.requests[-1]
    assert "pytest -q" in request.prompt.system
    assert find_pairs(request.body) == []
    assert claude.starts() == []


@pytest.mark.parametrize("installed", [False, True])
def test_without_a_message_the_hook_chooses_once_at_the_first_one(
    installed: bool,  # noqa: FBT001 - the parameter of the test
    claude: Computer,
) -> None:
    if installed:
        claude.warmstart("install", "claude-code", "--write")
    event = {"type": "user", "message": {"role": "user", "content": MESSAGE}}
    claude.warmstart(
        "run", "--", "claude", "-p", "--verbose", "--input-format", "stream-json",
        "--output-format", "stream-json", given=json.dumps(event) + "\n",
    )  # fmt: skip
    assert RESULT in json.dumps(claude.endpoint.requests[0].body)
    (start,) = claude.starts()
    assert (start.arm, start.form) == (Arm.WARM, "claude-hook")
    assert start.native_id == list_transcripts(claude)[0].stem


def test_the_hook_that_install_writes_fires_once(claude: Computer) -> None:
    claude.save(make_advice())
    claude.warmstart("install", "claude-code", "--write")
    claude.run("claude", "-p", MESSAGE)
    (start,) = claude.starts()
    assert (start.agent, start.form) == ("claude_code", "claude-hook")
    assert start.native_id == list_transcripts(claude)[0].stem
    sent = json.dumps(claude.endpoint.requests[0].body)
    assert ADVICE in sent or RESULT in sent


def test_the_hook_leaves_a_session_alone_that_was_started_warm(claude: Computer) -> None:
    claude.warmstart("install", "claude-code", "--write")
    claude.warmstart("run", "--", "claude", "-p", MESSAGE)
    assert len(claude.starts()) == 1
    body = claude.endpoint.requests[-1].body
    assert find_pairs(body) == [("Bash", RESULT)]
    assert json.dumps(body).count(RESULT) == 1


def test_the_model_calls_a_tool_of_our_server(claude: Computer) -> None:
    server = {"command": sys.executable, "args": ["-m", "warmstart", "mcp"]}
    config = json.dumps({"mcpServers": {"warmstart": server}})
    done = claude.run(
        "claude", "-p", "Which templates are there?", "--mcp-config", config,
        "--strict-mcp-config", "--allowedTools", "mcp__warmstart",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    last = claude.endpoint.requests[-1].prompt
    assert any(tool.startswith("mcp__warmstart__") for tool in last.tool_names)
    results = [result.text for message in last.messages for result in message.results]
    assert "fix-cart" in results[-1]
