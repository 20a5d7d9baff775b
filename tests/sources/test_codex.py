from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from backports import zstd
from hypothesis import given
from hypothesis import strategies as st

from support.badinput import damaged, read_all, retyped, survive, to_jsonl, write
from warmstart.model import Fate, Kind, Link, Role, Session, Status, Tokens
from warmstart.sources import READERS, find_reader
from warmstart.sources.probe import probe_path

CODEX = READERS["codex"]
NAME = "rollout-2026-03-02T10-00-00-t1.jsonl"
Record = dict[str, Any]


def line(kind: str, second: float = 10.0, **payload: Any) -> Record:
    stamp = f"2026-03-02T10:{int(second) // 60:02d}:{second % 60:06.3f}Z"
    return {"timestamp": stamp, "type": kind, "payload": payload}


def item(second: float = 10.0, **payload: Any) -> Record:
    return line("response_item", second, **payload)


def event(name: str, second: float = 10.0, **payload: Any) -> Record:
    return line("event_msg", second, type=name, **payload)


def meta(**more: Any) -> Record:
    base = {
        "id": "t1",
        "timestamp": "2026-03-02T10:00:00.000Z",
        "cwd": "/home/dev/shop",
        "cli_version": "0.166.0",
        "source": "cli",
        "git": {"branch": "main"},
    }
    return line("session_meta", 0.0, **{**base, **more})


def user(text: str, second: float = 10.0) -> Record:
    content = [{"type": "input_text", "text": text}]
    return item(second, type="message", role="user", content=content)


def answer(text: str) -> Record:
    content = [{"type": "output_text", "text": text}]
    return item(type="message", role="assistant", content=content)


def call(
    call_id: str, name: str = "exec_command", second: float = 10.0, **arguments: Any
) -> Record:
    text = json.dumps(arguments)
    return item(second, type="function_call", name=name, arguments=text, call_id=call_id)


def output(call_id: str, value: Any = "done", second: float = 10.0) -> Record:
    return item(second, type="function_call_output", call_id=call_id, output=value)


def usage(given: int, cached: int, out: int) -> Record:
    return {
        "input_tokens": given,
        "cached_input_tokens": cached,
        "output_tokens": out,
        "total_tokens": given + out,
    }


def count(total: Record, last: Record) -> Record:
    return event("token_count", info={"total_token_usage": total, "last_token_usage": last})


ROLLOUT = [
    meta(),
    item(type="message", role="developer", content=[{"type": "input_text", "text": "rules"}]),
    user("<environment_context>\n<cwd>/home/dev/shop</cwd>"),
    line("turn_context", model="gpt-x", cwd="/home/dev/shop"),
    user("make the tests pass"),
    event("user_message", message="make the tests pass"),
    item(type="reasoning", summary=[{"type": "summary_text", "text": "look first"}]),
    answer("I will look."),
    event("agent_message", message="I will look."),
    call("c1", cmd="ls"),
    call("c2", cmd="false"),
    output("c1", "README"),
    event("item_completed", item={"id": "c2", "status": "failed", "exit_code": 3}),
    output("c2", "Process exited with code 3"),
    count(usage(100, 40, 10), usage(100, 40, 10)),
    count(usage(100, 40, 10), usage(100, 40, 10)),
    item(type="custom_tool_call", name="apply_patch", call_id="c3", input="*** Begin Patch"),
    event("patch_apply_end", call_id="c3", success=True),
    item(type="custom_tool_call_output", call_id="c3", output="Success."),
    answer("Done."),
    count(usage(250, 140, 30), usage(150, 100, 20)),
    event("task_complete", turn_id="1"),
]  # fmt: skip


def read(folder: Path, *records: Record, name: str = NAME) -> Session:
    sessions, log = read_all(CODEX, write(folder, name, to_jsonl(records)))
    assert log.sentences() == []
    assert len(sessions) == 1
    return sessions[0]


