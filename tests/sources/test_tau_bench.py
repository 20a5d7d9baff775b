from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from support.badinput import damaged, read_all, retyped, survive, write
from warmstart.model import Role
from warmstart.sources import ReadLog, find_reader, get_reader, read_sessions
from warmstart.sources.probe import probe_path
from warmstart.sources.readers.tau_bench import TauBench

READER = TauBench()
NAME = "acme-retail.json"


def chat(call_id: str = "call_1") -> list[dict[str, Any]]:
    function = {"name": "find_order", "arguments": '{"order": "A-7"}'}
    return [
        {"role": "system", "content": "You serve the customers of Acme."},
        {"role": "user", "content": "Where is my order?"},
        {
            "role": "assistant",
            "content": None,
            "reasoning_content": "look it up",
            "tool_calls": [{"id": call_id, "type": "function", "function": function}],
        },
        {
            "role": "tool",
            "tool_call_id": call_id,
            "name": "find_order",
            "content": "Error: order not found",
        },
        {"role": "assistant", "content": "I cannot find it."},
    ]


def run(task: Any = 3, trial: Any = 1, reward: Any = 1.0) -> dict[str, Any]:
    info = {"task": {"user_id": "dev_1"}, "reward_info": {"reward": 0.5}, "user_cost": 0.01}
    return {"task_id": task, "reward": reward, "info": info, "traj": chat(), "trial": trial}


DOCUMENT = [run(0, 0, 0.0), run(0, 1), run(1, 0)]
VALID = json.dumps(DOCUMENT).encode()


def test_each_run_is_a_session_with_its_task_and_reward(tmp_path: Path) -> None:
    sessions, log = read_all(READER, write(tmp_path, NAME, VALID))
    ids = [session.native_id for session in sessions]
    name = f"{tmp_path.name}/acme-retail"
    assert ids == [f"{name}/0/0", f"{name}/0/1", f"{name}/1/0"]
    assert [(s.task, s.reward) for s in sessions] == [("0", 0.0), ("0", 1.0), ("1", 1.0)]
    assert log.total == 0


def test_a_call_is_joined_and_its_error_text_is_left_to_the_judge(tmp_path: Path) -> None:
    sessions, _ = read_all(READER, write(tmp_path, NAME, VALID))
    call = sessions[0].calls[0]
    assert (call.tool, call.request.arguments, call.request.id) == (
        "find_order",
        {"order": "A-7"},
        "call_1",
    )
    assert call.result is not None
    assert (call.result.text, call.result.is_error) == ("Error: order not found", None)


def test_roles_and_reasoning_are_kept(tmp_path: Path) -> None:
    sessions, _ = read_all(READER, write(tmp_path, NAME, VALID))
    messages = sessions[0].messages
    roles = [Role.SYSTEM, Role.USER, Role.ASSISTANT, Role.TOOL, Role.ASSISTANT]
    assert [message.role for message in messages] == roles
    assert messages[2].reasoning == "look it up"


@pytest.mark.parametrize(
    ("name", "project"),
    [
        ("gpt-airline.json", "airline"),
        ("Retail_run.json", "retail"),
        ("airline-and-retail.json", None),
        ("run.json", None),
    ],
)
def test_the_environment_is_known_only_from_a_plain_file_name(
    tmp_path: Path, name: str, project: str | None
) -> None:
    sessions, _ = read_all(READER, write(tmp_path, name, VALID))
    assert sessions[0].project == project


def test_a_compressed_file_gives_the_same_ids(tmp_path: Path) -> None:
    sessions, _ = read_all(READER, write(tmp_path, NAME + ".gz", gzip.compress(VALID)))
    assert sessions[0].id == f"tau_bench:{tmp_path.name}/acme-retail/0/0"


def test_repeated_and_nameless_runs_keep_ids_of_their_own(tmp_path: Path) -> None:
    runs = [run(1, 0), run(1, 0), run(None, 0)]
    sessions, _ = read_all(READER, write(tmp_path, "x.json", json.dumps(runs).encode()))
    name = f"{tmp_path.name}/x"
    assert [s.native_id for s in sessions] == [f"{name}/1/0", f"{name}/1/0#2", f"{name}:3"]


def test_a_reward_is_found_in_the_info_where_it_stands_nowhere_else(tmp_path: Path) -> None:
    sessions, _ = read_all(READER, write(tmp_path, "x.json", json.dumps(run(reward=None)).encode()))
    assert sessions[0].reward == 0.5


def test_what_is_no_run_or_no_message_is_counted(tmp_path: Path) -> None:
    broken = {**run(), "traj": ["x", {"role": "referee"}, *chat()]}
    path = write(tmp_path, "x.json", json.dumps([5, {"task_id": 1}, broken]).encode())
    sessions, log = read_all(READER, path)
    assert len(sessions) == 1
    assert log.counts == {"entry is not a run": 2, "message without a known role": 2}


@pytest.mark.parametrize("text", [VALID, json.dumps(DOCUMENT[0]).encode()])
def test_it_recognises_its_own_documents(tmp_path: Path, text: bytes) -> None:
    assert find_reader(probe_path(write(tmp_path, NAME, text))) is get_reader("tau_bench")


@pytest.mark.parametrize("text", [b"[]", b'[{"traj": 1, "task_id": 1}]', b'[{"messages": []}]'])
def test_it_leaves_other_documents_alone(tmp_path: Path, text: bytes) -> None:
    assert not READER.recognises(probe_path(write(tmp_path, NAME, text)))


@given(data=damaged(VALID))
def test_damaged_bytes_never_raise(tmp_path: Path, data: bytes) -> None:
    survive(READER, write(tmp_path, NAME, data))


@given(document=retyped(DOCUMENT))
def test_values_of_the_wrong_type_never_raise(tmp_path: Path, document: Any) -> None:
    survive(READER, write(tmp_path, NAME, json.dumps(document).encode()))


@pytest.mark.corpus
def test_real_results_are_read_without_a_skip(corpus: Path) -> None:
    log = ReadLog()
    sessions = list(read_sessions(corpus / "tau_bench", log))
    assert log.sentences() == []
    assert sessions
    assert all(call.result is not None for session in sessions for call in session.calls)
