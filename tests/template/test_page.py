"""The texts that redaction goes through, and rows of the dataset."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from hypothesis import given

from support.template_cases import make_template, templates
from warmstart.model import CallFact, SessionFacts
from warmstart.model.outcome import Certainty, ErrorClass, Status
from warmstart.model.template import Template
from warmstart.profile.session import profile_facts
from warmstart.template import template_id, template_to_dict
from warmstart.template.dataset import list_tools, session_row, template_rows
from warmstart.template.texts import list_texts, rewrite_texts


def shout(value: Any) -> Any:
    """Arguments with every text loud, to see which ones are reached."""
    return json.loads(json.dumps(value).upper().replace("NULL", "null"))


def test_every_text_is_reached_by_a_rewriter() -> None:
    template = make_template()
    loud = rewrite_texts(template, str.upper, shout)
    kept = {"name", "provenance.session_hashes[0]"}
    quiet = {where for where, text in list_texts(loud) if text != text.upper()}
    assert quiet <= kept
    assert loud.examples[0].pattern_type is template.examples[0].pattern_type


@given(templates())
def test_texts_are_those_that_are_written(template: Template) -> None:
    written = json.dumps(template_to_dict(template), ensure_ascii=False)
    for _, text in list_texts(template):
        assert json.dumps(text, ensure_ascii=False)[1:-1] in written or text == ""


def test_a_template_gives_one_row_and_one_for_each_tool() -> None:
    template = make_template()
    first, *tools = template_rows(template, "approved")
    assert (first["kind"], first["id"]) == ("template", template_id(template))
    assert [row["tool"] for row in tools] == list_tools(template) == ["patch", "terminal"]
    assert tools[0]["recoveries"][0]["count"] == 9
    assert tools[0]["errors"] == 21


def fact(position: int, status: Status, tool: str = "t") -> CallFact:
    failed = status is Status.ERROR
    return CallFact(
        position=position, message=position, turn=1, tool=tool, status=status,
        certainty=Certainty.EXPLICIT, error_class=ErrorClass.CRASH if failed else None,
        masked=False, arguments_hash=0, signature_hash=0,
    )  # fmt: skip


def test_a_session_is_a_row_of_counts_without_its_words() -> None:
    statuses = [Status.ERROR, Status.ERROR, Status.OK, Status.UNKNOWN, *[Status.OK] * 8]
    calls = tuple(fact(number, status) for number, status in enumerate(statuses))
    facts = SessionFacts(
        id="hermes:secret-id", origin="hermes", agent="hermes", title="My title", project="/x",
        path="/x/y", calls=calls,
    )  # fmt: skip
    profile = profile_facts(facts)
    row = session_row(profile, reward=0.5)
    assert (row["calls"], row["judged"], row["errors"], row["reward"]) == (12, 11, 2, 0.5)
    assert (row["early_rate"], row["late_rate"], row["gain"]) == (1.0, 0.0, -1.0)
    assert row["repaired"] == len(profile.recoveries) > 0
    assert row["tools"] == {"t": {"calls": 12, "ok": 9, "errors": 2}}
    assert not any(word in json.dumps(row) for word in ("secret-id", "My title", "/x"))


def test_a_session_without_calls_is_a_row_too() -> None:
    row = session_row(profile_facts(SessionFacts(id="a:b", origin="a", agent="a")))
    assert (row["judged"], row["error_rate"], row["early_rate"]) == (0, None, None)


def test_a_bare_name_of_a_tool_is_listed_once() -> None:
    template = make_template()
    again = replace(template, examples=template.examples * 2)
    assert list_tools(again) == ["patch", "terminal"]
