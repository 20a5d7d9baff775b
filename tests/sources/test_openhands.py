"""OpenHands conversations: V1 folders, V0 event files and folders, evaluation outputs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.badinput import damaged, read_all, retyped, survive, to_jsonl, write
from warmstart.model import Fate, Kind, Role, Session, Status
from warmstart.sources import READERS, ReadLog, find_reader
from warmstart.sources.probe import probe_path

READER = READERS["openhands"]


def _event(number: int, kind: str, source: str = "agent", **more: Any) -> dict[str, Any]:
    stamp = f"2026-03-01T10:00:{number:02d}.000000"
    return {"kind": kind, "id": f"ev-{number}", "timestamp": stamp, "source": source, **more}


def _action(number: int, call_id: str, response: str, **more: Any) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "thought": [{"type": "text", "text": "Looking."}],
        "reasoning_content": "hm",
        "action": {"kind": "TerminalAction", "command": f"ls {number}", "timeout": None},
        "tool_name": "terminal",
        "tool_call_id": call_id,
        "tool_call": {"id": call_id, "name": "terminal", "arguments": '{"command": "ls"}'},
        "llm_response_id": response,
    }
    return _event(number, "ActionEvent", **(fields | more))


def _observation(number: int, call_id: str, **seen: Any) -> dict[str, Any]:
    observation = {"kind": "TerminalObservation", "content": [{"type": "text", "text": "out"}]}
    return _event(
        number,
        "ObservationEvent",
        "environment",
        tool_name="terminal",
        tool_call_id=call_id,
        action_id=f"ev-{number - 1}",
        observation=observation | seen,
    )


V1: list[dict[str, Any]] = [
    _event(0, "SystemPromptEvent", system_prompt={"type": "text", "text": "You are."}, tools=[]),
    _event(
        1,
        "MessageEvent",
        "user",
        llm_message={"role": "user", "content": [{"type": "text", "text": "Fix the till."}]},
        extended_content=[{"type": "text", "text": "A skill."}],
    ),
    _action(2, "c1", "r1"),
    _action(3, "c2", "r1", thought=[]),
    _observation(4, "c1", is_error=False, exit_code=0, metadata={"suffix": "\n[done]"}),
    _observation(5, "c2", is_error=True, exit_code=2),
    _action(6, "c3", "r2", action=None),
    _event(7, "AgentErrorEvent", tool_name="terminal", tool_call_id="c3", error="bad arguments"),
    _action(8, "c4", "r3", action={"kind": "MCPToolAction", "data": {"q": "x"}}),
    _event(
        9,
        "UserRejectObservation",
        "environment",
        tool_name="terminal",
        tool_call_id="c4",
        action_id="ev-8",
        rejection_reason="too risky",
    ),
    _event(10, "Condensation", forgotten_event_ids=["ev-2", "ev-3", "ev-4"], summary="So far: ok."),
    _event(11, "PauseEvent", "user"),
    _event(12, "ConversationStateUpdateEvent", key="execution_status", value="finished"),
    _event(13, "MessageEvent", llm_message={"role": "assistant", "content": "Done."}),
]
STATE: dict[str, Any] = {
    "id": "0b9c1c5e-0000-4000-8000-000000000001",
    "agent": {"llm": {"model": "acme/acme-1"}},
    "workspace": {"working_dir": "/home/dev/shop"},
    "execution_status": "finished",
    "stats": {
        "usage_to_metrics": {
            "default": {
                "accumulated_cost": 0.25,
                "accumulated_token_usage": {
                    "prompt_tokens": 100,
                    "completion_tokens": 5,
                    "cache_read_tokens": 60,
                },
            }
        }
    },
}


def _conversation(folder: Path, events: list[Any], state: Any = None) -> Path:
    for number, event in enumerate(events):
        write(folder / "events", f"event-{number:05d}-ev-{number}.json", json.dumps(event).encode())
    if state is not None:
        write(folder, "base_state.json", json.dumps(state).encode())
    return folder


def _v0(number: int, source: str = "agent", **more: Any) -> dict[str, Any]:
    return {"id": number, "timestamp": f"2025-03-01T10:00:{number:02d}", "source": source, **more}


def _ask(number: int, action: str, response: str | None = None, **args: Any) -> dict[str, Any]:
    metadata = {
        "tool_call_id": f"c{number}",
        "model_response": {
            "id": response,
            "model": "acme-1",
            "usage": {
                "prompt_tokens": 50,
                "completion_tokens": 5,
                "prompt_tokens_details": {"cached_tokens": 20},
            },
        },
    }
    asked = _v0(number, action=action, args={"thought": "Looking.", **args})
    return asked | ({"tool_call_metadata": metadata} if response else {})


def _see(number: int, kind: str, content: str, cause: int | None, **extras: Any) -> dict[str, Any]:
    seen = _v0(number, "environment", observation=kind, content=content, extras=extras)
    return seen | ({} if cause is None else {"cause": cause})


FORGET = {"forgotten_events_start_id": 4, "forgotten_events_end_id": 7, "summary": "So far."}
V0: list[dict[str, Any]] = [
    _v0(0, action="system", args={"content": "You are."}),
    _v0(1, "user", action="message", args={"content": "Fix the till."}),
    _v0(2, "user", action="recall", args={"query": "till"}),
    _see(3, "recall", "Added workspace context", 2),
    _ask(4, "run", "r1", command="ls", hidden=False, blocking=False),
    _ask(5, "run", "r1", command="ls x"),
    _see(6, "run", "shop.py", 4, command="ls", exit_code=0),
    _see(7, "run", "no x", 5, metadata={"exit_code": 2, "suffix": "\n[end]"}),
    _ask(8, "edit", path="shop.py"),
    _see(9, "error", "No replacement was performed", 8),
    _ask(10, "call_tool_mcp", name="search", arguments={"q": "till"}),
    _see(11, "user_rejected", "User rejected the action", 10),
    _ask(12, "browse", url="http://localhost"),
    _see(13, "browse", "page", 12, error=False),
    _v0(14, action="condensation", args=FORGET),
    _v0(15, "user", action="run", args={"command": "git status"}),
    _see(16, "run", "clean", 15, exit_code=0),
    _v0(17, action="finish", args={"final_thought": "Done.", "outputs": {}}),
    _see(18, "agent_state_changed", "", None, agent_state="finished"),
    _see(19, "null", "", None),
]  # fmt: skip
RUN: dict[str, Any] = {
    "instance_id": "acme__shop-7",
    "instruction": "Fix the till.",
    "metadata": {"llm_config": {"model": "acme-1"}},
    "history": V0,
    "metrics": {
        "accumulated_cost": 0.5,
        "accumulated_token_usage": {"prompt_tokens": 70, "completion_tokens": 9},
    },
    "test_result": {"git_patch": "diff", "report": {"resolved": True}},
    "error": None,
}


def _only(path: Path) -> Session:
    sessions, log = read_all(READER, path)
    assert log.total == 0
    assert len(sessions) == 1
    return sessions[0]


@pytest.fixture
def v1(tmp_path: Path) -> Session:
    return _only(_conversation(tmp_path / "talk", V1, STATE))


@pytest.fixture
def v0(tmp_path: Path) -> Session:
    return _only(write(tmp_path, "trajectory.json", json.dumps(V0, indent=1).encode()))


def test_v1_calls_of_one_response_are_one_message(v1: Session) -> None:
    asking = [m for m in v1.messages if m.requests]
    assert [len(m.requests) for m in asking] == [2, 1, 1]
    assert (asking[0].text, asking[0].reasoning) == ("Looking.", "hm")


def test_v1_results_carry_every_explicit_signal(v1: Session) -> None:
    results = [call.result for call in v1.calls]
    assert [r.is_error for r in results if r] == [False, True, True, None]
    assert [r.exit_code for r in results if r] == [0, 2, None, None]
    assert results[3] is not None
    assert results[3].status is Status.REJECTED


def test_v1_arguments_are_those_that_ran_or_else_those_written(v1: Session) -> None:
    arguments = [call.request.arguments for call in v1.calls]
    assert arguments == [{"command": "ls 2"}, {"command": "ls 3"}, {"command": "ls"}, {"q": "x"}]


def test_v1_output_stands_between_the_terminal_notes(v1: Session) -> None:
    assert v1.calls[0].result is not None
    assert v1.calls[0].result.text == "out\n[done]"


def test_v1_condensation_archives_what_it_forgets(v1: Session) -> None:
    at = v1.compactions[0].at
    assert v1.messages[at].kind is Kind.SUMMARY
    archived = [m.role for m in v1.messages if m.fate is Fate.ARCHIVED]
    assert archived == [Role.ASSISTANT, Role.TOOL]
    assert len(v1.calls) == 4


def test_v1_state_describes_the_conversation(v1: Session) -> None:
    assert (v1.native_id, v1.model) == (STATE["id"], "acme/acme-1")
    assert (v1.project, v1.end_reason, v1.cost_usd) == ("/home/dev/shop", "finished", 0.25)
    assert (v1.tokens.input, v1.tokens.cache_read, v1.tokens.output) == (40, 60, 5)


def test_v1_added_context_is_the_harness_speaking(v1: Session) -> None:
    users = [(m.text, m.kind) for m in v1.messages if m.role is Role.USER][:2]
    assert users == [("Fix the till.", Kind.TURN), ("A skill.", Kind.INJECTED)]


def test_v1_without_state_is_named_by_its_folder(tmp_path: Path) -> None:
    session = _only(_conversation(tmp_path / "talk-1", V1))
    assert (session.native_id, session.end_reason) == ("talk-1", "finished")


def test_v1_early_observations_tell_errors_in_words(tmp_path: Path) -> None:
    seen = {"is_error": None, "content": None}
    events = [
        _action(1, "c1", "r1"),
        _observation(2, "c1", **seen, error="no such file"),
        _action(3, "c2", "r2"),
        _observation(4, "c2", **seen, error=None, output="fine"),
    ]
    first, second = (c.result for c in _only(_conversation(tmp_path / "t", events)).calls)
    assert first is not None
    assert (first.is_error, first.text) == (True, "no such file")
    assert second is not None
    assert (second.is_error, second.text) == (False, "fine")


def test_v1_a_result_without_call_id_is_joined_by_its_action(tmp_path: Path) -> None:
    events = [_action(1, "c1", "r1"), _observation(2, "", exit_code=0)]
    call = _only(_conversation(tmp_path / "t", events)).calls[0]
    assert call.result is not None
    assert call.result.exit_code == 0


def test_v1_foreign_agent_calls_are_told_once(tmp_path: Path) -> None:
    call = {"tool_call_id": "a1", "title": "Edit till", "tool_kind": "edit", "raw_input": {"p": 1}}
    events = [
        _event(1, "ACPToolCallEvent", **call, status="in_progress"),
        _event(2, "ACPToolCallEvent", **call, status="failed", raw_output={"code": 1}),
        _event(3, "ACPToolCallEvent", **call, status="failed", raw_output="again"),
        _event(4, "CondensationSummaryEvent", summary="So far."),
        _event(5, "ConversationErrorEvent", code="LLMError", detail="gone"),
    ]
    session = _only(_conversation(tmp_path / "t", events))
    assert [c.result.is_error for c in session.calls if c.result] == [True]
    assert session.end_reason == "LLMError"


def _branched(root: str | None) -> list[dict[str, Any]]:
    """Two branches after the first message, each with one call; the second is the newer."""
    said = _event(1, "MessageEvent", "user", llm_message={"content": "Fix it."}, parent_id=root)
    rows = [said]
    for number, call_id in ((2, "c1"), (4, "c2")):
        rows.append(_action(number, call_id, call_id) | {"parent_id": "ev-1"})
        rows.append(_observation(number + 1, call_id) | {"parent_id": f"ev-{number}"})
    return rows


@pytest.mark.parametrize("root", [None, "__root__"])
def test_v1_a_branch_that_was_left_does_not_count(tmp_path: Path, root: str | None) -> None:
    events = [_event(0, "PauseEvent"), *_branched(root)]
    session = _only(_conversation(tmp_path / "t", events, {"leaf_event_id": "ev-5"}))
    assert [m.fate for m in session.messages] == [
        Fate.LIVE, Fate.REWOUND, Fate.REWOUND, Fate.LIVE, Fate.LIVE,
    ]  # fmt: skip
    assert [call.request.id for call in session.calls] == ["c2"]


@pytest.mark.parametrize("leaf", ["ev-4", "gone", None])
def test_v1_what_follows_the_head_is_kept(tmp_path: Path, leaf: str | None) -> None:
    session = _only(_conversation(tmp_path / "t", _branched(None), {"leaf_event_id": leaf}))
    assert session.calls[-1].result is not None
    assert len(session.calls) == (1 if leaf == "ev-4" else 2)


def test_v1_events_before_the_first_parent_are_kept(tmp_path: Path) -> None:
    old = _action(0, "c0", "r0") | {"parent_id": None}
    session = _only(
        _conversation(tmp_path / "t", [old, *_branched("x")], {"leaf_event_id": "ev-5"})
    )
    assert [call.request.id for call in session.calls] == ["c0", "c2"]


def test_v1_unknown_kinds_are_counted(tmp_path: Path) -> None:
    _, log = read_all(READER, _conversation(tmp_path / "t", [*V1, _event(20, "NewEvent"), 5, {}]))
    assert log.counts["event of no known kind"] == 3


def test_events_are_ordered_by_number_not_by_text(tmp_path: Path) -> None:
    for number in (100000, 99999):
        event = _event(1, "MessageEvent", llm_message={"content": str(number)})
        write(tmp_path / "t" / "events", f"event-{number}-x.json", json.dumps(event).encode())
    assert [m.text for m in _only(tmp_path / "t").messages] == ["99999", "100000"]


def test_the_fingerprint_changes_with_every_event(tmp_path: Path) -> None:
    folder = _conversation(tmp_path / "t", V1[:3])
    before = [unit.fingerprint for unit in READER.units(folder, ReadLog())]
    _conversation(folder, V1[:4])
    assert [unit.fingerprint for unit in READER.units(folder, ReadLog())] != before


def test_a_store_lists_each_conversation(tmp_path: Path) -> None:
    store = tmp_path / "conversations"
    for name in ("b", "a"):
        _conversation(store / name, V1)
    (store / "empty").mkdir()
    assert find_reader(probe_path(store)) is READER
    assert [unit.path.name for unit in READER.units(store, ReadLog())] == ["a", "b"]


@pytest.mark.parametrize("inner", ["", "events"])
def test_a_conversation_folder_is_recognised(tmp_path: Path, inner: str) -> None:
    folder = _conversation(tmp_path / "talk", V1, STATE) / inner
    assert find_reader(probe_path(folder)) is READER
    assert _only(folder).native_id == STATE["id"]


def test_event_files_beside_the_state_are_a_conversation(tmp_path: Path) -> None:
    write(tmp_path / "talk", "event-00001-a.json", json.dumps(V1[1]).encode())
    assert find_reader(probe_path(tmp_path / "talk")) is READER
    assert _only(tmp_path / "talk").native_id == "talk"


@pytest.mark.parametrize("name", ["sessions", "events", "other"])
def test_other_folders_are_not_claimed(tmp_path: Path, name: str) -> None:
    write(tmp_path / name, "1.json", b'{"a": 1}')
    write(tmp_path / name / "x" / "events", "1.json", b"[]")
    assert not READER.recognises(probe_path(tmp_path / name))


def test_a_broken_event_costs_that_event_only(tmp_path: Path) -> None:
    folder = _conversation(tmp_path / "t", V1, STATE)
    write(folder / "events", "event-00004-ev-4.json", b'{"kind": "Obs')
    sessions, log = read_all(READER, folder)
    assert log.counts["event file unreadable"] == 1
    assert len(sessions[0].calls) == 4


def test_a_folder_without_a_readable_event_is_refused(tmp_path: Path) -> None:
    write(tmp_path / "t" / "events", "event-00001-a.json", b"\xff")
    assert survive(READER, tmp_path / "t") is None


def test_v0_results_are_joined_by_cause(v0: Session) -> None:
    results = [call.result for call in v0.calls]
    assert [c.tool for c in v0.calls] == ["run", "run", "edit", "search", "browse"]
    assert [r.exit_code for r in results if r] == [0, 2, None, None, None]
    assert [r.is_error for r in results if r] == [None, None, True, None, False]


def test_v0_a_rejected_call_is_no_error(v0: Session) -> None:
    result = v0.calls[3].result
    assert result is not None
    assert (result.status, v0.calls[3].request.arguments) == (Status.REJECTED, {"q": "till"})


def test_v0_arguments_leave_out_the_bookkeeping(v0: Session) -> None:
    assert v0.calls[0].request.arguments == {"command": "ls"}
    assert v0.messages[v0.calls[0].message].text == "Looking."


def test_v0_a_response_repeated_with_each_call_is_billed_once(v0: Session) -> None:
    assert (v0.tokens.input, v0.tokens.cache_read, v0.tokens.output) == (30, 20, 5)
    assert v0.model == "acme-1"


def test_v0_finish_is_a_message_and_the_users_command_no_call(v0: Session) -> None:
    assert v0.messages[-1].text == "Done."
    assert (Role.USER, "git status") in [(m.role, m.text) for m in v0.messages]
    assert v0.end_reason == "finished"


def test_v0_condensation_archives_a_range(v0: Session) -> None:
    archived = [m.native_id for m in v0.messages if m.fate is Fate.ARCHIVED]
    assert archived == ["4", "5", "6", "7"]
    assert v0.messages[v0.compactions[0].at].kind is Kind.SUMMARY


def test_v0_listed_events_are_archived_too(tmp_path: Path) -> None:
    listed = _v0(30, action="condensation", args={"forgotten_event_ids": [4]})
    session = _only(write(tmp_path, "t.json", json.dumps([*V0, listed]).encode()))
    assert len(session.compactions) == 2
    assert len([m for m in session.messages if m.kind is Kind.SUMMARY]) == 1


def test_v0_early_pairs_are_joined_by_place(tmp_path: Path) -> None:
    def bare(event: dict[str, Any]) -> dict[str, Any]:
        return {k: v for k, v in event.items() if k not in ("id", "cause")}

    history = [[bare(V0[4]), bare(V0[6])], [bare(V0[8]), bare(V0[9])]]
    history[0][0].pop("tool_call_metadata")
    run = RUN | {"history": history}
    calls = _only(write(tmp_path, "output.jsonl", to_jsonl([run]))).calls
    assert [call.result.text for call in calls if call.result] == [
        "shop.py",
        "No replacement was performed",
    ]


def test_v0_a_reused_call_id_is_answered_again(tmp_path: Path) -> None:
    again = [_ask(1, "run", "r1", command="a"), _see(2, "run", "A", 1, exit_code=0)]
    again += [_ask(3, "run", "r2", command="b"), _see(4, "run", "B", 3, exit_code=1)]
    again[2]["tool_call_metadata"]["tool_call_id"] = "c1"
    calls = _only(write(tmp_path, "t.json", json.dumps(again).encode())).calls
    assert [call.result.text for call in calls if call.result] == ["A", "B"]


def test_v0_a_session_folder_is_recognised(tmp_path: Path) -> None:
    for event in V0:
        data = json.dumps(event).encode()
        write(tmp_path / "sessions" / "abc" / "events", f"{event['id']}.json", data)
    assert find_reader(probe_path(tmp_path / "sessions")) is READER
    assert _only(tmp_path / "sessions").native_id == "abc"


def test_event_lines_are_one_session(tmp_path: Path) -> None:
    path = write(tmp_path, "events.jsonl", to_jsonl(V0))
    assert find_reader(probe_path(path)) is READER
    assert len(_only(path).calls) == 5


def test_an_evaluation_run_has_task_reward_and_bill(tmp_path: Path) -> None:
    session = _only(write(tmp_path, "output.jsonl", to_jsonl([RUN])))
    assert (session.task, session.reward, session.cost_usd) == ("acme__shop-7", 1.0, 0.5)
    assert (session.model, session.tokens.input, session.end_reason) == ("acme-1", 70, "finished")


def test_an_indented_run_is_read_as_one_document(tmp_path: Path) -> None:
    path = write(tmp_path, "run.json", json.dumps(RUN | {"error": "boom"}, indent=2).encode())
    assert find_reader(probe_path(path)) is READER
    assert _only(path).end_reason == "error"


def test_v1_events_inside_a_run_are_read(tmp_path: Path) -> None:
    run = RUN | {"history": V1, "metadata": {"llm": {"model": "acme-2"}}, "test_result": {}}
    session = _only(write(tmp_path, "output.jsonl", to_jsonl([run])))
    assert (len(session.calls), session.model, session.reward) == (4, "acme-2", None)


def test_lines_that_are_no_runs_are_counted(tmp_path: Path) -> None:
    path = write(tmp_path, "output.jsonl", to_jsonl([{"note": 1}, RUN, {"instance_id": "x"}]))
    sessions, log = read_all(READER, path)
    assert find_reader(probe_path(path)) is READER
    assert (len(sessions), log.counts["line is not a run"]) == (1, 2)


def test_runs_without_history_are_recognised(tmp_path: Path) -> None:
    run = RUN | {"history": []}
    path = write(tmp_path, "output.jsonl", to_jsonl([run]))
    assert find_reader(probe_path(path)) is READER
    assert _only(path).native_id == "acme__shop-7"


@pytest.mark.parametrize(
    "record",
    [
        {"kind": "other", "source": "agent"},
        {"action": "run"},
        {"observation": "run", "content": ""},
        {"instance_id": "a", "history": [], "trajectory": []},
        {"instance_id": "a", "history": [{"role": "user"}]},
    ],
)
def test_other_records_are_not_claimed(tmp_path: Path, record: Any) -> None:
    path = write(tmp_path, "other.jsonl", to_jsonl([record]))
    assert not READER.recognises(probe_path(path))


@pytest.mark.parametrize("data", [b"", b"[]", b'"x"', b'{\n"a": 1\n}'])
def test_files_without_events_are_refused(tmp_path: Path, data: bytes) -> None:
    assert survive(READER, write(tmp_path, "x.json", data)) is None


@given(data=st.data(), valid=st.sampled_from([to_jsonl([RUN]), json.dumps(V0).encode()]))
def test_damaged_files_are_survived(tmp_path: Path, data: st.DataObject, valid: bytes) -> None:
    survive(READER, write(tmp_path, "x.jsonl", data.draw(damaged(valid))))


@given(data=st.data(), at=st.integers(0, len(V1) - 1))
def test_damaged_event_files_are_survived(tmp_path: Path, data: st.DataObject, at: int) -> None:
    folder = _conversation(tmp_path / "t", V1, STATE)
    valid = json.dumps(V1[at]).encode()
    write(folder / "events", f"event-{at:05d}-ev-{at}.json", data.draw(damaged(valid)))
    survive(READER, folder)


@given(events=retyped(V1), state=retyped(STATE))
def test_wrong_types_in_a_conversation_are_survived(
    tmp_path: Path, events: list[Any], state: Any
) -> None:
    survive(READER, _conversation(tmp_path / "t", events, state))


@given(run=retyped(RUN))
def test_wrong_types_in_a_run_are_survived(tmp_path: Path, run: Any) -> None:
    survive(READER, write(tmp_path, "output.jsonl", to_jsonl([run])))
