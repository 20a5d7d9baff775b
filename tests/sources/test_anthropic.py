from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.badinput import damaged, read_all, retyped, survive, to_jsonl, write
from warmstart.errors import SourceError
from warmstart.model import Role, Tokens
from warmstart.sources import find_reader
from warmstart.sources.probe import probe_path
from warmstart.sources.readers.anthropic import Anthropic

READER = Anthropic()

TURNS: list[dict[str, Any]] = [
    {"role": "user", "content": "How many orders are open?"},
    {
        "role": "assistant",
        "id": "msg_a",
        "model": "claude-acme-1",
        "usage": {"input_tokens": 40, "output_tokens": 9, "cache_read_input_tokens": 5},
        "content": [
            {"type": "thinking", "thinking": "Ask the shop."},
            {"type": "text", "text": "Looking."},
            {"type": "tool_use", "id": "t1", "name": "count_orders", "input": {"state": "open"}},
            {"type": "tool_use", "id": "t2", "name": "read_note", "input": {"path": "a.txt"}},
        ],
    },
    {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": "t2", "is_error": True, "content": "no a.txt"},
            {
                "type": "tool_result",
                "tool_use_id": "t1",
                "content": [{"type": "text", "text": "7"}],
            },
            {"type": "text", "text": "And hurry."},
            {"type": "image", "source": {"type": "base64", "data": ""}},
        ],
    },
    {"role": "assistant", "content": [{"type": "text", "text": "Seven."}]},
]
CONVERSATION = {
    "model": "claude-acme-1",
    "system": [{"type": "text", "text": "You count."}],
    "tools": [{"name": "count_orders", "input_schema": {}}],
    "messages": TURNS,
}
LINES = [{"id": f"c{n}", **CONVERSATION} for n in range(4)]


def as_json(value: Any) -> bytes:
    return json.dumps(value, indent=1).encode()


def test_a_document_is_one_session_named_by_its_file(tmp_path: Path) -> None:
    sessions, log = read_all(READER, write(tmp_path, "talk.json", as_json(CONVERSATION)))
    assert [s.id for s in sessions] == [f"anthropic:{tmp_path.name}/talk"]
    assert (sessions[0].model, sessions[0].messages[0].role) == ("claude-acme-1", Role.SYSTEM)
    assert log.total == 0


def test_calls_meet_their_results_whatever_the_order(tmp_path: Path) -> None:
    sessions, _ = read_all(READER, write(tmp_path, "talk.json", as_json(CONVERSATION)))
    joined = [(c.tool, c.result and (c.result.text, c.result.is_error)) for c in sessions[0].calls]
    assert joined == [("count_orders", ("7", False)), ("read_note", ("no a.txt", True))]
    assert sessions[0].calls[0].request.arguments == {"state": "open"}


def test_results_and_words_of_one_user_turn_are_told_apart(tmp_path: Path) -> None:
    sessions, _ = read_all(READER, write(tmp_path, "talk.json", as_json(CONVERSATION)))
    roles = [m.role.value for m in sessions[0].messages]
    assert roles == ["system", "user", "assistant", "tool", "user", "assistant"]
    assert sessions[0].messages[4].text == "And hurry.\n[image]"


def test_an_answer_keeps_its_thinking_and_its_tokens(tmp_path: Path) -> None:
    sessions, _ = read_all(READER, write(tmp_path, "talk.json", as_json(TURNS)))
    answer = sessions[0].messages[1]
    assert (answer.text, answer.reasoning, answer.native_id) == (
        "Looking.",
        "Ask the shop.",
        "msg_a",
    )
    assert sessions[0].tokens == Tokens(input=40, output=9, cache_read=5)


@pytest.mark.parametrize(
    ("name", "data", "ids"),
    [
        ("array.json", as_json(TURNS), ["{}/array"]),
        ("many.json", as_json([CONVERSATION, CONVERSATION]), ["{}/many:1", "{}/many:2"]),
        ("lines.jsonl", to_jsonl(LINES), ["c0", "c1", "c2", "c3"]),
        ("turns.jsonl", to_jsonl(TURNS), ["{}/turns"]),
    ],
)
def test_every_way_of_saving_is_recognised_and_read(
    tmp_path: Path, name: str, data: bytes, ids: list[str]
) -> None:
    path = write(tmp_path, name, data)
    found = find_reader(probe_path(path))
    sessions, _ = read_all(READER, path)
    assert found is not None
    expected = [known.format(tmp_path.name) for known in ids]
    assert (found.name, [s.native_id for s in sessions]) == ("anthropic", expected)
    assert all(len(s.calls) == 2 for s in sessions)


