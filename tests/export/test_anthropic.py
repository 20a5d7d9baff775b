"""Anthropic messages export: what the API would accept."""

from __future__ import annotations

import re
from itertools import pairwise

from hypothesis import given

from support.sessions import make_session, sessions
from warmstart.export import export_anthropic
from warmstart.export.sessions import OPENING
from warmstart.model import Message, Request, Role, Session


@given(session=sessions())
def test_roles_alternate_from_the_user_on_and_no_block_is_empty(session: Session) -> None:
    messages = export_anthropic(session)["messages"]
    assert not messages or messages[0]["role"] == "user"
    assert all(one["role"] != other["role"] for one, other in pairwise(messages))
    blocks = [block for message in messages for block in message["content"]]
    assert all(block["text"].strip() for block in blocks if block["type"] == "text")


@given(session=sessions())
def test_every_tool_use_is_answered_in_the_next_message(session: Session) -> None:
    messages = export_anthropic(session)["messages"]
    for message, following in pairwise([*messages, {"content": []}]):
        used = [b["id"] for b in message["content"] if b["type"] == "tool_use"]
        answered = [
            b.get("tool_use_id") for b in following["content"] if b["type"] == "tool_result"
        ]
        assert used == answered[: len(used)]
        assert all(re.fullmatch(r"[a-zA-Z0-9_-]+", name) for name in used)


def test_the_first_system_text_has_its_place_and_a_later_one_speaks_as_user() -> None:
    late = Message(role=Role.SYSTEM, text="Be brief.")
    record = export_anthropic(make_session(messages=[*make_session().messages, late]))
    assert record["system"] == "You are careful."
    assert record["messages"][-1] == {
        "role": "user",
        "content": [{"type": "text", "text": "Thanks."}, {"type": "text", "text": "Be brief."}],
    }


def test_failures_are_flagged_and_only_failures() -> None:
    results = export_anthropic(make_session())["messages"][2]["content"]
    assert [block.get("is_error", False) for block in results] == [True, False, False]
    assert results[2]["content"] == "[no result recorded]"


def test_a_transcript_that_begins_with_the_assistant_gets_an_opening() -> None:
    record = export_anthropic(make_session(messages=[Message(role=Role.ASSISTANT, text="Hi")]))
    assert [m["role"] for m in record["messages"]] == ["user", "assistant"]
    assert record["messages"][0]["content"][0]["text"] == OPENING


def test_arguments_that_are_no_object_are_wrapped() -> None:
    messages = [Message(role=Role.ASSISTANT, requests=(Request(tool="t", raw="{oops"),))]
    record = export_anthropic(make_session(messages=messages))
    assert record["messages"][1]["content"][0]["input"] == {"raw": "{oops"}
