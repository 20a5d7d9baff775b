"""Choosing a template, or none."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warmstart.model.template import TemplateState
from warmstart.model.warmup import Arm
from warmstart.warm import (
    Bm25,
    Policy,
    SelectionRules,
    TemplateEntry,
    TemplateIndex,
    choose,
    guess_task_type,
    list_terms,
)

NO_HOLDOUT = SelectionRules(holdout=0.0)
LIBRARY = (
    TemplateEntry(name="fix-tests", tags=("pytest",), anchors=("Fix the failing checkout test",),
          task_type="terminal", tools=frozenset({"terminal"})),
    TemplateEntry(name="write-docs", tags=("docs",), anchors=("Write a guide for the API",),
          task_type="file", tools=frozenset({"write_file"})),
    TemplateEntry(name="book-travel", anchors=("Book a flight to Lisbon", "Find a hotel near the beach"),
          task_type="browser"),
)  # fmt: skip


def test_the_template_that_shares_the_words_is_chosen() -> None:
    choice = choose("the checkout tests are failing, fix them", LIBRARY, rules=NO_HOLDOUT)
    assert choice.template == "fix-tests"
    assert choice.arm is Arm.WARM
    assert choice.ranking[0].name == "fix-tests"


def test_nothing_is_chosen_when_no_word_fits() -> None:
    choice = choose("What does this poem mean?", LIBRARY, rules=NO_HOLDOUT)
    assert (choice.template, choice.arm) == (None, Arm.COLD)
    assert choice.reason == "no template shares a word with the message"


def test_a_weak_fit_stays_cold_and_says_how_weak() -> None:
    message = " ".join(f"word{n}" for n in range(60)) + " guide"
    choice = choose(message, LIBRARY, rules=NO_HOLDOUT)
    assert choice.template is None
    assert "write-docs reaches" in choice.reason


@pytest.mark.parametrize(
    "state", [TemplateState.DRAFT, TemplateState.QUARANTINED, TemplateState.RETIRED]
)
def test_only_approved_templates_are_chosen(state: TemplateState) -> None:
    entry = TemplateEntry(name="fix-tests", anchors=("fix failing tests",), state=state)
    choice = choose("fix failing tests", [entry])
    assert choice.template is None
    assert choice.reason == "no template is approved (1 wait for a review)"
    assert choose("fix", []).reason == "the library is empty"


def test_the_same_seed_gives_the_same_choice_and_draws() -> None:
    first = choose("fix the failing test", LIBRARY, session_seed="s1")
    assert (
        choose("fix the failing test", TemplateIndex(reversed(LIBRARY)), session_seed="s1") == first
    )
    assert choose("fix the failing test", LIBRARY, session_seed="s2").ranking != first.ranking


def test_a_share_is_held_out_and_keeps_the_name_of_its_template() -> None:
    rules = SelectionRules(holdout=0.3)
    index = TemplateIndex(LIBRARY)
    arms = Counter(
        choose("fix the failing test", index, session_seed=str(n), rules=rules).arm
        for n in range(400)
    )
    assert 80 < arms[Arm.HOLDOUT] < 160
    held = choose(
        "fix the failing test", index, session_seed="x", rules=SelectionRules(holdout=1.0)
    )
    assert (held.arm, held.template) == (Arm.HOLDOUT, "fix-tests")
    assert "control group" in held.reason


def twins(**second: object) -> list[TemplateEntry]:
    anchors = ("fix failing tests",)
    return [
        TemplateEntry(name="one", anchors=anchors, alpha=5, beta=5, uses=10),
        TemplateEntry(name="two", anchors=anchors, **{"alpha": 9, "beta": 3, "uses": 4, **second}),  # type: ignore[arg-type]
    ]


def test_thompson_sampling_prefers_what_went_well_and_still_tries_the_other() -> None:
    index = TemplateIndex(twins(alpha=7, beta=3))
    taken = Counter(
        choose("fix failing tests", index, session_seed=str(n), rules=NO_HOLDOUT).template
        for n in range(300)
    )
    assert taken["two"] > 2 * taken["one"]
    assert taken["one"] > 10


def test_least_used_is_rotation_and_best_takes_no_draw() -> None:
    least = SelectionRules(policy=Policy.LEAST_USED, holdout=0, threshold=0.1)
    assert choose("fix failing tests", twins(uses=3), rules=least).template == "two"
    assert choose("fix failing tests", twins(uses=30), rules=least).template == "one"
    best = SelectionRules(policy=Policy.BEST, holdout=0)
    chosen = {
        choose("fix failing tests", twins(), session_seed=str(n), rules=best).template
        for n in range(30)
    }
    assert chosen == {"two"}


def test_a_template_that_did_badly_is_not_offered_again() -> None:
    entry = TemplateEntry(name="bad", anchors=("fix failing tests",), alpha=1, beta=9)
    choice = choose("fix failing tests", [entry], rules=NO_HOLDOUT)
    assert choice.template is None
    assert "did badly" in choice.reason


def test_a_template_without_a_tool_of_the_session_is_passed_over() -> None:
    rules = SelectionRules(holdout=0, tools=("write_file",))
    choice = choose("fix the failing test", LIBRARY, rules=rules)
    assert choice.template is None
    assert choice.ranking[0].note == "the session has none of its tools"


def test_a_stale_template_loses_to_a_fresh_one() -> None:
    entries = [
        TemplateEntry(name="fresh", anchors=("fix failing tests",)),
        TemplateEntry(name="stale", anchors=("fix failing tests",)),
    ]
    rules = SelectionRules(
        holdout=0, policy=Policy.BEST, freshness=lambda name: 1.0 if name == "fresh" else 0.0
    )
    ranking = choose("fix failing tests", entries, rules=rules).ranking
    assert [(one.name, one.freshness) for one in ranking] == [("fresh", 1.0), ("stale", 0.0)]
    assert ranking[1].value == pytest.approx(ranking[0].value * 0.7)


def test_the_kind_of_work_breaks_a_tie() -> None:
    entries = [
        TemplateEntry(name="a-browser", anchors=("total of the cart",), task_type="browser"),
        TemplateEntry(name="b-terminal", anchors=("total of the cart",), task_type="terminal"),
    ]
    rules = SelectionRules(holdout=0, policy=Policy.BEST, threshold=0.1)
    choice = choose("run pytest and git log on the cart total", entries, rules=rules)
    assert (choice.task_type, choice.template) == ("terminal", "b-terminal")


@given(st.text(max_size=200), st.text(max_size=10))
def test_any_message_gets_an_answer_with_a_reason(message: str, seed: str) -> None:
    choice = choose(message, LIBRARY, session_seed=seed)
    assert choice.reason
    assert (choice.template is None) == (choice.arm is Arm.COLD)


def test_terms_meet_across_forms_of_a_word_and_across_scripts() -> None:
    assert set(list_terms("failing tests")) == set(list_terms("the failed test"))
    assert list_terms("fixCartTotal") == list_terms("fix cart total")
    assert list_terms("stopped") == list_terms("stop")
    assert set(list_terms("备份数据库")) & set(list_terms("数据库的备份"))
    assert list_terms("the and of") == []
    assert list_terms("Ärger über api接口") == ["ärg", "über", "api", "接口"]


WRITING = st.text(max_size=30) | st.text("aBcD1_ é接.İ", max_size=12)


@given(st.lists(WRITING, max_size=6), WRITING)
def test_the_search_finds_exactly_the_texts_that_share_a_term(
    texts: list[str], message: str
) -> None:
    wanted = set(list_terms(message))
    expected = {place for place, text in enumerate(texts) if wanted & set(list_terms(text))}
    assert set(Bm25(texts).score(list_terms(message))) == expected


def test_a_rare_word_outweighs_a_common_one() -> None:
    index = Bm25(["cart rare", "cart", "cart", "cart cart"])
    scores = index.score(list_terms("cart rare"))
    assert max(scores, key=scores.__getitem__) == 0
    assert index.score(["unknown"]) == {}
    assert Bm25([]).score(["x"]) == {}


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ("run the build and restart the docker container", "terminal"),
        ("refactor this python function", "code"),
        ("click the login button on the page", "browser"),
        ("hello there", "mixed"),
    ],
)
def test_messages_say_what_kind_of_work_they_are(message: str, kind: str) -> None:
    assert guess_task_type(message) == kind


def test_history_decides_where_the_message_does_not() -> None:
    assert guess_task_type("go on", {"code": 8, "file": 2}) == "code"
    assert guess_task_type("go on", {"code": 2, "file": 2, "mixed": 5}) == "mixed"
