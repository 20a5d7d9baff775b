from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from support.badinput import damaged, read_all, retyped, survive, to_jsonl, write
from warmstart.model import Role, Session
from warmstart.sources import find_reader, get_reader
from warmstart.sources.probe import probe_path
from warmstart.sources.readers.sharegpt import ShareGPT

READER = ShareGPT()


def turn(speaker: str, value: Any) -> dict[str, Any]:
    return {"from": speaker, "value": value}


def wrap(tag: str, data: Any) -> str:
    return f"<{tag}>\n{data if isinstance(data, str) else json.dumps(data)}\n</{tag}>"


def asked(*calls: Any) -> dict[str, Any]:
    return turn("gpt", "\n".join(wrap("tool_call", call) for call in calls))


def answered(*responses: Any) -> dict[str, Any]:
    return turn("tool", "\n".join(wrap("tool_response", response) for response in responses))


LIST = {"name": "terminal", "arguments": {"command": "ls"}}
READ = {"name": "read_file", "arguments": {"path": "a.txt"}}
TRAJECTORY: dict[str, Any] = {
    "conversations": [
        turn("system", "You may call: <tools>[]</tools>"),
        turn("human", "List the files."),
        turn("gpt", "<think>\nlook first\n</think>\nSure.\n" + wrap("tool_call", LIST)),
        answered(
            {
                "tool_call_id": "call_1",
                "name": "terminal",
                "content": {"output": "a b", "exit_code": 0},
            }
        ),
        turn("gpt", "<think>\n</think>\nTwo files."),
    ],
    "timestamp": "2026-03-01T10:00:00",
    "model": "acme-1",
    "completed": True,
}
PLAIN = {
    "conversations": [
        turn("user", "2+2?"),
        turn("function_call", '{"name": "add", "arguments": {"a": 2, "b": 2}}'),
        turn("observation", "4"),
        turn("assistant", "4"),
    ]
}
FAILED = {**TRAJECTORY, "completed": False}
RECORDS = [TRAJECTORY, PLAIN, FAILED]
VALID = to_jsonl(RECORDS)


def read_turns(folder: Path, *turns: Any) -> Session:
    path = write(folder, "t.jsonl", to_jsonl([{"conversations": list(turns)}]))
    (session,), _ = read_all(READER, path)
    return session


def texts(session: Session) -> list[tuple[str, str | None]]:
    return [(c.tool, c.result.text if c.result else None) for c in session.calls]


def test_each_line_is_a_session_named_by_its_place(tmp_path: Path) -> None:
    sessions, log = read_all(READER, write(tmp_path, "samples.jsonl", VALID))
    assert [s.native_id for s in sessions] == [f"{tmp_path.name}/samples:{n}" for n in (1, 2, 3)]
    assert [s.end_reason for s in sessions] == ["completed", None, "failed"]
    assert [s.agent for s in sessions] == ["hermes", "sharegpt", "hermes"]
    assert log.total == 0


def test_tags_become_calls_results_and_reasoning(tmp_path: Path) -> None:
    (session, *_), _ = read_all(READER, write(tmp_path, "samples.jsonl", VALID))
    assert texts(session) == [("terminal", '{"output":"a b","exit_code":0}')]
    said = session.messages[2]
    assert (said.text, said.reasoning) == ("Sure.", "look first")
    assert (session.messages[4].text, session.messages[4].reasoning) == ("Two files.", "")
    assert (session.model, session.ended_at) == ("acme-1", 1_772_359_200.0)


def test_calls_and_observations_may_be_turns_of_their_own(tmp_path: Path) -> None:
    _, session, _ = read_all(READER, write(tmp_path, "samples.jsonl", VALID))[0]
    assert texts(session) == [("add", "4")]
    assert session.calls[0].request.arguments == {"a": 2, "b": 2}


def test_several_calls_of_a_message_get_their_own_results(tmp_path: Path) -> None:
    session = read_turns(
        tmp_path,
        asked(LIST, READ),
        answered({"name": "read_file", "content": "text"}, {"name": "terminal", "content": "a"}),
    )
    assert texts(session) == [("terminal", "a"), ("read_file", "text")]


def test_ids_join_where_both_sides_have_them(tmp_path: Path) -> None:
    session = read_turns(
        tmp_path,
        asked({"id": "1", **LIST}, {"id": "2", **LIST}),
        answered(
            {"tool_call_id": "2", "name": "terminal", "content": "second"},
            {"tool_call_id": "1", "name": "terminal", "content": "first"},
        ),
    )
    assert texts(session) == [("terminal", "first"), ("terminal", "second")]


def test_a_block_may_quote_its_own_tags(tmp_path: Path) -> None:
    quoting = "see </tool_response> and <tool_response> there"
    call = {"name": "read_file", "arguments": {"path": "<think></tool_call>"}}
    session = read_turns(tmp_path, asked(call), answered({"name": "read_file", "content": quoting}))
    assert texts(session) == [("read_file", quoting)]
    assert session.calls[0].request.arguments == {"path": "<think></tool_call>"}


