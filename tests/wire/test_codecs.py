"""Providers' own shapes: the official types, real requests, addresses, keys, and what is put in."""

from __future__ import annotations

import copy
from itertools import pairwise
from typing import Any

import pytest
from anthropic.types import Message as AnthropicMessage
from anthropic.types import RawMessageStreamEvent
from anthropic.types.message_create_params import MessageCreateParamsNonStreaming
from hypothesis import given, settings
from hypothesis import strategies as st
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from openai.types.chat.completion_create_params import CompletionCreateParamsNonStreaming
from openai.types.responses import Response as OpenAIResponse
from openai.types.responses import ResponseStreamEvent
from openai.types.responses.response_create_params import ResponseCreateParamsNonStreaming
from pydantic import TypeAdapter

from support.conversations import prompts, responses
from warmstart.model import Message, Request, Result, Role, Tokens
from warmstart.wire import (
    CODECS,
    Event,
    Prompt,
    ToolSpec,
    build_url,
    find_codec,
    find_codec_at,
    insert_before,
    pair_calls,
    with_ids,
)

REQUESTS: dict[str, TypeAdapter[Any]] = {
    "openai": TypeAdapter(CompletionCreateParamsNonStreaming),
    "responses": TypeAdapter(ResponseCreateParamsNonStreaming),
    "anthropic": TypeAdapter(MessageCreateParamsNonStreaming),
}
WHOLE: dict[str, TypeAdapter[Any]] = {
    "openai": TypeAdapter(ChatCompletion),
    "responses": TypeAdapter(OpenAIResponse),
    "anthropic": TypeAdapter(AnthropicMessage),
}
EVENTS: dict[str, TypeAdapter[Any]] = {
    "openai": TypeAdapter(ChatCompletionChunk),
    "responses": TypeAdapter(ResponseStreamEvent),
    "anthropic": TypeAdapter(RawMessageStreamEvent),
}
SDKS = list(REQUESTS)
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
PREFIX = Prompt(system="S", messages=CONVERSATION[:4])


@pytest.mark.parametrize("name", SDKS)
@given(data=st.data())
@settings(max_examples=20)
def test_requests_have_the_types_of_the_official_clients(name: str, data: Any) -> None:
    prompt = data.draw(prompts(name))
    body = CODECS[name].encode_request(prompt)
    required = {"model": "m", "max_tokens": 5, "stream": False}
    REQUESTS[name].validate_python({**required, **body, "stream": False})


@pytest.mark.parametrize("name", SDKS)
@given(data=st.data())
@settings(max_examples=20)
def test_responses_have_the_types_of_the_official_clients(name: str, data: Any) -> None:
    response = data.draw(responses(name).filter(lambda r: r.message and r.message.tokens))
    body = CODECS[name].encode_response(response)
    WHOLE[name].validate_python(body)
    for event in CODECS[name].stream.split(body):
        if event.data != "[DONE]":
            EVENTS[name].validate_python(event.data)


def test_anthropic_and_gemini_turns_alternate_and_results_stand_with_the_user() -> None:
    turns = CODECS["anthropic"].encode_request(Prompt(messages=CONVERSATION))["messages"]
    assert [turn["role"] for turn in turns] == ["user", "assistant"] * 2 + ["user"]
    assert turns[2]["content"][0] == {
        "type": "tool_result", "tool_use_id": "c1", "content": "no", "is_error": True,
    }  # fmt: skip
    contents = CODECS["gemini"].encode_request(Prompt(messages=CONVERSATION))["contents"]
    assert all(one["role"] != other["role"] for one, other in pairwise(contents))
    answer = {"name": "read_file", "response": {"error": "no"}}
    assert contents[2]["parts"][0] == {"functionResponse": answer}


def test_neighbours_of_one_role_are_merged_and_empty_ones_left_out() -> None:
    messages = (CONVERSATION[0], CONVERSATION[4], Message(role=Role.ASSISTANT))
    turns = CODECS["anthropic"].encode_request(Prompt(messages=messages))["messages"]
    assert [len(turn["content"]) for turn in turns] == [2]


