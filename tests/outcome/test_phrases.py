"""Plain phrases and the lines that hold them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from warmstart.outcome.phrases import contains_any, find_lines

texts = st.text(alphabet="abc\n", max_size=40)
phrases = st.lists(st.text(alphabet="abc", min_size=1, max_size=2), max_size=3)


@given(texts, phrases)
def test_lines_found_are_those_that_hold_a_phrase(text: str, wanted: list[str]) -> None:
    holding = {line for line in text.split("\n") if contains_any(line, wanted)}
    assert set(find_lines(text, wanted)) == holding


def test_a_line_is_given_once_for_each_phrase_it_holds() -> None:
    assert list(find_lines("a b a\nc\nb", ("a", "b"))) == ["a b a", "a b a", "b"]