@pytest.mark.parametrize(
    ("written", "tool"),
    [
        ('{"name": "terminal", "arguments": {"command": "ls"}}}', "terminal"),
        ('{"name": "terminal", "arguments": {"comm', "terminal"),
        ("run ls please", "unknown"),
        ("", "unknown"),
        ("{}", "unknown"),
    ],
)
def test_a_broken_call_is_kept_as_it_was_written(tmp_path: Path, written: str, tool: str) -> None:
    session = read_turns(tmp_path, asked(written))
    request = session.calls[0].request
    assert (request.tool, request.raw) == (tool, written)


def test_line_breaks_inside_strings_are_let_through(tmp_path: Path) -> None:
    written = '{"name": "write", "arguments": {"text": "one\ntwo"}}'
    session = read_turns(tmp_path, asked(written))
    assert session.calls[0].request.arguments == {"text": "one\ntwo"}


def test_missing_closing_tags_lose_no_call(tmp_path: Path) -> None:
    first, second = json.dumps(LIST), json.dumps(READ)
    text = f"<think>hm <tool_call>{first}\n<tool_call>{second}"
    session = read_turns(tmp_path, turn("gpt", text))
    assert [c.tool for c in session.calls] == ["terminal", "read_file"]
    assert session.messages[0].reasoning == "hm"


def test_an_unclosed_thought_or_response_runs_to_the_end(tmp_path: Path) -> None:
    session = read_turns(
        tmp_path, asked(LIST), turn("tool", "<tool_response>cut off"), turn("gpt", "<think>so")
    )
    assert texts(session) == [("terminal", "cut off")]
    assert session.messages[-1].reasoning == "so"


def test_results_in_the_users_name_are_results(tmp_path: Path) -> None:
    session = read_turns(tmp_path, asked(LIST), turn("user", wrap("tool_response", "a b")))
    assert texts(session) == [("terminal", "a b")]
    assert session.messages[1].role is Role.TOOL


def test_a_result_that_looks_like_an_envelope_is_left_whole(tmp_path: Path) -> None:
    session = read_turns(tmp_path, asked(READ), answered({"content": "x", "error": None}))
    assert texts(session) == [("read_file", '{"content": "x", "error": null}')]


def test_a_function_call_turn_may_hold_a_list(tmp_path: Path) -> None:
    both = json.dumps([{"id": "1", "function": LIST}, READ])
    session = read_turns(tmp_path, turn("function_call", both))
    assert [(c.tool, c.request.id) for c in session.calls] == [
        ("terminal", "1"),
        ("read_file", None),
    ]


def test_role_and_content_are_taken_for_from_and_value(tmp_path: Path) -> None:
    session = read_turns(tmp_path, {"role": "user", "content": "hi"}, turn("gpt", {"a": 1}))
    assert [m.text for m in session.messages] == ["hi", '{"a":1}']


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize("document", [RECORDS, TRAJECTORY])
def test_a_document_reads_like_lines(tmp_path: Path, document: Any, indent: int | None) -> None:
    path = write(tmp_path, "all.json", json.dumps(document, indent=indent).encode())
    assert find_reader(probe_path(path)) is get_reader("sharegpt")
    sessions, log = read_all(READER, path)
    assert sessions[0].native_id == f"{tmp_path.name}/all:1"
    assert (len(sessions[0].calls), log.total) == (1, 0)


def test_bad_lines_and_turns_are_counted(tmp_path: Path) -> None:
    odd = {"conversations": [5, turn("referee", "x"), turn("human", "hi")]}
    path = write(tmp_path, "x.jsonl", b"{broken\n" + to_jsonl([{"a": 1}, odd]))
    sessions, log = read_all(READER, path)
    assert len(sessions) == 1
    assert log.counts == {
        "line is not valid JSON": 1,
        "record is not a conversation": 1,
        "turn without a known speaker": 2,
    }


@pytest.mark.parametrize("record", [{"conversations": []}, {"conversations": [{"a": 1}]}, {"a": 1}])
def test_it_leaves_other_files_alone(tmp_path: Path, record: Any) -> None:
    assert not READER.recognises(probe_path(write(tmp_path, "x.jsonl", to_jsonl([record]))))


@given(data=damaged(VALID))
def test_damaged_lines_never_raise(tmp_path: Path, data: bytes) -> None:
    survive(READER, write(tmp_path, "x.jsonl", data))


@given(data=damaged(json.dumps(RECORDS, indent=1).encode()))
def test_a_damaged_document_never_raises(tmp_path: Path, data: bytes) -> None:
    survive(READER, write(tmp_path, "x.json", data))


@given(records=retyped(RECORDS))
def test_values_of_the_wrong_type_never_raise(tmp_path: Path, records: Any) -> None:
    survive(READER, write(tmp_path, "x.jsonl", to_jsonl(records)))


@given(data=damaged((TRAJECTORY["conversations"][2]["value"] * 2).encode()))
def test_damaged_tags_never_raise(tmp_path: Path, data: bytes) -> None:
    text = data.decode("utf-8", "replace")
    record = {"conversations": [turn("gpt", text), turn("tool", text.replace("call", "response"))]}
    assert survive(READER, write(tmp_path, "x.jsonl", to_jsonl([record]))) is not None
