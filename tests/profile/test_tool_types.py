from __future__ import annotations

import pytest

from warmstart.errors import UsageError
from warmstart.profile.rules import DEFAULT_RULES, ToolRules, parse_tool_types
from warmstart.profile.tool_types import TaskType, classify_session, classify_tool


@pytest.mark.parametrize(
    ("tool", "kind"),
    [
        ("Bash", "terminal"),
        ("terminal", "terminal"),
        ("run_shell_command", "terminal"),
        ("exec_command", "terminal"),
        ("execute_bash", "terminal"),
        ("Read", "file"),
        ("apply_patch", "file"),
        ("str_replace_editor", "file"),
        ("search_files", "file"),
        ("execute_code", "code"),
        ("python", "code"),
        ("WebFetch", "research"),
        ("google_web_search", "research"),
        ("web_browser_click", "browser"),
        ("browser_navigate", "browser"),
        ("TodoWrite", "meta"),
        ("update_plan", "meta"),
        ("get_user_details", "other"),
        ("Task", "other"),
        ("mcp__playwright__browser_wait_for", "browser"),
        ("mcp__filesystem__read_text_file", "file"),
        ("mcp__context7__resolve-library-id", "research"),
        ("mcp__ide__executeCode", "code"),
        ("mcp__acme__frobnicate", "other"),
    ],
)
def test_tools_of_every_agent_have_a_type(tool: str, kind: str) -> None:
    assert classify_tool(tool) == kind


def test_what_the_user_says_wins_over_the_table() -> None:
    types = parse_tool_types({"Bash": "code", "frobnicate": "research"})
    assert classify_tool("bash", types) == "code"
    assert classify_tool("mcp__acme__frobnicate", types) == "research"


def test_a_type_that_does_not_exist_is_refused() -> None:
    with pytest.raises(UsageError, match="unknown type"):
        parse_tool_types({"x": "magic"})


def test_a_session_has_a_type_above_sixty_percent_only() -> None:
    assert classify_session({"code": 6, "file": 4}) is TaskType.MIXED
    assert classify_session({"code": 7, "file": 4}) is TaskType.CODE
    assert classify_session({"other": 9}) is TaskType.MIXED
    assert classify_session({}) is TaskType.MIXED


def test_equal_rules_have_equal_fingerprints() -> None:
    one = ToolRules(trivial=frozenset({"a", "b"}), types={"x": "code", "y": "file"})
    two = ToolRules(trivial=frozenset({"b", "a"}), types={"y": "file", "x": "code"})
    assert one.fingerprint == two.fingerprint != DEFAULT_RULES.fingerprint
