from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from warmstart.model import Fate, Kind, Message, Request, Result, Role, Status, Tokens
from warmstart.sources.assemble import build_session, join_calls


def ask(*calls: tuple[str, str | None], fate: Fate = Fate.LIVE) -> Message:
    requests = tuple(Request(tool=tool, id=call_id) for tool, call_id in calls)
    return Message(role=Role.ASSISTANT, requests=requests, fate=fate)


def reply(text: str, call_id: str | None = None, tool: str | None = None) -> Message:
    return Message(role=Role.TOOL, results=(Result(text=text, call_id=call_id, tool=tool),))


def say(text: str) -> Message:
    return Message(role=Role.USER, text=text)


def texts(*messages: Message) -> list[str | None]:
    return [call.result.text if call.result else None for call in join_calls(messages)]


def test_six_parallel_calls_find_results_far_away_and_out_of_order() -> None:
    calls = ask(*[("t", str(n)) for n in range(6)])
    chatter = [say("…")] * 20
    replies = [reply(f"r{n}", str(n)) for n in (5, 3, 1, 0, 2, 4)]
    assert texts(calls, *chatter, *replies) == [f"r{n}" for n in range(6)]


def test_results_in_one_message_are_told_apart() -> None:
    results = (Result(text="b", call_id="2"), Result(text="a", call_id="1"))
    both = Message(role=Role.USER, results=results)
    assert texts(ask(("t", "1"), ("t", "2")), both) == ["a", "b"]


def test_a_message_may_carry_the_result_of_its_own_call() -> None:
    message = Message(
        role=Role.ASSISTANT,
        requests=(Request(tool="t", id="1"),),
        results=(Result(text="a", call_id="1"),),
    )
    assert texts(message) == ["a"]


def test_an_unanswered_call_has_no_result_and_is_no_success() -> None:
    (call,) = join_calls([ask(("t", "1"))])
    assert (call.result, call.outcome.status) == (None, Status.UNANSWERED)


def test_a_result_before_its_call_is_not_its_result() -> None:
    assert texts(reply("early", "1"), ask(("t", "1"))) == [None]


def test_a_result_of_an_unknown_id_answers_nobody() -> None:
    assert texts(ask(("t", "1")), reply("x", "2")) == [None]


def test_a_repeated_id_is_answered_turn_by_turn() -> None:
    first, second = ask(("t", "1")), ask(("t", "1"))
    assert texts(first, reply("a", "1"), second, reply("b", "1")) == ["a", "b"]


def test_a_repeated_id_goes_to_the_later_call_when_the_earlier_was_given_up() -> None:
    assert texts(ask(("t", "1")), say("again"), ask(("t", "1")), reply("b", "1")) == [None, "b"]


def test_a_second_result_of_the_same_call_changes_nothing() -> None:
    assert texts(ask(("t", "1")), reply("a", "1"), reply("b", "1")) == ["a"]


def test_an_id_repeated_within_one_message_is_answered_in_order() -> None:
    assert texts(ask(("t", "1"), ("t", "1")), reply("a", "1"), reply("b", "1")) == ["a", "b"]


def test_without_ids_results_follow_the_order_of_their_tool() -> None:
    calls = ask(("read", None), ("list", None), ("read", None))
    replies = [reply("l", tool="list"), reply("r1", tool="read"), reply("r2", tool="read")]
    assert texts(calls, *replies) == ["r1", "l", "r2"]


def test_without_ids_and_names_results_follow_the_order_of_the_calls() -> None:
    assert texts(ask(("a", None), ("b", None)), reply("1"), reply("2")) == ["1", "2"]


def test_without_ids_a_call_that_was_given_up_takes_no_later_result() -> None:
    messages = [ask(("t", None)), say("stop, again"), ask(("t", None)), reply("x", tool="t")]
    assert texts(*messages) == [None, "x"]


def test_copied_and_rewound_messages_are_not_counted() -> None:
    copied = ask(("t", "1"), fate=Fate.COPIED)
    rewound = ask(("t", "2"), fate=Fate.REWOUND)
    assert join_calls([copied, rewound, reply("a", "1")]) == ()


def test_archived_messages_happened_and_count() -> None:
    assert texts(ask(("t", "1"), fate=Fate.ARCHIVED), reply("a", "1")) == ["a"]


def test_a_copied_result_answers_no_counted_call() -> None:
    result = Result(text="copy", call_id="1")
    copied = Message(role=Role.TOOL, results=(result,), fate=Fate.COPIED)
    assert texts(ask(("t", "1")), copied) == [None]


def test_warm_up_examples_are_never_calls() -> None:
    example = Message(role=Role.ASSISTANT, requests=(Request(tool="t", id="1"),), kind=Kind.WARMUP)
    assert join_calls([example]) == ()


def test_positions_count_calls_and_point_at_their_message() -> None:
    calls = join_calls([say("x"), ask(("a", "1"), ("b", "2")), reply("r", "1"), ask(("c", "3"))])
    assert [(c.tool, c.position, c.message) for c in calls] == [
        ("a", 0, 1),
        ("b", 1, 1),
        ("c", 2, 3),
    ]


def test_a_session_derives_what_its_messages_say() -> None:
    messages = [
        Message(role=Role.USER, timestamp=10.0),
        Message(role=Role.ASSISTANT, timestamp=9.0, model="m", tokens=Tokens(input=2)),
        Message(role=Role.ASSISTANT, timestamp=12.0, model="m", tokens=Tokens(output=3)),
        Message(role=Role.ASSISTANT, model="n", fate=Fate.COPIED, tokens=Tokens(output=99)),
    ]
    session = build_session("x", "1", messages)
    assert (session.id, session.agent, session.model) == ("x:1", "x", "m")
    assert (session.started_at, session.ended_at) == (10.0, 12.0)
    assert session.tokens == Tokens(input=2, output=3)


def test_what_the_reader_knows_wins_over_what_is_derived() -> None:
    message = Message(role=Role.ASSISTANT, model="m", timestamp=5.0)
    session = build_session("x", "1", [message], model="own", agent="a", started_at=1.0)
    assert (session.model, session.agent, session.started_at) == ("own", "a", 1.0)
    assert build_session("x", "1", [message], model=None).model == "m"


def test_a_session_without_messages_is_still_one() -> None:
    session = build_session("x", "1", [])
    assert (session.calls, session.model, session.ended_at) == ((), None, None)


IDS = st.sampled_from(["1", "2", None])
STEP = st.one_of(
    st.lists(st.tuples(st.sampled_from("ab"), IDS), max_size=3).map(lambda calls: ask(*calls)),
    st.tuples(st.text(max_size=2), IDS, st.sampled_from(["a", "b", None])).map(
        lambda parts: reply(*parts)
    ),
)


@given(messages=st.lists(STEP, max_size=12))
def test_no_result_is_given_twice_and_no_call_is_lost(messages: list[Message]) -> None:
    calls = join_calls(messages)
    assert len(calls) == sum(len(m.requests) for m in messages)
    given_out = [id(c.result) for c in calls if c.result]
    assert len(set(given_out)) == len(given_out)
    for call in calls:
        assert call.result is None or call.result.call_id == call.request.id