def test_requests_of_every_provider_become_the_same_prompt() -> None:
    chat = {
        "messages": [
            {"role": "system", "content": [{"type": "text", "text": "S"}]},
            {"role": "user", "content": "U"},
            {"role": "assistant", "content": None,
             "tool_calls": [{"id": "c", "function": {"name": "f", "arguments": '{"a": 1}'}}]},
            {"role": "tool", "tool_call_id": "c", "content": "R"},
        ],
        "tools": [{"type": "function", "function": {"name": "f"}}],
    }  # fmt: skip
    items = {
        "instructions": "S",
        "input": [
            {"role": "user", "content": [{"type": "input_text", "text": "U"}]},
            {"type": "reasoning", "summary": []},
            {"type": "function_call", "call_id": "c", "name": "f", "arguments": '{"a": 1}'},
            {"type": "function_call_output", "call_id": "c", "output": "R"},
        ],
        "tools": [{"type": "function", "name": "f"}],
    }
    messages = {
        "system": [{"type": "text", "text": "S"}],
        "messages": [
            {"role": "user", "content": "U"},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "f",
                                               "input": {"a": 1}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c",
                                          "content": "R"}]},
        ],
        "tools": [{"name": "f"}],
    }  # fmt: skip
    contents = {
        "systemInstruction": {"parts": [{"text": "S"}]},
        "contents": [
            {"role": "user", "parts": [{"text": "U"}]},
            {"role": "model", "parts": [{"functionCall": {"id": "c", "name": "f",
                                                          "args": {"a": 1}}}]},
            {"role": "user", "parts": [{"functionResponse": {"id": "c", "name": "f",
                                                             "response": {"output": "R"}}}]},
        ],
        "tools": [{"functionDeclarations": [{"name": "f"}]}],
    }  # fmt: skip
    bodies = {"openai": chat, "responses": items, "anthropic": messages, "gemini": contents}
    for name, body in bodies.items():
        prompt = CODECS[name].decode_request(body)
        assert (prompt.system, prompt.tools) == ("S", (ToolSpec("f"),))
        assert [m.role for m in prompt.messages] == [Role.USER, Role.ASSISTANT, Role.TOOL]
        assert prompt.messages[1].requests == (Request(tool="f", id="c", arguments={"a": 1}),)
        assert (prompt.messages[2].results[0].text, prompt.asked) == ("R", "U")


def test_what_only_some_clients_write_is_read() -> None:
    decode = CODECS["openai"].decode_request
    old = {"role": "assistant", "function_call": {"name": "f", "arguments": "{}"}}
    text = {"role": "assistant", "tool_calls": '[{"id": 5, "function": {"name": "f"}}]'}
    custom = {
        "role": "assistant",
        "tool_calls": [{"id": "c", "custom": {"name": "g", "input": "x"}}],
    }
    found = [m.requests[0] for m in decode({"messages": [old, text, custom]}).messages]
    assert found[:2] == [Request(tool="f"), Request(tool="f", id="5")]
    assert found[2] == Request(tool="g", id="c", raw="x")
    image = {"role": "user", "content": [{"type": "text", "text": "see"}, {"type": "image_url"}]}
    assert decode({"messages": [image]}).asked == "see\n[image_url]"


def test_built_in_calls_of_responses_are_named_by_their_type() -> None:
    items = [
        {"type": "local_shell_call", "call_id": "c", "action": {"command": ["ls"]}},
        {"type": "local_shell_call_output", "call_id": "c", "output": "a.txt"},
        {"type": "web_search_call", "id": "w", "action": {"query": "x"}},
    ]
    messages = CODECS["responses"].decode_request({"input": items}).messages
    assert messages[0].requests[0].tool == "local_shell"
    assert messages[1].results[0].text == "a.txt"
    assert messages[2].requests[0].arguments == {"query": "x"}


def test_gemini_is_read_inside_the_wrapping_of_its_own_cli() -> None:
    contents = [{"role": "user", "parts": [{"text": "U"}]}]
    system = {"parts": [{"text": "S"}, {"text": "T"}]}
    inner = {"contents": contents, "systemInstruction": system}
    prompt = CODECS["gemini"].decode_request({"model": "m", "request": inner})
    assert (prompt.model, prompt.system, prompt.asked) == ("m", "S\n\nT", "U")
    whole = {"candidates": [{"content": {"parts": [{"text": "ok"}]}, "finishReason": "STOP"}]}
    answer = CODECS["gemini"].decode_response({"response": whole})
    assert answer == CODECS["gemini"].decode_response(whole)
    stream = CODECS["gemini"].stream()
    stream.add(Event({"response": whole}))
    assert CODECS["gemini"].decode_response(stream.build()) == answer


def test_anthropic_text_that_citations_cut_is_whole_again() -> None:
    blocks = [{"type": "text", "text": "Hm. "}, {"type": "thinking", "thinking": "t"},
              {"type": "text", "text": "Ok."}]  # fmt: skip
    usage = {"input_tokens": 5, "output_tokens": 2, "cache_read_input_tokens": 1}
    answer = CODECS["anthropic"].decode_response({"content": blocks, "usage": usage})
    assert answer.message is not None
    assert (answer.message.text, answer.message.reasoning) == ("Hm. Ok.", "t")
    assert answer.message.tokens == Tokens(input=5, output=2, cache_read=1)


@pytest.mark.parametrize(
    ("message", "name"),
    [
        ({"role": "assistant", "content": None, "tool_calls": []}, "openai"),
        ({"type": "function_call", "call_id": "c"}, "responses"),
        ({"type": "message", "role": "user", "content": "x"}, "responses"),
        ({"role": "user", "content": "x"}, "openai"),
        ({"role": "user", "content": [{"type": "tool_result"}]}, "anthropic"),
        ({"role": "model", "parts": []}, "gemini"),
    ],
)
def test_the_form_is_seen_from_the_messages(message: dict[str, Any], name: str) -> None:
    assert find_codec([message]).name == name


