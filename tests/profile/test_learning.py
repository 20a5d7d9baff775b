from __future__ import annotations

import pytest

from support.profiles import (
    getting_worse,
    given_up_after_errors,
    make_calls,
    make_facts,
    no_learning,
    real_learning,
)
from warmstart.model import SessionFacts
from warmstart.profile import Profile, corpus_profile, summarise
from warmstart.profile.learning import NOTABLE_FALL, Learning, judge_learning


def profile(sessions: list[SessionFacts]) -> Profile:
    return corpus_profile([summarise(sessions)])


def learning(sessions: list[SessionFacts]) -> Learning:
    return profile(sessions).learning


@pytest.mark.parametrize("seed", [1, 3])
def test_without_learning_long_sessions_look_better_and_it_is_called_selection(seed: int) -> None:
    found = profile(no_learning(700, seed))
    buckets = [group.rate.rate or 0.0 for group in found.by_length]
    assert buckets[0] > buckets[1] > buckets[2]
    assert found.learning.verdict == "selection"
    assert "reliable sessions last longer, not because sessions learn" in found.learning.sentence


def test_learning_that_few_sessions_cannot_exclude_is_not_denied() -> None:
    found = learning(no_learning(80, 5))
    assert found.verdict == "selection"
    assert found.main.low < -NOTABLE_FALL
    assert "whether sessions also learn, these data cannot tell" in found.sentence


def test_long_sessions_that_look_no_better_are_not_said_to() -> None:
    found = judge_learning(summarise(no_learning(700, 1)), look_better=False)
    assert found.verdict == "selection"
    assert "the longest do not look better here" in found.sentence


def test_real_learning_is_called_learning() -> None:
    found = learning(real_learning(250, 2))
    assert found.verdict == "learning"
    assert found.main.falls
    assert "get better" in found.sentence


def test_errors_that_rise_are_called_worsening() -> None:
    assert learning(getting_worse(200, 3)).verdict == "worsening"


def test_learning_and_selection_together_are_called_both() -> None:
    found = learning([*real_learning(300, 4), *_short_and_bad(200)])
    assert found.verdict == "both"
    assert "not settled" in found.sentence


def _short_and_bad(sessions: int) -> list[SessionFacts]:
    """Sessions that fail half of the time from the first call to the last, and end soon."""
    return [make_facts("x." * 12, id=f"bad:{number}") for number in range(sessions)]


@pytest.mark.parametrize("world", [no_learning, real_learning, getting_worse])
def test_little_data_is_inconclusive_whatever_the_truth(world: object) -> None:
    found = learning(world(6, 5))  # type: ignore[operator] # one of the three worlds
    assert found.verdict == "inconclusive"
    assert "are needed" in found.sentence


def test_a_trend_that_hangs_on_how_sessions_end_is_inconclusive() -> None:
    """Every session stops after five failures in a row: only the ends make errors rise."""
    sessions = [make_facts("x" + "." * 20 + "xxxx", id=f"test:{number}") for number in range(40)]
    found = learning(sessions)
    signs = {trend.variant: trend.log_odds > 0 for trend in found.trends}
    assert signs["guard 0"] != signs["guard 5"]
    assert found.verdict == "inconclusive"
    assert "depends on how" in found.sentence


def test_a_rise_that_the_last_calls_alone_show_is_not_called_worsening() -> None:
    """Sessions given up after three errors in a row, which nothing else makes more frequent."""
    sessions = given_up_after_errors(150, 2)
    found = learning(sessions)
    assert found.main.rises
    assert found.verdict == "inconclusive"
    assert "given up after errors" in found.sentence


def test_long_sessions_that_fail_more_from_the_start_are_said_to() -> None:
    """Hard tasks take long and fail often, from the first call to the last."""
    easy = [make_facts("." * 18 + "x....", id=f"easy:{number}") for number in range(60)]
    hard = [make_facts("x...." * (8 + number % 9), id=f"hard:{number}") for number in range(60)]
    found = learning([*easy, *hard])
    assert found.selection is not None
    assert found.selection.is_reversed
    assert "failed more from the start" in found.sentence
    assert "not shown to differ" not in found.sentence


def test_interval_and_test_tell_the_same_story() -> None:
    for seed in range(20):
        main = learning(no_learning(25, seed)).main
        if main.low > 0.0 or main.high < 0.0:
            assert main.p < 0.05


def test_the_tool_mix_is_no_learning() -> None:
    """A bad tool used early and a good one later: each is as bad as ever."""
    sessions = []
    for number in range(60):
        shift = number % 4
        outcomes = ("." * shift + "x..." * 5)[:20] + "." * 20
        tools = ["bad"] * 20 + ["good"] * 20
        sessions.append(make_facts(id=f"test:{number}", calls=make_calls(tools, outcomes)))
    assert learning(sessions).verdict == "inconclusive"


def test_first_calls_are_tabled_for_sessions_that_have_them() -> None:
    found = learning(no_learning(300, 6))
    assert [row.label for row in found.first_calls] == [
        "51-100 calls", "101-200 calls", "201+ calls"
    ]  # fmt: skip
    assert all(row.rate.calls == 50 * row.rate.sessions for row in found.first_calls)


def test_every_p_value_comes_with_an_effect_and_counts() -> None:
    for trend in learning(no_learning(60, 7)).trends:
        assert trend.low <= trend.log_odds <= trend.high
        assert trend.informative > 0
        assert trend.errors > 0
