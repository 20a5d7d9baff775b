from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warmstart.model import Message, Request, Result, Role, Tokens
from warmstart.runners.tools import builtin_tools
from warmstart.runners.wire import (
    INVALID_CALL,
    WIRES,
    AnthropicMessages,
    OpenAIChat,
    Prompt,
    build_url,
    speak_invalid,
    with_ids,
)

CONVERSATION = (
    Message(role=Role.USER, text="Read a."),
    Message(
        role=Role.ASSISTANT,
        text="Reading.",
        requests=(Request(tool="read_file", id="c1", arguments={"path": "a"}),),
    ),
    Message(role=Role.TOOL, results=(Result(text="no", call_id="c1", is_error=True),)),
    Message(role=Role.ASSISTANT, text="Sorry."),
    Message(role=Role.USER, text="Try b."),
)
PROMPT = Prompt(
    model="m", system="S", messages=CONVERSATION, tools=builtin_tools()[:1], temperature=0.5, seed=7
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip


def test_openai_is_told_everything_in_its_form() -> None:
    body = OpenAIChat().encode(PROMPT)
    assert [m["role"] for m in body["messages"]] == [
        "system", "user", "assistant", "tool", "assistant", "user",
    ]  # fmt: skip
    assert json.loads(body["messages"][2]["tool_calls"][0]["function"]["arguments"]) == {
        "path": "a"
    }
    assert (body["seed"], body["temperature"]) == (7, 0.5)
    assert body["tools"][0]["function"]["name"] == "read_file"


def test_anthropic_turns_alternate_and_results_stand_with_the_user() -> None:
    body = AnthropicMessages().encode(PROMPT)
    assert [m["role"] for m in body["messages"]] == [
        "user", "assistant", "user", "assistant", "user",
    ]  # fmt: skip
    result = body["messages"][2]["content"][0]
    assert (result["type"], result["tool_use_id"], result["is_error"]) == (
        "tool_result",
        "c1",
        True,
    )
    assert body["system"] == "S"
    assert "seed" not in body


def test_neighbours_of_one_role_become_one_anthropic_message() -> None:
    two = Prompt(
        model="m",
        system="",
        messages=(CONVERSATION[0], CONVERSATION[4], Message(role=Role.ASSISTANT)),
    )
    turns = AnthropicMessages().encode(two)["messages"]
    assert [len(turn["content"]) for turn in turns] == [2, 1]
    assert turns[1]["content"][0]["text"]


def test_openai_answers_are_read() -> None:
    call = {"id": "x", "function": {"name": "read_file", "arguments": '{"path": "a"}'}}
    broken = {"id": "y", "function": {"name": "read_file", "arguments": "{path"}}
    message = OpenAIChat().decode({
        "model": "m2",
        "choices": [{"message": {"content": None, "tool_calls": [call, broken]}}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 3,
                  "prompt_tokens_details": {"cached_tokens": 4}},
    })  # fmt: skip
    assert message is not None
    assert message.requests[0].arguments == {"path": "a"}
    assert message.requests[1].raw == "{path"
    assert message.tokens == Tokens(input=6, output=3, cache_read=4)


def test_anthropic_answers_are_read() -> None:
    message = AnthropicMessages().decode({
        "content": [{"type": "text", "text": "Hm. "}, {"type": "thinking"}, {"type": "text", "text": "Ok."},
                    {"type": "tool_use", "id": "t", "name": "read_file", "input": {"path": "a"}}],
        "usage": {"input_tokens": 5, "output_tokens": 2, "cache_read_input_tokens": 1},
    })  # fmt: skip
    assert message is not None
    assert message.text == "Hm. Ok."
    assert message.requests == (Request(tool="read_file", id="t", arguments={"path": "a"}),)
    assert message.tokens == Tokens(input=5, output=2, cache_read=1)


@given(
    st.sampled_from(sorted(WIRES)),
    st.dictionaries(st.sampled_from(["choices", "content", "usage", "model"]), JSON),
)
def test_any_answer_is_a_message_or_none(api: str, body: dict[str, Any]) -> None:
    assert isinstance(WIRES[api].decode(body), Message | None)


@pytest.mark.parametrize(
    ("base", "url"),
    [
        ("http://h:1", "http://h:1/v1/chat/completions"),
        ("http://h:1/v1/", "http://h:1/v1/chat/completions"),
        ("http://h/x/chat/completions", "http://h/x/chat/completions"),
    ],
)
def test_addresses_are_taken_in_every_usual_form(base: str, url: str) -> None:
    assert build_url(base, OpenAIChat()) == url


def test_keys_go_where_each_provider_wants_them() -> None:
    assert OpenAIChat().headers("k") == {"Authorization": "Bearer k"}
    assert OpenAIChat().headers("") == {}
    assert AnthropicMessages().headers("k")["x-api-key"] == "k"
    assert "x-api-key" not in AnthropicMessages().headers("")


def test_calls_nobody_could_read_are_said_as_text() -> None:
    asked = Message(role=Role.ASSISTANT, requests=(Request(tool=INVALID_CALL, id="c", raw="{x"),))
    told = Message(role=Role.TOOL, results=(Result(text="no", call_id="c", tool=INVALID_CALL),))
    spoken = speak_invalid((CONVERSATION[0], asked, told))
    assert [(m.role, m.text) for m in spoken[1:]] == [(Role.ASSISTANT, "{x"), (Role.USER, "no")]
    assert spoken[0] is CONVERSATION[0]


def test_calls_beside_one_nobody_could_read_are_said_as_text_too() -> None:
    good = Request(tool="a", id="g", arguments={"x": 1})
    asked = Message(
        role=Role.ASSISTANT, requests=(Request(tool=INVALID_CALL, id="c", raw="{x"), good)
    )
    told = Message(role=Role.TOOL, results=(Result(text="yes", call_id="g", tool="a"),))
    spoken = speak_invalid((asked, told))
    assert [m.requests for m in spoken] == [(), ()]
    assert '"tool": "a"' in spoken[0].text
    assert (spoken[1].role, spoken[1].text) == (Role.USER, "yes")


def test_calls_without_ids_get_them_with_their_results() -> None:
    messages = with_ids((
        Message(role=Role.ASSISTANT, requests=(Request(tool="a"), Request(tool="b"))),
        Message(role=Role.TOOL, results=(Result(text="of b", tool="b"), Result(text="of a"))),
        Message(role=Role.TOOL, results=(Result(text="stray"),)),
    ))  # fmt: skip
    first, second = messages[0].requests
    assert messages[1].results[0].call_id == second.id
    assert messages[1].results[1].call_id == first.id
    assert messages[2].results[0].call_id is None
    assert with_ids(CONVERSATION) == CONVERSATION
