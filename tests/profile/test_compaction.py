from __future__ import annotations

import random

from support.profiles import continuation, make_calls, make_facts
from warmstart.model import Link, SessionFacts
from warmstart.profile.compaction import Mode, check_compactions


def compacted(number: int, before: float, after: float, draw: random.Random) -> SessionFacts:
    letters = ["x" if draw.random() < before else "." for _ in range(20)]
    letters += ["x" if draw.random() < after else "." for _ in range(20)]
    return make_facts("".join(letters), id=f"t:{number}", compactions=(20,))


def world(sessions: int, before: float, after: float) -> list[SessionFacts]:
    draw = random.Random(7)  # noqa: S311 - a simulation, no secret
    return [compacted(number, before, after, draw) for number in range(sessions)]


def test_calls_just_before_are_set_against_calls_just_after() -> None:
    report = check_compactions([make_facts("x" * 10 + "." * 10, compactions=(10,))])
    event = report.events[0]
    assert (event.mode, event.position) == (Mode.IN_PLACE, 10)
    assert (event.before_errors, event.before_calls) == (10, 10)
    assert (event.after_errors, event.after_calls) == (0, 10)
    assert event.change == -1.0


def test_a_child_that_goes_on_is_joined_to_its_parent() -> None:
    parent = make_facts("." * 10, id="t:p")
    child = continuation("t:p", "x" * 10, id="t:c", compactions=(0,))
    report = check_compactions([child, parent])
    assert [(e.mode, e.session, e.child, e.change) for e in report.events] == [
        (Mode.ROTATING, "t:p", "t:c", 1.0)
    ]


def test_subagents_branches_and_resets_are_no_compactions() -> None:
    links = (Link.SUBAGENT, Link.BRANCH, Link.RESET, Link.UNKNOWN)
    others = [continuation("t:p", "x" * 10, id=f"t:{link}", link=link) for link in links]
    assert check_compactions([make_facts("." * 10, id="t:p"), *others]).events == ()


def test_a_window_never_reaches_across_another_compaction() -> None:
    report = check_compactions([make_facts("x" * 6 + "." * 6 + "x" * 6, compactions=(6, 12))])
    assert [(e.before_calls, e.after_calls) for e in report.events] == [(6, 6), (6, 6)]
    assert [e.change for e in report.events] == [-1.0, 1.0]


def test_only_tools_of_both_sides_are_compared() -> None:
    tools = ["bash"] * 6 + ["edit"] * 6 + ["bash"] * 6
    facts = make_facts(calls=make_calls(tools, "......xxxxxx......"), compactions=(12,))
    event = check_compactions([facts]).events[0]
    assert (event.before_errors, event.before_calls, event.after_calls) == (0, 6, 6)


def test_sides_with_few_calls_are_shown_and_not_judged() -> None:
    report = check_compactions([make_facts("..x.", compactions=(2,))])
    assert report.events[0].change is None
    assert report.conversations == 0
    assert "no event has enough calls" in report.sentence


def test_all_events_of_a_chain_are_one_conversation() -> None:
    first = make_facts("." * 20, id="t:1", compactions=(10,))
    second = continuation("t:1", "." * 10, id="t:2")
    third = continuation("t:2", "x" * 10, id="t:3")
    report = check_compactions([first, second, third])
    assert len(report.events) == 3
    assert report.conversations == 1


def test_parents_that_form_a_loop_end_the_search() -> None:
    one = continuation("t:2", "." * 10, id="t:1")
    two = continuation("t:1", "." * 10, id="t:2")
    assert check_compactions([one, two]).conversations in (1, 2)


def test_equal_ids_in_two_files_are_two_sessions() -> None:
    sessions = [
        make_facts("x" * 10 + "." * 10, id="t:1", path="/one.db", compactions=(10,)),
        make_facts("." * 10 + "x" * 10, id="t:1", path="/two.db", compactions=(10,)),
    ]
    report = check_compactions(sessions)
    assert [event.change for event in report.events] == [-1.0, 1.0]
    assert report.conversations == 2


def test_a_parent_is_looked_for_in_the_file_of_its_child_first() -> None:
    parents = [make_facts(f * 10, id="t:p", path=p) for f, p in ((".", "/one"), ("x", "/two"))]
    children = [continuation("t:p", "." * 10, id="t:c", path=path) for path in ("/one", "/two")]
    report = check_compactions([*children, *parents])
    assert [event.change for event in report.events] == [0.0, -1.0]
    assert report.conversations == 2


def test_a_parent_in_another_file_is_found_too() -> None:
    parent = make_facts("." * 10, id="t:p", path="/one")
    report = check_compactions([parent, continuation("t:p", "x" * 10, id="t:c", path="/two")])
    assert [(event.session, event.change) for event in report.events] == [("t:p", 1.0)]


def test_a_session_is_no_placebo_only_where_its_own_child_goes_on() -> None:
    first = [make_facts("." * 40, id="t:p", path=f"/{n}") for n in range(3)]
    child = continuation("t:p", "." * 10, id="t:c", path="/0")
    alone = make_facts("." * 80, id="t:a", path="/0", compactions=(20,))
    placebo = check_compactions([*first, child, alone]).placebo
    assert placebo is not None
    assert placebo.sessions == 2


def test_the_same_rate_after_many_compactions_is_preserved() -> None:
    report = check_compactions(world(400, 0.04, 0.04))
    assert report.answer == "preserved"
    assert report.high < report.margin
    assert "as reliable" in report.sentence


def test_three_times_the_errors_is_not_preserved() -> None:
    report = check_compactions(world(150, 0.05, 0.15))
    assert report.answer == "degraded"
    assert report.low > 0


def test_few_compactions_are_inconclusive() -> None:
    report = check_compactions(world(8, 0.05, 0.05))
    assert report.answer == "inconclusive"
    assert "8 conversations could be compared, 20 are needed" in report.sentence
    assert ": 1 conversation could be" in check_compactions(world(1, 0.05, 0.05)).sentence


def test_sessions_left_alone_show_what_happens_there_anyway() -> None:
    """Errors rise at that place in every session, so nothing is left for compaction."""
    draw = random.Random(3)  # noqa: S311 - a simulation, no secret
    touched = [compacted(number, 0.05, 0.2, draw) for number in range(60)]
    alone = [compacted(1000 + number, 0.05, 0.2, draw) for number in range(60)]
    alone = [make_facts(calls=facts.calls, id=facts.id) for facts in alone]
    placebo = check_compactions([*touched, *alone]).placebo
    assert placebo is not None
    assert placebo.sessions == 60
    assert placebo.change > 0.1
    assert placebo.net_low < 0 < placebo.net_high


def test_one_session_can_be_asked_for_while_the_others_stay_the_placebo() -> None:
    sessions = [*world(5, 0.1, 0.1), *[make_facts("." * 40, id=f"a:{n}") for n in range(4)]]
    report = check_compactions(sessions, only="t:2")
    assert [event.session for event in report.events] == ["t:2"]
    assert report.placebo is not None


def test_many_places_are_sampled_evenly() -> None:
    sessions = [make_facts("." * (120 + n), id=f"t:{n}", compactions=(20 + n,)) for n in range(60)]
    alone = [make_facts("." * 150, id=f"a:{n}") for n in range(3)]
    placebo = check_compactions([*sessions, *alone]).placebo
    assert placebo is not None
    assert (placebo.change, placebo.net) == (0.0, 0.0)
