"""A real Hermes, started warm, with a scripted model on loopback."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
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


@pytest.mark.parametrize("how", ["run", "plugin", "continue"])
def test_a_resumed_session_gets_the_bytes_it_began_with_and_is_no_start(
    how: str, hermes: Computer
) -> None:
    hermes.warmstart("run", "--", *CHAT)
    (first, *_) = list_requests(hermes)
    session_id = find_session(hermes)
    resume = ("-c",) if how == "continue" else ("--resume", session_id)
    command = ("hermes", "chat", *resume, "-Q", "-q", "Thank you")
    seen = len(list_requests(hermes))
    if how == "plugin":
        config = json.loads((hermes.user / ".hermes" / "config.yaml").read_text())
        write_config(hermes, {**config, "plugins": {"enabled": ["warmstart"]}})
        hermes.run(*command)
    else:
        hermes.warmstart("run", "--", *command)
    again = list_requests(hermes)[seen]
    assert find_pairs(again) == find_pairs(first) == [("terminal", RESULT)]
    assert "Thank you" in again["messages"][-1]["content"]
    count = len(find_prefix(first))
    assert find_prefix(again)[:count] == find_prefix(first)
    assert [start.arm for start in hermes.starts()] == ["warm"]
    assert find_session(hermes) == session_id


def find_session(computer: Computer) -> str:
    """The id of the one session Hermes has."""
    path = computer.user / ".hermes" / "state.db"
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
        ((session_id,),) = database.execute("SELECT id FROM sessions").fetchall()
    return str(session_id)


def find_prefix(body: Mapping[str, Any]) -> list[Any]:
    """What stands before the user's own first message."""
    texts = [message.get("content") for message in body["messages"]]
    return body["messages"][1 : texts.index(MESSAGE)]
