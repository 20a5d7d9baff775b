"""Template files of earlier programs are recognised by their fields and converted."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.badinput import retyped
from warmstart.model import MarkerKind
from warmstart.model.outcome import Certainty
from warmstart.model.template import PatternType
from warmstart.template import TemplateError, template_from_dict, template_to_dict
from warmstart.template.older import MAX_EXAMPLES, convert_older, find_shape

EXAMPLES: dict[str, Any] = {
    "name": "code_ab12cd34_1776131223",
    "task_type": "code",
    "examples": [
        {"tool_name": "execute_code", "arguments": {"code": "1+1"}, "result": "2", "success": True},
        {"tool_name": "read_file", "arguments": {"path": "a"}, "result": "", "success": True},
        {"tool_name": "read_file", "arguments": {"path": "b"}, "result": "no", "success": False},
    ],
    "created_at": 1776131223.5,
    "usage_count": 4,
}
PATTERNS: dict[str, Any] = {
    "name": "Marathon Runs",
    "description": "mined from long sessions",
    "patterns": [
        {
            "tool_name": "terminal",
            "arguments": {"command": "ls"},
            "result_summary": "a.py",
            "preceding_context": "What is there?",
            "pattern_type": "init",
            "success_count": 3,
            "session_types": ["terminal"],
        },
        {"tool_name": "patch", "arguments": {"path": "a"}, "result_summary": "done",
         "preceding_context": "", "pattern_type": "", "success_count": 1, "session_types": []},
    ],
    "system_prompt_addendum": "Use Python 3.12",
    "tags": ["python"],
    "source_session_ids": ["s1", "s2"],
    "created_at": 1776131223.5,
    "version": 2,
    "metrics": {"sessions_qualified": 7},
}  # fmt: skip
PROFICIENCY: dict[str, Any] = {
    "template_id": "warm_ab12cd34",
    "name": "Direct user, terminal first",
    "description": "from one session",
    "tool_patterns": [
        {"tool_name": "terminal", "success_rate": 0.95, "common_args": {"command": "ls -la"},
         "error_recovery": "try with sudo off", "context_requirements": ["a repository"]},
        {"tool_name": "patch", "success_rate": 0.9, "common_args": {}, "error_recovery": None,
         "context_requirements": None},
    ],
    "user_patterns": {"request_style": "direct", "feedback_style": "terse",
                      "common_domains": ["coding"], "preferred_tools": ["terminal"]},
    "recovery_patterns": [
        {"error_type": "FileNotFound", "error_message_pattern": "No such file",
         "recovery_strategy": "list the folder first", "success_rate": 0.8},
    ],
    "context_markers": ["README.md", "https://example.org/docs"],
    "created_at": "2026-04-13T00:00:00",
    "source_session_id": "ab12cd34ef",
    "version": "1.0",
}  # fmt: skip
SHAPES = {"examples": EXAMPLES, "patterns": PATTERNS, "proficiency": PROFICIENCY}


@pytest.mark.parametrize("shape", SHAPES)
def test_each_shape_is_recognised_and_becomes_a_valid_template(shape: str) -> None:
    found = convert_older(json.loads(json.dumps(SHAPES[shape])))
    assert found.shape == find_shape(SHAPES[shape]) == shape
    assert template_from_dict(template_to_dict(found.template)) == found.template


def test_examples_that_are_no_success_or_have_no_result_are_left_out() -> None:
    template, _, notes = convert_older(EXAMPLES)
    assert [example.tool for example in template.examples] == ["execute_code"]
    assert template.examples[0].certainty is Certainty.TEXTUAL
    assert len(notes) == 2
    assert template.task_type == "code"


def test_patterns_keep_their_context_kind_and_count() -> None:
    template = convert_older(PATTERNS).template
    first = template.examples[0]
    assert (first.intent, first.pattern_type, first.count) == (
        "What is there?",
        PatternType.INIT,
        3,
    )
    assert template.system_context == "Use Python 3.12"
    assert template.name == "marathon-runs"
    assert template.provenance.sessions == 7
    assert len(template.provenance.session_hashes) == 2


def test_proficiency_becomes_guidance_user_and_markers() -> None:
    template = convert_older(PROFICIENCY).template
    assert [line.tool for line in template.guidance] == ["terminal", "any"]
    assert "command" in template.guidance[0].text
    assert template.user.style == "direct"
    assert [marker.kind for marker in template.markers] == [MarkerKind.FILE, MarkerKind.URL]


def test_no_id_of_a_session_is_carried_over() -> None:
    for data in SHAPES.values():
        text = json.dumps(template_to_dict(convert_older(data).template))
        assert "ab12cd34ef" not in text
        assert '"s1"' not in text


def test_a_template_with_nothing_to_learn_from_is_refused() -> None:
    with pytest.raises(TemplateError, match="nothing to learn"):
        convert_older({"name": "x", "patterns": []})


@pytest.mark.parametrize("data", [None, [], {}, {"name": "x"}, {"format": "a", "patterns": []}])
def test_other_objects_have_no_older_shape(data: object) -> None:
    assert find_shape(data) is None
    with pytest.raises(TemplateError, match="not a template"):
        convert_older(data)


def test_a_huge_file_keeps_a_reasonable_part() -> None:
    one = {"tool_name": "t", "result_summary": "r" * 100_000}
    data = {"name": "n", "patterns": [{**one, "arguments": {"n": n}} for n in range(500)]}
    template = convert_older(data).template
    assert len(template.examples) == MAX_EXAMPLES
    assert template_from_dict(template_to_dict(template))


@given(st.data())
def test_retyped_files_are_converted_or_refused(data: st.DataObject) -> None:
    document = data.draw(retyped(data.draw(st.sampled_from([*SHAPES.values()]))))
    with suppress(TemplateError):
        template_from_dict(template_to_dict(convert_older(document).template))
