from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from support.profiles import make_calls, make_facts
from support.sessions import make_messages, make_session
from warmstart.errors import UsageError
from warmstart.model import CallFact, Kind, Marker, MarkerKind, Tokens, UserStyleCounts
from warmstart.profile import (
    ToolRules,
    profile_facts,
    profile_messages,
    profile_whole_session,
)
from warmstart.profile.proficiency import PROFICIENCY_FORMULA
from warmstart.sources import ReadLog, read_sessions
from warmstart.stats.proportion import wilson


def call(name: str, call_id: str, **arguments: Any) -> dict[str, Any]:
    return {"id": call_id, "function": {"name": name, "arguments": json.dumps(arguments)}}


def hermes_messages(results: int = 6) -> list[dict[str, Any]]:
    """A batch of six calls whose results stand far behind; tool calls as JSON text."""
    calls = [call("terminal", f"c{n}", command=f"ls {n}") for n in range(6)]
    told = [
        {"role": "tool", "tool_call_id": f"c{n}", "tool_name": "terminal",
         "content": json.dumps({"output": "ok", "exit_code": 0, "error": None})}
        for n in range(results)
    ]  # fmt: skip
    asked = {"role": "assistant", "content": "", "tool_calls": json.dumps(calls)}
    return [{"role": "user", "content": "look around"}, asked, *told]


def test_messages_of_hermes_are_profiled_as_dicts() -> None:
    profile = profile_messages(hermes_messages(), "s1")
    assert profile.session_id == "memory:s1"
    assert (profile.messages, profile.calls, profile.rate.errors) == (8, 6, 0)
    assert profile.statuses["ok"] == 6
    assert profile.task_type == "terminal"


def test_a_call_without_a_result_is_no_success() -> None:
    profile = profile_messages(hermes_messages(results=4), "hermes:s1")
    assert profile.statuses["unanswered"] == 2
    assert profile.rate.calls == 4
    assert profile.session_id == "hermes:s1"


def test_our_messages_dicts_and_sessions_give_the_same_profile() -> None:
    session = make_session()
    by_messages = profile_messages(make_messages(), session.id)
    whole = profile_whole_session(session)
    assert by_messages.rate == whole.rate
    assert by_messages.statuses == whole.statuses == whole.statuses
    assert whole.statuses["unanswered"] == 1


def anthropic_messages() -> list[dict[str, Any]]:
    """Calls that work, fail and get no answer, and one of a tool that runs on the server."""
    uses = [
        {"type": "tool_use", "id": f"t{n}", "name": "bash", "input": {"command": f"ls {n}"}}
        for n in range(3)
    ]
    server = [
        {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "x"}},
        {"type": "web_search_tool_result", "tool_use_id": "s1",
         "content": {"type": "web_search_tool_result_error", "error_code": "unavailable"}},
        {"type": "server_tool_use", "id": "s2", "name": "web_search", "input": {"query": "y"}},
        {"type": "web_search_tool_result", "tool_use_id": "s2",
         "content": [{"type": "web_search_result", "url": "https://a.example", "title": "A"}]},
        {"type": "server_tool_use", "id": "s3", "name": "code_execution", "input": {"code": "1"}},
        {"type": "code_execution_tool_result", "tool_use_id": "s3",
         "content": {"stdout": "", "stderr": "no", "return_code": 1}},
    ]  # fmt: skip
    results = [
        {"type": "tool_result", "tool_use_id": "t0", "content": "a.py"},
        {"type": "tool_result", "tool_use_id": "t1", "is_error": True,
         "content": [{"type": "text", "text": "ls: cannot access '1': No such file"}]},
    ]  # fmt: skip
    return [
        {"role": "user", "content": [{"type": "text", "text": "please look around"}]},
        {"role": "assistant", "model": "m", "usage": {"input_tokens": 3, "output_tokens": 4},
         "content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "I will."},
                     *uses, *server]},
        {"role": "user", "content": [*results, {"type": "text", "text": "no, look again"}]},
        {"role": "assistant", "content": "done", "usage": {"output_tokens": 2}},
    ]  # fmt: skip


