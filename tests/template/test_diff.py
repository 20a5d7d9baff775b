"""Differences are told pattern by pattern."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given

from support.template_cases import make_template, templates
from warmstart.model.template import Example, Template, UserPatterns
from warmstart.template.diff import ChangeKind, diff_templates


@given(templates())
def test_a_template_does_not_differ_from_itself(template: Template) -> None:
    assert diff_templates(template, template) == []


@given(templates(), templates())
def test_what_differs_in_one_direction_differs_in_the_other(one: Template, other: Template) -> None:
    forth, back = diff_templates(one, other), diff_templates(other, one)
    assert {(c.section, c.what) for c in forth} == {(c.section, c.what) for c in back}
    assert sum(c.kind is ChangeKind.ADDED for c in forth) == sum(
        c.kind is ChangeKind.REMOVED for c in back
    )


def test_a_changed_count_is_a_change_and_a_new_pattern_is_added() -> None:
    old = make_template()
    more = replace(old.examples[0], count=15)
    new = replace(old, examples=(Example(tool="t", arguments={}, result="r"), more))
    changes = diff_templates(old, new)
    assert [(change.kind, change.what) for change in changes] == [
        (ChangeKind.CHANGED, 'terminal {"command":"pytest -q <path>"}'),
        (ChangeKind.ADDED, "t {}"),
    ]
    assert '"count":14' in changes[0].before


def test_moved_patterns_are_no_change() -> None:
    one, other = (
        Example(tool="a", arguments={}, result=""),
        Example(tool="b", arguments={}, result=""),
    )
    forth = make_template(examples=(one, other, one))
    back = make_template(examples=(other, one, one))
    assert diff_templates(forth, back) == []


def test_fields_lists_and_people_are_told_apart() -> None:
    old = make_template()
    new = replace(
        old, description="other", tags=("pytest", "ci"), system_context="", user=UserPatterns()
    )
    told = {(change.kind, change.section, change.what) for change in diff_templates(old, new)}
    assert told == {
        (ChangeKind.CHANGED, "description", ""),
        (ChangeKind.REMOVED, "tags", "python"),
        (ChangeKind.ADDED, "tags", "ci"),
        (ChangeKind.REMOVED, "system_context", ""),
        (ChangeKind.REMOVED, "user", "style"),
        (ChangeKind.REMOVED, "user", "feedback"),
        (ChangeKind.REMOVED, "user", "sessions"),
    }
