"""From plain values to a template: every field is checked, and the error says which."""

from __future__ import annotations

import copy
import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

import warmstart.template
from support.badinput import retyped
from support.template_cases import make_template, templates
from warmstart.model.template import Template
from warmstart.template import Limits, TemplateError, template_from_dict, template_to_dict
from warmstart.template.schema import SCHEMA_FILE, make_schema

VALID = template_to_dict(make_template())
VALIDATOR = jsonschema.Draft202012Validator(make_schema())

WRONG: dict[str, tuple[list[Any], Any]] = {
    "name": (["name"], "../etc"),
    "name ": (["name"], 5),
    "format": (["format"], "other"),
    "format_version": (["format_version"], True),
    "format_version ": (["format_version"], 2),
    "description": (["description"], None),
    "description ": (["description"], "x" * 2001),
    "task_type": (["task_type"], ""),
    "tags[0]": (["tags"], ["a\x1b[31m"]),
    "tags": (["tags"], {"a": 1}),
    "anchors": (["anchors"], ["x"] * 501),
    "guidance[0]": (["guidance", 0, "errors"], 121),
    "guidance[0].calls": (["guidance", 0, "calls"], -1),
    "guidance[0].calls ": (["guidance", 0, "calls"], True),
    "examples[0]": (["examples", 0], "text"),
    "examples[0].arguments": (["examples", 0, "arguments"], []),
    "examples[0].arguments['command']": (["examples", 0, "arguments", "command"], "x" * 20_001),
    "examples[0].result": (["examples", 0, "result"], 1),
    "examples[0].pattern_type": (["examples", 0, "pattern_type"], "first"),
    "recoveries[0]": (["recoveries", 0, "count"], 12),
    "recoveries[0].error_class": (["recoveries", 0, "error_class"], ["crash"]),
    "arguments[0].arguments[0].shapes[...]": (
        ["arguments", 0, "arguments", 0, "shapes", "str"],
        1.5,
    ),
    "markers[0].kind": (["markers", 0, "kind"], "folder"),
    "provenance": (["provenance", "errors"], 421),
    "provenance.agents": (["provenance", "agents"], [1]),
}  # fmt: skip


def changed(trail: list[Any], value: Any) -> Any:
    data = copy.deepcopy(VALID)
    holder = data
    for key in trail[:-1]:
        holder = holder[key]
    holder[trail[-1]] = value
    return data


@pytest.mark.parametrize("field", WRONG)
def test_a_wrong_value_is_refused_with_its_place(field: str) -> None:
    with pytest.raises(TemplateError) as caught:
        template_from_dict(changed(*WRONG[field]))
    assert caught.value.field == field.strip()


def test_an_unknown_field_is_refused_wherever_it_stands() -> None:
    with pytest.raises(TemplateError, match="'usage_count' is unknown"):
        template_from_dict({**VALID, "usage_count": 3})
    data = changed(["examples", 0, "success"], 1)
    with pytest.raises(TemplateError, match="'success' is unknown") as caught:
        template_from_dict(data)
    assert caught.value.field == "examples[0]"


def test_a_missing_field_is_named() -> None:
    data = copy.deepcopy(VALID)
    del data["examples"][0]["result"]
    with pytest.raises(TemplateError, match="result is missing"):
        template_from_dict(data)


@pytest.mark.parametrize("data", [None, [], "x", 1, {}])
def test_what_is_no_object_is_refused(data: object) -> None:
    with pytest.raises(TemplateError):
        template_from_dict(data)


def test_the_whole_has_a_limit_too() -> None:
    with pytest.raises(TemplateError, match="larger than 1,000 bytes"):
        template_from_dict(VALID, Limits(content_bytes=1000))


def test_arguments_may_not_be_deep_or_wide() -> None:
    deep: Any = "x"
    for _ in range(40):
        deep = [deep]
    for value in (deep, list(range(600)), {str(n): n for n in range(600)}, 2**60, float("inf")):
        with pytest.raises(TemplateError):
            template_from_dict(changed(["examples", 0, "arguments", "command"], value))


@given(st.data())
def test_retyped_templates_are_read_or_refused_and_never_more(data: st.DataObject) -> None:
    document = data.draw(retyped(VALID))
    with suppress(TemplateError):
        template = template_from_dict(document)
        assert template_from_dict(template_to_dict(template)) == template


def test_the_published_schema_is_what_is_checked() -> None:
    path = Path(warmstart.template.__file__).with_name(SCHEMA_FILE)
    assert json.loads(path.read_text()) == make_schema()
    jsonschema.Draft202012Validator.check_schema(make_schema())


@given(templates())
def test_every_template_fits_the_published_schema(template: Template) -> None:
    VALIDATOR.validate(template_to_dict(template))


@given(st.data())
def test_what_the_schema_refuses_is_refused(data: st.DataObject) -> None:
    document = data.draw(retyped(VALID))
    try:
        template_from_dict(document)
    except TemplateError:
        return
    VALIDATOR.validate(document)


def test_every_field_of_the_schema_is_explained() -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "templates.md").read_text()
    schema = make_schema()
    names = set(schema["properties"])
    for part in schema["$defs"].values():
        names |= set(part.get("properties", {}))
    assert {name for name in names if f"`{name}`" not in page} == set()