def test_messages_of_anthropic_are_profiled_as_dicts() -> None:
    profile = profile_messages(anthropic_messages(), "s1")
    assert profile.statuses["unanswered"] == 1
    assert [(tool.tool, tool.calls, tool.errors) for tool in profile.tools] == [
        ("bash", 3, 1), ("web_search", 2, 1), ("code_execution", 1, 1)
    ]  # fmt: skip


def test_messages_of_anthropic_give_what_their_reader_gives(tmp_path: Path) -> None:
    path = tmp_path / "saved.json"
    path.write_text(json.dumps(anthropic_messages()))
    (session,) = read_sessions(path, ReadLog())
    held = profile_messages(anthropic_messages(), session.id)
    assert replace(held, agent=session.agent) == profile_whole_session(session)


def test_responses_items_and_gemini_contents_are_profiled_too() -> None:
    items = [
        {"role": "user", "content": "look around"},
        {"type": "function_call", "call_id": "c", "name": "shell", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c", "output": "a.txt"},
        {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "ok"}],
        },
    ]
    contents = [
        {"role": "user", "parts": [{"text": "look around"}]},
        *({"role": role, "parts": [part]}
          for output in ({"output": "a.txt"}, {"error": "no such folder"})
          for role, part in (
              ("model", {"functionCall": {"name": "list_dir", "args": {}}}),
              ("user", {"functionResponse": {"name": "list_dir", "response": output}}),
          )),
    ]  # fmt: skip
    assert (profile_messages(items).messages, profile_messages(items).calls) == (4, 1)
    found = profile_messages(contents)
    assert (found.messages, found.calls, found.rate.errors) == (5, 2, 1)


class Dumped:
    """What clients return: an object that gives itself as a dict."""

    def __init__(self, data: dict[str, Any]) -> None:
        self._data = data

    def model_dump(self) -> dict[str, Any]:
        return self._data


def test_objects_of_clients_are_read_as_the_dicts_they_stand_for() -> None:
    whole: list[Any] = [Dumped(message) for message in hermes_messages()]
    assert profile_messages(whole) == profile_messages(hermes_messages())
    blocks = anthropic_messages()
    blocks[1]["content"] = [Dumped(block) for block in blocks[1]["content"]]
    assert profile_messages(blocks) == profile_messages(anthropic_messages())


def test_calls_written_both_ways_are_counted_once() -> None:
    asked, *results = hermes_messages()[1:]
    calls = json.loads(asked["tool_calls"])
    blocks = [{"type": "tool_use", "id": one["id"], "name": "terminal"} for one in calls]
    assert profile_messages([{**asked, "content": blocks}, *results]).calls == 6


@pytest.mark.parametrize("messages", ["role: user", b"{}", {"role": "user"}, 7, None])
def test_what_is_no_list_of_messages_is_refused_in_words(messages: Any) -> None:
    with pytest.raises(UsageError, match="must be a list of messages") as caught:
        profile_messages(messages)
    assert "Anthropic" in (caught.value.hint or "")


def test_what_a_warm_up_put_in_is_never_counted() -> None:
    warm = [structs.replace(message, kind=Kind.WARMUP) for message in make_messages()[2:4]]
    profile = profile_messages([*warm, *make_messages()])
    assert profile.warmups == 2
    assert profile.rate == profile_messages(make_messages()).rate
    for messages in (hermes_messages(), anthropic_messages()):
        marked = [{**message, "warmup": True} for message in messages]
        assert profile_messages(marked).calls == 0


@pytest.mark.parametrize(
    "messages",
    [
        [],
        [{}],
        [{"role": "assistant", "tool_calls": "{not json"}],
        [{"role": "assistant", "tool_calls": [None, 5, {"function": None}]}],
        [{"role": 7, "content": object}],
        [{"role": "tool", "content": {"error": "x"}}],
        [{"role": "assistant", "content": [None, 5, {"type": "tool_use"}, {"type": 7}]}],
        [{"role": "user", "content": [{"type": "tool_result", "content": object()}]}],
    ],
)
def test_odd_messages_are_survived(messages: list[dict[str, Any]]) -> None:
    profile = profile_messages(messages, "odd")
    assert profile.rate.errors == 0