def test_a_system_message_does_not_hide_the_form_of_what_follows() -> None:
    system = {"role": "developer", "content": "S"}
    assert find_codec([system, {"type": "function_call", "call_id": "c"}]).name == "responses"
    blocks = [{"type": "tool_result", "tool_use_id": "t", "content": "x"}]
    assert find_codec([system, {"role": "user", "content": blocks}]).name == "openai"


@pytest.mark.parametrize(
    ("base", "name", "url"),
    [
        ("http://h:1", "openai", "http://h:1/v1/chat/completions"),
        ("http://h:1/v1/", "openai", "http://h:1/v1/chat/completions"),
        ("http://h/x/chat/completions", "openai", "http://h/x/chat/completions"),
        ("http://h/v1beta", "gemini", "http://h/v1beta/models/m:generateContent"),
    ],
)
def test_addresses_are_taken_in_every_usual_form(base: str, name: str, url: str) -> None:
    assert build_url(base, CODECS[name], "m") == url


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/v1/chat/completions", "openai"),
        ("/openai/v1/responses?x=1", "responses"),
        ("/v1/messages?beta=true", "anthropic"),
        ("/v1beta/models/m:streamGenerateContent?alt=sse", "gemini"),
    ],
)
def test_the_provider_is_seen_from_the_address(path: str, name: str) -> None:
    assert find_codec_at(path) is CODECS[name]
    assert find_codec_at("/v1/messages/count_tokens") is None


def test_keys_go_where_each_provider_wants_them() -> None:
    for codec in CODECS.values():
        assert any("k-1" in value for value in codec.headers("k-1").values())
        assert not any("k-1" in value for value in codec.headers("").values())
    assert CODECS["anthropic"].headers("k")["x-api-key"] == "k"


BODIES: dict[str, dict[str, Any]] = {
    "openai": {"messages": [{"role": "system", "content": "Own."}, {"role": "user", "content": "U"}]},
    "responses": {"instructions": "Own.", "input": [{"role": "user", "content": "U"}]},
    "anthropic": {"system": [{"type": "text", "text": "Own."}],
                  "messages": [{"role": "user", "content": "U"}]},
    "gemini": {"systemInstruction": {"parts": [{"text": "Own."}]},
               "contents": [{"role": "user", "parts": [{"text": "U"}]}]},
}  # fmt: skip


@pytest.mark.parametrize("name", CODECS)
def test_a_prefix_stands_before_the_conversation_and_behind_its_system_text(name: str) -> None:
    before, codec = copy.deepcopy(BODIES[name]), CODECS[name]
    body = insert_before({**BODIES[name], "model": "m"}, PREFIX, codec)
    assert BODIES[name] == before
    assert body[codec.key][-1] == BODIES[name][codec.key][-1]
    prompt = codec.decode_request(body)
    assert prompt.system.index("Own.") < prompt.system.index("S")
    assert [m.text for m in prompt.messages if m.role is Role.USER] == ["Read a.", "U"]
    assert (body["model"], prompt.asked) == ("m", "U")


@pytest.mark.parametrize("name", CODECS)
def test_a_prefix_without_system_text_leaves_the_system_text_alone(name: str) -> None:
    codec = CODECS[name]
    body = insert_before(BODIES[name], Prompt(messages=CONVERSATION[:1]), codec)
    assert codec.decode_request(body).system == "Own."
    bare = {codec.key: BODIES[name][codec.key][-1:]}
    assert codec.decode_request(insert_before(bare, PREFIX, codec)).system == "S"


def test_a_prefix_stands_before_plain_text_too() -> None:
    body = insert_before({"input": "U"}, PREFIX, CODECS["responses"])
    assert body["input"][-1] == {"role": "user", "content": "U"}
    assert CODECS["responses"].decode_request(body).system == "S"


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


def test_calls_and_results_without_their_other_half_are_left_out() -> None:
    asked = (Request(tool="a", id="x"), Request(tool="b", id="lost"), Request(tool="c"),
             Request(tool="a", id="x"))  # fmt: skip
    told = (Result(text="1", call_id="x"), Result(text="2", call_id="x"),
            Result(text="stray", call_id="y"))  # fmt: skip
    paired = list(pair_calls((Message(role=Role.ASSISTANT, requests=asked),
                              Message(role=Role.TOOL, results=told))))  # fmt: skip
    assert [request.id for request in paired[0].requests] == ["x", "x_2"]
    assert [(m.results[0].call_id, m.results[0].text) for m in paired[1:]] == [
        ("x", "1"), ("x_2", "2"),
    ]  # fmt: skip
