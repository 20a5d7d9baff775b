"""mini-swe-agent trajectories, both generations, in the shapes the agent writes."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.badinput import damaged, read_all, retyped, survive, write
from warmstart.model import Kind, Role, Session, Status
from warmstart.sources import READERS, find_reader
from warmstart.sources.probe import probe_path

READER = READERS["mini_swe_agent"]
SUBMIT = "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT && cat patch.txt"


def _answer(*commands: str, number: int = 1) -> dict[str, Any]:
    ids = [f"call_{number}_{n}" for n, _ in enumerate(commands)]
    return {
        "role": "assistant",
        "content": "Let me look.",
        "reasoning_content": "hm",
        "tool_calls": [
            {"id": i, "function": {"name": "bash", "arguments": json.dumps({"command": c})}}
            for i, c in zip(ids, commands, strict=True)
        ],
        "extra": {
            "actions": [
                {"command": c, "tool_call_id": i} for i, c in zip(ids, commands, strict=True)
            ],
            "response": {
                "id": f"resp_{number}",
                "model": "acme-1",
                "usage": {
                    "prompt_tokens": 100,
                    "completion_tokens": 7,
                    "prompt_tokens_details": {"cached_tokens": 60},
                },
            },
            "timestamp": 1760000000.0 + number,
        },
    }


def _result(call_id: str, code: int, text: str, problem: str = "") -> dict[str, Any]:
    extra = {"raw_output": text, "returncode": code, "timestamp": 1760000050.0}
    return {
        "role": "tool",
        "tool_call_id": call_id,
        "content": f"<returncode>{code}</returncode>\n<output>\n{text}\n</output>",
        "extra": extra | {"exception_info": problem},
    }


HEAD = [{"role": "system", "content": "You have a shell."}, {"role": "user", "content": "Fix it."}]
DOCUMENT: dict[str, Any] = {
    "info": {
        "model_stats": {"instance_cost": 0.25, "api_calls": 3},
        "config": {
            "model": {"model_name": "acme/acme-1"},
            "environment": {"cwd": "/home/dev/shop"},
        },
        "mini_version": "2.2.7",
        "exit_status": "Submitted",
        "submission": "diff",
    },
    "messages": [
        *HEAD,
        _answer("ls /missing", "ls", number=1),
        _result("call_1_0", 2, "ls: cannot access"),
        _result("call_1_1", 0, "shop.py"),
        _answer(SUBMIT, number=2),
        {"role": "exit", "content": "diff", "extra": {"exit_status": "Submitted"}},
    ],
    "trajectory_format": "mini-swe-agent-1.1",
    "instance_id": "acme__shop-7",
}


def _fence(command: str, language: str = "bash") -> dict[str, Any]:
    return {"role": "assistant", "content": f"THOUGHT: go\n\n```{language}\n{command}\n```"}


def _user(text: str, **extra: Any) -> dict[str, Any]:
    return {"role": "user", "content": text, **({"extra": extra} if extra else {})}


FIRST_GENERATION: dict[str, Any] = {
    "info": {"exit_status": "Submitted", "submission": "diff", "model_stats": {}},
    "messages": [
        *HEAD,
        _fence("ls"),
        _user("<returncode>0</returncode>\n<output>\nshop.py\n</output>"),
        _fence("ls\n```\nand\n```bash\npwd"),
        _user("Please always provide EXACTLY ONE action, found 2 actions."),
        {"role": "assistant", "content": "I am done."},
        _user("Please always provide EXACTLY ONE action, found 0 actions."),
        _fence("sleep 99", "mswea_bash_command"),
        _user("The last command <command>sleep 99</command> timed out and has been killed."),
        _fence(SUBMIT),
        _user("diff"),
    ],
}


def _read(tmp_path: Path, document: Any, name: str = "run.traj.json") -> Session:
    path = write(tmp_path, name, json.dumps(document, indent=2).encode())
    sessions, log = read_all(READER, path)
    assert log.total == 0
    return sessions[0]


def test_calls_carry_the_return_code_and_no_error_flag(tmp_path: Path) -> None:
    session = _read(tmp_path, DOCUMENT)
    results = [call.result for call in session.calls]
    assert [r.exit_code for r in results if r] == [2, 0, None]
    assert [r.is_error for r in results if r] == [None, None, False]


def test_the_run_describes_itself(tmp_path: Path) -> None:
    session = _read(tmp_path, DOCUMENT)
    assert (session.model, session.project) == ("acme/acme-1", "/home/dev/shop")
    assert (session.task, session.end_reason) == ("acme__shop-7", "Submitted")
    assert (session.cost_usd, session.agent_version) == (0.25, "2.2.7")


def test_tokens_from_the_cache_are_not_counted_as_input(tmp_path: Path) -> None:
    tokens = _read(tmp_path, DOCUMENT).tokens
    assert (tokens.input, tokens.cache_read, tokens.output) == (80, 120, 14)


def test_the_exit_message_answers_the_submission(tmp_path: Path) -> None:
    last = _read(tmp_path, DOCUMENT).calls[-1]
    assert last.request.arguments == {"command": SUBMIT}
    assert last.result is not None
    assert last.result.text == "diff"


def test_two_runs_of_a_task_have_two_ids(tmp_path: Path) -> None:
    other = DOCUMENT | {"messages": [*HEAD, _answer("pwd", number=9)]}
    first, second = _read(tmp_path, DOCUMENT), _read(tmp_path, other)
    assert first.task == second.task
    assert first.id != second.id


def test_a_run_that_goes_on_keeps_its_id(tmp_path: Path) -> None:
    shorter = DOCUMENT | {"messages": DOCUMENT["messages"][:4]}
    assert _read(tmp_path, shorter).id == _read(tmp_path, DOCUMENT).id


def test_first_generation_answers_are_joined_by_place(tmp_path: Path) -> None:
    calls = _read(tmp_path, FIRST_GENERATION).calls
    commands = [call.request.arguments.get("command") for call in calls]
    assert commands == ["ls", None, "sleep 99", SUBMIT]
    assert all(call.result is not None for call in calls)


def test_several_blocks_are_one_refused_request(tmp_path: Path) -> None:
    call = _read(tmp_path, FIRST_GENERATION).calls[1]
    assert call.request.raw == "ls\npwd"
    assert call.result is not None
    assert "EXACTLY ONE" in call.result.text


def test_a_complaint_about_no_block_is_the_harness_speaking(tmp_path: Path) -> None:
    messages = _read(tmp_path, FIRST_GENERATION).messages
    kinds = [(m.role, m.kind) for m in messages if m.text.startswith("Please always")]
    assert kinds == [(Role.USER, Kind.INJECTED)]


def test_the_last_message_of_a_submitted_run_accepts_it(tmp_path: Path) -> None:
    result = _read(tmp_path, FIRST_GENERATION).calls[-1].result
    assert result is not None
    assert result.is_error is False


def test_without_an_instance_id_the_file_names_the_task(tmp_path: Path) -> None:
    session = _read(tmp_path, FIRST_GENERATION, "acme__till-2.traj.json")
    assert session.task == "acme__till-2"
    assert session.native_id.startswith("acme__till-2-")


def test_a_bare_message_list_is_read_when_asked_for(tmp_path: Path) -> None:
    session = _read(tmp_path, FIRST_GENERATION["messages"])
    assert len(session.calls) == 4
    assert session.end_reason is None


def test_tagged_commands_are_requests(tmp_path: Path) -> None:
    row = {"role": "assistant", "content": "go <bash_code>ls -la</bash_code>"}
    session = _read(tmp_path, FIRST_GENERATION | {"messages": [*HEAD, row, _user("shop.py")]})
    assert session.calls[0].request.arguments == {"command": "ls -la"}


def test_an_unclosed_block_is_no_request(tmp_path: Path) -> None:
    row = {"role": "assistant", "content": "```bash\nls"}
    session = _read(tmp_path, FIRST_GENERATION | {"messages": [*HEAD, row]})
    assert session.calls == ()


@pytest.mark.parametrize(
    ("kind", "status"), [("UserRejection", Status.REJECTED), ("UserInterruption", Status.CANCELLED)]
)
def test_what_the_user_stopped_is_no_error(tmp_path: Path, kind: str, status: Status) -> None:
    stop = _user("Commands not executed.", interrupt_type=kind)
    answer = _fence("rm -r build") | {"extra": {"actions": [{"command": "rm -r build"}]}}
    session = _read(tmp_path, DOCUMENT | {"messages": [*HEAD, answer, stop]})
    assert session.calls[0].result is not None
    assert session.calls[0].result.status is status


def test_a_refused_format_is_an_error_by_its_own_field(tmp_path: Path) -> None:
    answer = _fence("ls") | {"extra": {"actions": [{"command": "ls"}]}}
    reply = _user("Tool call error", interrupt_type="FormatError")
    session = _read(tmp_path, DOCUMENT | {"messages": [*HEAD, answer, reply]})
    assert session.calls[0].result is not None
    assert session.calls[0].result.is_error is True


def test_a_new_task_is_no_result(tmp_path: Path) -> None:
    task = _user("The user added a new task: more", interrupt_type="UserNewTask")
    session = _read(tmp_path, DOCUMENT | {"messages": [*HEAD, _fence(SUBMIT), task]})
    assert session.calls[0].result is None
    assert session.messages[-1].kind is Kind.TURN


@pytest.mark.parametrize(
    ("after", "status"),
    [
        (_user("no", interrupt_type="UserRejection"), Status.REJECTED),
        (_user("stop", interrupt_type="UserInterruption"), Status.CANCELLED),
    ],
)
def test_calls_never_run_say_why(tmp_path: Path, after: dict[str, Any], status: Status) -> None:
    skipped = _result("call_1_0", -1, "", "action was not executed")
    session = _read(tmp_path, DOCUMENT | {"messages": [*HEAD, _answer("ls"), skipped, after]})
    result = session.calls[0].result
    assert result is not None
    assert (result.status, result.exit_code) == (status, None)


def test_a_padded_submission_is_the_accepted_one(tmp_path: Path) -> None:
    padded = [_result(f"call_1_{n}", -1, "", "action was not executed") for n in (0, 1)]
    rows = [*HEAD, _answer(SUBMIT, "ls"), *padded, DOCUMENT["messages"][-1]]
    submitted, never_run = _read(tmp_path, DOCUMENT | {"messages": rows}).calls
    assert submitted.result is not None
    assert submitted.result.is_error is False
    assert never_run.result is not None
    assert never_run.result.status is Status.CANCELLED


def test_a_run_out_of_limits_ends_with_a_note(tmp_path: Path) -> None:
    end = {"role": "exit", "content": "LimitsExceeded", "extra": {"exit_status": "LimitsExceeded"}}
    session = _read(tmp_path, DOCUMENT | {"messages": [*HEAD, end]})
    assert session.messages[-1].kind is Kind.INJECTED
    assert session.native_id == "acme__shop-7"


def test_responses_api_items_are_read(tmp_path: Path) -> None:
    answer = {
        "object": "response",
        "output": [
            {"type": "reasoning", "summary": [{"type": "summary_text", "text": "plan"}]},
            {"type": "message", "content": [{"type": "output_text", "text": "Looking."}]},
            {"type": "function_call", "call_id": "c1", "name": "bash", "arguments": "{}"},
        ],
        "usage": {"input_tokens": 9, "output_tokens": 2, "output_tokens_details": {}},
    }
    output = {"type": "function_call_output", "call_id": "c1", "output": "ok"}
    session = _read(tmp_path, DOCUMENT | {"messages": [*HEAD, answer, output]})
    assert (session.messages[2].text, session.messages[2].reasoning) == ("Looking.", "plan")
    assert session.calls[0].result is not None
    assert (session.calls[0].result.text, session.tokens.input) == ("ok", 9)


def test_real_shapes_are_recognised(tmp_path: Path) -> None:
    for number, document in enumerate((DOCUMENT, FIRST_GENERATION)):
        for data in (json.dumps(document, indent=2), json.dumps(document)):
            path = write(tmp_path, f"{number}.traj.json.gz", gzip.compress(data.encode()))
            assert find_reader(probe_path(path)) is READER


@pytest.mark.parametrize(
    "document",
    [
        {"messages": [{"role": "user", "content": "hi"}]},
        {"messages": "x", "trajectory_format": "mini-swe-agent-1"},
        {"trajectory": [], "history": [], "info": {"exit_status": "x", "model_stats": {}}},
        [{"role": "user", "content": "hi"}],
    ],
)
def test_other_documents_are_not_claimed(tmp_path: Path, document: Any) -> None:
    path = write(tmp_path, "other.json", json.dumps(document).encode())
    assert not READER.recognises(probe_path(path))


def test_messages_that_are_no_objects_are_counted(tmp_path: Path) -> None:
    path = write(tmp_path, "a.json", json.dumps(DOCUMENT | {"messages": [*HEAD, 3, "x"]}).encode())
    _, log = read_all(READER, path)
    assert log.counts["message is not an object"] == 2


def test_a_document_of_another_kind_is_refused(tmp_path: Path) -> None:
    assert survive(READER, write(tmp_path, "a.json", b'{"messages": 3}')) is None


@given(data=st.data())
def test_damaged_files_are_survived(tmp_path: Path, data: st.DataObject) -> None:
    valid = json.dumps(DOCUMENT).encode()
    survive(READER, write(tmp_path, "run.traj.json", data.draw(damaged(valid))))


@given(document=st.one_of(retyped(DOCUMENT), retyped(FIRST_GENERATION)))
def test_wrong_types_are_survived(tmp_path: Path, document: Any) -> None:
    survive(READER, write(tmp_path, "run.traj.json", json.dumps(document).encode()))


@pytest.mark.corpus
def test_real_trajectories_are_read_without_a_gap(corpus: Path) -> None:
    for path in sorted((corpus / "mini_swe_agent").glob("*.gz")):
        assert find_reader(probe_path(path)) is READER
        sessions, log = read_all(READER, path)
        assert log.total == 0
        assert all(call.result is not None for call in sessions[0].calls)
