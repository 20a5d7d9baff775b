"""Names are also folders: nothing in them may lead elsewhere."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warmstart.template import NAME_PATTERN, Spec, TemplateError, check_name, make_name, parse_spec

BAD = ["", ".", "..", ".hidden", "-x", "A", "a/b", "a\\b", "a b", "a\n", "é", "a" * 65, "a\0",
       "../../etc/passwd", "a\x1b[2J", "con:", "~", None, 5, ["a"], b"a"]  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_what_is_no_name_is_refused_and_shown_safely(name: object) -> None:
    with pytest.raises(TemplateError) as caught:
        check_name(name)
    assert caught.value.message.isprintable()


@given(st.text(max_size=100))
def test_any_text_becomes_a_name_and_always_the_same(text: str) -> None:
    assert re.fullmatch(NAME_PATTERN, make_name(text))
    assert make_name(text) == make_name(text)


def test_names_made_from_text_can_be_read() -> None:
    assert make_name("Code Review Template!") == "code-review-template"
    assert make_name("日本").startswith("template-")


@given(st.text(max_size=30))
def test_checked_names_have_no_way_out(text: str) -> None:
    if re.fullmatch(NAME_PATTERN, text) and not text.endswith("\n"):
        assert check_name(text) == text
    else:
        with pytest.raises(TemplateError):
            check_name(text)


def test_a_version_may_follow_a_name() -> None:
    assert parse_spec("a") == Spec("a", None)
    assert parse_spec("a.b@12") == Spec("a.b", 12)
    assert parse_spec("a@v3") == Spec("a", 3)


@pytest.mark.parametrize(
    "spec", ["a@", "a@x", "a@0", "a@-1", "a@10000", "@1", "a@1@2", "a@²", "A@1"]
)
def test_a_version_that_is_none_is_refused(spec: str) -> None:
    with pytest.raises(TemplateError):
        parse_spec(spec)
