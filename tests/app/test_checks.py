"""Whether a session did its task: what counts as saying so."""

from __future__ import annotations

from typing import Any

import pytest

from warmstart.app.checks import is_test_run, judge_success
from warmstart.model import Message, Request, Result, Role, Session
from warmstart.sources.assemble import build_session

PASSED = '{"output": "4 passed", "exit_code": 0, "error": null}'
FAILED = '{"output": "1 failed, 3 passed", "exit_code": 1, "error": null}'
MISSING = '{"output": "bash: pytest: command not found", "exit_code": 127, "error": null}'


def make_session(*steps: tuple[Any, str], **fields: Any) -> Session:
    messages = [Message(role=Role.USER, text="fix it")]
    for number, (command, result) in enumerate(steps):
        request = Request(tool="terminal", id=f"c{number}", arguments={"command": command})
        messages.append(Message(role=Role.ASSISTANT, requests=(request,)))
        messages.append(
            Message(role=Role.TOOL, results=(Result(text=result, call_id=f"c{number}"),))
        )
    return build_session("hermes", "s1", messages, **fields)


@pytest.mark.parametrize(
    "command",
    [
        "pytest -q", "cd shop && python -m pytest tests", "python3 -m unittest", "npm test",
        "npm run test -- --watch=false", "go test ./...", "cargo nextest run", "make -j2 test",
        "./gradlew clean test", "mvn -q verify", ".venv/bin/pytest", ["bash", "-lc", "pytest -q"],
        "tox; echo done",
    ],
)  # fmt: skip
def test_runs_of_tests_are_known(command: Any) -> None:
    (call,) = make_session((command, PASSED)).calls
    assert is_test_run(call)


@pytest.mark.parametrize(
    "command",
    ["ls tests", "cat pytest.ini", "pip install pytest-cov", "git commit -m x", "make", "go build",
     "vim test.py", 7, None],
)  # fmt: skip
def test_other_commands_are_not(command: Any) -> None:
    (call,) = make_session((command, PASSED)).calls
    assert not is_test_run(call)


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ([("pytest", FAILED), ("pytest -q", PASSED), ("ls", FAILED)], True),
        ([("pytest", PASSED), ("pytest -q", FAILED)], False),
        ([("ls", PASSED)], None),
        ([], None),
        ([("pytest", MISSING)], None),
        ([("pytest", FAILED), ("pytest", MISSING)], False),
        ([("pytest -q || true", PASSED)], None),
    ],
)
def test_the_last_run_that_says_something_decides(
    steps: list[tuple[str, str]],
    expected: bool | None,  # noqa: FBT001 - a column of the table
) -> None:
    assert judge_success(make_session(*steps)) is expected


def test_a_reward_beats_every_test_run() -> None:
    assert judge_success(make_session(("pytest", FAILED), reward=1.0)) is True
    assert judge_success(make_session(("pytest", PASSED), reward=0.0)) is False
