"""A scripted model behind a real HTTP address on loopback, good enough for real agents.

It serves OpenAI chat and responses and Anthropic messages, streamed or not, keeps every request,
and answers what its policy says. Nothing it does depends on the clock.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, NamedTuple, Self

from warmstart.testing import apis
from warmstart.testing.apis import Event
from warmstart.testing.script import Answer, Fault, Policy, Prompt, Reply

MODEL = "scripted"


class _Api(NamedTuple):
    read: Callable[[Mapping[str, Any]], Prompt]
    write: Callable[[Prompt, Reply], dict[str, Any]]
    stream: Callable[[Mapping[str, Any]], Iterator[Event]]


APIS = {
    "/chat/completions": _Api(apis.read_chat, apis.write_chat, apis.stream_chat),
    "/responses": _Api(apis.read_responses, apis.write_responses, apis.stream_responses),
    "/messages": _Api(apis.read_messages, apis.write_messages, apis.stream_messages),
}


class Recorded(NamedTuple):
    """A request as it came."""

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
        """Everything that was asked, oldest first."""
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
        """Nothing on stderr."""

    def do_GET(self) -> None:
        """The models there are."""
        if self.path.partition("?")[0].endswith("/models"):
            model = {"id": MODEL, "object": "model", "owned_by": "warmstart"}
            self._send_json({"object": "list", "data": [model]})
        else:
            self._send_json({"error": {"message": "no such page"}}, 404)

    def do_POST(self) -> None:
        """One request to a model."""
        path = self.path.partition("?")[0]
        body = self._read_body()
        if path.endswith("/count_tokens"):
            self._send_json({"input_tokens": len(json.dumps(body)) // apis.CHARS_PER_TOKEN})
            return
        api = next((api for end, api in APIS.items() if path.endswith(end)), None)
        if api is None:
            self._send_json({"error": {"message": "no such page"}}, 404)
            return
        prompt = api.read(body)
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.keep(Recorded(path, headers, body, prompt))
        self._answer(api, prompt, self.server.policy(prompt))

    def _answer(self, api: _Api, prompt: Prompt, answer: Answer) -> None:
        if isinstance(answer, Fault):
            self._fail(answer)
            return
        whole = api.write(prompt, answer)
        if prompt.body.get("stream"):
            self._send_events(api.stream(whole))
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
            for event in events:
                data = event.data if isinstance(event.data, str) else json.dumps(event.data)
                name = f"event: {event.name}\n" if event.name else ""
                self.wfile.write(f"{name}data: {data}\n\n".encode())
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
