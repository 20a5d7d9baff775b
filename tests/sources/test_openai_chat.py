from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from support.badinput import damaged, read_all, retyped, survive, to_jsonl, write
from warmstart.model import Role, Session, Tokens
from warmstart.sources import find_reader, get_reader
from warmstart.sources.probe import probe_path
from warmstart.sources.readers.openai_chat import OpenAIChat

READER = OpenAIChat()


def call(call_id: str, name: str, arguments: Any = '{"path": "a.txt"}') -> dict[str, Any]:
    function = {"name": name, "arguments": arguments}
    return {"id": call_id, "type": "function", "function": function}


def answer(call_id: str, content: Any, **fields: Any) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": content, **fields}


CHAT: list[dict[str, Any]] = [
    {"role": "developer", "content": "Be brief."},
    {"role": "user", "content": [{"type": "text", "text": "Read both."}, {"type": "image_url"}]},
    {
        "role": "assistant",
        "content": None,
        "reasoning_content": "two reads",
        "tool_calls": [call("c1", "read"), call("c2", "read", "not json")],
    },
    answer("c2", [{"type": "text", "text": "second"}]),
    answer("c1", "first"),
    {"role": "assistant", "content": [{"type": "refusal", "refusal": "I will not."}]},
]
ITEMS: list[dict[str, Any]] = [
    {"role": "user", "content": "go"},
    {"type": "reasoning", "summary": [{"type": "summary_text", "text": "think"}]},
    {"type": "function_call", "call_id": "f1", "name": "ls", "arguments": "{}"},
    {"type": "custom_tool_call", "call_id": "f2", "name": "patch", "input": "*** Begin"},
    {"type": "custom_tool_call_output", "call_id": "f2", "output": {"ok": True}},
    {"type": "function_call_output", "call_id": "f1", "output": "a b", "status": "completed"},
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "done"}]},
]
CONVERSATIONS: list[dict[str, Any]] = [
    {"messages": CHAT, "tools": [], "model": "acme-1"},
    {"id": "talk-9", "messages": CHAT[:2], "created_at": 1_770_000_000},
    {"input": ITEMS[:2], "output": ITEMS[2:]},
]
VALID = to_jsonl(CONVERSATIONS)


def read_one(folder: Path, messages: list[Any], **fields: Any) -> Session:
    path = write(folder, "one.jsonl", to_jsonl([{"messages": messages, **fields}]))
    (session,), _ = read_all(READER, path)
    return session


def texts(session: Session) -> list[tuple[str, str | None]]:
    return [(c.tool, c.result.text if c.result else None) for c in session.calls]


def test_each_line_is_a_conversation_named_by_itself_or_by_its_place(tmp_path: Path) -> None:
    sessions, log = read_all(READER, write(tmp_path, "tuned.jsonl", VALID))
    name = f"{tmp_path.name}/tuned"
    assert [s.native_id for s in sessions] == [f"{name}:1", "talk-9", f"{name}:3"]
    assert (sessions[0].model, sessions[1].started_at) == ("acme-1", 1_770_000_000)
    assert log.total == 0


def test_parallel_calls_find_their_results_by_id(tmp_path: Path) -> None:
    session = read_one(tmp_path, CHAT)
    assert texts(session) == [("read", "first"), ("read", "second")]
    assert session.calls[0].request.arguments == {"path": "a.txt"}
    assert session.calls[1].request.raw == "not json"


def test_content_parts_refusals_and_reasoning_become_text(tmp_path: Path) -> None:
    messages = read_one(tmp_path, CHAT).messages
    assert messages[0].role is Role.SYSTEM
    assert messages[1].text == "Read both.\n[image_url]"
    assert (messages[2].reasoning, messages[-1].text) == ("two reads", "I will not.")


def test_legacy_function_calls_are_joined_by_name(tmp_path: Path) -> None:
    asked = {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": ""}}
    session = read_one(tmp_path, [asked, {"role": "function", "name": "f", "content": "7"}])
    assert texts(session) == [("f", "7")]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, None),
        ({"is_error": True}, True),
        ({"is_error": False, "status": "error"}, False),
        ({"status": "error"}, True),
        ({"status": "success"}, False),
        ({"status": "completed"}, None),
        ({"is_error": "yes"}, None),
    ],
)
def test_only_an_exporters_own_flag_says_failure(
    tmp_path: Path, fields: dict[str, Any], expected: Any
) -> None:
    session = read_one(tmp_path, [CHAT[2], answer("c1", "Error: no", **fields)])
    assert session.calls[0].result is not None
    assert session.calls[0].result.is_error is expected


def test_responses_items_are_calls_and_results_too(tmp_path: Path) -> None:
    session = read_one(tmp_path, ITEMS)
    assert texts(session) == [("ls", "a b"), ("patch", '{"ok":true}')]
    assert session.calls[1].request.raw == "*** Begin"
    assert [m.reasoning for m in session.messages if m.reasoning] == ["think"]


