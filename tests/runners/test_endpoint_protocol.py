from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warmstart.model import Message, Request, Result, Role
from warmstart.runners import builtin_tools
from warmstart.runners.endpoint import (
    INVALID_CALL,
    describe_tools,
    read_answer,
    spell_messages,
    spell_unreadable,
)

ASKED = Message(role=Role.USER, text="Read a.")


def _read(text: str) -> Message:
    return read_answer(Message(role=Role.ASSISTANT, text=text), 3)


@pytest.mark.parametrize("form", ["{}", "```json\n{}\n```", "```{}```", "  {}\n"])
def test_a_call_is_read_with_or_without_a_fence(form: str) -> None:
    text = form.replace("{}", '{"tool": "read_file", "arguments": {"path": "a"}}')
    assert _read(text).requests == (
        Request(tool="read_file", id="call_3", arguments={"path": "a"}),
    )


@pytest.mark.parametrize(
    ("text", "answer"),
    [('{"answer": "42"}', "42"), ('{"answer": [1]}', "[1]"), ("It is 42.", "It is 42.")],
)
def test_an_answer_is_read(text: str, answer: str) -> None:
    assert (_read(text).text, _read(text).requests) == (answer, ())


@pytest.mark.parametrize("text", ['{"tool": ', '{"path": "a"}', '{"tool": 3}', "{tool: x}"])
def test_a_call_that_cannot_be_read_is_a_failed_call(text: str) -> None:
    assert _read(text).requests == (Request(tool=INVALID_CALL, id="call_3", raw=text),)


def test_arguments_that_are_no_object_are_kept_as_they_are() -> None:
    assert _read('{"tool": "a", "arguments": "x"}').requests[0].raw == '"x"'


@given(st.text(max_size=80))
def test_any_text_is_an_answer_or_a_call(text: str) -> None:
    message = _read(text)
    assert len(message.requests) <= 1


def test_examples_are_spelled_in_the_form_that_is_asked_for() -> None:
    call = Request(tool="a", arguments={"x": 1})
    spelled = spell_messages([
        Message(role=Role.USER, text="Do."),
        Message(role=Role.ASSISTANT, requests=(call, Request(tool=INVALID_CALL, raw="{bad"))),
        Message(role=Role.TOOL, results=(Result(text="done", tool="a"),)),
        Message(role=Role.ASSISTANT, text="Did it."),
    ])  # fmt: skip
    assert [m.role for m in spelled] == [Role.USER, Role.ASSISTANT, Role.USER, Role.ASSISTANT]
    assert json.loads(spelled[1].text.split("\n")[0]) == {"tool": "a", "arguments": {"x": 1}}
    assert spelled[1].text.endswith("{bad")
    assert spelled[2].text == "Result of a: done"
    assert _read(spelled[3].text).text == "Did it."


def test_every_tool_is_described() -> None:
    text = describe_tools(builtin_tools())
    for tool in builtin_tools():
        assert f"- {tool.name}(" in text


def test_calls_that_could_not_be_read_are_sent_back_as_text() -> None:
    asked = Message(role=Role.ASSISTANT, requests=(Request(tool=INVALID_CALL, id="c", raw="{x"),))
    told = Message(role=Role.TOOL, results=(Result(text="no", call_id="c", tool=INVALID_CALL),))
    spoken = spell_unreadable((ASKED, asked, told))
    assert [(m.role, m.text) for m in spoken[1:]] == [(Role.ASSISTANT, "{x"), (Role.USER, "no")]
    assert spoken[0] is ASKED


def test_calls_beside_such_a_one_are_sent_back_as_text_too() -> None:
    good = Request(tool="a", id="g", arguments={"x": 1})
    asked = Message(
        role=Role.ASSISTANT, requests=(Request(tool=INVALID_CALL, id="c", raw="{x"), good)
    )
    told = Message(role=Role.TOOL, results=(Result(text="yes", call_id="g", tool="a"),))
    spoken = spell_unreadable((asked, told))
    assert [m.requests for m in spoken] == [(), ()]
    assert '"tool": "a"' in spoken[0].text
    assert (spoken[1].role, spoken[1].text) == (Role.USER, "yes")
