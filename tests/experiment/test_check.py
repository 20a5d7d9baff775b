from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from warmstart.experiment.check import (
    CheckResult,
    CommandResult,
    Left,
    is_inside,
    judge_task,
    parse_check,
)
from warmstart.model import Request


def _judge(
    check: dict[str, Any],
    *,
    answer: str = "",
    files: Mapping[str, str] | None = None,
    calls: tuple[Request, ...] = (),
    exit_code: int = 0,
) -> CheckResult:
    left = Left(
        answer=answer,
        calls=calls,
        read=(files or {}).get,
        run=lambda line: CommandResult(exit_code, f"ran {line}"),
    )
    return judge_task([parse_check(check)], left)


def test_a_task_without_checks_has_no_known_success() -> None:
    left = Left(answer="", calls=(), read=lambda _: None, run=lambda _: CommandResult(0, ""))
    assert judge_task([], left).passed is None


@pytest.mark.parametrize(
    ("check", "files", "passed"),
    [
        ({"file": "a", "equals": "one\n"}, {"a": "one"}, True),
        ({"file": "a", "equals": "one"}, {"a": "two"}, False),
        ({"file": "a", "equals": "one"}, {}, False),
        ({"file": "a", "contains": "ne"}, {"a": "one"}, True),
        ({"file": "a", "matches": "^o.e$"}, {"a": "x\none"}, True),
        ({"file": "a", "json": {"b": [1]}}, {"a": '{"b": [1]}'}, True),
        ({"file": "a", "json": {"b": 1}}, {"a": "{"}, False),
        ({"file": "a", "exists": True}, {"a": ""}, True),
        ({"file": "a", "exists": False}, {"a": ""}, False),
        ({"file": "a", "exists": False}, {}, True),
    ],
)
def test_files_are_compared(check: dict[str, Any], files: dict[str, str], passed: bool) -> None:  # noqa: FBT001 - a column of the table
    result = _judge(check, files=files)
    assert result.passed is passed
    assert bool(result.detail) is not passed


def test_a_command_passes_by_its_exit_code() -> None:
    assert _judge({"command": "make"}).passed
    assert _judge({"command": "make", "exit": 2}, exit_code=2).passed
    failed = _judge({"command": "make"}, exit_code=1)
    assert not failed.passed
    assert "exited 1" in failed.detail
    assert "ran make" in failed.detail


def test_an_answer_is_searched_for_a_pattern() -> None:
    assert _judge({"answer": r"\b42\b"}, answer="It is 42.").passed
    assert "was 'It is 7.'" in _judge({"answer": "42"}, answer="It is 7.").detail


def test_a_call_passes_with_at_least_these_arguments() -> None:
    check = {"call": {"tool": "read_file", "arguments": {"path": "a"}}}
    right = Request(tool="read_file", arguments={"path": "a", "limit": 3})
    assert _judge(check, calls=(right,)).passed
    assert not _judge(check, calls=(Request(tool="read_file", arguments={"path": "b"}),)).passed
    assert _judge({"call": {"tool": "read_file"}}, calls=(right,)).passed


def test_all_checks_must_hold_and_the_first_that_fails_is_told() -> None:
    left = Left(answer="yes", calls=(), read=lambda _: None, run=lambda _: CommandResult(3, ""))
    checks = [parse_check({"answer": "yes"}), parse_check({"command": "x"})]
    assert "exited 3" in judge_task(checks, left).detail


@pytest.mark.parametrize(
    "check",
    [
        3,
        {},
        {"command": ""},
        {"command": "x", "exit": True},
        {"command": "x", "answer": "y"},
        {"file": "a"},
        {"file": "a", "equals": "x", "contains": "y"},
        {"file": "a", "equals": 3},
        {"file": "a", "exists": "yes"},
        {"file": "a", "matches": "("},
        {"answer": "("},
        {"answer": "x" * 3000},
        {"answer": "x", "flags": "i"},
        {"call": "read_file"},
        {"call": {"tool": ""}},
        {"call": {"tool": "a", "arguments": []}},
        {"call": {"tool": "a", "result": "x"}},
    ],
)
def test_what_is_no_check_is_refused(check: Any) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_check(check)


@pytest.mark.parametrize("path", ["", " ", "..", "a/..", "/a", "~/a", "a\\..\\b", "D:x", "a\0b"])
def test_paths_that_leave_are_known_as_they_are_written(path: str) -> None:
    assert not is_inside(path)


@pytest.mark.parametrize("path", ["a", "a/b.txt", ".hidden", "a..b", "..."])
def test_paths_inside_stay_inside(path: str) -> None:
    assert is_inside(path)
