from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from support.badinput import damaged, read_all, retyped, survive, write
from warmstart.model import Kind, Role, Session, Tokens
from warmstart.sources import ReadLog, find_reader, get_reader, read_sessions
from warmstart.sources.probe import probe_path
from warmstart.sources.readers.tau2_bench import Tau2Bench

READER = Tau2Bench()


def call(call_id: str, name: str, requestor: str = "assistant") -> dict[str, Any]:
    return {"id": call_id, "name": name, "arguments": {"line": "5"}, "requestor": requestor}


def answer(call_id: str, text: str, *, error: Any = False, by: str = "assistant") -> dict[str, Any]:
    return {"role": "tool", "id": call_id, "content": text, "requestor": by, "error": error}


MESSAGES: list[dict[str, Any]] = [
    {"role": "assistant", "content": "Hello!", "usage": None, "timestamp": "2026-02-01T10:00:00"},
    {
        "role": "user",
        "content": "My phone is dead.",
        "usage": {"prompt_tokens": 999, "completion_tokens": 99},
    },
    {
        "role": "assistant",
        "content": None,
        "reasoning": "check both",
        "tool_calls": [call("c1", "get_line"), call("c2", "get_bill")],
        "usage": {"prompt_tokens": 40, "completion_tokens": 6},
        "timestamp": "2026-02-01T10:00:05",
    },
    {
        "role": "tool",
        "tool_messages": [answer("c1", "active"), answer("c2", "Error: none", error=True)],
    },
    {"role": "assistant", "content": "Please restart it.", "usage": {"prompt_tokens": 50}},
    {"role": "user", "content": None, "tool_calls": [call("c1", "restart", "user")]},
    answer("c1", "restarted", by="user"),
    {"role": "user", "content": "Done, thanks."},
]
SIMULATION = {
    "id": "sim-1",
    "task_id": "7",
    "start_time": "2026-02-01T10:00:00",
    "end_time": "2026-02-01T10:01:00",
    "termination_reason": "user_stop",
    "agent_cost": 0.02,
    "user_cost": 0.5,
    "reward_info": {"reward": 1.0},
    "messages": MESSAGES,
    "trial": 2,
    "seed": 9,
}
INFO = {
    "git_commit": "abc123",
    "agent_info": {"implementation": "llm_agent", "llm": "acme-large"},
    "environment_info": {"domain_name": "telecom"},
}
DOCUMENT: dict[str, Any] = {
    "timestamp": "2026-02-01",
    "info": INFO,
    "tasks": [],
    "simulations": [SIMULATION],
}
VALID = json.dumps(DOCUMENT, indent=2).encode()


def read_one(folder: Path, document: Any = DOCUMENT) -> Session:
    (session,), _ = read_all(READER, write(folder, "runs.json", json.dumps(document).encode()))
    return session


def test_a_simulation_brings_everything_the_run_knows(tmp_path: Path) -> None:
    session = read_one(tmp_path)
    assert session.id == "tau2_bench:sim-1"
    assert (session.task, session.reward, session.end_reason) == ("7", 1.0, "user_stop")
    assert (session.model, session.project, session.cost_usd) == ("acme-large", "telecom", 0.02)
    assert session.ended_at is not None
    assert session.started_at == session.ended_at - 60


def test_only_the_agents_calls_are_calls(tmp_path: Path) -> None:
    session = read_one(tmp_path)
    assert [call.tool for call in session.calls] == ["get_line", "get_bill"]
    users = [m for m in session.messages if m.role is Role.USER]
    assert [(m.text, m.kind) for m in users[1:3]] == [
        ('restart({"line":"5"})', Kind.INJECTED),
        ("restarted", Kind.INJECTED),
    ]


def test_the_error_field_is_taken_as_it_stands(tmp_path: Path) -> None:
    results = [call.result for call in read_one(tmp_path).calls]
    assert [(r.text, r.is_error) for r in results if r] == [
        ("active", False),
        ("Error: none", True),
    ]


def test_a_message_without_the_error_field_leaves_it_open(tmp_path: Path) -> None:
    single = {"role": "tool", "id": "c1", "content": "ok", "requestor": "assistant"}
    simulation = {**SIMULATION, "messages": [MESSAGES[2], single]}
    session = read_one(tmp_path, {**DOCUMENT, "simulations": [simulation]})
    assert session.calls[0].result is not None
    assert session.calls[0].result.is_error is None


def test_tokens_are_those_of_the_agent_alone(tmp_path: Path) -> None:
    assert read_one(tmp_path).tokens == Tokens(input=90, output=6)


def test_a_simulation_without_an_id_is_named_by_file_task_and_trial(tmp_path: Path) -> None:
    nameless = {k: v for k, v in SIMULATION.items() if k != "id"}
    session = read_one(tmp_path, {**DOCUMENT, "simulations": [nameless]})
    assert session.native_id == f"{tmp_path.name}/runs/7/2"


def test_a_simulation_in_a_file_of_its_own_takes_its_info_from_beside(tmp_path: Path) -> None:
    write(tmp_path, "results.json", json.dumps({"info": INFO, "tasks": []}).encode())
    write(tmp_path, "simulations/sim-1.json", json.dumps(SIMULATION, indent=1).encode())
    log = ReadLog()
    (session,) = read_sessions(tmp_path, log)
    assert (session.native_id, session.model, session.project) == ("sim-1", "acme-large", "telecom")
    assert log.total == 0


def test_a_lone_simulation_is_read_without_its_info(tmp_path: Path) -> None:
    session = read_one(tmp_path / "simulations", SIMULATION)
    assert (session.native_id, session.model, session.reward) == ("sim-1", None, 1.0)


def test_what_is_no_simulation_or_no_message_is_counted(tmp_path: Path) -> None:
    broken = {**SIMULATION, "messages": ["x", {"role": "judge"}]}
    document = json.dumps({**DOCUMENT, "simulations": [None, broken]}).encode()
    sessions, log = read_all(READER, write(tmp_path, "x.json", document))
    assert len(sessions) == 1
    assert log.counts == {"simulation is not an object": 1, "message without a known role": 2}


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("document", [DOCUMENT, SIMULATION])
def test_it_recognises_its_own_documents(tmp_path: Path, document: Any, indent: int | None) -> None:
    path = write(tmp_path, "x.json", json.dumps(document, indent=indent).encode())
    assert find_reader(probe_path(path)) is get_reader("tau2_bench")


@pytest.mark.parametrize(
    "document", [{}, {"simulations": []}, {"info": {}, "messages": []}, [DOCUMENT, DOCUMENT]]
)
def test_it_leaves_other_documents_alone(tmp_path: Path, document: Any) -> None:
    path = write(tmp_path, "x.json", json.dumps(document).encode())
    assert not READER.recognises(probe_path(path))


@given(data=damaged(VALID))
def test_damaged_bytes_never_raise(tmp_path: Path, data: bytes) -> None:
    survive(READER, write(tmp_path, "x.json", data))


@given(document=retyped(DOCUMENT))
def test_values_of_the_wrong_type_never_raise(tmp_path: Path, document: Any) -> None:
    survive(READER, write(tmp_path, "x.json", json.dumps(document).encode()))


@pytest.mark.corpus
def test_real_results_are_read_without_a_skip(corpus: Path) -> None:
    log = ReadLog()
    sessions = list(read_sessions(corpus / "tau2_bench", log))
    assert log.sentences() == []
    flags = {c.result.is_error for s in sessions for c in s.calls if c.result}
    assert flags == {True, False}
