from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.badinput import damaged, read_all, retyped, survive, to_jsonl, write
from warmstart.model import Fate, Kind, Link, Role, Session, Status, Tokens
from warmstart.sources import READERS, find_reader
from warmstart.sources.probe import probe_path

COPILOT = READERS["copilot"]
NAME = "session-state/s1/events.jsonl"
Record = dict[str, Any]


def event(name: str, event_id: str = "e", **data: Any) -> Record:
    return {
        "type": name,
        "data": data,
        "id": event_id,
        "timestamp": "2026-03-02T10:00:05.000Z",
        "parentId": None,
    }


def say(text: str, *calls: Record, **more: Any) -> Record:
    return event("assistant.message", content=text, toolRequests=list(calls), **more)


def call(call_id: str, name: str = "bash", **arguments: Any) -> Record:
    return {"toolCallId": call_id, "name": name, "arguments": arguments, "type": "function"}


def done(call_id: str, text: str = "done", **more: Any) -> Record:
    base = {"toolCallId": call_id, "success": True, "result": {"content": text}}
    return event("tool.execution_complete", **{**base, **more})


START = event(
    "session.start",
    sessionId="s1",
    producer="copilot-agent",
    copilotVersion="1.0.68",
    startTime="2026-03-02T10:00:00.000Z",
    selectedModel="gpt-x",
    context={"cwd": "/home/dev/shop", "branch": "main"},
)
PROMPT = event("system.message", role="system", content="You are an assistant.")
LOG = [
    START,
    PROMPT,
    event("user.message", "u1", content="list it", transformedContent="<now/>list it"),
    event("assistant.turn_start", turnId="0"),
    say("I look.", call("c1", command="ls"), call("c2", command="false"),
        outputTokens=20, reasoningText="hm", messageId="m1"),
    event("tool.execution_start", toolCallId="c1", toolName="bash", arguments={"command": "ls"}),
    event("hook.start", hookType="postToolUse", input={}),
    done("c1", "README"),
    done("c2", success=False, error={"message": "Path does not exist", "code": "failure"}),
    PROMPT,
    say("Done.", outputTokens=5, model="gpt-y"),
    event("session.title_changed", title="Lists"),
    event("session.shutdown", shutdownType="routine", modelMetrics={
        "gpt-x": {"usage": {"inputTokens": 100, "cacheReadTokens": 60, "cacheWriteTokens": 10,
                            "outputTokens": 25, "reasoningTokens": 4}}, "odd": 1}),
]  # fmt: skip


def read_many(folder: Path, *records: Record, name: str = NAME) -> list[Session]:
    sessions, log = read_all(COPILOT, write(folder, name, to_jsonl(records)))
    assert log.sentences() == []
    return sessions


def read(folder: Path, *records: Record) -> Session:
    (session,) = read_many(folder, *records)
    return session


def test_the_first_event_and_the_last_describe_the_session(tmp_path: Path) -> None:
    session = read(tmp_path, *LOG)
    assert (session.id, session.agent_version, session.title) == ("copilot:s1", "1.0.68", "Lists")
    assert (session.project, session.git_branch) == ("/home/dev/shop", "main")
    assert (session.started_at, session.end_reason) == (1772445600.0, "routine")


def test_a_prompt_written_again_is_one_message(tmp_path: Path) -> None:
    session = read(tmp_path, *LOG)
    roles = [m.role for m in session.messages]
    assert roles == [Role.SYSTEM, Role.USER, Role.ASSISTANT, Role.TOOL, Role.TOOL, Role.ASSISTANT]
    assert session.messages[1].text == "list it"


def test_a_message_carries_its_calls_thinking_and_model(tmp_path: Path) -> None:
    message = read(tmp_path, *LOG).messages[2]
    assert (message.text, message.reasoning, message.model) == ("I look.", "hm", "gpt-x")
    assert [(r.id, dict(r.arguments)) for r in message.requests] == [
        ("c1", {"command": "ls"}),
        ("c2", {"command": "false"}),
    ]


def test_results_say_whether_the_tool_succeeded(tmp_path: Path) -> None:
    first, second = (c.result for c in read(tmp_path, *LOG).calls)
    assert first is not None
    assert (first.text, first.is_error) == ("README", False)
    assert second is not None
    assert (second.text, second.is_error, second.status) == ("Path does not exist", True, None)


@pytest.mark.parametrize(
    ("code", "status"),
    [("rejected", Status.REJECTED), ("denied", Status.REJECTED), ("cancelled", Status.CANCELLED)],
)
def test_a_refusal_is_not_the_agents_failure(tmp_path: Path, code: str, status: Status) -> None:
    refused = done("c1", success=False, error={"message": "The user said no", "code": code})
    result = read(tmp_path, START, say("", call("c1")), refused).calls[0].result
    assert result is not None
    assert result.status is status


