"""Streams as servers really send them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from warmstart.model import Request, Tokens
from warmstart.wire import CODECS, Event, EventParser, Response, StopReason, StreamDecoder


def events(*pieces: bytes) -> list[Event]:
    parser = EventParser()
    found = [event for piece in pieces for event in parser.feed(piece)]
    return found + list(parser.close())


def read(name: str, *bodies: dict[str, Any]) -> Response:
    decoder = StreamDecoder(CODECS[name])
    for body in bodies:
        decoder.feed(b"data: " + json.dumps(body).encode() + b"\n\n")
    return decoder.result()


def test_comments_pings_and_unknown_fields_are_passed_over() -> None:
    stream = b": ping\n\nid: 7\nretry: 1\nevent: a\ndata: {}\n\n\n\n:\ndata:1\n\n"
    assert events(stream) == [Event({}, "a"), Event(1)]


def test_several_data_lines_are_one_value() -> None:
    assert events(b'data: {"a":\ndata: 1}\n\n') == [Event({"a": 1})]


def test_a_character_split_between_two_pieces_is_whole() -> None:
    data = 'data: "\U0001f600é"\n\n'.encode()
    assert events(*(data[at : at + 1] for at in range(len(data)))) == [Event("\U0001f600é")]


def test_a_line_break_split_between_two_pieces_ends_one_line() -> None:
    assert events(b"data: 1\r", b"\n\r", b"\ndata: 2\r\n\r\n") == [Event(1), Event(2)]


def test_data_that_is_not_json_is_kept_as_text() -> None:
    assert events(b"\xef\xbb\xbfdata: [DONE]\n\n", b"data: {cut") == [
        Event("[DONE]"),
        Event("{cut"),
    ]


def test_chat_calls_arrive_in_pieces_and_usage_at_the_end() -> None:
    def delta(**fields: Any) -> dict[str, Any]:
        return {"id": "x", "model": "m", "choices": [{"index": 0, "delta": fields}]}

    def call(index: int, arguments: str, **fields: Any) -> dict[str, Any]:
        function = {"arguments": arguments, **fields}
        return {"index": index, "function": function, "id": f"c{index}" if fields else None}

    answer = read(
        "openai",
        delta(role="assistant", content="Let "),
        delta(content="me."),
        delta(tool_calls=[call(0, '{"pa', name="read_file")]),
        delta(tool_calls=[call(1, "{}", name="list_dir"), call(0, 'th": "a"}')]),
        {"choices": [{"index": 1, "delta": {"content": "another choice"}}]},
        {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]},
        {"choices": [], "usage": {"prompt_tokens": 10, "completion_tokens": 3,
                                  "prompt_tokens_details": {"cached_tokens": 4}}},
    )  # fmt: skip
    assert answer.message is not None
    assert answer.message.text == "Let me."
    assert answer.message.requests == (
        Request(tool="read_file", id="c0", arguments={"path": "a"}),
        Request(tool="list_dir", id="c1"),
    )
    assert answer.message.tokens == Tokens(input=6, output=3, cache_read=4)
    assert answer.stop is StopReason.CALLS


@pytest.mark.parametrize("index", [{}, {"index": 0}], ids=["no index", "one index for all"])
def test_chat_calls_are_told_apart_by_their_ids(index: dict[str, int]) -> None:
    calls = [
        {**index, "id": name, "function": {"name": name, "arguments": "{}"}} for name in ("a", "b")
    ]
    chunks = [{"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]} for call in calls]
    answer = read("openai", *chunks)
    assert answer.message is not None
    assert [request.id for request in answer.message.requests] == ["a", "b"]


def test_anthropic_usage_is_joined_from_start_and_end() -> None:
    answer = read(
        "anthropic",
        {"type": "message_start", "message": {"id": "m", "role": "assistant", "content": [],
         "usage": {"input_tokens": 5, "cache_creation_input_tokens": 7, "output_tokens": 1}}},
        {"type": "ping"},
        {"type": "content_block_start", "index": 0,
         "content_block": {"type": "tool_use", "id": "t", "name": "Read", "input": {}}},
        {"type": "content_block_delta", "index": 0,
         "delta": {"type": "input_json_delta", "partial_json": '{"file'}},
        {"type": "content_block_delta", "index": 0,
         "delta": {"type": "input_json_delta", "partial_json": '_path": "a"}'}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"},
         "usage": {"output_tokens": 20, "input_tokens": None}},
    )  # fmt: skip
    assert answer.message is not None
    assert answer.message.requests[0].arguments == {"file_path": "a"}
    assert answer.message.tokens == Tokens(input=5, output=20, cache_write=7)


def test_arguments_that_were_cut_are_kept_as_text() -> None:
    answer = read(
        "anthropic",
        {"type": "message_start", "message": {"role": "assistant"}},
        {"type": "content_block_start", "content_block": {"type": "tool_use", "name": "Read"}},
        {"type": "content_block_delta",
         "delta": {"type": "input_json_delta", "partial_json": '{"file'}},
    )  # fmt: skip
    assert answer.message is not None
    assert (answer.message.requests[0].raw, answer.stop) == ('{"file', None)


def test_responses_without_items_in_the_last_event_keep_those_seen() -> None:
    item = {"type": "function_call", "call_id": "c", "name": "shell", "arguments": "{}"}
    answer = read(
        "responses",
        {"type": "response.created", "response": {"id": "r", "status": "in_progress"}},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": {"status": "completed", "output": []}},
    )
    assert answer.message is not None
    assert answer.message.requests == (Request(tool="shell", id="c"),)
    assert answer.stop is StopReason.CALLS


def test_gemini_parts_of_one_text_are_joined() -> None:
    def chunk(*parts: dict[str, Any], **fields: Any) -> dict[str, Any]:
        return {"candidates": [{"content": {"role": "model", "parts": list(parts)}, **fields}]}

    answer = read(
        "gemini",
        chunk({"text": "hm", "thought": True}),
        chunk({"text": "Let "}),
        chunk({"text": "me."}, {"functionCall": {"name": "read_file", "args": {"path": "a"}}}),
        chunk(finishReason="STOP") | {"usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": 2,
                                      "thoughtsTokenCount": 3, "cachedContentTokenCount": 4}},
    )  # fmt: skip
    assert answer.message is not None
    assert (answer.message.text, answer.message.reasoning) == ("Let me.", "hm")
    assert answer.message.tokens == Tokens(input=5, output=5, cache_read=4, reasoning=3)
    assert answer.stop is StopReason.CALLS


def test_gemini_also_streams_a_json_list() -> None:
    chunks = [{"candidates": [{"content": {"parts": [{"text": text}]}}]} for text in ("a", "b")]
    decoder = StreamDecoder(CODECS["gemini"])
    for piece in json.dumps(chunks, indent=1).encode().splitlines(keepends=True):
        decoder.feed(piece)
    answer = decoder.result()
    assert answer.message is not None
    assert answer.message.text == "ab"


@pytest.mark.parametrize(
    ("name", "event"),
    [
        ("openai", {"error": {"type": "server_error", "message": "busy"}}),
        ("anthropic", {"type": "error", "error": {"type": "server_error", "message": "busy"}}),
        ("responses", {"type": "error", "error": {"type": "server_error", "message": "busy"}}),
        ("gemini", {"error": {"status": "server_error", "message": "busy"}}),
    ],
)
def test_an_error_is_named_in_the_stream_and_in_place_of_it(
    name: str, event: dict[str, Any]
) -> None:
    assert read(name, event) == Response(error="server_error: busy")
    decoder = StreamDecoder(CODECS[name])
    decoder.feed(json.dumps(event).encode())
    assert decoder.result() == Response(error="server_error: busy")
