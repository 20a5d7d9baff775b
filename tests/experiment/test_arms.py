from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warmstart.errors import UsageError
from warmstart.experiment.arms import (
    ArmKind,
    neutral_template,
    parse_arm,
    parse_arms,
    start_token_matched,
    start_warm,
    write_neutral,
)
from warmstart.model import Kind
from warmstart.warm import build_warmup, estimate_tokens


def test_arms_are_read_from_a_list() -> None:
    assert parse_arms("cold, warm:reads@2,token-matched,placebo:other") == (
        "cold", "warm:reads@2", "token-matched", "placebo:other",
    )  # fmt: skip
    assert parse_arm("warm:reads@2").template == "reads@2"
    assert parse_arm("cold:again").kind is ArmKind.COLD


@pytest.mark.parametrize("text", ["hot", "", "warm", "warm:"])
def test_an_arm_there_is_not_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        parse_arm(text)


@given(st.integers(0, 3000))
def test_neutral_text_has_the_tokens_asked_for(tokens: int) -> None:
    text = write_neutral(tokens, estimate_tokens)
    assert tokens - 4 <= estimate_tokens(text) <= tokens or tokens < 4
    assert write_neutral(tokens, estimate_tokens) == text


def test_a_token_matched_start_shows_no_tool_and_no_turn() -> None:
    start = start_token_matched(200, estimate_tokens)
    assert start.messages == ()
    assert 195 <= start.tokens <= 200
    assert start_token_matched(0, estimate_tokens).system == ""


def test_the_shipped_placebo_is_examples_of_other_work() -> None:
    template = neutral_template()
    start = start_warm(build_warmup(template, template_id="0" * 64, budget=2000))
    assert start.calls == len(template.examples)
    assert all(message.kind is Kind.WARMUP for message in start.messages)
    used = {request.tool for message in start.messages for request in message.requests}
    assert used.isdisjoint({"read_file", "write_file", "patch", "terminal"})
