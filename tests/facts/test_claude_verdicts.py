from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from support.claude_lines import COMMANDS
from warmstart.facts.asking import Tool
from warmstart.facts.claude_verdicts import ORIGIN, SAID_OK, SAID_OK_MASKED, find_verdict
from warmstart.facts.verdicts import encode_verdict
from warmstart.model import Request, Result, Status
from warmstart.outcome import judge
from warmstart.outcome.tools import command_of
from warmstart.sources import ReadLog, read_sessions

LINES = (
    "ls | head", "make; true", "npm test 2>&1 | tail -20", "(make) || echo no", "pytest | tee log",
    "cat <<'E' | sort\nx\nE", "x; echo $? | cat",
)  # fmt: skip
PARTS = (
    "ok", "Error: x", "error", "1 failed", "3 passed in 1s", "FAILED a.py::b", "npm ERR! x",
    "bash: x: command not found", "Traceback (most recent call last):", "ValueError: x", "exit 3",
    "exit code 1", "Exit code 2", "<exited with exit code 1>", "a.py:3: error: x", "Killed", "",
    "fatal: bad", "make: *** [all] Error 2", "Command timed out after 2m", "<output>", "warning: x",
    "Chunk ID: 1", "x" * 1200, "Process exited with code 1", "0 errors", "usage: x",
)  # fmt: skip
TEXTS = st.builds(
    lambda joint, parts: joint.join(parts),
    st.sampled_from(["\n", " ", "\n\n"]),
    st.lists(st.sampled_from(PARTS), max_size=6),
)


@settings(max_examples=400)
@given(
    st.sampled_from(["Bash", "PowerShell", "Read", "mcp__x__bash", "mcp__db__sql"]),
    st.sampled_from([*COMMANDS, *LINES]),
    TEXTS,
    st.sampled_from([False, False, True]),
    st.sampled_from([None, None, None, Status.CANCELLED, Status.REJECTED]),
)
@example("Bash", "make | tail", "<error>Error: x</error>", False, None)  # noqa: FBT003 - as drawn
def test_every_verdict_is_the_judges(
    name: str, command: str, text: str, is_error: Any, status: Status | None
) -> None:
    arguments = {"command": command}
    result = Result(text=text, is_error=is_error, status=status)
    expected = encode_verdict(judge(Request(tool=name, arguments=arguments), result, ORIGIN))
    found = find_verdict(Tool(name), arguments, command, text, is_error=is_error, status=status)
    assert found == expected


def test_a_result_that_is_not_flagged_went_well() -> None:
    found = find_verdict(Tool("Edit"), {}, "", "Error: words", is_error=False, status=None)
    assert found == SAID_OK


def test_a_pipe_that_hides_nothing_is_still_marked_as_one() -> None:
    command = "make | tail -3"
    arguments = {"command": command}
    found = find_verdict(Tool("Bash"), arguments, command, "done", is_error=False, status=None)
    assert found == SAID_OK_MASKED


@pytest.mark.corpus
def test_real_results_are_judged_alike_if_they_were_not_flagged(corpus: Path) -> None:
    checked = 0
    for folder in ("claude_code", "codex", "copilot", "gemini"):
        for session in read_sessions(corpus / folder, ReadLog()):
            for call in session.calls:
                if call.result is None:
                    continue
                line, result = (
                    command_of(call.request.arguments),
                    Result(text=call.result.text, is_error=False),
                )
                request = Request(tool=call.tool, arguments=call.request.arguments)
                found = find_verdict(
                    Tool(call.tool),
                    dict(request.arguments),
                    line,
                    result.text,
                    is_error=False,
                    status=None,
                )
                assert found == encode_verdict(judge(request, result, ORIGIN))
                checked += 1
    assert checked > 1000
