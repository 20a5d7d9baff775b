"""What a model does in a trial stays in its sandbox, ends in time, and sees no key."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from warmstart.experiment.check import TOO_SLOW
from warmstart.experiment.tasks import TaskError, parse_tasks
from warmstart.experiment.trial import TrialStatus
from warmstart.model import Message, Request, Role
from warmstart.runners import scoring
from warmstart.runners.endpoint import TrialTranscript
from warmstart.runners.tools import Sandbox, Toolbox, builtin_tools
from warmstart.runners.transport import EndpointError, EndpointFailure, Patience, post_json

KEY = "sk-" + "canary-0123456789abcdefghij"
WAYS_OUT = (
    "../secret", "/etc/passwd", "link", "folder/secret", "/proc/self/environ", "/proc/self/fd/0",
    "a/../../secret", "a\0b", "x" * 5000, "a/" * 3000, "loop", "//etc/passwd", "~root/.ssh/id",
)  # fmt: skip


@pytest.fixture
def toolbox(tmp_path: Path) -> Iterator[Toolbox]:
    """All tools in a sandbox with links that lead out."""
    (tmp_path / "secret").write_text("OUTSIDE")
    inner = tmp_path / "inner"
    inner.mkdir()
    with Sandbox({"a.txt": "x"}, inner) as sandbox:
        (sandbox.root / "link").symlink_to(tmp_path / "secret")
        (sandbox.root / "folder").symlink_to(tmp_path)
        (sandbox.root / "loop").symlink_to("loop")
        yield Toolbox(sandbox=sandbox, tools={tool.name: tool for tool in builtin_tools()})


def use(toolbox: Toolbox, tool: str, **arguments: Any) -> Any:
    return toolbox.answer(Request(tool=tool, id="1", arguments=arguments))


@pytest.mark.parametrize("name", WAYS_OUT)
def test_no_file_tool_reaches_outside(toolbox: Toolbox, tmp_path: Path, name: str) -> None:
    before = sorted(path.name for path in tmp_path.iterdir())
    for tool in ("read_file", "list_dir", "write_file", "patch"):
        answer = use(toolbox, tool, path=name, content="y", old="O", new="y")
        assert answer.is_error or name.startswith("~")
        assert "OUTSIDE" not in answer.text
        assert "root:" not in answer.text
    assert (tmp_path / "secret").read_text() == "OUTSIDE"
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_a_pipe_is_not_waited_for(toolbox: Toolbox) -> None:
    os.mkfifo(toolbox.sandbox.root / "pipe")
    assert use(toolbox, "read_file", path="pipe").is_error
    assert use(toolbox, "search_files", pattern="x").text == "a.txt:1:x"


def test_no_command_of_a_model_or_a_check_has_the_keys_of_the_user(
    toolbox: Toolbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "MY_TOKEN", "DATABASE_URL"):
        monkeypatch.setenv(name, KEY)
    seen = use(toolbox, "terminal", command="env; cat /proc/self/environ; set")
    assert "HOME=" in seen.text
    assert KEY not in seen.text
    task = next(iter(parse_tasks([json.dumps({
        "id": "a", "prompt": "x", "check": {"command": "env > seen.txt; exit 3"}})])))  # fmt: skip
    result = scoring.check_task(task, talk("done"), [], toolbox.sandbox)
    assert not result.passed
    assert KEY not in toolbox.sandbox.read("seen.txt")


def talk(answer: str) -> TrialTranscript:
    messages = (Message(role=Role.ASSISTANT, text=answer),)
    return TrialTranscript(messages=messages, status=TrialStatus.FINISHED, answer=answer, turns=1)


@pytest.mark.parametrize(
    "check", [{"answer": "^(a+)+$"}, {"file": "long.txt", "matches": "^(a|a)*b$"}]
)
def test_a_pattern_that_never_ends_is_stopped(toolbox: Toolbox, check: dict[str, str]) -> None:
    toolbox.sandbox.pattern_seconds = 0.5
    toolbox.sandbox.write("long.txt", "a" * 60)
    line = json.dumps({"id": "a", "prompt": "x", "check": check})
    task = parse_tasks([line])[0]
    found = scoring.check_task(task, talk("a" * 60 + "!"), [], toolbox.sandbox)
    assert found.passed is False
    assert found.detail == TOO_SLOW


def test_patterns_are_found_as_before(toolbox: Toolbox) -> None:
    line = json.dumps({"id": "a", "prompt": "x", "check": {"answer": "^4[23]$"}})
    task = parse_tasks([line])[0]
    assert scoring.check_task(task, talk("so:\n42"), [], toolbox.sandbox).passed
    assert not scoring.check_task(task, talk("so: 42"), [], toolbox.sandbox).passed


@pytest.mark.parametrize("path", ["../x", "/etc/x", "a/../../x", "~/x", "C:\\x", "a\0b", " "])
def test_no_task_lays_files_outside(path: str) -> None:
    line = json.dumps({"id": "a", "prompt": "x", "files": {path: "y"}})
    with pytest.raises(TaskError):
        parse_tasks([line])


@contextmanager
def serve(answer: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    server = HTTPServer(("127.0.0.1", 0), answer)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def test_a_key_does_not_follow_a_redirect() -> None:
    seen: list[str] = []

    class Thief(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            seen.append(str(self.headers))
            self.send_response(200)
            self.end_headers()

        def do_POST(self) -> None:
            self.do_GET()

        def log_message(self, *_: Any) -> None:
            pass

    with serve(Thief) as thief:

        class Sender(Thief):
            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["Content-Length"]))
                self.send_response(302)
                self.send_header("Location", thief)
                self.end_headers()
                self.wfile.write(f"go with {KEY}".encode())

        with serve(Sender) as address, pytest.raises(EndpointError) as caught:
            post_json(address, {}, {"Authorization": f"Bearer {KEY}"}, Patience(retries=0))
    assert caught.value.failure is EndpointFailure.DENIED
    assert KEY not in str(caught.value)
    assert seen == []
