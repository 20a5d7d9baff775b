from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warmstart.experiment.check import CheckKind
from warmstart.experiment.tasks import TaskError, choose_tasks, hash_tasks, parse_tasks


def _line(**fields: Any) -> str:
    return json.dumps({"id": "a", "prompt": "Do it.", **fields})


def test_a_task_has_everything_its_line_says() -> None:
    [task] = parse_tasks(
        [
            _line(
                files={"src/a.py": "x = 1"},
                tools=["read_file"],
                tool_definitions=[{"name": "count", "command": "wc -c", "parameters": {}}],
                check={"command": "true"},
                difficulty="hard",
                tags=["files"],
                split="dev",
            )
        ]
    )
    assert task.files == {"src/a.py": "x = 1"}
    assert task.tool_definitions[0].command == ("sh", "-c", "wc -c")
    assert (task.difficulty, task.tags, task.split) == ("hard", ("files",), "dev")
    assert task.checks[0].kind is CheckKind.COMMAND


def test_blank_lines_are_passed_over_and_still_counted() -> None:
    with pytest.raises(TaskError) as raised:
        parse_tasks([_line(), "", "{"])
    assert raised.value.line == 3


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"id": ""}, "'id'"),
        ({"id": "a\nb"}, "'id'"),
        ({"prompt": " "}, "'prompt'"),
        ({"prompt": 3}, "'prompt'"),
        ({"colour": "red"}, "'colour'"),
        ({"files": ["a"]}, "'files'"),
        ({"files": {"../a": "x"}}, "leaves the sandbox"),
        ({"files": {"/etc/a": "x"}}, "leaves the sandbox"),
        ({"files": {"a/../../b": "x"}}, "leaves the sandbox"),
        ({"files": {"C:\\a": "x"}}, "leaves the sandbox"),
        ({"tools": "read_file"}, "'tools'"),
        ({"tags": [1]}, "'tags'"),
        ({"tool_definitions": {}}, "'tool_definitions'"),
        ({"tool_definitions": ["x"]}, "a tool definition"),
        ({"tool_definitions": [{"name": "a b", "command": "x"}]}, "not a valid tool name"),
        ({"tool_definitions": [{"name": "a"}]}, "no 'command'"),
        ({"tool_definitions": [{"name": "a", "command": "x", "timeout": 0}]}, "'timeout'"),
        ({"tool_definitions": [{"name": "a", "command": "x", "parameters": 1}]}, "'parameters'"),
        ({"check": "x"}, "'check'"),
        ({"check": {"file": "../x", "exists": True}}, "leaves the sandbox"),
    ],
)
def test_a_bad_line_is_named_with_its_problem(fields: dict[str, Any], problem: str) -> None:
    with pytest.raises(TaskError, match="line 1 ") as raised:
        parse_tasks([_line(**fields)])
    assert problem in raised.value.message


def test_an_id_comes_only_once() -> None:
    with pytest.raises(TaskError, match="line 1 already"):
        parse_tasks([_line(), _line()])


@given(st.binary(max_size=200))
def test_any_bytes_are_tasks_or_a_complaint_with_a_line(data: bytes) -> None:
    lines = data.split(b"\n")
    try:
        found = len(parse_tasks(lines))
    except TaskError as error:
        found = error.line
    assert 0 <= found <= len(lines)


def test_the_hash_ignores_order_and_spelling_but_no_content() -> None:
    one, two = _line(id="a"), _line(id="b", files={"x": "1"})
    spaced = json.dumps(json.loads(two), indent=None, separators=(" , ", " : "))
    assert hash_tasks(parse_tasks([one, two])) == hash_tasks(parse_tasks([spaced, one]))
    assert hash_tasks(parse_tasks([one])) != hash_tasks(parse_tasks([_line(check={"answer": "x"})]))
    with_json = [_line(check={"file": "a", "json": value}) for value in (1, 2)]
    assert len({hash_tasks(parse_tasks([line])) for line in with_json}) == 2


def test_tasks_are_chosen_by_split_and_exclusion() -> None:
    tasks = parse_tasks([_line(id="a"), _line(id="b", split="train"), _line(id="c")])
    assert [task.id for task in choose_tasks(tasks, split="test", excluded=["c"])] == ["a"]
    assert len(choose_tasks(tasks, split="all")) == 3