def test_a_session_without_calls_has_no_rate_and_no_score() -> None:
    profile = profile_facts(make_facts())
    assert profile.rate.rate is None
    assert profile.proficiency is None
    assert profile.task_type is None
    assert profile.gain is None


def test_tools_come_with_shares_and_intervals() -> None:
    calls = make_calls(["bash", "bash", "read_file", "bash"], ".x.r")
    bash, read = profile_facts(make_facts(calls=calls)).tools
    assert (bash.tool, bash.calls, bash.ok, bash.errors, bash.share) == ("bash", 3, 1, 1, 0.75)
    assert (bash.low, bash.high) == wilson(1, 2)
    assert (read.type, read.rate) == ("file", 0.0)


def test_early_and_late_fifth_leave_the_final_call_out() -> None:
    profile = profile_facts(make_facts("xx......x.x"))
    assert (profile.early_rate, profile.late_rate) == (1.0, 0.5)
    assert profile.gain == -0.5


def test_repairs_and_repeats_are_listed_with_positions() -> None:
    calls = make_calls(["todo", "bash", "edit", "bash", "bash"], ".x.x.", sames=[0, 1, 2, 1, 3])
    profile = profile_facts(make_facts(calls=calls))
    assert [(r.position, r.repaired_at, r.after) for r in profile.recoveries] == [
        (1, 4, 3), (3, 4, 1)
    ]  # fmt: skip
    assert [(r.tool, r.times, r.errors, r.first) for r in profile.repeats] == [("bash", 2, 2, 1)]
    assert profile.trivial_calls == 1


class CountedCalls(list[CallFact]):
    """Calls that count how often they are gone through."""

    passes = 0

    def __iter__(self) -> Iterator[CallFact]:
        CountedCalls.passes += 1
        return super().__iter__()


def count_passes(calls: int) -> int:
    """How often the calls of a session that fails half the time are gone through."""
    CountedCalls.passes = 0
    made = make_calls(["bash"] * calls, "x." * (calls // 2))
    profile_facts(make_facts(calls=CountedCalls(made)))
    return CountedCalls.passes


def test_a_session_of_many_failures_is_gone_through_as_often_as_a_short_one() -> None:
    assert count_passes(400) == count_passes(40)


def test_the_proficiency_score_is_its_formula() -> None:
    profile = profile_facts(make_facts("x" + "." * 19))
    surely_ok = 1 - wilson(1, 20).high
    assert profile.proficiency == pytest.approx(0.60 * surely_ok + 0.25 * 1.0 + 0.15 * 1.0)
    assert PROFICIENCY_FORMULA == "0.60 x S + 0.25 x R + 0.15 x (1 - D)"


def test_length_alone_does_not_make_a_session_proficient() -> None:
    short, long = (profile_facts(make_facts("x." * n)).proficiency or 0 for n in (20, 200))
    assert long - short < 0.1


def test_context_and_user_are_described() -> None:
    facts = make_facts(
        ".", markers=(Marker(MarkerKind.FILE, "src/a.py", 4), Marker(MarkerKind.URL, "https://docs.example/x", 2)),
        user_style=UserStyleCounts(messages=3, words=300, long=3), tokens=Tokens(output=5), started_at=5.0,
        ended_at=8.0, compactions=(0,),
    )  # fmt: skip
    profile = profile_facts(facts)
    assert profile.domains == ("python", "docs.example")
    assert (profile.style, profile.feedback) == ("detailed", "detailed")
    assert (profile.seconds, profile.compactions, profile.tokens.output) == (3.0, 1, 5)
    assert profile.preferred_tools == ("bash",)


def test_tool_types_and_trivial_tools_can_be_chosen() -> None:
    calls = make_calls(["bash"] * 4 + ["todo"], "....x")
    rules = ToolRules(trivial=frozenset(), types={"bash": "research"})
    profile = profile_facts(make_facts(calls=calls), rules)
    assert profile.task_type == "research"
    assert profile.rate.errors == 1