def test_the_header_and_the_turn_context_describe_the_session(tmp_path: Path) -> None:
    session = read(tmp_path, *ROLLOUT)
    assert (session.id, session.model, session.agent_version) == ("codex:t1", "gpt-x", "0.166.0")
    assert (session.project, session.git_branch) == ("/home/dev/shop", "main")
    assert session.end_reason == "completed"
    assert session.started_at == 1772445600.0


def test_every_word_is_there_once_though_written_twice(tmp_path: Path) -> None:
    session = read(tmp_path, *ROLLOUT)
    texts = [m.text for m in session.messages if m.kind is Kind.TURN and m.text]
    assert texts == ["make the tests pass", "I will look.", "Done."]


def test_what_codex_writes_in_the_users_name_is_injected(tmp_path: Path) -> None:
    session = read(tmp_path, *ROLLOUT)
    injected = [(m.role, m.text[:8]) for m in session.messages if m.kind is Kind.INJECTED]
    assert injected == [(Role.SYSTEM, "rules"), (Role.USER, "<environ")]


def test_a_response_is_one_message_with_its_thinking_text_and_calls(tmp_path: Path) -> None:
    session = read(tmp_path, *ROLLOUT)
    message = next(m for m in session.messages if m.requests)
    assert (message.reasoning, message.text, message.model) == (
        "look first",
        "I will look.",
        "gpt-x",
    )
    assert [r.id for r in message.requests] == ["c1", "c2"]


def test_an_event_adds_how_the_call_ended_to_its_result(tmp_path: Path) -> None:
    first, second, third = (c.result for c in read(tmp_path, *ROLLOUT).calls)
    assert first is not None
    assert (first.is_error, first.exit_code) == (None, None)
    assert second is not None
    assert (second.is_error, second.exit_code) == (True, 3)
    assert third is not None
    assert third.is_error is False


def test_a_patch_is_kept_as_it_was_written(tmp_path: Path) -> None:
    request = read(tmp_path, *ROLLOUT).calls[2].request
    assert (request.tool, request.raw) == ("apply_patch", "*** Begin Patch")


def test_tokens_are_counted_once_though_sent_again(tmp_path: Path) -> None:
    session = read(tmp_path, *ROLLOUT)
    assert session.tokens == Tokens(input=110, cache_read=140, output=30)
    assert sum((m.tokens for m in session.messages if m.tokens), Tokens()) == session.tokens


def test_usage_records_are_counted_once_per_response(tmp_path: Path) -> None:
    record = line("token_usage_record", response_id="r1", usage=usage(100, 40, 10))
    session = read(tmp_path, meta(), user("go"), answer("ok"), record, record,
                   count(usage(100, 40, 10), usage(100, 40, 10)))  # fmt: skip
    assert session.tokens == Tokens(input=60, cache_read=40, output=10)


def test_an_exit_code_in_the_metadata_of_a_result_is_a_field(tmp_path: Path) -> None:
    text = json.dumps({"output": "no", "metadata": {"exit_code": 2, "duration_seconds": 0.1}})
    session = read(tmp_path, meta(), call("c1", "shell"), output("c1", text))
    result = session.calls[0].result
    assert result is not None
    assert (result.text, result.exit_code, result.is_error) == (text, 2, None)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"content": "no", "success": False}, ("no", True)),
        ({"content": "yes", "success": True}, ("yes", False)),
        (
            [{"type": "input_text", "text": "a"}, {"type": "input_text", "text": "b"}],
            ("a\nb", None),
        ),
        ("{not json", ("{not json", None)),
    ],
)
def test_every_shape_of_output_is_read(tmp_path: Path, value: Any, expected: Any) -> None:
    result = read(tmp_path, meta(), call("c1"), output("c1", value)).calls[0].result
    assert result is not None
    assert (result.text, result.is_error) == expected


