from __future__ import annotations

import pytest

from warmstart.errors import UsageError
from warmstart.model import Kind, Message, Request, Result, Role
from warmstart.runners import (
    SessionCounts,
    SessionLabel,
    observe_counts,
    observe_session,
    parse_labels,
)
from warmstart.sources.assemble import build_session

CALL = Request(tool="read_file", id="c1", arguments={"path": "a"})
MESSAGES = (
    Message(role=Role.USER, text="Earlier.", kind=Kind.WARMUP),
    Message(role=Role.ASSISTANT, requests=(Request(tool="x", id="w"),), kind=Kind.WARMUP),
    Message(role=Role.TOOL, results=(Result(text="", call_id="w"),), kind=Kind.WARMUP),
    Message(role=Role.USER, text="Read a.", timestamp=10.0),
    Message(role=Role.ASSISTANT, requests=(CALL,)),
    Message(role=Role.TOOL, results=(Result(text="no", call_id="c1", is_error=True),)),
    Message(role=Role.ASSISTANT, text="No.", timestamp=14.0),
)


def test_a_recorded_session_is_a_trial_without_its_examples() -> None:
    session = build_session("hermes", "s1", MESSAGES, reward=0.0)
    trial = observe_session("e", SessionLabel("hermes:s1", "cold"), 3, session)
    assert [call.error for call in trial.calls] == [True]
    assert (trial.task, trial.warmup_calls, trial.turns) == ("hermes:s1", 1, 2)
    assert (trial.seconds, trial.success, trial.session) == (4.0, False, "hermes:s1")
    named = observe_session("e", SessionLabel("hermes:s1", "cold", "t", success=True), 3, session)
    assert (named.task, named.success) == ("t", True)


def test_counts_are_enough_for_a_rate() -> None:
    trial = observe_counts("e", SessionLabel("s", "cold", "t"), 1, SessionCounts(calls=5, errors=2))
    assert (len(trial.calls), trial.errors) == (5, 2)


def test_labels_are_read_from_lines() -> None:
    lines = [
        '{"session": "a:1", "arm": "cold"}',
        "",
        '{"session": "b", "arm": "warm:x", "task": "t", "success": false}',
    ]
    assert list(parse_labels(lines)) == [
        SessionLabel("a:1", "cold"),
        SessionLabel("b", "warm:x", "t", success=False),
    ]


@pytest.mark.parametrize(
    "line",
    [
        "x",
        "[]",
        "{}",
        '{"session": "a"}',
        '{"session": 1, "arm": "c"}',
        '{"session": "a", "arm": "c", "success": 1}',
    ],
)
def test_what_is_no_label_is_named_by_its_line(line: str) -> None:
    with pytest.raises(UsageError, match="line 2"):
        list(parse_labels(['{"session": "a", "arm": "cold"}', line]))
