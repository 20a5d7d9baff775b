"""The same template is the same bytes, everywhere."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace

import pytest
from hypothesis import given

from support.template_cases import make_template, templates
from warmstart.model.template import Example, Template
from warmstart.template import (
    TemplateError,
    canonical_json,
    parse_document,
    template_from_dict,
    template_id,
    template_to_dict,
)

KNOWN_ID = "a6c3a0bf9f65ad9d"


@given(templates())
def test_reading_what_was_written_gives_the_same_template_and_bytes(template: Template) -> None:
    data = canonical_json(template)
    again = template_from_dict(parse_document(data))
    assert again == template
    assert canonical_json(again) == data


def test_the_order_of_names_does_not_matter() -> None:
    one = Example(tool="t", arguments={"a": 1, "b": {"c": 2, "d": 3}}, result="r")
    other = Example(tool="t", arguments={"b": {"d": 3, "c": 2}, "a": 1}, result="r")
    assert canonical_json(Template(name="x", examples=(one,))) == canonical_json(
        Template(name="x", examples=(other,))
    )


def test_fields_that_have_their_default_are_left_out() -> None:
    assert template_to_dict(Template(name="x")) == {
        "format": "warmstart-template",
        "format_version": 1,
        "name": "x",
    }


def test_any_change_of_content_changes_the_id() -> None:
    template = make_template()
    ids = {template_id(template), template_id(replace(template, tags=("python",)))}
    ids.add(template_id(replace(template, user=replace(template.user, sessions=13))))
    assert len(ids) == 3


@pytest.mark.parametrize("seed", ["0", "1", "4242"])
def test_another_process_writes_the_same_bytes(seed: str) -> None:
    code = (
        "import sys; sys.path[:0] = sys.argv[1:];"
        "from support.template_cases import make_template;"
        "from warmstart.template import canonical_json;"
        "sys.stdout.buffer.write(canonical_json(make_template()))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *sys.path], env={"PYTHONHASHSEED": seed}, capture_output=True,
        check=True,
    )  # fmt: skip
    assert done.stdout == canonical_json(make_template())


def test_the_id_of_a_known_template_never_changes() -> None:
    template = Template(
        name="known", examples=(Example(tool="t", arguments={"b": 1.5, "a": "é"}, result="r"),)
    )
    assert canonical_json(template).decode() == (
        '{"examples":[{"arguments":{"a":"é","b":1.5},"result":"r","tool":"t"}],'
        '"format":"warmstart-template","format_version":1,"name":"known"}'
    )
    assert template_id(template).startswith(KNOWN_ID)


def test_values_that_not_everyone_reads_the_same_way_become_text() -> None:
    arguments = {"big": 2**60, "nan": float("nan"), "half": "\ud800", "list": (1, 2)}
    template = Template(name="x", examples=(Example(tool="t", arguments=arguments, result=""),))
    written = json.loads(canonical_json(template))["examples"][0]["arguments"]
    assert written == {"big": hex(2**60), "nan": "nan", "half": "?", "list": [1, 2]}
    assert template_from_dict(json.loads(canonical_json(template))).name == "x"


@pytest.mark.parametrize("value", [object(), {1: 2}, b"bytes"])
def test_what_json_does_not_have_is_refused_with_its_place(value: object) -> None:
    template = Template(
        name="x", examples=(Example(tool="t", arguments={"a b": value}, result=""),)
    )
    with pytest.raises(TemplateError) as caught:
        canonical_json(template)
    assert caught.value.field.startswith("examples[0].arguments['a b']")