@pytest.mark.parametrize(
    ("name", "payload", "expected"),
    [
        ("exec_command_end", {"exit_code": 1}, (None, 1, None)),
        ("exec_command_end", {"exit_code": 0, "status": "completed"}, (False, 0, None)),
        ("patch_apply_end", {"success": False}, (True, None, None)),
        (
            "patch_apply_end",
            {"success": False, "status": "declined"},
            (None, None, Status.REJECTED),
        ),
        ("mcp_tool_call_end", {"result": {"Err": "down"}}, (True, None, None)),
        ("mcp_tool_call_end", {"result": {"Ok": {"isError": True}}}, (True, None, None)),
        ("mcp_tool_call_end", {"result": {"Ok": {"content": []}}}, (False, None, None)),
        ("dynamic_tool_call_response", {"success": True}, (False, None, None)),
        ("item_completed", {"item": {"id": "other", "status": "failed"}}, (None, None, None)),
        ("item_completed", {"item": "odd"}, (None, None, None)),
    ],
)
def test_endings_are_read_from_their_own_fields(
    tmp_path: Path, name: str, payload: Record, expected: Any
) -> None:
    ending = event(name, call_id="c1", **payload)
    result = read(tmp_path, meta(), call("c1"), output("c1"), ending).calls[0].result
    assert result is not None
    assert (result.is_error, result.exit_code, result.status) == expected


def test_two_events_about_a_call_complete_each_other(tmp_path: Path) -> None:
    first = event("exec_command_end", call_id="c1", exit_code=7)
    second = event("item_completed", item={"id": "c1", "status": "failed"})
    result = read(tmp_path, meta(), call("c1"), first, second, output("c1")).calls[0].result
    assert result is not None
    assert (result.is_error, result.exit_code) == (True, 7)


def test_a_call_open_at_an_abort_stays_unanswered(tmp_path: Path) -> None:
    aborted = event("turn_aborted", reason="interrupted")
    session = read(tmp_path, meta(), user("go"), call("c1"), aborted)
    assert session.calls[0].outcome.status is Status.UNANSWERED
    assert session.end_reason == "interrupted"


def test_a_turn_still_running_has_no_end_reason(tmp_path: Path) -> None:
    session = read(tmp_path, meta(), event("task_complete"), event("task_started"), user("go"))
    assert session.end_reason is None


def test_searches_of_the_provider_are_answered_by_their_status(tmp_path: Path) -> None:
    search = item(
        type="web_search_call", status="completed", action={"type": "search", "query": "x"}
    )
    failed = item(type="image_generation_call", id="ig1", status="failed", revised_prompt="a cat")
    calls = read(tmp_path, meta(), search, search, failed).calls
    assert [c.request.tool for c in calls] == ["web_search", "web_search", "image_generation"]
    assert [c.result.is_error for c in calls if c.result] == [False, False, True]


def test_a_tool_search_is_a_call_with_a_result(tmp_path: Path) -> None:
    asked = item(type="tool_search_call", call_id="c1", arguments={"query": "issues"})
    found = item(type="tool_search_output", call_id="c1", status="completed", tools=[{"name": "a"}])
    call_ = read(tmp_path, meta(), asked, found).calls[0]
    assert call_.result is not None
    assert (call_.request.tool, call_.result.text) == ("tool_search", '[{"name":"a"}]')


def test_a_local_shell_call_keeps_its_action(tmp_path: Path) -> None:
    action = {"type": "exec", "command": ["ls"]}
    asked = item(type="local_shell_call", call_id="c1", status="completed", action=action)
    request = read(tmp_path, meta(), asked).calls[0].request
    assert (request.tool, dict(request.arguments)) == ("local_shell", action)


