"""A real client of the official package lists and calls everything, over stdio and over HTTP."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp")

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

from warmstart.app import Workspace
from warmstart.app.templates import open_library
from warmstart.model.template import TemplateState
from warmstart.samples import samples_path
from warmstart.tool import ACTIONS, run_tool

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")
TOKEN = "a-token-for-tests"


@pytest.fixture(scope="module")
def environ(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A machine with sample sessions and one approved template."""
    home = tmp_path_factory.mktemp("home")
    environ = os.environ | {
        "HOME": str(home),
        "WARMSTART_HOME": str(home / "ws"),
        "CLAUDE_CONFIG_DIR": str(samples_path() / "claude_code"),
        "HERMES_HOME": str(samples_path() / "hermes"),
        "WARMSTART_MCP_TOKEN": TOKEN,
    }
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environ.items():
            patch.setenv(name, value)
        workspace = Workspace(home / "ws")
        built = run_tool({"action": "build", "name": "mine", "min_messages": 20}, workspace)
        assert built["success"], built
        with open_library(workspace) as library:
            library.set_state("mine", 1, TemplateState.APPROVED)
    return environ


def over_stdio(environ: dict[str, str], work: Any) -> Any:
    """Run some work with a client whose server is a process of its own."""

    async def run() -> Any:
        server = StdioServerParameters(
            command=sys.executable, args=["-m", "warmstart", "mcp"], env=environ
        )
        async with stdio_client(server) as (read, write), ClientSession(read, write) as client:
            await client.initialize()
            return await work(client)

    return asyncio.run(run())


def is_error(result: Any) -> bool:
    return bool(getattr(result, "is_error", None) or getattr(result, "isError", None))


def answer_of(result: Any) -> dict[str, Any]:
    return dict(json.loads(result.content[0].text))


def test_every_action_is_a_tool_that_says_what_it_changes(environ: dict[str, str]) -> None:
    tools = {t.name: t for t in over_stdio(environ, lambda c: c.list_tools()).tools}
    assert set(tools) == {f"warm_{action.replace('-', '_')}" for action in ACTIONS}
    hints = {name: tool.annotations.model_dump(by_alias=True) for name, tool in tools.items()}
    assert [name for name, h in hints.items() if h["destructiveHint"]] == ["warm_delete"]
    changing = {name for name, h in hints.items() if not h["readOnlyHint"]}
    assert changing == {"warm_build", "warm_delete"}


def test_every_tool_can_be_called(environ: dict[str, str]) -> None:
    async def work(client: Any) -> dict[str, Any]:
        called: dict[str, Any] = {}
        listed = await client.call_tool("warm_list", {})
        for name, arguments in {
            "warm_load": {"name": "mine"},
            "warm_select": {"message": "fix the failing test"},
            "warm_build": {"name": "other", "min_messages": 20},
            "warm_delete": {"name": "other"},
            "warm_profile": {"session_id": "nothing-has-this-id"},
            "warm_compress_check": {"session_id": "nothing-has-this-id"},
            "warm_compare": {"session_id": "x-one", "compare_with": "x-two"},
        }.items():
            called[name] = await client.call_tool(name, arguments)
        return {"warm_list": listed, **called}

    called = over_stdio(environ, work)
    assert [row["name"] for row in answer_of(called["warm_list"])["templates"]] == ["mine"]
    assert answer_of(called["warm_load"])["messages"]
    assert {name for name, result in called.items() if is_error(result)} == {
        "warm_profile", "warm_compress_check", "warm_compare",
    }  # fmt: skip


def test_an_approved_template_is_a_prompt_and_a_resource(environ: dict[str, str]) -> None:
    async def work(client: Any) -> Any:
        prompts = await client.list_prompts()
        prompt = await client.get_prompt("mine", {"message": "fix the test"})
        templates = await client.list_resource_templates()
        text = await client.read_resource("warmstart://templates/mine")
        return prompts, prompt, templates, text

    prompts, prompt, templates, text = over_stdio(environ, work)
    assert [one.name for one in prompts.prompts] == ["mine"]
    assert prompt.messages[0].content.text.endswith("fix the test")
    assert "warmstart://templates/{name}" in templates.model_dump_json()
    assert json.loads(text.contents[0].text)["name"] == "mine"


