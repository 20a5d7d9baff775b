from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from http.client import HTTPConnection, RemoteDisconnected
from typing import Any

import anthropic
import openai
import pytest

from warmstart.testing import Fault, Reply, Script, ScriptedEndpoint, ToolCall, by_turn
from warmstart.wire import CODECS, StreamDecoder

READ = ToolCall("read_file", {"path": "a.txt"})
TOOLS: Any = [
    {"type": "function", "function": {"name": "read_file", "parameters": {"type": "object"}}}
]


@pytest.fixture
def endpoint() -> Iterator[ScriptedEndpoint]:
    with ScriptedEndpoint(by_turn(Reply("Looking.", (READ,)), Reply("All done."))) as served:
        yield served


def _post(url: str, body: Any) -> Any:
    request = urllib.request.Request(url, json.dumps(body).encode())  # noqa: S310 - loopback
    with urllib.request.urlopen(request) as response:  # noqa: S310 - loopback
        return json.load(response)


def test_the_openai_client_is_answered(endpoint: ScriptedEndpoint) -> None:
    with openai.OpenAI(base_url=f"{endpoint.url}/v1", api_key="k") as client:
        asked: Any = [{"role": "user", "content": "Read it."}]
        first = client.chat.completions.create(model="m", messages=asked, tools=TOOLS)
        message = first.choices[0].message
        assert message.tool_calls
        assert json.loads(message.tool_calls[0].function.arguments) == {"path": "a.txt"}
        asked += [message.model_dump(exclude_none=True)]
        asked += [{"role": "tool", "tool_call_id": message.tool_calls[0].id, "content": "x"}]
        last = client.chat.completions.create(model="m", messages=asked, seed=3)
    assert last.choices[0].message.content == "All done."
    assert [message.role for message in endpoint.requests[-1].prompt.messages] == [
        "user", "assistant", "tool",
    ]  # fmt: skip
    assert endpoint.requests[-1].prompt.seed == 3
    assert endpoint.requests[0].headers["authorization"] == "Bearer k"


def test_the_openai_client_reads_the_stream(endpoint: ScriptedEndpoint) -> None:
    with openai.OpenAI(base_url=f"{endpoint.url}/v1", api_key="k") as client:
        stream = client.chat.completions.create(
            model="m", messages=[{"role": "user", "content": "x"}], stream=True
        )
        chunks = list(stream)
    deltas = [chunk.choices[0].delta for chunk in chunks if chunk.choices]
    assert "".join(delta.content or "" for delta in deltas) == "Looking."
    calls = [call for delta in deltas for call in delta.tool_calls or ()]
    assert calls[0].function
    assert calls[0].function.name == "read_file"
    assert chunks[-1].usage


def test_the_openai_client_reads_responses_streamed_and_whole(endpoint: ScriptedEndpoint) -> None:
    with openai.OpenAI(base_url=f"{endpoint.url}/v1", api_key="k") as client:
        whole = client.responses.create(model="m", input="Read it.", instructions="Be brief.")
        assert whole.output_text == "Looking."
        assert whole.output[1].type == "function_call"
        again: Any = [
            {"role": "developer", "content": "More."},
            {"role": "user", "content": "Read it."},
            {"type": "function_call", "call_id": "c", "name": "read_file", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "c", "output": "x"},
        ]
        with client.responses.stream(model="m", input=again) as stream:
            events = [event.type for event in stream]
            final = stream.get_final_response()
    assert final.output_text == "All done."
    assert events[0] == "response.created"
    assert "response.output_text.delta" in events
    assert endpoint.requests[0].prompt.system == "Be brief."
    assert endpoint.requests[1].prompt.system == "More."


def test_the_anthropic_client_is_answered_streamed_and_whole(endpoint: ScriptedEndpoint) -> None:
    with anthropic.Anthropic(base_url=endpoint.url, api_key="k") as client:
        asked: Any = [{"role": "user", "content": "Read it."}]
        first = client.messages.create(model="m", max_tokens=9, messages=asked, system="Be brief.")
        assert first.stop_reason == "tool_use"
        used: Any = first.content[1]
        assert used.input == {"path": "a.txt"}
        result = {"type": "tool_result", "tool_use_id": used.id, "content": "x"}
        with client.messages.stream(model="m", max_tokens=9, messages=asked) as stream:
            assert stream.get_final_message().content[1].type == "tool_use"
        asked += [
            {"role": "assistant", "content": [block.model_dump() for block in first.content]},
            {"role": "user", "content": [result]},
        ]
        last = client.messages.create(model="m", max_tokens=9, messages=asked)
        counted = client.messages.count_tokens(model="m", messages=asked)
    assert last.content[0].type == "text"
    assert counted.input_tokens > 0
    assert endpoint.requests[0].prompt.system == "Be brief."
    assert endpoint.requests[-1].prompt.examples == ()


