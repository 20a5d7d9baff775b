from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from warmstart.experiment.tasks import Task, ToolDefinition
from warmstart.model import Request, Result, Status
from warmstart.outcome import judge
from warmstart.runners.tools import MAX_RESULT_CHARS, Sandbox, Toolbox, builtin_tools, open_toolbox

FILES = {"a.txt": "alpha\nbeta\n", "src/b.py": "def beta():\n    return 1\n"}


@pytest.fixture
def toolbox(tmp_path: Path) -> Iterator[Toolbox]:
    with Sandbox(FILES, tmp_path) as sandbox:
        yield open_toolbox(Task(id="t", prompt="p"), sandbox)


def _use(toolbox: Toolbox, tool: str, **arguments: Any) -> Result:
    return toolbox.answer(Request(tool=tool, id="c", arguments=arguments))


@pytest.mark.parametrize(
    ("tool", "arguments", "text"),
    [
        ("read_file", {"path": "a.txt"}, "alpha\nbeta\n"),
        ("write_file", {"path": "n/c.txt", "content": "x"}, "wrote 1 characters to n/c.txt"),
        ("patch", {"path": "a.txt", "old": "alpha", "new": "one"}, "patched a.txt"),
        ("search_files", {"pattern": "be.a"}, "a.txt:2:beta\nsrc/b.py:1:def beta():"),
        ("search_files", {"pattern": "beta", "glob": "*.py"}, "src/b.py:1:def beta():"),
        ("search_files", {"pattern": "zeta"}, "no matches"),
        ("list_dir", {"path": "."}, "a.txt\nsrc/"),
        ("list_dir", {}, "a.txt\nsrc/"),
    ],
)
def test_tools_do_what_they_say(
    toolbox: Toolbox, tool: str, arguments: dict[str, Any], text: str
) -> None:
    result = _use(toolbox, tool, **arguments)
    assert (result.text, result.is_error, result.call_id) == (text, False, "c")


@pytest.mark.parametrize(
    ("tool", "arguments", "problem"),
    [
        ("fly", {}, "unknown tool"),
        ("read_file", {}, "missing required"),
        ("read_file", {"path": 3}, "must be text"),
        ("read_file", {"path": "../a"}, "outside"),
        ("read_file", {"path": "none"}, "no such file"),
        ("write_file", {"path": "/x", "content": ""}, "outside"),
        ("patch", {"path": "a.txt", "old": "a", "new": ""}, "occurs 3 times"),
        ("search_files", {"pattern": "("}, "not a regular expression"),
        ("list_dir", {"path": "a.txt"}, "no such folder"),
        ("list_dir", {"path": "../"}, "outside"),
    ],
)
def test_what_goes_wrong_is_an_error_to_the_judge(
    toolbox: Toolbox, tool: str, arguments: dict[str, Any], problem: str
) -> None:
    result = _use(toolbox, tool, **arguments)
    assert result.is_error
    assert problem in json.loads(result.text)["error"]
    assert judge(Request(tool=tool, arguments=arguments), result).status is Status.ERROR


def test_a_pattern_that_would_take_forever_is_stopped(toolbox: Toolbox) -> None:
    toolbox.sandbox.pattern_seconds = 0.5
    _use(toolbox, "write_file", path="a", content="a" * 60 + "b")
    assert "too long" in _use(toolbox, "search_files", pattern="(a+)+$").text


def test_a_search_does_not_follow_links_and_ends_with_its_limit(
    toolbox: Toolbox, tmp_path: Path
) -> None:
    (tmp_path / "secret.txt").write_text("secret")
    (toolbox.sandbox.root / "link.txt").symlink_to(tmp_path / "secret.txt")
    assert _use(toolbox, "search_files", pattern="secret").text == "no matches"
    _use(toolbox, "write_file", path="many", content="many\n" * 200)
    assert len(_use(toolbox, "search_files", pattern="many").text.splitlines()) == 50


def test_a_command_answers_with_its_exit_code(toolbox: Toolbox) -> None:
    result = _use(toolbox, "terminal", command="cat a.txt; exit 3")
    assert (result.exit_code, result.is_error) == (3, True)
    assert json.loads(result.text) == {"output": "alpha\nbeta\n", "exit_code": 3}


def test_a_search_without_a_match_is_no_error_to_the_judge(toolbox: Toolbox) -> None:
    request = Request(tool="terminal", arguments={"command": "grep zeta a.txt"})
    result = toolbox.answer(request)
    assert result.exit_code == 1
    assert judge(request, result, "live_store").status is Status.OK


def test_arguments_that_are_no_object_are_an_error(toolbox: Toolbox) -> None:
    result = toolbox.answer(Request(tool="read_file", raw="{path: a.txt"))
    assert "not a JSON object" in result.text


def test_a_long_result_is_cut_in_the_middle(toolbox: Toolbox) -> None:
    _use(toolbox, "write_file", path="long", content="x" * 50_000 + "end")
    text = _use(toolbox, "read_file", path="long").text
    assert len(text) < MAX_RESULT_CHARS + 100
    assert text.endswith("end")


def test_a_task_sees_only_its_tools_and_brings_its_own(tmp_path: Path) -> None:
    tool = ToolDefinition(name="size", command=("sh", "-c", "wc -c"), description="Size.")
    broken = ToolDefinition(name="broken", command=("sh", "-c", "echo bad key; exit 2"))
    quiet = ToolDefinition(name="quiet", command=("false",))
    task = Task(id="t", prompt="p", tools=("read_file",), tool_definitions=(tool, broken, quiet))
    with Sandbox(parent=tmp_path) as sandbox:
        toolbox = open_toolbox(task, sandbox)
        assert list(toolbox.tools) == ["read_file", "size", "broken", "quiet"]
        assert _use(toolbox, "size", a=1).text == str(len('{"a": 1}'))
        failed = _use(toolbox, "broken")
        assert (failed.is_error, json.loads(failed.text)) == (True, {"error": "bad key"})
        assert "exit code 1" in _use(toolbox, "quiet").text


def test_a_tool_there_is_not_is_refused(tmp_path: Path) -> None:
    with Sandbox(parent=tmp_path) as sandbox, pytest.raises(ValueError, match="no such tool"):
        open_toolbox(Task(id="t", prompt="p", tools=("fly",)), sandbox)


def test_every_tool_has_a_schema_of_an_object() -> None:
    for tool in builtin_tools():
        assert tool.parameters["type"] == "object"
        assert set(tool.parameters["required"]) <= set(tool.parameters["properties"])
