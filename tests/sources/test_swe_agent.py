"""SWE-agent trajectories in the shapes its 0.x and 1.x releases write."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.badinput import damaged, read_all, retyped, survive, write
from warmstart.model import Kind, Role, Session
from warmstart.sources import READERS, find_reader
from warmstart.sources.probe import probe_path

READER = READERS["swe_agent"]


def _step(action: str, observation: Any, **more: Any) -> dict[str, Any]:
    return {
        "action": action,
        "observation": observation,
        "response": f"I will do this.\n```\n{action}\n```",
        "thought": "I will do this.",
        "execution_time": 0.5,
        "state": {"working_dir": "/home/dev/shop", "open_file": "n/a"},
        **more,
    }


DOCUMENT: dict[str, Any] = {
    "trajectory": [
        _step("ls -F\n", "shop.py\n"),
        _step("str_replace_editor view /home/dev/shop/shop.py", "1 import till"),
        _step("edit 3:4\nprint()\nend_of_edit", "Your proposed edit has introduced new errors"),
        _step("", "Your output was not formatted correctly."),
        _step("submit", "diff --git a/shop.py b/shop.py"),
    ],
    "history": [
        {"role": "system", "content": "You are a programmer.", "message_type": "system_prompt"},
        {"role": "user", "content": "Here is a demonstration.", "is_demo": True},
        {"role": "assistant", "content": "```\nls\n```", "is_demo": True, "action": "ls"},
        {"role": "user", "content": [{"type": "text", "text": "Fix the till."}]},
        {"role": "assistant", "content": "I will do this.", "action": "ls -F\n"},
        {"role": "user", "content": "shop.py", "message_type": "observation"},
    ],
    "info": {
        "exit_status": "submitted",
        "submission": "diff",
        "swe_agent_version": "1.1.0",
        "model_stats": {"instance_cost": 0.5, "tokens_sent": 900, "tokens_received": 40},
    },
    "replay_config": json.dumps(
        {"agent": {"model": {"name": "acme-1"}}, "problem_statement": {"id": "acme__shop-7"}}
    ),
    "environment": "main",
}


def _read(tmp_path: Path, document: Any, name: str = "acme__till-2.traj") -> list[Session]:
    path = write(tmp_path, name, json.dumps(document, indent=2).encode())
    sessions, log = read_all(READER, path)
    assert log.total == 0
    return sessions


def test_own_commands_are_tools_and_the_rest_is_shell(tmp_path: Path) -> None:
    calls = _read(tmp_path, DOCUMENT)[0].calls
    assert [call.tool for call in calls] == ["bash", "str_replace_editor", "edit", "submit"]
    assert calls[0].request.arguments == {"command": "ls -F"}


def test_each_action_has_its_own_observation(tmp_path: Path) -> None:
    results = [call.result for call in _read(tmp_path, DOCUMENT)[0].calls]
    assert [r.text[:7] for r in results if r] == ["shop.py", "1 impor", "Your pr", "diff --"]
    assert all(r and r.is_error is None and r.exit_code is None for r in results)


def test_an_action_without_observation_stays_unanswered(tmp_path: Path) -> None:
    steps = [_step("ls", None), _step("pwd", "/home/dev/shop")]
    first, second = _read(tmp_path, DOCUMENT | {"trajectory": steps})[0].calls
    assert first.result is None
    assert second.result is not None


def test_prompts_come_from_the_head_of_the_history_only(tmp_path: Path) -> None:
    messages = _read(tmp_path, DOCUMENT)[0].messages
    head = [(m.role, m.kind, m.text) for m in messages[:4]]
    assert head[:3] == [
        (Role.SYSTEM, Kind.TURN, "You are a programmer."),
        (Role.USER, Kind.INJECTED, "Here is a demonstration."),
        (Role.USER, Kind.TURN, "Fix the till."),
    ]
    assert head[3][0] is Role.ASSISTANT


def test_a_step_without_action_is_no_call(tmp_path: Path) -> None:
    messages = _read(tmp_path, DOCUMENT)[0].messages
    notes = [m for m in messages if m.kind is Kind.INJECTED and "formatted" in m.text]
    assert len(notes) == 1


def test_the_run_describes_itself(tmp_path: Path) -> None:
    session = _read(tmp_path, DOCUMENT)[0]
    assert (session.task, session.model, session.project) == (
        "acme__shop-7",
        "acme-1",
        "/home/dev/shop",
    )
    assert (session.end_reason, session.cost_usd, session.tokens.input) == ("submitted", 0.5, 900)


def test_an_old_run_is_named_by_its_file(tmp_path: Path) -> None:
    step = _step("ls", "", state='{"working_dir": "/till"}')
    old = {"trajectory": [step], "info": {"exit_status": "exit_cost"}, "environment": "swe_main"}
    session = _read(tmp_path, old)[0]
    assert (session.task, session.project) == ("acme__till-2", "/till")
    assert session.native_id.startswith("acme__till-2-")


def test_the_harness_ending_the_run_is_no_call(tmp_path: Path) -> None:
    steps = [_step("ls", "shop.py"), _step("exit_cost", "", thought="Exit due to cost limit")]
    session = _read(tmp_path, DOCUMENT | {"trajectory": steps})[0]
    assert len(session.calls) == 1
    assert session.messages[-1].kind is Kind.INJECTED


def test_without_history_the_first_query_gives_the_prompts(tmp_path: Path) -> None:
    step = _step("ls", "", query=[{"role": "system", "content": "You are a programmer."}])
    session = _read(tmp_path, {"trajectory": [step], "info": {}})[0]
    assert session.messages[0].role is Role.SYSTEM


def test_each_attempt_is_a_session_and_their_copy_is_none(tmp_path: Path) -> None:
    attempt = {key: DOCUMENT[key] for key in ("trajectory", "history", "info")}
    sessions = _read(tmp_path, DOCUMENT | {"attempts": [attempt, attempt]})
    assert len({session.id for session in sessions}) == 2


def test_a_run_without_steps_keeps_the_plain_name(tmp_path: Path) -> None:
    session = _read(tmp_path, DOCUMENT | {"trajectory": []})[0]
    assert session.native_id == "acme__shop-7"
    assert session.calls == ()


def test_real_shapes_are_recognised(tmp_path: Path) -> None:
    for data in (json.dumps(DOCUMENT, indent=2), json.dumps(DOCUMENT)):
        assert find_reader(probe_path(write(tmp_path, "a.traj", data.encode()))) is READER


@pytest.mark.parametrize(
    "document",
    [
        {"trajectory": [{"role": "user"}], "info": {}},
        {"trajectory": [{"action": "ls", "observation": ""}]},
        {"info": {"exit_status": "Submitted", "model_stats": {}}, "messages": []},
        {"instance_id": "x", "history": [{"source": "user", "action": "message", "args": {}}]},
        [{"action": "run", "args": {}}],
    ],
)
def test_other_documents_are_not_claimed(tmp_path: Path, document: Any) -> None:
    path = write(tmp_path, "other.json", json.dumps(document).encode())
    assert not READER.recognises(probe_path(path))


def test_steps_that_are_no_objects_are_counted(tmp_path: Path) -> None:
    path = write(tmp_path, "a.traj", json.dumps(DOCUMENT | {"trajectory": [1, None]}).encode())
    _, log = read_all(READER, path)
    assert log.counts["step is not an object"] == 2


@pytest.mark.parametrize("data", [b"[]", b"{}", b'{"trajectory": 5}', b""])
def test_a_document_of_another_kind_is_refused(tmp_path: Path, data: bytes) -> None:
    assert survive(READER, write(tmp_path, "a.traj", data)) is None


@given(data=st.data())
def test_damaged_files_are_survived(tmp_path: Path, data: st.DataObject) -> None:
    valid = json.dumps(DOCUMENT).encode()
    survive(READER, write(tmp_path, "run.traj", data.draw(damaged(valid))))


@given(document=retyped(DOCUMENT))
def test_wrong_types_are_survived(tmp_path: Path, document: Any) -> None:
    survive(READER, write(tmp_path, "run.traj", json.dumps(document).encode()))