@pytest.mark.parametrize(
    "record",
    [
        {"messages": [{"role": "user", "content": "hi"}]},
        {"messages": [{"role": "user", "content": [{"type": "text", "text": "hi"}]}]},
        {"system": "s", "messages": [{"role": "tool", "tool_call_id": "1", "content": "x"}]},
        {"model": "claude-1", "messages": [{"role": "assistant", "content": "", "tool_calls": 0}]},
        {"messages": "none", "system": "s"},
        {"role": "user", "content": "hi"},
    ],
)  # fmt: skip
def test_what_openai_could_have_written_is_not_claimed(
    tmp_path: Path, record: dict[str, Any]
) -> None:
    assert not READER.recognises(probe_path(write(tmp_path, "x.jsonl", to_jsonl([record]))))


@pytest.mark.parametrize("mark", [{"system": "Be brief."}, {"model": "claude-acme-1"}])
def test_plain_turns_are_claimed_by_what_stands_beside_them(
    tmp_path: Path, mark: dict[str, str]
) -> None:
    record = {"messages": [{"role": "user", "content": "hi"}], **mark}
    assert READER.recognises(probe_path(write(tmp_path, "x.json", as_json(record))))


@pytest.mark.parametrize(
    ("content", "text", "is_error", "exit_code"),
    [
        ({"type": "web_search_tool_result_error", "error_code": "max_uses_exceeded"},
         "max_uses_exceeded", True, None),
        ([{"type": "web_search_result", "title": "Acme", "url": "https://acme.test"}],
         "Acme https://acme.test", False, None),
        ({"type": "code_execution_result", "stdout": "4", "stderr": "warn", "return_code": 1},
         "4\nwarn", False, 1),
        ({"answer": 4}, '{"answer":4}', False, None),
        (None, "", False, None),
    ],
)  # fmt: skip
def test_a_server_tool_has_its_result_in_the_answer(
    tmp_path: Path, content: Any, text: str, *, is_error: bool, exit_code: int | None
) -> None:
    blocks = [
        {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "acme"}},
        {"type": "web_search_tool_result", "tool_use_id": "s1", "content": content},
    ]
    path = write(tmp_path, "x.json", as_json([{"role": "assistant", "content": blocks}]))
    result = read_all(READER, path)[0][0].calls[0].result
    assert result is not None
    assert (result.text, result.is_error, result.exit_code) == (text, is_error, exit_code)


def test_what_is_no_message_is_counted(tmp_path: Path) -> None:
    nameless = {"role": "assistant", "content": [{"type": "tool_use", "id": "x", "input": "{}"}]}
    entries = [*TURNS, "stray", {"role": "oracle", "content": "?"}, nameless]
    sessions, log = read_all(READER, write(tmp_path, "x.json", as_json({"messages": entries})))
    assert len(sessions[0].calls) == 2
    assert set(log.counts) == {
        "message is not an object", "message of no known role", "call without a tool's name",
    }  # fmt: skip


def test_a_line_that_is_no_conversation_is_counted(tmp_path: Path) -> None:
    sessions, log = read_all(READER, write(tmp_path, "x.jsonl", to_jsonl([LINES[0], {"note": 1}])))
    assert (len(sessions), log.counts["record is not a conversation"]) == (1, 1)


def test_a_broken_document_is_a_source_error(tmp_path: Path) -> None:
    with pytest.raises(SourceError):
        read_all(READER, write(tmp_path, "x.json", as_json(CONVERSATION)[:-20]))


@given(damaged(to_jsonl(LINES)))
def test_damaged_lines_never_break_the_reader(tmp_path: Path, data: bytes) -> None:
    survive(READER, write(tmp_path, "x.jsonl", data))


@given(damaged(as_json(CONVERSATION)))
def test_a_damaged_document_never_breaks_the_reader(tmp_path: Path, data: bytes) -> None:
    survive(READER, write(tmp_path, "x.json", data))


@given(st.one_of(retyped(CONVERSATION), retyped(TURNS), retyped(LINES)))
def test_wrong_types_never_break_the_reader(tmp_path: Path, document: Any) -> None:
    path = write(tmp_path, "x.json", as_json(document))
    survive(READER, path)
    READER.recognises(probe_path(path))
