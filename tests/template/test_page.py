"""The page a person reviews, the texts redaction goes through, and rows of the dataset."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from hypothesis import given

from support.template_cases import make_template, templates
from warmstart.model import CallFact, SessionFacts
from warmstart.model.outcome import Certainty, ErrorClass, Status
from warmstart.model.template import Example, Template
from warmstart.profile.session import profile_facts
from warmstart.template import template_id, template_to_dict
from warmstart.template.dataset import list_tools, session_row, template_rows
from warmstart.template.page import write_page
from warmstart.template.texts import list_texts, rewrite_texts


def page_text(template: Template, *, full: bool = False) -> str:
    return "\n".join(
        line
        for section in write_page(template, full=full)
        for line in (section.title, *section.lines)
    )


def test_the_page_says_what_is_taught_and_what_it_rests_on() -> None:
    text = page_text(make_template())
    for expected in (
        "Advice (1)", "patch: read the lines before you patch  (21 of 120 calls failed)",
        "[final, success is explicit, 14 times in 6 sessions]", "user:   Are the tests green?",
        'call:   {"command":"pytest -q <path>"}', "worked 9 of 11 times",
        "change: read the file first", "command 100% (str)", "writes terse",
        "12 sessions, 900 messages, 420 calls, 25 errors", "models: some-model 12",
        "rule: error rate at most 8 %", "github_pat 1",
    ):  # fmt: skip
        assert expected in text


def test_long_texts_are_cut_unless_all_of_it_is_wanted() -> None:
    long = Example(tool="t", arguments={"a": "x" * 500}, result="\n".join("abcdefghij"))
    template = Template(name="x", examples=(long,))
    assert "… 6 more lines" in page_text(template)
    assert "x" * 500 not in page_text(template)
    full = page_text(template, full=True)
    assert "x" * 500 in full
    assert "more lines" not in full


def test_an_empty_template_is_an_empty_page() -> None:
    assert write_page(Template(name="x")) == []


@given(templates())
def test_every_template_has_a_page(template: Template) -> None:
    assert all(section.lines for section in write_page(template, full=True))


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
