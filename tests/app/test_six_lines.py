"""The six lines of the documentation, run as they stand against a server on loopback."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from support.warming import make_template
from warmstart.app import Workspace
from warmstart.app.templates import open_library
from warmstart.model.template import TemplateState

PAGE = Path(__file__).resolve().parents[2] / "docs" / "own-agent.md"
CHAT = {
    "id": "c", "object": "chat.completion", "created": 1, "model": "m",
    "choices": [{"index": 0, "finish_reason": "stop",
                 "message": {"role": "assistant", "content": "Rounding."}}],
}  # fmt: skip
MESSAGE = {
    "id": "m", "type": "message", "role": "assistant", "model": "m", "stop_reason": "end_turn",
    "content": [{"type": "text", "text": "Rounding."}], "stop_sequence": None,
    "usage": {"input_tokens": 1, "output_tokens": 1},
}  # fmt: skip


@pytest.fixture
def requests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[dict[str, Any]]]:
    """What reached the provider; a library with one template that fits the question."""
    seen: list[dict[str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            seen.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            data = json.dumps(MESSAGE if self.path.endswith("/messages") else CHAT).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}"
    settings = {
        "OPENAI_BASE_URL": f"{address}/v1", "OPENAI_API_KEY": "x", "ANTHROPIC_BASE_URL": address,
        "ANTHROPIC_API_KEY": "x", "WARMSTART_WARM_HOLDOUT": "0",
        "WARMSTART_HOME": str(tmp_path / "home"),
    }  # fmt: skip
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("WARMSTART_STORE", raising=False)
    with open_library(Workspace.open()) as library:
        anchors = ("Why does the checkout fail?",)
        tools = make_template(anchors=anchors, markers=()).examples
        named = tuple(e for e in tools if e.tool == "terminal")
        template = make_template(anchors=anchors, markers=(), examples=named)
        library.save(template, state=TemplateState.APPROVED)
    yield seen
    server.shutdown()
    server.server_close()


def snippet(word: str) -> str:
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    return next(block for block in blocks if word in block)


@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_six_lines_with_the_openai_client(requests: list[dict[str, Any]]) -> None:
    exec(snippet("OpenAI()"), {})  # noqa: S102 - our own page
    (body,) = requests
    assert [m["role"] for m in body["messages"]][:4] == ["system", "user", "assistant", "tool"]
    assert body["messages"][-1]["content"] == "Why does the checkout fail?"


@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_six_lines_with_the_anthropic_client(requests: list[dict[str, Any]]) -> None:
    exec(snippet("Anthropic()"), {})  # noqa: S102 - our own page
    (body,) = requests
    kinds = [block["type"] for m in body["messages"][:-1] for block in m["content"]]
    assert kinds[:3] == ["text", "tool_use", "tool_result"]
    assert kinds[-1] == "text"
    assert kinds.count("tool_use") == kinds.count("tool_result")
    assert body["messages"][-1]["content"] == "Why does the checkout fail?"
    assert "earlier sessions" in body["system"]
