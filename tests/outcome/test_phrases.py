"""Plain phrases and the lines that hold them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from warmstart.outcome.phrases import contains_any, contains_grouped, find_lines, group_phrases

texts = st.text(alphabet="abRx\n", max_size=40)
phrases = st.lists(st.text(alphabet="abRx", min_size=1, max_size=2), max_size=3)


@given(texts, phrases)
def test_lines_found_are_those_that_hold_a_phrase(text: str, wanted: list[str]) -> None:
    holding = {line for line in text.split("\n") if contains_any(line, wanted)}
    assert set(find_lines(text, group_phrases(wanted))) == holding


def test_a_line_is_given_once_for_each_phrase_it_holds() -> None:
    groups = group_phrases(("a", "b"))
    assert list(find_lines("a b a\nc\nb", groups)) == ["a b a", "a b a", "b"]


@given(texts, phrases)
def test_grouped_phrases_are_found_as_single_ones_are(text: str, wanted: list[str]) -> None:
    assert contains_grouped(text, group_phrases(wanted)) == contains_any(text, wanted)
