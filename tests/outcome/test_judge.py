"""Promises of the judge as a whole."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.calls import judged
from warmstart.model import Certainty, Request, Result, Status
from warmstart.outcome import judge

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=8,
)
fields = st.sampled_from(
    ["error", "success", "exit_code", "status", "isError", "metadata", "output"]
)
tools = st.sampled_from(["bash", "Read", "terminal", "sql", "send_email", "mcp__a__b", ""])


@given(tools, st.text(max_size=300), st.text(max_size=80))
def test_any_text_is_judged_without_an_exception(tool: str, text: str, command: str) -> None:
    outcome = judged(tool, text, command=command)
    assert outcome.evidence
    assert (outcome.error_class is not None) == (outcome.status is Status.ERROR)


@given(tools, st.dictionaries(fields, json_values, max_size=4), st.text(max_size=30))
def test_any_json_answer_is_judged_without_an_exception(
    tool: str, answer: dict[str, Any], behind: str
) -> None:
    assert judged(tool, json.dumps(answer) + behind).evidence


@given(st.dictionaries(st.sampled_from(["command", "cmd", "action"]), json_values, max_size=2))
def test_arguments_of_any_type_do_no_harm(arguments: dict[str, Any]) -> None:
    assert judged("bash", "x", arguments=arguments).evidence


def test_the_middle_of_a_result_is_never_read() -> None:
    filler = "plain line\n" * 2000
    calm = judged("bash", filler + filler, command="make")
    loud = judged("bash", filler + "error: boom\nTraceback\nFAILED\n" + filler, command="make")
    assert calm == loud


def test_equal_endings_share_one_outcome() -> None:
    assert judged("Read", "a", is_error=False) is judged("Edit", "b", is_error=False)


def test_explicit_beats_structural_beats_textual() -> None:
    text = '{"error": "boom"}'
    assert judged("api", text, is_error=False).certainty is Certainty.EXPLICIT
    assert judged("api", text).certainty is Certainty.STRUCTURAL
    assert judged("api", "Error: boom").certainty is Certainty.TEXTUAL


@pytest.mark.parametrize(
    ("tool", "command", "text", "status"),
    [
        ("terminal", "pytest -q", "== 67 passed, 0 failed in 8.92s ==\nid=78f", Status.OK),
        ("terminal", "pytest -q", "== 66 passed, 1 failed in 8.92s ==\nid=78f", Status.ERROR),
        ("terminal", "python -m app", "a\n./src/cache.py:556: update_cache(worker)", Status.OK),
        ("terminal", "go vet ./...", "./main.go:12:5: undefined name in the block", Status.ERROR),
        (
            "execute_code",
            "",
            '{"status": "success", "output": "a.py:3:1: some words here"}',
            Status.OK,
        ),
        ("execute_code", "", '{"status": "error", "error": "Traceback: no"}', Status.ERROR),
    ],
)
def test_a_count_of_zero_a_cited_line_and_a_stated_success_are_no_failures(
    tool: str, command: str, text: str, status: Status
) -> None:
    request = Request(tool=tool, arguments={"command": command} if command else {"code": "x"})
    assert judge(request, Result(text=text), "hermes").status is status
