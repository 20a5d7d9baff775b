"""``warm_session`` on a machine whose agents left the sample sessions."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from random import Random
from string import ascii_lowercase, digits
from typing import Any

import pytest
from anthropic.types import ToolParam
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from openai.types.chat import ChatCompletionFunctionToolParam
from pydantic import TypeAdapter

from support.template_cases import make_template
from warmstart.app import Workspace
from warmstart.app.templates import open_library
from warmstart.model.template import TemplateState
from warmstart.samples import samples_path
from warmstart.tool import ACTIONS, anthropic_tool, openai_tool, run_tool, run_tool_text
from warmstart.tool.actions import MAX_COMPARISON_CHARS


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """A home of its own beside the sample sessions of Claude Code and Hermes."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(samples_path() / "claude_code"))
    monkeypatch.setenv("HERMES_HOME", str(samples_path() / "hermes"))
    return Workspace(tmp_path / "ws")


def ask(workspace: Workspace, action: str, **arguments: Any) -> dict[str, Any]:
    return run_tool({"action": action, **arguments}, workspace)


def build(workspace: Workspace) -> dict[str, Any]:
    return ask(workspace, "build", name="mine", min_messages=20, tags=["shop"])


def first_session(workspace: Workspace, origin: str) -> list[str]:
    from warmstart.model import Selection
    from warmstart.sources import ReadLog

    found = workspace.read_sessions(Selection(source=origin), ReadLog())
    return [session.id for session in found if session.calls]


def test_both_providers_take_the_schema() -> None:
    TypeAdapter(ChatCompletionFunctionToolParam).validate_python(openai_tool())
    TypeAdapter(ToolParam).validate_python(anthropic_tool())
    assert openai_tool()["function"]["parameters"] == anthropic_tool()["input_schema"]


def test_a_built_template_is_a_draft_that_can_be_listed_loaded_and_deleted(
    workspace: Workspace,
) -> None:
    built = build(workspace)
    assert built["success"], built
    assert built["template"] == {"name": "mine", "version": 1, "state": "draft"}
    listed = ask(workspace, "list")["templates"]
    assert [(row["name"], row["state"], row["uses"]) for row in listed] == [("mine", "draft", 0)]
    assert listed[0]["tags"] == []
    refused = ask(workspace, "load", name="mine")
    assert "mine@1 is a draft" in refused["error"]
    assert "warmstart template approve mine@1" in refused["hint"]
    with open_library(workspace) as library:
        library.approve("mine", despite_flags=True)
    loaded = ask(workspace, "load", name="mine")
    assert loaded["messages"][-1]["role"] == "assistant"
    assert loaded["tokens"] <= 1500


def test_a_draft_is_deleted(workspace: Workspace) -> None:
    build(workspace)
    assert ask(workspace, "delete", name="mine")["success"]
    assert ask(workspace, "list")["templates"] == []


@pytest.mark.parametrize(
    "state", [TemplateState.APPROVED, TemplateState.QUARANTINED, TemplateState.RETIRED]
)
def test_a_model_deletes_nothing_but_drafts(workspace: Workspace, state: TemplateState) -> None:
    template = make_template("mine")
    with open_library(workspace) as library:
        library.save(template, state=TemplateState.DRAFT)
        library.set_state("mine@1", state)
        library.save(replace(template, description="Second."), state=TemplateState.DRAFT)
    for spec in ("mine", "mine@1"):
        answer = ask(workspace, "delete", name=spec)
        assert f"mine@1 is {state}" in answer["error"]
        assert answer["hint"].endswith(f"warmstart template delete {spec}")
    assert ask(workspace, "delete", name="mine@2") == {
        "success": True, "schema_version": 2, "deleted": "mine", "versions": 1,
    }  # fmt: skip
    assert [row["state"] for row in ask(workspace, "list")["templates"]] == [state]


@pytest.mark.parametrize("action", ["load", "delete", "build", "profile"])
def test_a_secret_given_as_a_name_is_not_repeated(workspace: Workspace, action: str) -> None:
    random = Random(7)  # noqa: S311 - a planted key, the same every time
    secret = f"ghp_{''.join(random.choices(ascii_lowercase + digits, k=36))}"
    text = run_tool_text({"action": action, "name": secret, "session_id": secret}, workspace)
    assert not json.loads(text)["success"]
    assert secret not in text


def test_a_quarantined_template_is_not_loaded(workspace: Workspace) -> None:
    build(workspace)
    with open_library(workspace) as library:
        library.set_state("mine@1", TemplateState.QUARANTINED)
    assert "quarantined" in ask(workspace, "load", name="mine")["error"]


def test_sessions_are_profiled_and_compared(workspace: Workspace) -> None:
    first, second = first_session(workspace, "claude_code")[:2]
    profile = ask(workspace, "profile", session_id=first)["profile"]
    assert profile["session_id"] == first
    short = run_tool_text(
        {"action": "compare", "session_id": first, "compare_with": second}, workspace
    )
    assert len(short) <= MAX_COMPARISON_CHARS
    found = json.loads(short)["comparison"]
    assert found["verdict"] == "inconclusive"
    assert found["first"]["error_rate"] == pytest.approx(
        found["first"]["errors"] / found["first"]["calls"], abs=1e-4
    )
    whole = ask(workspace, "compare", session_id=first, compare_with=second, details=True)
    assert "tools" in whole["comparison"]
    assert "true or false" in ask(workspace, "compare", details="yes")["error"]


def test_a_compaction_is_checked(workspace: Workspace) -> None:
    hermes = first_session(workspace, "hermes")[0]
    answer = ask(workspace, "compress-check", session_id=hermes)
    assert answer["success"], answer
    assert "report" in answer


def test_select_names_no_draft_by_itself(workspace: Workspace) -> None:
    build(workspace)
    answer = ask(workspace, "select", message="fix the failing test of the shop")
    assert answer["success"]
    assert answer["arm"] == "cold"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({}, "unknown action None"),
        ({"action": "explode"}, "unknown action 'explode'"),
        ({"action": "build"}, "name is required"),
        ({"action": "build", "name": "../../etc"}, "name"),
        ({"action": "load", "name": "nothing"}, "nothing"),
        ({"action": "profile"}, "session_id is required"),
        ({"action": "profile", "session_id": "nope"}, "nope"),
        ({"action": "compare", "session_id": "a"}, "compare_with is required"),
        ({"action": "build", "name": "a", "min_messages": "many"}, "whole number"),
        ({"action": "build", "name": "a", "tags": "x"}, "list of texts"),
        ({"action": "select", "message": 3}, "must be text"),
        ("{not json", "not valid JSON"),
        ("[]", "must be an object"),
    ],
)
def test_what_cannot_be_done_is_an_answer(workspace: Workspace, arguments: Any, says: str) -> None:
    answer = run_tool(arguments, workspace)
    assert answer["success"] is False
    assert says in answer["error"]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=6,
)
field_names = st.sampled_from(["name", "tags", "session_id", "message", "min_messages", "x"])


@settings(
    max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
@given(st.sampled_from([*ACTIONS, "?"]), st.dictionaries(field_names, json_values, max_size=4))
def test_no_arguments_raise(workspace: Workspace, action: str, arguments: dict[str, Any]) -> None:
    answer = json.loads(run_tool_text({**arguments, "action": action}, workspace))
    assert isinstance(answer["success"], bool)