def test_custom_tool_calls_keep_their_text(tmp_path: Path) -> None:
    custom = {"id": "k", "type": "custom", "custom": {"name": "sql", "input": "select 1"}}
    session = read_one(tmp_path, [{"role": "assistant", "content": "", "tool_calls": [custom]}])
    request = session.calls[0].request
    assert (request.tool, request.raw, session.calls[0].result) == ("sql", "select 1", None)


def test_cached_tokens_are_counted_once(tmp_path: Path) -> None:
    usage = {
        "prompt_tokens": 100,
        "completion_tokens": 20,
        "prompt_tokens_details": {"cached_tokens": 60},
        "completion_tokens_details": {"reasoning_tokens": 5},
    }
    session = read_one(tmp_path, CHAT, usage=usage)
    assert session.tokens == Tokens(input=40, output=20, cache_read=60, reasoning=5)


def test_usage_of_single_messages_is_summed_where_there_is_no_total(tmp_path: Path) -> None:
    said = {"role": "assistant", "content": "x", "usage": {"input_tokens": 3, "output_tokens": 2}}
    assert read_one(tmp_path, [said, said]).tokens == Tokens(input=6, output=4)


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize("document", [CHAT, ITEMS])
def test_an_array_of_messages_is_one_session(
    tmp_path: Path, document: Any, indent: int | None
) -> None:
    path = write(tmp_path, "talk.json", json.dumps(document, indent=indent).encode())
    assert find_reader(probe_path(path)) is get_reader("openai_chat")
    sessions, log = read_all(READER, path)
    assert [s.native_id for s in sessions] == [f"{tmp_path.name}/talk"]
    assert (len(sessions[0].calls), log.total) == (2, 0)


@pytest.mark.parametrize("indent", [None, 1])
def test_an_array_of_conversations_is_many(tmp_path: Path, indent: int | None) -> None:
    path = write(tmp_path, "all.json", json.dumps(CONVERSATIONS, indent=indent).encode())
    assert find_reader(probe_path(path)) is get_reader("openai_chat")
    name = f"{tmp_path.name}/all"
    ids = [s.native_id for s in read_all(READER, path)[0]]
    assert ids == [f"{name}:1", "talk-9", f"{name}:3"]


def test_one_conversation_may_be_a_document(tmp_path: Path) -> None:
    path = write(tmp_path, "c.json", json.dumps(CONVERSATIONS[0], indent=2).encode())
    (session,), _ = read_all(READER, path)
    assert (session.native_id, len(session.calls)) == (f"{tmp_path.name}/c:1", 2)


def test_an_array_with_a_message_on_each_line_is_still_an_array(tmp_path: Path) -> None:
    lines = b",\n".join(json.dumps(message).encode() for message in CHAT)
    (session,), log = read_all(READER, write(tmp_path, "a.json", b"[\n" + lines + b"\n]\n"))
    assert (len(session.messages), log.total) == (len(CHAT), 0)


def test_lines_of_messages_are_one_session(tmp_path: Path) -> None:
    path = write(tmp_path, "log.jsonl", to_jsonl(CHAT))
    (session,), _ = read_all(READER, path)
    assert (session.native_id, len(session.calls)) == (f"{tmp_path.name}/log", 2)


def test_bad_lines_and_messages_are_counted(tmp_path: Path) -> None:
    odd = {"messages": [*CHAT, 5, {"role": "referee"}, {"type": "web_search_call"}]}
    path = write(tmp_path, "x.jsonl", b"{broken\n" + to_jsonl([{"a": 1}, odd]))
    sessions, log = read_all(READER, path)
    assert len(sessions) == 1
    assert log.counts == {
        "line is not valid JSON": 1,
        "record is not a conversation": 1,
        "message of unknown shape": 3,
    }


@pytest.mark.parametrize(
    "record",
    [
        {"messages": []},
        {"messages": [{"type": "user", "content": "x"}]},
        {"messages": [{"role": "user", "content": [{"type": "tool_result"}]}]},
        {"role": "user", "content": [{"type": "toolRequest", "id": "1"}]},
        {"role": "admin", "content": "x"},
        {"role": "user"},
        {"type": ["x"]},
    ],
)
def test_it_leaves_other_formats_alone(tmp_path: Path, record: Any) -> None:
    assert not READER.recognises(probe_path(write(tmp_path, "x.jsonl", to_jsonl([record]))))


@pytest.mark.parametrize("valid", [VALID, to_jsonl(CHAT), json.dumps(ITEMS, indent=1).encode()])
def test_damaged_bytes_never_raise(tmp_path: Path, valid: bytes) -> None:
    @given(data=damaged(valid))
    def check(data: bytes) -> None:
        survive(READER, write(tmp_path, "x.jsonl", data))

    check()


@given(records=retyped(CONVERSATIONS))
def test_values_of_the_wrong_type_never_raise(tmp_path: Path, records: Any) -> None:
    survive(READER, write(tmp_path, "x.jsonl", to_jsonl(records)))


@given(records=retyped(ITEMS))
def test_items_of_the_wrong_type_never_raise(tmp_path: Path, records: Any) -> None:
    survive(READER, write(tmp_path, "x.json", json.dumps(records).encode()))
