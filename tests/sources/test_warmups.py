"""Messages of a warm start, told apart in any transcript."""

from __future__ import annotations

from warmstart.model import Kind, Message, Request, Result, Role
from warmstart.sources.assemble import build_session
from warmstart.sources.warmups import mark_warmups


def say(role: Role, text: str, **fields: object) -> Message:
    return Message(role=role, text=text, **fields)  # type: ignore[arg-type]


def call(call_id: str) -> list[Message]:
    return [
        Message(role=Role.ASSISTANT, requests=(Request(tool="terminal", id=call_id),)),
        Message(role=Role.TOOL, results=(Result(text="ok", call_id=call_id),)),
    ]


NOTE = say(Role.USER, "environment", kind=Kind.INJECTED)
WARM = [
    say(Role.SYSTEM, "Be brief."),
    NOTE,
    say(Role.USER, "example"),
    *call("call_warm_1"),
    say(Role.ASSISTANT, "done"),
    say(Role.USER, "another"),
    *call("call_warm_2"),
    say(Role.ASSISTANT, "done"),
]
TASK = [say(Role.USER, "the task"), *call("c1"), say(Role.ASSISTANT, "fixed")]


def test_everything_up_to_the_closing_of_the_last_example_is_marked() -> None:
    kinds = [message.kind for message in mark_warmups([*WARM, *TASK])]
    assert kinds[:2] == [Kind.TURN, Kind.INJECTED]
    assert set(kinds[2 : len(WARM)]) == {Kind.WARMUP}
    assert set(kinds[len(WARM) :]) == {Kind.TURN}


def test_example_calls_are_not_counted() -> None:
    session = build_session("any", "s", [*WARM, *TASK])
    assert [one.request.id for one in session.calls] == ["c1"]


def test_a_session_that_began_cold_is_left_as_it_is() -> None:
    assert mark_warmups(TASK) is TASK
    assert mark_warmups([]) == []


def test_a_later_call_that_borrows_such_an_id_is_the_agents_own() -> None:
    borrowed = [*TASK, *call("call_warm_1")]
    assert mark_warmups(borrowed) is borrowed


def test_a_warmup_cut_off_before_its_closing_is_marked_as_far_as_it_goes() -> None:
    cut = mark_warmups(WARM[:4])
    assert [m.kind for m in cut] == [Kind.TURN, Kind.INJECTED, Kind.WARMUP, Kind.WARMUP]
