"""A warm-up put into a list of messages."""

from __future__ import annotations

import copy
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.warming import TEMPLATE_ID, TEMPLATES, make_template
from warmstart.model.template import Template
from warmstart.model.warmup import WarmUp
from warmstart.warm import FRAME, build_warmup, inject, is_warm

ASK = {"role": "user", "content": "Why does it fail?"}
WARMUP = build_warmup(make_template(), template_id=TEMPLATE_ID)


def test_it_stands_after_the_leading_system_messages() -> None:
    given_messages = [{"role": "system", "content": "Be brief."}, ASK]
    warm = inject(given_messages, WARMUP)
    assert [m["role"] for m in warm].count("system") == 1
    assert warm[0]["content"].startswith("Be brief.\n\n" + FRAME)
    assert warm[-1] == ASK
    assert warm[-2]["role"] == "assistant"


def test_a_system_message_is_made_where_there_is_none_and_a_second_one_if_asked() -> None:
    assert inject([ASK], WARMUP)[0] == {"role": "system", "content": WARMUP.system}
    messages = [{"role": "system", "content": "Be brief."}, ASK]
    warm = inject(messages, WARMUP, separate_system=True)
    assert [m["content"] for m in warm[:2]] == ["Be brief.", WARMUP.system]


def test_blocks_of_a_system_message_get_one_more() -> None:
    system = {"role": "developer", "content": [{"type": "input_text", "text": "Be brief."}]}
    content = inject([system, ASK], WARMUP)[0]["content"]
    assert content[1] == {"type": "input_text", "text": WARMUP.system}


@pytest.mark.parametrize("style", ["openai", "responses", "anthropic"])
def test_it_is_never_put_in_twice(style: str) -> None:
    once = inject([ASK], WARMUP, style=style)
    assert inject(once, WARMUP, style=style) == once
    other = build_warmup(make_template("other", guidance=()), template_id="cd" * 32)
    assert inject(once, other, style=style) == once


def test_a_warmup_of_guidance_alone_is_recognised_too() -> None:
    plain = build_warmup(make_template(examples=(), recoveries=()), template_id=TEMPLATE_ID)
    once = inject([ASK], plain)
    assert inject(once, plain) == once
    assert not is_warm([ASK], plain)


def test_the_callers_messages_are_not_touched() -> None:
    messages: list[dict[str, Any]] = [{"role": "system", "content": "Be brief."}, dict(ASK)]
    before = copy.deepcopy(messages)
    inject(messages, WARMUP)
    assert messages == before


def test_a_cold_start_changes_nothing() -> None:
    assert inject([ASK], WarmUp(template="", template_id="")) == [ASK]


def test_anthropic_messages_alternate_and_open_with_the_frame() -> None:
    turns = [
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "x"}]}
    ]
    warm = inject(turns, WARMUP)
    roles = [m["role"] for m in warm]
    assert all(a != b for a, b in pairwise(roles))
    assert warm[0]["content"][0]["text"].startswith(FRAME)


def test_gemini_contents_open_with_the_frame() -> None:
    contents = [{"role": "user", "parts": [{"text": "Why does it fail?"}]}]
    warm = inject(contents, WARMUP)
    assert warm[0]["parts"][0]["text"].startswith(FRAME)
    assert inject(warm, WARMUP) == warm
    assert warm[-1] == contents[0]


@settings(max_examples=25)
@given(TEMPLATES, st.sampled_from(["openai", "responses", "anthropic"]), st.booleans())
def test_injecting_any_template_is_idempotent(
    template: Template,
    style: str,
    separate: bool,  # noqa: FBT001 - drawn
) -> None:
    warmup = build_warmup(template, template_id=TEMPLATE_ID)
    once = inject([ASK], warmup, style=style, separate_system=separate)
    assert once[-1] == ASK
    assert inject(once, warmup, style=style, separate_system=separate) == once
