"""OpenAI chat export: what the API would accept."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given

from support.sessions import make_session, sessions
from warmstart.export import NO_RESULT, export_openai
from warmstart.model import Fate, Message, Request, Result, Role, Session
from warmstart.wire import encode_line


def roles(record: dict[str, Any]) -> list[str]:
    return [message["role"] for message in record["messages"]]


@given(session=sessions())
def test_every_call_is_followed_at_once_by_its_own_result(session: Session) -> None:
    messages = json.loads(encode_line(export_openai(session)))["messages"]
    seen: list[str] = []
    for index, message in enumerate(messages):
        ids = [call["id"] for call in message.get("tool_calls", [])]
        answers = messages[index + 1 : index + 1 + len(ids)]
        assert [answer.get("tool_call_id") for answer in answers] == ids
        seen += ids
    assert (
        len(seen)
        == len(set(seen))
        == len(session.calls)
        == roles({"messages": messages}).count("tool")
    )


def test_results_stand_beside_their_calls_and_a_missing_one_is_said() -> None:
    record = export_openai(make_session())
    assert roles(record) == ["system", "user", "assistant", *["tool"] * 3, "assistant", "user"]
    assert [m["content"] for m in record["messages"][3:6]] == [
        "1 failed, 3 passed", "def total(): ...", NO_RESULT,
    ]  # fmt: skip


def test_arguments_are_json_text_or_what_was_written() -> None:
    requests = (
        Request(tool="a.b", arguments={"x": 1}),
        Request(tool="t", raw="{broken"),
    )
    session = make_session(messages=[Message(role=Role.ASSISTANT, requests=requests)])
    functions = [c["function"] for c in export_openai(session)["messages"][0]["tool_calls"]]
    assert functions == [
        {"name": "a_b", "arguments": '{"x":1}'},
        {"name": "t", "arguments": "{broken"},
    ]


def test_calls_without_an_id_or_with_a_repeated_one_get_their_own() -> None:
    requests = (Request(tool="t", id="x"), Request(tool="t"), Request(tool="t", id="x"))
    session = make_session(messages=[Message(role=Role.ASSISTANT, requests=requests)])
    ids = [call["id"] for call in export_openai(session)["messages"][0]["tool_calls"]]
    assert ids == ["x", "call_1", "x_2"]


def test_what_did_not_happen_here_is_left_out() -> None:
    messages = [
        Message(role=Role.USER, text="kept", fate=Fate.ARCHIVED),
        Message(role=Role.USER, text="copied", fate=Fate.COPIED),
        Message(role=Role.USER, text="taken back", fate=Fate.REWOUND),
        Message(role=Role.TOOL, results=(Result(text="orphan", call_id="?"),)),
    ]
    record = export_openai(make_session(messages=messages))
    assert [message["content"] for message in record["messages"]] == ["kept"]


def test_it_says_where_the_conversation_came_from() -> None:
    metadata = export_openai(make_session(reward=1.0))["metadata"]
    assert metadata["session"] == "hermes:ab12cd34-shop-1"
    assert metadata["reward"] == "1.0"