def test_a_namespace_is_part_of_the_tools_name(tmp_path: Path) -> None:
    names = [("mcp__wiki", "ask"), ("mcp__hub__git", "_fetch"), ("functions", "ls"), (None, "ls")]
    asked = [
        item(type="function_call", namespace=space, name=name, arguments="{}", call_id=f"c{name}")
        for space, name in names
    ]
    tools = [c.tool for c in read(tmp_path, meta(), *asked).calls]
    assert tools == ["mcp__wiki__ask", "mcp__hub__git_fetch", "ls", "ls"]


def test_a_message_with_both_is_split_into_what_was_typed_and_what_was_put_in(
    tmp_path: Path,
) -> None:
    blocks = [{"type": "input_text", "text": t} for t in ("# AGENTS.md instructions", "fix it")]
    session = read(tmp_path, meta(), item(type="message", role="user", content=blocks))
    assert [(m.kind, m.text) for m in session.messages] == [
        (Kind.INJECTED, "# AGENTS.md instructions"),
        (Kind.TURN, "fix it"),
    ]


def test_codexs_own_labels_beat_the_text(tmp_path: Path) -> None:
    blocks = [{"type": "input_text", "text": t} for t in ("<skill> is my word", "plain")]
    labels = {"content_item_kinds": ["user.text", "skills.catalog"]}
    message = item(type="message", role="user", content=blocks,
                   internal_chat_message_metadata_passthrough=labels)  # fmt: skip
    kinds = {m.text: m.kind for m in read(tmp_path, meta(), message).messages}
    assert kinds == {"plain": Kind.INJECTED, "<skill> is my word": Kind.TURN}


def test_messages_of_other_agents_are_injected(tmp_path: Path) -> None:
    relay = item(
        type="agent_message", author="/root/a", content=[{"type": "input_text", "text": "hi"}]
    )
    message = read(tmp_path, meta(), relay).messages[0]
    assert (message.role, message.kind, message.text) == (Role.USER, Kind.INJECTED, "hi")


def test_thinking_that_led_to_nothing_is_kept(tmp_path: Path) -> None:
    thinking = item(type="reasoning", summary=[], content=[{"type": "text", "text": "hm"}])
    session = read(tmp_path, meta(), user("go"), thinking, event("turn_aborted"))
    assert session.messages[-1].reasoning == "hm"
    assert session.end_reason == "aborted"


def test_a_compaction_archives_what_came_before_and_leaves_its_summary(tmp_path: Path) -> None:
    compacted = line(
        "compacted", message="short of it", replacement_history=[user("go")["payload"]]
    )
    after = usage(0, 0, 0) | {"total_tokens": 5}
    session = read(tmp_path, meta(), user("go"), call("c1"), output("c1"),
                   count(usage(100, 0, 10), usage(100, 0, 10)), compacted,
                   count(usage(100, 0, 10), after), event("context_compacted"),
                   call("c2"), output("c2"))  # fmt: skip
    assert [m.fate for m in session.messages] == [Fate.ARCHIVED] * 3 + [Fate.LIVE] * 3
    assert (session.messages[3].kind, session.messages[3].text) == (Kind.SUMMARY, "short of it")
    assert len(session.calls) == 2
    (compaction,) = session.compactions
    assert (compaction.at, compaction.tokens_before, compaction.tokens_after) == (3, 110, 5)


def test_a_summary_is_found_in_the_history_that_replaces(tmp_path: Path) -> None:
    summary = "Another language model started to solve this problem and left this: half done."
    history = [user("go")["payload"], user(summary)["payload"]]
    session = read(
        tmp_path, meta(), user("go"), line("compacted", message="", replacement_history=history)
    )
    assert [m.kind for m in session.messages] == [Kind.TURN, Kind.SUMMARY]


def test_a_compaction_known_only_by_its_event_counts(tmp_path: Path) -> None:
    session = read(tmp_path, meta(), user("go"), event("context_compacted"), user("more"))
    assert [m.fate for m in session.messages] == [Fate.ARCHIVED, Fate.LIVE]
    assert [c.at for c in session.compactions] == [1]