def test_gemini_is_answered_streamed_and_whole(endpoint: ScriptedEndpoint) -> None:
    body = {"contents": [{"role": "user", "parts": [{"text": "Read it."}]}]}
    whole = _post(f"{endpoint.url}/v1beta/models/m:generateContent", body)
    parts = whole["candidates"][0]["content"]["parts"]
    assert parts[1]["functionCall"]["args"] == {"path": "a.txt"}
    url = f"{endpoint.url}/v1beta/models/m:streamGenerateContent?alt=sse"
    request = urllib.request.Request(url, json.dumps(body).encode())  # noqa: S310 - loopback
    decoder = StreamDecoder(CODECS["gemini"])
    with urllib.request.urlopen(request) as response:  # noqa: S310 - loopback
        decoder.feed(response.read())
    assert decoder.result() == CODECS["gemini"].decode_response(whole)


def test_a_model_that_writes_no_json_is_played() -> None:
    reply = Reply(calls=(ToolCall("f", raw="{not json"),))
    with ScriptedEndpoint(Script(reply)) as endpoint:
        whole = _post(f"{endpoint.url}/v1/chat/completions", {"messages": []})
    call = whole["choices"][0]["message"]["tool_calls"][0]
    assert call["function"]["arguments"] == "{not json"


def test_models_are_listed_and_other_pages_are_not_there(endpoint: ScriptedEndpoint) -> None:
    with urllib.request.urlopen(f"{endpoint.url}/v1/models") as response:  # noqa: S310 - loopback
        assert json.load(response)["data"][0]["id"] == "scripted"
    for path in ("/v1/nothing", "/"):
        with pytest.raises(urllib.error.HTTPError, match="404") as raised:
            urllib.request.urlopen(f"{endpoint.url}{path}")  # noqa: S310 - loopback
        raised.value.close()
    with pytest.raises(urllib.error.HTTPError, match="404") as raised:
        _post(f"{endpoint.url}/v1/nothing", {})
    raised.value.close()


def test_a_script_is_followed_and_its_last_answer_repeats() -> None:
    with ScriptedEndpoint(Script(Reply("one"), Reply("two", input_tokens=7))) as endpoint:
        url = f"{endpoint.url}/v1/chat/completions"
        answers = [_post(url, {"messages": []}) for _ in range(3)]
    assert [a["choices"][0]["message"]["content"] for a in answers] == ["one", "two", "two"]
    assert answers[1]["usage"]["prompt_tokens"] == 7


def test_faults_have_their_status_and_headers_or_no_answer_at_all() -> None:
    script = Script(Fault(status=429, headers={"Retry-After": "3"}), Fault(drop=True))
    with ScriptedEndpoint(script) as endpoint:
        url = f"{endpoint.url}/v1/messages"
        with pytest.raises(urllib.error.HTTPError) as raised:
            _post(url, {})
        with raised.value as error:
            assert (error.code, error.headers["Retry-After"]) == (429, "3")
        with pytest.raises(RemoteDisconnected):
            _post(url, {})


def test_a_chunked_request_and_one_that_is_no_json_are_read(endpoint: ScriptedEndpoint) -> None:
    host, _, port = endpoint.url.removeprefix("http://").partition(":")
    connection = HTTPConnection(host, int(port))
    body = [b'{"messages": [{"role": "user", ', b'"content": "hello"}]}']
    connection.request("POST", "/v1/chat/completions", body=iter(body), encode_chunked=True,
                       headers={"Transfer-Encoding": "chunked"})  # fmt: skip
    connection.getresponse().read()
    connection.request("POST", "/v1/chat/completions", body=b"[1")
    connection.getresponse().read()
    connection.close()
    assert [recorded.prompt.asked for recorded in endpoint.requests] == ["hello", ""]