@pytest.fixture(scope="module")
def address(environ: dict[str, str]) -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "warmstart", "mcp", "--http", "--port", str(port)]
    server = subprocess.Popen(command, env=environ, stderr=subprocess.DEVNULL)
    try:
        wait_for(port)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        server.terminate()
        server.wait()


def wait_for(port: int) -> None:
    for _ in range(300):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise TimeoutError(port)


def post(address: str, token: str | None, **others: str) -> int:
    body = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-03-26",
            "capabilities": {},
            "clientInfo": {"name": "t", "version": "1"},
        },
    }
    headers = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
    }
    if token is not None:
        headers["Authorization"] = f"Bearer {token}"
    headers |= others
    request = urllib.request.Request(address, json.dumps(body).encode(), headers)  # noqa: S310 - loopback
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:  # noqa: S310 - same
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code


def test_http_answers_only_those_who_know_the_token(address: str) -> None:
    assert post(address, TOKEN) == 200
    assert post(address, None) == 401
    assert post(address, "another") == 401


def test_http_answers_no_page_of_another_site_even_with_the_token(address: str) -> None:
    assert post(address, TOKEN, Host="evil.example") in (403, 421)
    assert post(address, TOKEN, Origin="http://evil.example") == 403
    assert post(address, TOKEN, Origin="null") == 403


def test_the_port_is_open_on_loopback_alone(address: str, environ: dict[str, str]) -> None:
    del environ
    port = int(address.rsplit(":", 1)[1].partition("/")[0])
    table = Path("/proc/net/tcp")
    if not table.exists():
        pytest.skip("no table of sockets on this system")
    listening = [line.split()[1] for line in table.read_text().splitlines()[1:]]
    hosts = {entry.partition(":")[0] for entry in listening if entry.endswith(f":{port:04X}")}
    assert hosts == {"0100007F"}


SECRET = "ghp_x8Kq2LmZ7Vt4RbY1cNw9PdS3HfJ6GaTe05Uo"
"""Made up; a person pasted it where a name belongs."""
WRONG: dict[str, Any] = {
    "prompt": lambda client: client.get_prompt(SECRET),
    "prompt with arguments": lambda client: client.get_prompt(SECRET, {"message": SECRET}),
    "argument of a prompt": lambda client: client.get_prompt("mine", {SECRET: SECRET}),
    "tool": lambda client: client.call_tool(SECRET, {}),
    "argument's type": lambda client: client.call_tool("warm_load", {"name": [SECRET]}),
    "argument's value": lambda client: client.call_tool("warm_load", {"name": SECRET}),
    "missing argument": lambda client: client.call_tool("warm_load", {SECRET: SECRET}),
    "number": lambda client: client.call_tool("warm_build", {"name": "x", "max_sessions": SECRET}),
    "session": lambda client: client.call_tool("warm_profile", {"session_id": SECRET}),
    "resource": lambda client: client.read_resource(f"warmstart://templates/{SECRET}"),
    "scheme": lambda client: client.read_resource(f"other://{SECRET}"),
}


def test_wrong_requests_leave_no_traceback_and_repeat_no_secret(
    environ: dict[str, str], tmp_path: Path
) -> None:
    server = StdioServerParameters(
        command=sys.executable, args=["-m", "warmstart", "mcp"], env=environ
    )

    async def run(log: Any) -> dict[str, str]:
        answers = {}
        async with (
            stdio_client(server, errlog=log) as (read, write),
            ClientSession(read, write) as client,
        ):
            await client.initialize()
            for name, send in WRONG.items():
                try:
                    answers[name] = repr(await send(client))
                except Exception as error:  # noqa: BLE001 - the package has a class per generation
                    answers[name] = repr(error)
            assert len((await client.list_tools()).tools) == len(ACTIONS)
        return answers

    with (tmp_path / "log").open("w") as log:
        answers = asyncio.run(run(log))
    written = (tmp_path / "log").read_text()
    assert "Traceback" not in written
    assert SECRET[:12] not in written
    assert [name for name, answer in answers.items() if SECRET[:12] in answer] == []
    assert len(answers) == len(WRONG)