def test_a_summary_repeated_as_a_user_message_is_no_turn(tmp_path: Path) -> None:
    session = read(
        tmp_path, meta(), user("Another language model started to solve this problem: x")
    )
    assert session.messages[0].kind is Kind.SUMMARY


def test_a_rolled_back_turn_is_rewound_with_its_calls(tmp_path: Path) -> None:
    back = event("thread_rolled_back", num_turns=1)
    taken_back = (user("two"), call("c1"), output("c1"))
    session = read(tmp_path, meta(), user("one"), answer("a"), *taken_back, back, user("three"))
    live = [m.text for m in session.messages if m.fate is Fate.LIVE]
    assert live == ["one", "a", "three"]
    assert session.calls == ()


def test_rolling_back_more_turns_than_there_are_takes_them_all(tmp_path: Path) -> None:
    session = read(tmp_path, meta(), user("one"), event("thread_rolled_back", num_turns=9))
    assert session.messages[0].fate is Fate.REWOUND


def test_a_spawned_thread_knows_its_parent(tmp_path: Path) -> None:
    source = {"subagent": {"thread_spawn": {"parent_thread_id": "t0", "depth": 1}}}
    parent = read(tmp_path, meta(source=source), user("go")).parent
    assert parent is not None
    assert (parent.id, parent.link) == ("codex:t0", Link.SUBAGENT)


def test_a_fork_counts_nothing_of_the_history_it_copied(tmp_path: Path) -> None:
    session = read(
        tmp_path,
        meta(forked_from_id="t0"),
        meta(id="t0"),
        user("old", 0.1),
        call("c1", second=0.2),
        output("c1", second=0.2),
        event("token_count", 0.2, info={"total_token_usage": usage(9, 0, 9)}),
        user("new", 30.0),
        call("c2", second=31.0),
    )
    assert session.native_id == "t1"
    assert session.parent is not None
    assert session.parent.link is Link.BRANCH
    assert [c.request.id for c in session.calls] == ["c2"]
    assert [m.fate for m in session.messages[:3]] == [Fate.COPIED] * 3


def test_a_subagents_history_ends_at_the_ordinal_its_header_names(tmp_path: Path) -> None:
    header = meta(parent_thread_id="t0", subagent_history_start_ordinal=3)
    lines = [header, user("old"), line("compacted", message="old summary"), user("new")]
    numbered = [record | {"ordinal": number} for number, record in enumerate(lines)]
    session = read(tmp_path, *numbered)
    fates = [(m.text, m.fate) for m in session.messages]
    assert fates == [("old", Fate.COPIED), ("old summary", Fate.COPIED), ("new", Fate.LIVE)]
    assert session.compactions == ()


def test_lines_older_than_a_fork_are_copies(tmp_path: Path) -> None:
    old = user("old") | {"timestamp": "2026-03-01T09:00:00Z"}
    untimed = user("new") | {"timestamp": None}
    session = read(tmp_path, meta(forked_from_id="t0"), old, untimed)
    assert [m.fate for m in session.messages] == [Fate.COPIED, Fate.LIVE]


def test_the_settings_and_the_name_of_a_thread_are_taken_over(tmp_path: Path) -> None:
    named = event("thread_name_updated", thread_name="Shop tests")
    switched = event("thread_settings_applied", thread_settings={"model": "gpt-y"})
    session = read(tmp_path, meta(), named, switched, user("go"), answer("ok"))
    assert (session.title, session.model) == ("Shop tests", "gpt-y")


BARE = [
    {"id": "t9", "timestamp": "2025-06-01T10:00:00Z", "instructions": "", "git": {"branch": "x"}},
    {"record_type": "state"},
    {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "go"}]},
    {"type": "function_call", "name": "shell", "arguments": '{"command":["ls"]}', "call_id": "c1"},
    {"type": "function_call_output", "call_id": "c1", "output": "README"},
]  # fmt: skip