def test_an_exit_code_comes_from_the_terminal_block(tmp_path: Path) -> None:
    blocks = [{"type": "text", "text": "x"}, {"type": "terminal", "text": "x", "exitCode": 3}]
    ended = done("c1", result={"content": "x", "contents": blocks})
    result = read(tmp_path, START, say("", call("c1")), ended).calls[0].result
    assert result is not None
    assert (result.exit_code, result.is_error) == (3, False)


def test_a_result_without_a_verdict_has_none(tmp_path: Path) -> None:
    result = read(tmp_path, START, say("", call("c1")), done("c1", success=None)).calls[0].result
    assert result is not None
    assert (result.text, result.is_error) == ("done", None)


def test_the_shutdowns_totals_count_each_token_once(tmp_path: Path) -> None:
    session = read(tmp_path, *LOG)
    assert session.tokens == Tokens(input=30, cache_read=60, cache_write=10, output=25, reasoning=4)


def test_without_a_shutdown_the_messages_are_summed(tmp_path: Path) -> None:
    assert read(tmp_path, *LOG[:-1]).tokens == Tokens(output=25)


def test_a_usage_event_completes_the_message_before_it(tmp_path: Path) -> None:
    used = event("assistant.usage", inputTokens=50, cacheReadTokens=20, outputTokens=7)
    session = read(tmp_path, START, used, say("Hi", outputTokens=7), used)
    assert session.tokens == Tokens(input=30, cache_read=20, output=7)


def test_a_changed_model_is_the_model_from_then_on(tmp_path: Path) -> None:
    session = read(tmp_path, START, event("session.model_change", newModel="gpt-z"), say("Hi"))
    assert session.messages[0].model == "gpt-z"


def test_messages_from_elsewhere_are_injected(tmp_path: Path) -> None:
    skill = event("user.message", content="skill text", source="skill-pdf")
    note = event("system.notification", content="agent idle")
    session = read(tmp_path, START, skill, note, event("skill.invoked", content="how"))
    assert {m.kind for m in session.messages} == {Kind.INJECTED}


def test_a_call_whose_request_is_in_no_message_counts(tmp_path: Path) -> None:
    begun = event("tool.execution_start", toolCallId="c9", toolName="view", arguments={"path": "a"})
    session = read(tmp_path, START, begun, done("c9"))
    assert [(c.tool, dict(c.request.arguments)) for c in session.calls] == [("view", {"path": "a"})]


def test_a_command_the_user_ran_is_no_call(tmp_path: Path) -> None:
    asked = event("tool.user_requested", toolCallId="c9", toolName="bash")
    begun = event("tool.execution_start", toolCallId="c9", toolName="bash", arguments={})
    assert read(tmp_path, START, asked, begun, done("c9")).calls == ()


def test_a_compaction_archives_what_came_before(tmp_path: Path) -> None:
    compacted = event("session.compaction_complete", success=True, trigger="threshold",
                      preCompactionTokens=900, postCompactionTokens=90, summaryContent="so far")  # fmt: skip
    session = read(tmp_path, *LOG[:-1], compacted, say("On."))
    assert [m.fate for m in session.messages[-3:]] == [Fate.ARCHIVED, Fate.LIVE, Fate.LIVE]
    assert session.messages[-2].kind is Kind.SUMMARY
    (compaction,) = session.compactions
    assert (compaction.at, compaction.trigger, compaction.tokens_after) == (6, "auto", 90)


def test_a_failed_compaction_changes_nothing(tmp_path: Path) -> None:
    failed = event("session.compaction_complete", success=False, error="no")
    session = read(tmp_path, *LOG, failed)
    assert session.compactions == ()
    assert {m.fate for m in session.messages} == {Fate.LIVE}


def test_a_rewind_takes_back_the_event_and_all_after_it(tmp_path: Path) -> None:
    back = event("session.snapshot_rewind", upToEventId="u1", eventsRemoved=9)
    session = read(tmp_path, *LOG, back, event("session.snapshot_rewind", upToEventId="gone"))
    assert [m.fate for m in session.messages] == [Fate.LIVE] + [Fate.REWOUND] * 5
    assert session.calls == ()


def test_a_subagent_is_a_session_of_its_own(tmp_path: Path) -> None:
    inside = {"parentToolCallId": "c1"}
    begun = event("subagent.started", toolCallId="c1", agentDisplayName="Explorer", agentName="x")
    main, child = read_many(
        tmp_path,
        START,
        say("", call("c1", "task")),
        begun,
        say("looking", call("k1"), **inside),
        done("k1", **inside),
        done("c1", "found"),
        LOG[-1],
    )
    assert [c.request.id for c in main.calls] == ["c1"]
    assert (child.native_id, child.title, len(child.calls)) == ("s1/c1", "Explorer", 1)
    assert child.parent is not None
    assert (child.parent.id, child.parent.link) == ("copilot:s1", Link.SUBAGENT)
    assert child.tokens == Tokens()


def test_a_subagent_is_known_by_the_id_on_its_events(tmp_path: Path) -> None:
    silent = event("tool.execution_start") | {"agentId": "a2"}
    sessions = read_many(tmp_path, START, say("looking") | {"agentId": "a1"}, silent)
    assert [s.native_id for s in sessions] == ["s1", "s1/a1"]


