"""A scripted model behind a real HTTP address on loopback, good enough for real agents.

It serves OpenAI chat and responses, Anthropic messages and Gemini, streamed or not, keeps every
request, and answers what its policy says. Ids follow from the place in the conversation and nothing
depends on the clock, so the same request gets the same bytes.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, NamedTuple, Self

from warmstart.model import Message, Request, Role, Tokens
from warmstart.testing.script import Answer, Fault, Policy, Reply
from warmstart.wire import Codec, Event, Prompt, Response, StopReason, encode_events, find_codec_at

MODEL = "scripted"
CHARS_PER_TOKEN = 4
ID_PREFIXES = {"openai": "chatcmpl-", "responses": "resp_", "anthropic": "msg_"}


class Recorded(NamedTuple):
    """A request as it was received."""

    path: str
    headers: Mapping[str, str]
    """By name in lower case."""
    body: Mapping[str, Any]
    prompt: Prompt


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 64
    policy: Policy
    keep: Callable[[Recorded], None]


class ScriptedEndpoint:
    """A context manager: serving while it is open."""

    def __init__(self, policy: Policy, port: int = 0) -> None:
        self.requests: list[Recorded] = []
        """All requests, oldest first."""
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", port), _Handler)
        self._server.policy = policy
        self._server.keep = self._keep
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True
        )

    @property
    def url(self) -> str:
        """Base address; APIs are under ``/v1``."""
        host, port = self._server.server_address[:2]
        return f"http://{host!s}:{port}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _keep(self, recorded: Recorded) -> None:
        with self._lock:
            self.requests.append(recorded)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, *_: Any) -> None:
        """Print nothing on stderr."""

    def do_GET(self) -> None:
        """List the models."""
        if self.path.partition("?")[0].endswith("/models"):
            model = {"id": MODEL, "object": "model", "owned_by": "warmstart"}
            self._send_json({"object": "list", "data": [model]})
        else:
            self._send_json({"error": {"message": "no such page"}}, 404)

    def do_POST(self) -> None:
        """Answer one request to a model."""
        path = self.path.partition("?")[0]
        body = self._read_body()
        if path.endswith("/count_tokens"):
            self._send_json({"input_tokens": len(json.dumps(body)) // CHARS_PER_TOKEN})
            return
        codec = find_codec_at(path)
        if codec is None:
            self._send_json({"error": {"message": "no such page"}}, 404)
            return
        prompt = codec.decode_request(body)
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.keep(Recorded(path, headers, body, prompt))
        is_streamed = bool(prompt.stream) or path.endswith(":streamGenerateContent")
        self._answer(codec, prompt, self.server.policy(prompt), is_streamed=is_streamed)

    def _answer(self, codec: Codec, prompt: Prompt, answer: Answer, *, is_streamed: bool) -> None:
        if isinstance(answer, Fault):
            self._fail(answer)
            return
        whole = codec.encode_response(build_response(codec, prompt, answer))
        if is_streamed:
            self._send_events(codec.stream.split(whole))
        else:
            self._send_json(whole)

    def _fail(self, fault: Fault) -> None:
        time.sleep(fault.delay_seconds)
        if fault.drop:
            self.close_connection = True
            return
        self._send(fault.status, fault.body.encode(), fault.headers)

    def _send_json(self, value: Any, status: int = 200) -> None:
        self._send(status, json.dumps(value).encode())

    def _send(self, status: int, data: bytes, headers: Mapping[str, str] | None = None) -> None:
        try:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            for name, value in (headers or {}).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)
        except OSError:  # the client is gone, killed perhaps
            self.close_connection = True

    def _send_events(self, events: Iterator[Event]) -> None:
        self.close_connection = True
        try:
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Connection", "close")
            self.end_headers()
            for data in encode_events(events):
                self.wfile.write(data)
                self.wfile.flush()
        except OSError:
            return

    def _read_body(self) -> dict[str, Any]:
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            data = b"".join(self._read_chunks())
        else:
            data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        try:
            body = json.loads(data)
        except ValueError:
            return {}
        return body if isinstance(body, dict) else {}

    def _read_chunks(self) -> Iterator[bytes]:
        while size := int(self.rfile.readline().split(b";")[0], 16):
            yield self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()


def build_response(codec: Codec, prompt: Prompt, reply: Reply) -> Response:
    """A reply as the answer to a prompt, with ids and tokens."""
    place = sum(len(message.results) or 1 for message in prompt.messages)
    ids = "toolu_call" if codec.name == "anthropic" else "call"
    requests = tuple(
        Request(tool=call.name, id=f"{ids}_{place}_{number}", arguments=call.arguments,
                raw=call.raw)
        for number, call in enumerate(reply.calls)
    )  # fmt: skip
    message = Message(
        role=Role.ASSISTANT,
        text=reply.text,
        requests=requests,
        native_id=f"{ID_PREFIXES.get(codec.name, '')}{place}",
        model=prompt.model or MODEL,
        tokens=count_tokens(prompt, reply, requests),
    )
    return Response(message=message, stop=StopReason.CALLS if requests else StopReason.END)


def count_tokens(prompt: Prompt, reply: Reply, requests: Sequence[Request]) -> Tokens:
    """Tokens in and out, by length where the reply does not say."""
    given, written = reply.input_tokens, reply.output_tokens
    if given is None:
        texts = [prompt.system, *(message.text for message in prompt.messages)]
        texts += [result.text for message in prompt.messages for result in message.results]
        asked = (request for message in prompt.messages for request in message.requests)
        given = sum(map(len, (*texts, *map(_arguments, asked)))) // CHARS_PER_TOKEN
    if written is None:
        size = len(reply.text) + sum(len(_arguments(request)) for request in requests)
        written = 1 + size // CHARS_PER_TOKEN
    return Tokens(input=given, output=written)


def _arguments(request: Request) -> str:
    return request.raw if request.raw is not None else json.dumps(dict(request.arguments))
