from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from support.badinput import damaged, read_all, retyped, survive, to_jsonl, write
from warmstart.model import Kind, Role
from warmstart.sources import ReadLog, find_reader, get_reader, read_sessions
from warmstart.sources.probe import probe_path
from warmstart.sources.readers.agentdojo import AgentDojo

READER = AgentDojo()


def text(content: str) -> list[dict[str, str]]:
    return [{"type": "text", "content": content}]


def asked(*tools: str, call_id: str | None = None) -> dict[str, Any]:
    calls = [{"function": tool, "args": {"n": i}, "id": call_id} for i, tool in enumerate(tools)]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def answered(
    tool: str, content: Any, error: str | None = None, call_id: str | None = None
) -> dict[str, Any]:
    call = {"function": tool, "args": {}, "id": call_id}
    return {
        "role": "tool",
        "content": content,
        "tool_call_id": call_id,
        "tool_call": call,
        "error": error,
    }


def run(task: str = "user_task_0", **fields: Any) -> dict[str, Any]:
    return {
        "suite_name": "office",
        "pipeline_name": "acme-1",
        "user_task_id": task,
        "injection_task_id": "injection_task_4",
        "attack_type": "direct",
        "injections": {"note": "…"},
        "messages": [
            {"role": "system", "content": text("You help.")},
            {"role": "user", "content": text("Move my meeting.")},
            asked("find_event", "find_mail"),
            answered("find_mail", "", "ValueError: no mail"),
            answered("find_event", text("event 3")),
            {"role": "user", "content": "Move my meeting."},
            {"role": "assistant", "content": text("Moved."), "tool_calls": []},
        ],
        "error": None,
        "utility": True,
        "security": False,
        "duration": 3.5,
        "evaluation_timestamp": "2026-03-01 10:00:00",
        "agentdojo_package_version": "0.1.30",
        **fields,
    }


RUNS = [run("user_task_0"), run("user_task_1", utility=False), run("user_task_2")]
VALID = to_jsonl(RUNS)


def test_each_line_is_a_run_named_by_what_it_tested(tmp_path: Path) -> None:
    sessions, log = read_all(READER, write(tmp_path, "runs.jsonl", VALID))
    assert sessions[0].id == "agentdojo:office/acme-1/user_task_0/direct/injection_task_4"
    assert [s.reward for s in sessions] == [1.0, 0.0, 1.0]
    assert (sessions[1].task, sessions[1].project) == (
        "office/user_task_1/injection_task_4",
        "office",
    )
    assert log.total == 0


def test_calls_without_ids_are_joined_by_tool(tmp_path: Path) -> None:
    sessions, _ = read_all(READER, write(tmp_path, "runs.jsonl", VALID))
    joined = [(c.tool, c.result and c.result.text) for c in sessions[0].calls]
    assert joined == [("find_event", "event 3"), ("find_mail", "ValueError: no mail")]


def test_the_error_field_decides_and_its_text_is_what_the_model_saw(tmp_path: Path) -> None:
    messages = [asked("a", call_id="x"), answered("a", "<<>>", "ValueError: gone", "x")]
    path = write(tmp_path, "run.json", json.dumps(run(messages=messages), indent=4).encode())
    sessions, _ = read_all(READER, path)
    result = sessions[0].calls[0].result
    assert result is not None
    assert (result.text, result.is_error) == ("ValueError: gone", True)


def test_an_absent_error_field_leaves_it_open(tmp_path: Path) -> None:
    answer = answered("a", "fine", call_id="x")
    del answer["error"]
    messages = [asked("a", call_id="x"), answer]
    sessions, _ = read_all(READER, write(tmp_path, "r.jsonl", to_jsonl([run(messages=messages)])))
    result = sessions[0].calls[0].result
    assert result is not None
    assert result.is_error is None


def test_a_repeated_prompt_is_the_harness_speaking(tmp_path: Path) -> None:
    sessions, _ = read_all(READER, write(tmp_path, "runs.jsonl", VALID))
    users = [m.kind for m in sessions[0].messages if m.role is Role.USER]
    assert users == [Kind.TURN, Kind.INJECTED]


def test_a_run_without_attack_or_messages_still_has_a_name(tmp_path: Path) -> None:
    bare = run(attack_type=None, injection_task_id=None, messages=[], error="too long")
    sessions, _ = read_all(READER, write(tmp_path, "r.jsonl", to_jsonl([bare])))
    assert sessions[0].native_id == "office/acme-1/user_task_0/none/none"
    assert sessions[0].end_reason == "error"


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("document", [RUNS[0], RUNS])
def test_a_document_reads_like_lines(tmp_path: Path, document: Any, indent: int | None) -> None:
    path = write(tmp_path, "run.json", json.dumps(document, indent=indent).encode())
    assert find_reader(probe_path(path)) is get_reader("agentdojo")
    sessions, _ = read_all(READER, path)
    assert sessions[0].task == "office/user_task_0/injection_task_4"


def test_bad_lines_are_counted_and_passed_over(tmp_path: Path) -> None:
    odd = run(messages=["x", {"role": "judge"}])
    path = write(tmp_path, "r.jsonl", b"{broken\n" + to_jsonl([{"a": 1}, odd]))
    sessions, log = read_all(READER, path)
    assert len(sessions) == 1
    assert log.counts == {
        "line is not valid JSON": 1,
        "record is not a run": 1,
        "message without a known role": 2,
    }


@pytest.mark.parametrize("record", [{"messages": []}, {"suite_name": "x", "user_task_id": "y"}])
def test_it_leaves_other_files_alone(tmp_path: Path, record: Any) -> None:
    assert not READER.recognises(probe_path(write(tmp_path, "x.jsonl", to_jsonl([record]))))


@given(data=damaged(VALID))
def test_damaged_lines_never_raise(tmp_path: Path, data: bytes) -> None:
    survive(READER, write(tmp_path, "x.jsonl", data))


@given(data=damaged(json.dumps(RUNS[0], indent=1).encode()))
def test_a_damaged_document_never_raises(tmp_path: Path, data: bytes) -> None:
    survive(READER, write(tmp_path, "x.json", data))


@given(records=retyped(RUNS))
def test_values_of_the_wrong_type_never_raise(tmp_path: Path, records: Any) -> None:
    survive(READER, write(tmp_path, "x.jsonl", to_jsonl(records)))


@pytest.mark.corpus
def test_real_runs_are_read_without_a_skip(corpus: Path) -> None:
    log = ReadLog()
    sessions = list(read_sessions(corpus / "agentdojo", log))
    assert log.sentences() == []
    assert len({session.id for session in sessions}) == len(sessions) > 0