def test_an_abort_leaves_open_calls_unanswered(tmp_path: Path) -> None:
    session = read(tmp_path, START, say("", call("c1")), event("abort", reason="user_initiated"))
    assert session.calls[0].outcome.status is Status.UNANSWERED
    assert session.end_reason == "user_initiated"


def test_a_log_without_a_start_is_named_after_its_folder_or_file(tmp_path: Path) -> None:
    assert read(tmp_path, say("Hi")).native_id == "s1"
    (session,) = read_many(tmp_path, say("Hi"), name="abc.jsonl")
    assert session.native_id == f"{tmp_path.name}/abc"


def test_lines_that_are_no_events_are_counted(tmp_path: Path) -> None:
    path = write(tmp_path, NAME, to_jsonl([START, {"type": "abort", "data": 1}, {"x": 1}]))
    _, log = read_all(COPILOT, path)
    assert log.counts == {"line is not an event": 2}
    assert read_all(COPILOT, write(tmp_path, "empty.jsonl", b"\n"))[0] == []


DOCUMENT = {
    "sessionId": "old1",
    "startTime": "2025-10-08T21:10:16.398Z",
    "chatMessages": [
        {"role": "system", "content": "You are an assistant."},
        {"role": "user", "content": "list it"},
        {"role": "assistant", "content": "", "tool_calls": [
            {"id": f"c{n}", "function": {"name": "bash", "arguments": '{"command":"ls"}'}}
            for n in (1, 2, 3)
        ]},
        {"role": "tool", "tool_call_id": "c1", "content": "README"},
        {"role": "tool", "tool_call_id": "c2", "content": "no"},
        {"role": "tool", "tool_call_id": "c3", "content": "refused"},
    ],
    "timeline": [
        {"type": "tool_call_completed", "callId": "c1", "result": {"type": "success", "log": "x"}},
        {"type": "tool_call_completed", "callId": "c2", "result": {"type": "failure"}},
        {"type": "tool_call_completed", "callId": "c3", "result": {"type": "rejected"}},
        {"type": "info", "text": "hello"},
    ],
}  # fmt: skip


def test_the_first_versions_document_is_read_with_its_timeline(tmp_path: Path) -> None:
    path = write(tmp_path, "old1.json", json.dumps(DOCUMENT, indent=1).encode())
    assert find_reader(probe_path(path)) is COPILOT
    (session,) = read_all(COPILOT, path)[0]
    results = [c.result for c in session.calls if c.result]
    assert [r.is_error for r in results] == [False, True, None]
    assert results[2].status is Status.REJECTED
    assert session.messages[0].role is Role.SYSTEM


def test_a_home_lists_logs_and_documents(tmp_path: Path) -> None:
    write(tmp_path, NAME, to_jsonl(LOG))
    write(tmp_path, "session-state/s0.jsonl", to_jsonl([say("Hi")]))
    write(tmp_path, "history-session-state/old1.json", json.dumps(DOCUMENT).encode())
    write(tmp_path, "session-state/s1/events.jsonl.lock", b"")
    assert find_reader(probe_path(tmp_path)) is COPILOT
    assert [s.native_id for s in read_all(COPILOT, tmp_path)[0]] == [
        "old1",
        "session-state/s0",
        "s1",
    ]


def test_a_folder_without_logs_is_not_claimed(tmp_path: Path) -> None:
    write(tmp_path, "session-state/notes.txt", b"")
    assert not COPILOT.recognises(probe_path(tmp_path))


@pytest.mark.parametrize(
    "record", [{"type": "user.message"}, {"type": [], "data": {}, "parentId": 1}]
)
def test_other_files_are_not_claimed(tmp_path: Path, record: Record) -> None:
    assert not COPILOT.recognises(probe_path(write(tmp_path, "other.jsonl", to_jsonl([record]))))


@given(data=st.data())
def test_a_damaged_log_never_raises(data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder:
        survive(COPILOT, write(Path(folder), NAME, data.draw(damaged(to_jsonl(LOG)))))


@given(records=retyped([*LOG, event("session.compaction_complete", success=True)]))
def test_wrong_types_never_raise(records: list[Any]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = write(Path(folder), NAME, to_jsonl(records))
        COPILOT.recognises(probe_path(path))
        survive(COPILOT, path)


@given(document=retyped(DOCUMENT))
def test_wrong_types_in_a_document_never_raise(document: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:
        survive(COPILOT, write(Path(folder), "old1.json", json.dumps(document, indent=1).encode()))


@pytest.mark.corpus
def test_real_logs_are_read_whole(corpus: Path) -> None:
    for path in sorted((corpus / "copilot").iterdir()):
        sessions, log = read_all(COPILOT, path)
        assert find_reader(probe_path(path)) is COPILOT
        assert log.sentences() == []
        assert all(s.messages and s.model and s.project for s in sessions)
