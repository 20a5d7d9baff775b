"""Command lines of agents, read as the agents read them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from warmstart.integrations.launch_parts import Grammar, parse_args

GRAMMAR = Grammar(
    one=frozenset({"--model", "-m"}), many=frozenset({"--add-dir"}), maybe=frozenset({"--resume"})
)
WORD = st.sampled_from(["--model", "-m", "--add-dir", "--resume", "-p", "--", "-", "x", "--a=b"])


def test_options_take_the_words_that_are_theirs() -> None:
    words = parse_args(["-m", "big", "--add-dir", "a", "b", "-p", "fix it", "--json"], GRAMMAR)
    assert words.plain == ("fix it",)
    assert words.find("-m", "--model") == "big"
    assert words.options[1].values == ("a", "b")
    assert words.has("--json")


def test_a_value_may_stand_behind_an_equals_sign() -> None:
    words = parse_args(["--model=big", "--add-dir=a", "fix it"], GRAMMAR)
    assert words.find("--model") == "big"
    assert words.plain == ("fix it",)


def test_an_option_that_may_have_a_value_takes_no_other_option() -> None:
    assert parse_args(["--resume", "-p"], GRAMMAR).find("--resume") is None
    assert parse_args(["--resume", "id", "-p"], GRAMMAR).find("--resume") == "id"


def test_after_two_dashes_nothing_is_an_option() -> None:
    words = parse_args(["-p", "--", "-m", "fix"], GRAMMAR)
    assert words.plain == ("-m", "fix")
    assert not words.has("-m")


def test_the_last_of_several_values_counts() -> None:
    assert parse_args(["-m", "a", "-m", "b"], GRAMMAR).find("-m") == "b"


def test_taking_an_option_out_leaves_the_rest_in_order() -> None:
    words = parse_args(["x", "-m", "a", "--", "-m", "y"], GRAMMAR)
    assert words.without("-m") == ["x", "--", "-m", "y"]


@given(st.lists(WORD, max_size=8))
def test_no_word_is_ever_lost(arguments: list[str]) -> None:
    words = parse_args(arguments, GRAMMAR)
    assert words.without() == arguments
