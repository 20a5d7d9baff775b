from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.profiles import any_facts, make_facts, no_learning
from warmstart.errors import UsageError
from warmstart.model import Marker, MarkerKind, SessionFacts
from warmstart.profile import (
    DEFAULT_RULES,
    Summary,
    ToolRules,
    corpus_profile,
    decode_summary,
    encode_summary,
    merge,
    merge_all,
    summarise,
)
from warmstart.profile.summary import MAX_MARKERS, MAX_SCORES


def assert_same(one: Summary, two: Summary) -> None:
    for field in fields(Summary):
        _compare(getattr(one, field.name), getattr(two, field.name), field.name)


def _compare(one: Any, two: Any, name: str) -> None:
    if isinstance(one, dict):
        assert one.keys() == two.keys(), name
        for key in one:
            _compare(one[key], two[key], f"{name}.{key}")
    elif isinstance(one, list) and one and isinstance(one[0], int | float):
        assert one == pytest.approx(two) or name.startswith("evidence"), name
        assert name.startswith("evidence") or one == pytest.approx(two)
    else:
        assert one == pytest.approx(two) if isinstance(one, float) else one == two, name


SESSIONS = st.lists(any_facts(), max_size=6, unique_by=lambda facts: facts.id)


@settings(max_examples=20)
@given(SESSIONS, SESSIONS)
def test_merging_gives_what_one_pass_gives(
    one: list[SessionFacts], two: list[SessionFacts]
) -> None:
    together = summarise(one + two)
    assert_same(merge(summarise(one), summarise(two)), together)
    assert_same(merge(summarise(two), summarise(one)), together)


@settings(max_examples=20)
@given(SESSIONS)
def test_a_stored_summary_comes_back_as_it_was(sessions: list[SessionFacts]) -> None:
    summary = summarise(sessions)
    assert decode_summary(encode_summary(summary)) == summary
    corpus_profile([decode_summary(encode_summary(summary))])


def test_merging_changes_neither_part() -> None:
    one, two = summarise([make_facts("x..")]), summarise([make_facts("..")])
    before = encode_summary(one), encode_summary(two)
    merge(one, two)
    assert (encode_summary(one), encode_summary(two)) == before


def test_summaries_of_different_rules_are_never_added_up() -> None:
    one = summarise([make_facts("..")], DEFAULT_RULES)
    two = summarise([make_facts("..")], ToolRules(trivial=frozenset()))
    with pytest.raises(UsageError, match="different rules"):
        merge(one, two)


@pytest.mark.parametrize("data", [b"", b"[]", b"{}x", b'{"nothing": 1}', b'{"clusters": 5}'])
def test_damaged_summaries_are_refused_in_words(data: bytes) -> None:
    with pytest.raises(UsageError, match="not a stored summary"):
        decode_summary(data)


def test_scores_are_kept_only_while_the_exact_test_is_worth_it() -> None:
    few = summarise(no_learning(40, 1))
    assert few.scores
    many = merge_all([few] * 20)
    assert many.scores is None
    assert many.trend["guard 1"][0] > MAX_SCORES


def test_markers_stay_bounded_and_keep_the_most_used() -> None:
    def session(number: int) -> SessionFacts:
        own = Marker(MarkerKind.FILE, f"f{number}.py", 1)
        return make_facts("..", id=f"test:{number}",
                          markers=(Marker(MarkerKind.URL, "https://a.example/", 5), own))  # fmt: skip

    summary = summarise(session(number) for number in range(3 * MAX_MARKERS))
    assert len(summary.markers) <= 2 * MAX_MARKERS
    assert summary.markers["url\thttps://a.example/"] == [15 * MAX_MARKERS, 3 * MAX_MARKERS]


def test_nothing_gives_an_empty_profile() -> None:
    profile = corpus_profile([])
    assert profile.rate.rate is None
    assert profile.empty_share is None
    assert profile.learning.verdict == "inconclusive"
