"""A real Hermes, started warm, with a scripted model on loopback."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from support.agents import Computer, find_hermes
from support.launching import MESSAGE, RESULT
from warmstart.model.warmup import CALL_ID_PREFIX
from warmstart.testing import Reply, ScriptedEndpoint, ToolCall, by_turn

pytestmark = pytest.mark.agents
CHAT = ("hermes", "chat", "-Q", "-q", MESSAGE)


@pytest.fixture
def hermes(tmp_path: Path) -> Iterator[Computer]:
    program = find_hermes()
    call = ToolCall("terminal", {"command": "echo hi"})
    with ScriptedEndpoint(by_turn(Reply(calls=(call,)), Reply("All done."))) as endpoint:
        computer = Computer(tmp_path, endpoint, program)
        model = {"default": "scripted", "provider": "custom", "api_key": "none"}
        config = {"model": {**model, "base_url": f"{endpoint.url}/v1"}}
        write_config(computer, config)
        yield computer


def write_config(computer: Computer, config: Mapping[str, Any]) -> None:
    (computer.user / ".hermes" / "config.yaml").write_text(json.dumps(config))


def find_pairs(body: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Each example call that reached the model with the result that answers it."""
    calls = {
        call["id"]: call["function"]["name"]
        for message in body["messages"]
        for call in message.get("tool_calls") or ()
    }
    return [
        (calls.pop(message["tool_call_id"]), message["content"])
        for message in body["messages"]
        if message["role"] == "tool" and message["tool_call_id"].startswith(CALL_ID_PREFIX)
    ]


def list_requests(computer: Computer) -> list[Mapping[str, Any]]:
    """What the model was asked with tools on offer."""
    return [request.body for request in computer.endpoint.requests if request.prompt.tools]


def test_the_model_is_shown_the_paired_example_and_nothing_is_kept_of_it(hermes: Computer) -> None:
    said = hermes.warmstart("run", "--", *CHAT)
    assert "All done." in said
    assert "warmstart: warm: fix-cart@1" in said
    requests = list_requests(hermes)
    assert [find_pairs(body) for body in requests] == [[("terminal", RESULT)]] * 2
    assert MESSAGE in requests[0]["messages"][-1]["content"]
    assert list((hermes.workspace.home / "launch").iterdir()) == []
    row = hermes.sync()
    assert (row["arm"], row["result"], row["calls"]) == ("warm", "settled", 1)
    assert row["session"].startswith("hermes:")


def test_with_the_plugin_on_a_start_is_decided_once(hermes: Computer) -> None:
    config = json.loads((hermes.user / ".hermes" / "config.yaml").read_text())
    write_config(hermes, {**config, "plugins": {"enabled": ["warmstart"]}})
    hermes.warmstart("run", "--cold", "--", *CHAT)
    assert [find_pairs(body) for body in list_requests(hermes)] == [[]] * 2
    (start,) = hermes.starts()
    assert (start.arm, start.form) == ("cold", "")
