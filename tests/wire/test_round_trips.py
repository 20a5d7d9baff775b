"""What is encoded is decoded again, whole and streamed, for every provider."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.conversations import prompts, responses
from warmstart.model import Message
from warmstart.wire import CODECS, Prompt, Response, StreamDecoder, encode_events

NAMES = list(CODECS)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["type", "role", "content", "parts", "text", "id", "message", "index",
                             "choices", "candidates", "output", "item", "delta", "response",
                             "tool_calls", "function", "functionCall", "usage", "error", "input"]),
            inner, max_size=4)
    ),
    max_leaves=12,
)  # fmt: skip
KEYS = ["messages", "input", "contents", "system", "tools", "choices", "content", "candidates",
        "output", "usage", "error", "delta", "item", "type", "content_block", "message",
        "response", "status", "usageMetadata", "generationConfig"]  # fmt: skip
BODIES = st.dictionaries(st.sampled_from(KEYS), JSON, max_size=6)
TYPES = st.sampled_from(["message_start", "content_block_start", "content_block_delta", "error",
                         "message_delta", "response.output_item.added", "response.completed",
                         "response.output_text.delta", "response.output_item.done"])  # fmt: skip


def read(name: str, pieces: list[bytes]) -> Response:
    decoder = StreamDecoder(CODECS[name])
    for piece in pieces:
        decoder.feed(piece)
    return decoder.result()


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
@settings(max_examples=30)
def test_a_request_is_decoded_to_the_prompt_it_was_made_of(name: str, data: Any) -> None:
    prompt = data.draw(prompts(name))
    body = CODECS[name].encode_request(prompt)
    assert CODECS[name].decode_request(json.loads(json.dumps(body))) == prompt


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
@settings(max_examples=30)
def test_a_response_is_decoded_to_what_was_answered(name: str, data: Any) -> None:
    response = data.draw(responses(name))
    body = CODECS[name].encode_response(response)
    assert CODECS[name].decode_response(json.loads(json.dumps(body))) == response


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
@settings(max_examples=30)
def test_a_stream_says_the_same_as_the_whole_response(name: str, data: Any) -> None:
    response = data.draw(responses(name))
    body = CODECS[name].encode_response(response)
    stream = b"".join(encode_events(CODECS[name].stream.split(body)))
    step = data.draw(st.integers(1, len(stream)))
    pieces = [stream[at : at + step] for at in range(0, len(stream), step)]
    assert read(name, pieces) == response
    assert read(name, [stream.replace(b"\n", b"\r\n")]) == response
    assert read(name, [stream.replace(b"\n", b"\r")]) == response


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
@settings(max_examples=30)
def test_a_stream_cut_at_any_byte_gives_what_came(name: str, data: Any) -> None:
    response = data.draw(responses(name))
    body = CODECS[name].encode_response(response)
    stream = b"".join(encode_events(CODECS[name].stream.split(body)))
    cut = read(name, [stream[: data.draw(st.integers(0, len(stream)))]])
    assert cut.message is None or isinstance(cut.message, Message)
    whole = response.message
    assert whole is not None
    assert cut.message is None or whole.text.startswith(cut.message.text)


@pytest.mark.parametrize("name", NAMES)
@given(body=BODIES)
@settings(max_examples=30)
def test_any_json_is_decoded_to_something(name: str, body: dict[str, Any]) -> None:
    assert isinstance(CODECS[name].decode_request(body), Prompt)
    assert isinstance(CODECS[name].decode_response(body), Response)


@pytest.mark.parametrize("name", NAMES)
@given(events=st.lists(st.tuples(TYPES, BODIES), max_size=6))
@settings(max_examples=30)
def test_any_events_are_decoded_to_something(name: str, events: list[Any]) -> None:
    lines = [json.dumps({**body, "type": kind}).encode() for kind, body in events]
    assert isinstance(read(name, [b"data: " + line + b"\n\n" for line in lines]), Response)


@pytest.mark.parametrize("name", NAMES)
@given(data=st.binary(max_size=200))
def test_any_bytes_are_decoded_to_something(name: str, data: bytes) -> None:
    assert isinstance(read(name, [data]), Response)