def test_the_first_versions_bare_lines_are_read(tmp_path: Path) -> None:
    path = write(tmp_path, NAME, to_jsonl(BARE))
    assert find_reader(probe_path(path)) is CODEX
    session = read(tmp_path, *BARE)
    assert (session.id, session.git_branch, len(session.calls)) == ("codex:t9", "x", 1)


def test_the_json_document_before_that_is_read(tmp_path: Path) -> None:
    document = {"session": BARE[0], "items": BARE[2:]}
    path = write(tmp_path, "rollout-2025-04-20-t9.json", json.dumps(document, indent=1).encode())
    assert find_reader(probe_path(path)) is CODEX
    sessions, _ = read_all(CODEX, path)
    assert [len(s.calls) for s in sessions] == [1]


def test_a_rollout_without_a_header_is_named_after_its_file(tmp_path: Path) -> None:
    assert read(tmp_path, user("go")).native_id == NAME.removesuffix(".jsonl")


def test_a_line_of_no_known_shape_is_counted(tmp_path: Path) -> None:
    path = write(tmp_path, NAME, to_jsonl([meta(), {"type": "message_from_mars"}, user("go")]))
    sessions, log = read_all(CODEX, path)
    assert log.counts == {"line of no known shape": 1}
    assert len(sessions[0].messages) == 1


def test_a_file_without_any_line_has_no_session(tmp_path: Path) -> None:
    assert read_all(CODEX, write(tmp_path, NAME, b"\n"))[0] == []


def test_a_home_lists_its_rollouts_once_oldest_first(tmp_path: Path) -> None:
    write(tmp_path, "config.toml", b"")
    late, early = "rollout-2026-03-02T10-00-00-b.jsonl", "rollout-2026-03-01T10-00-00-a.jsonl"
    write(tmp_path, f"sessions/2026/03/02/{late}", to_jsonl(ROLLOUT))
    packed = zstd.compress(to_jsonl([meta(id="t0"), user("go")]))
    write(tmp_path, f"archived_sessions/{early}.zst", packed)
    write(tmp_path, f"sessions/2026/03/02/{late}.zst", packed)
    assert find_reader(probe_path(tmp_path)) is CODEX
    assert [s.native_id for s in read_all(CODEX, tmp_path)[0]] == ["t0", "t1"]


def test_a_folder_that_merely_has_sessions_is_not_claimed(tmp_path: Path) -> None:
    write(tmp_path, "config.toml", b"")
    write(tmp_path, "sessions/notes.jsonl", b"{}\n")
    assert not CODEX.recognises(probe_path(tmp_path))
    assert not CODEX.recognises(probe_path(tmp_path / "sessions"))


@pytest.mark.parametrize("records", [[{"id": "x", "messages": []}], [{"type": []}], [BARE[2]]])
def test_other_files_are_not_claimed(tmp_path: Path, records: list[Record]) -> None:
    path = write(tmp_path, "other.jsonl", to_jsonl(records))
    assert not CODEX.recognises(probe_path(path))


@given(data=st.data())
def test_a_damaged_rollout_never_raises(data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder:
        survive(CODEX, write(Path(folder), NAME, data.draw(damaged(to_jsonl(ROLLOUT)))))


@given(records=retyped([*ROLLOUT, *BARE, event("thread_rolled_back", num_turns=1)]))
def test_wrong_types_never_raise(records: list[Any]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = write(Path(folder), NAME, to_jsonl(records))
        CODEX.recognises(probe_path(path))
        survive(CODEX, path)


@pytest.mark.corpus
def test_real_rollouts_are_read_whole(corpus: Path) -> None:
    for path in sorted((corpus / "codex").rglob("*.gz")):
        sessions, log = read_all(CODEX, path)
        assert find_reader(probe_path(path)) is CODEX
        assert log.sentences() == []
        assert all(s.calls and s.model and s.tokens.total for s in sessions)
