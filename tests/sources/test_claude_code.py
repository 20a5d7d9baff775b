from __future__ import annotations

import gzip
import json
import os
from itertools import count
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given

from support.badinput import damaged, read_all, retyped, survive, to_jsonl, write
from support.limited import read_limited
from warmstart.model import Compaction, Fate, Kind, Link, Message, Parent, Role, Status, Tokens
from warmstart.sources import ReadLog, find_reader, read_sessions
from warmstart.sources.probe import probe_path
from warmstart.sources.readers.claude_code import ClaudeCode

READER = ClaudeCode()
SESSION = "11111111-aaaa-4bbb-8ccc-000000000001"
OTHER = "22222222-aaaa-4bbb-8ccc-000000000002"
SECONDS = count()


def line(kind: str, uuid: str, parent: str | None, **fields: Any) -> dict[str, Any]:
    return {
        "parentUuid": parent,
        "isSidechain": False,
        "cwd": "/home/dev/shop",
        "sessionId": SESSION,
        "version": "2.1.0",
        "gitBranch": "main",
        "type": kind,
        "uuid": uuid,
        "timestamp": f"2026-03-01T10:00:{next(SECONDS) % 60:02d}.000Z",
        **fields,
    }


def said(uuid: str, parent: str | None, content: Any, **fields: Any) -> dict[str, Any]:
    return line("user", uuid, parent, message={"role": "user", "content": content}, **fields)


def replied(
    uuid: str, parent: str | None, block: Any, answer: str = "msg_1", **fields: Any
) -> dict[str, Any]:
    usage = {"input_tokens": 10, "output_tokens": 4, "cache_read_input_tokens": 100}
    message = {
        "id": answer,
        "role": "assistant",
        "model": "claude-acme-1",
        "content": [{"type": "text", "text": block}] if isinstance(block, str) else [block],
        "usage": fields.pop("usage", usage),
    }
    return line(
        "assistant", uuid, parent, message={**message, **fields.pop("message", {})}, **fields
    )


def use(call: str, name: str = "Bash", **given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": call, "name": name, "input": given}


def got(uuid: str, parent: str, call: str, text: Any = "ok", **fields: Any) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": call, "content": text}
    if "is_error" in fields:
        block["is_error"] = fields.pop("is_error")
    return said(uuid, parent, [block], **fields)


TALK = [
    {"type": "file-history-snapshot", "messageId": "u1", "snapshot": {}},
    said("u1", None, "Run the tests."),
    replied("a1", "u1", {"type": "thinking", "thinking": "They use make."}),
    replied("a2", "a1", "I run them."),
    replied("a3", "a2", use("t1", command="make test"), usage={"output_tokens": 9}),
    got("r1", "a3", "t1", "2 passed", toolUseResult={"stdout": "2 passed", "interrupted": False}),
    replied("a4", "r1", use("t2", "Read", file_path="a.py")),
    got("r2", "a4", "t2", "Exit code 3", is_error=True, toolUseResult="Error: Exit code 3"),
    {"type": "progress", "uuid": "p1", "parentUuid": "r2", "sessionId": SESSION, "data": {}},
    replied("a5", "p1", "Done.", "msg_2"),
]


def save(folder: Path, lines: list[Any], name: str = f"{SESSION}.jsonl") -> Path:
    return write(folder, name, to_jsonl(lines))


def read_one(folder: Path, lines: list[Any]) -> Any:
    return read_all(READER, save(folder, lines))[0][0]


def users(messages: tuple[Message, ...]) -> list[tuple[str, Kind, Fate]]:
    return [(m.text, m.kind, m.fate) for m in messages if m.role is Role.USER]


# What a file says of its session


def test_a_file_is_one_session(tmp_path: Path) -> None:
    sessions, log = read_all(READER, save(tmp_path, TALK))
    assert [s.id for s in sessions] == [f"claude_code:{SESSION}"]
    session = sessions[0]
    assert (session.project, session.git_branch) == ("/home/dev/shop", "main")
    assert (session.agent_version, session.model) == ("2.1.0", "claude-acme-1")
    assert log.total == 0


def test_the_lines_of_an_answer_are_one_message(tmp_path: Path) -> None:
    messages = read_one(tmp_path, TALK).messages
    answer = messages[1]
    assert [m.role.value for m in messages] == ["user", "assistant", "tool", "tool", "assistant"]
    assert (answer.text, answer.reasoning) == ("I run them.", "They use make.")
    assert [r.tool for r in answer.requests] == ["Bash", "Read"]


def test_tokens_count_once_per_answer_by_its_last_line(tmp_path: Path) -> None:
    usage = {"input_tokens": 10, "output_tokens": 30, "cache_creation_input_tokens": 2}
    lines = [
        said("u1", None, "Go."),
        replied("a1", "u1", "One"),
        replied("a2", "a1", use("t1"), usage=usage),
    ]
    assert read_one(tmp_path, lines).tokens == Tokens(input=10, output=30, cache_write=2)


def test_an_answer_taken_up_after_a_prompt_is_a_second_message_with_no_tokens_of_its_own(
    tmp_path: Path,
) -> None:
    lines = [replied("a1", None, "One"), said("u1", "a1", "Wait."), replied("a2", "u1", "Two")]
    session = read_one(tmp_path, lines)
    assert [m.text for m in session.messages] == ["One", "Wait.", "Two"]
    assert session.tokens == Tokens(input=10, output=4, cache_read=100)


def test_results_join_their_calls_and_an_absent_error_flag_means_none(tmp_path: Path) -> None:
    calls = read_one(tmp_path, TALK).calls
    assert [(c.tool, c.result.text, c.result.is_error) for c in calls] == [
        ("Bash", "2 passed", False),
        ("Read", "Exit code 3", True),
    ]
    assert calls[0].request.arguments == {"command": "make test"}
    assert calls[1].result.exit_code is None


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"toolUseResult": {"interrupted": True}}, Status.CANCELLED),
        ({"toolDenialKind": "interrupted"}, Status.CANCELLED),
        ({"toolDenialKind": "user-rejected"}, Status.REJECTED),
        ({"toolUseResult": "User rejected tool use"}, None),
    ],
)
def test_only_fields_say_that_a_call_was_stopped(
    tmp_path: Path, fields: dict[str, Any], status: Status | None
) -> None:
    lines = [replied("a1", None, use("t1")), got("r1", "a1", "t1", "…", is_error=True, **fields)]
    result = read_one(tmp_path, lines).calls[0].result
    assert (result.status, result.is_error) == (status, True)


def test_a_synthetic_answer_is_the_harness_speaking(tmp_path: Path) -> None:
    note = replied("a1", "u1", "API Error: 500", message={"model": "<synthetic>"})
    session = read_one(tmp_path, [said("u1", None, "Go."), note])
    assert (session.messages[1].kind, session.model) == (Kind.INJECTED, None)
    assert session.tokens == Tokens()


@pytest.mark.parametrize(
    ("content", "fields", "kind"),
    [
        ("Fix it.", {}, Kind.TURN),
        ("Fix it.", {"origin": {"kind": "human"}}, Kind.TURN),
        ("Base directory for this skill", {"isMeta": True}, Kind.INJECTED),
        ("A job ended.", {"origin": {"kind": "task-notification"}}, Kind.INJECTED),
        ("<command-name>/clear</command-name>", {}, Kind.INJECTED),
        ([{"type": "text", "text": "[Request interrupted by user]"}], {}, Kind.INJECTED),
        ("This session is being continued", {"isCompactSummary": True}, Kind.SUMMARY),
    ],
)
def test_who_speaks_in_the_users_name(
    tmp_path: Path, content: Any, fields: dict[str, Any], kind: Kind
) -> None:
    assert read_one(tmp_path, [said("u1", None, content, **fields)]).messages[0].kind is kind


def test_results_words_and_reminders_of_one_line_are_told_apart(tmp_path: Path) -> None:
    blocks = [
        {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "ok"}]},
        {"type": "text", "text": "<system-reminder>Mind the todos.</system-reminder>"},
        {"type": "text", "text": "And commit."},
        {"type": "image", "source": {}},
        "stray",
    ]
    messages = read_one(
        tmp_path, [replied("a1", None, use("t1")), said("r", "a1", blocks)]
    ).messages
    assert [m.role.value for m in messages] == ["assistant", "tool", "user", "user"]
    assert messages[2].kind is Kind.INJECTED
    assert (messages[3].text, messages[3].kind) == ("And commit.\n[image]", Kind.TURN)


@pytest.mark.parametrize(
    ("attachment", "seen"),
    [
        ({"type": "hook_additional_context", "content": ["Be brief."]}, ("Be brief.", "injected")),
        ({"type": "hook_blocking_error", "blockingError": {"blockingError": "No."}},
         ("No.", "injected")),
        ({"type": "queued_command", "prompt": "Also lint.", "commandMode": "prompt"},
         ("Also lint.", "turn")),
        ({"type": "queued_command", "prompt": "Job done.", "commandMode": "task-notification"},
         ("Job done.", "injected")),
        ({"type": "queued_command", "prompt": "<task-notification>"},
         ("<task-notification>", "injected")),
        ({"type": "queued_command", "prompt": None}, None),
        ({"type": "hook_success", "content": ""}, None),
        ({"type": "hook_system_message", "content": "For your eyes only."}, None),
    ],
)  # fmt: skip
def test_an_attachment_counts_where_the_model_saw_it(
    tmp_path: Path, attachment: dict[str, Any], seen: tuple[str, str] | None
) -> None:
    lines = [said("u1", None, "Go."), line("attachment", "x1", "u1", attachment=attachment)]
    extra = [(m.text, m.kind.value) for m in read_one(tmp_path, lines).messages[1:]]
    assert extra == ([seen] if seen else [])


def test_what_stands_before_a_compaction_is_archived_and_still_counts(tmp_path: Path) -> None:
    details = {"trigger": "auto", "preTokens": 900, "postTokens": 70}
    boundary = line("system", "b1", None, subtype="compact_boundary", logicalParentUuid="a5",
                    compactMetadata=details)  # fmt: skip
    summary = said("u2", "b1", "Summary so far.", isCompactSummary=True)
    session = read_one(tmp_path, [*TALK, boundary, summary])
    assert session.compactions == (
        Compaction(at=5, trigger="auto", tokens_before=900, tokens_after=70),
    )
    assert [m.fate for m in session.messages] == [Fate.ARCHIVED] * 5 + [Fate.LIVE]
    assert len(session.calls) == 2


def test_a_summary_alone_is_a_compaction_too(tmp_path: Path) -> None:
    session = read_one(tmp_path, [*TALK, said("u2", None, "Summary.", isCompactSummary=True)])
    assert session.compactions == (Compaction(at=5),)


def test_the_best_title_wins_and_a_summary_must_be_of_this_file(tmp_path: Path) -> None:
    strange = {"type": "summary", "summary": "Another session", "leafUuid": "elsewhere"}
    own = {"type": "summary", "summary": "Tests run", "leafUuid": "a5"}
    made = {"type": "ai-title", "aiTitle": "Running tests", "sessionId": SESSION}
    given = {"type": "custom-title", "customTitle": "shop tests", "sessionId": SESSION}
    cases = ([strange], [strange, own], [own, made, own], [given, made])
    titles = [read_one(tmp_path, [*TALK, *extra]).title for extra in cases]
    assert titles == [None, "Tests run", "Running tests", "shop tests"]


def test_costs_of_old_versions_add_up(tmp_path: Path) -> None:
    lines = [
        replied("a1", None, "One", "msg_1", costUSD=0.25),
        replied("a2", "a1", "Two", "msg_2", costUSD=0.5),
        replied("a3", "a2", "Three", "msg_3", costUSD="?"),
    ]
    assert read_one(tmp_path, lines).cost_usd == 0.75


def test_a_line_of_unknown_type_is_read_by_its_role(tmp_path: Path) -> None:
    unknown = replied("a1", "u1", "Hello.") | {"type": "reply-v9"}
    session = read_one(tmp_path, [said("u1", None, "Hi."), unknown, {"type": "new-thing"}])
    assert [m.role for m in session.messages] == [Role.USER, Role.ASSISTANT]


def test_what_cannot_be_read_is_counted(tmp_path: Path) -> None:
    broken = [
        line("user", "x1", "a5", message="?"),
        replied("x2", "a5", {"type": "tool_use", "id": "t9", "input": "ls"}, "msg_9"),
        TALK[1],
    ]
    _, log = read_all(READER, save(tmp_path, [*TALK, *broken]))
    assert set(log.counts) == {
        "message is not an object", "call without a tool's name", "line repeated in its file",
    }  # fmt: skip


def test_arguments_that_are_no_object_are_kept_as_written(tmp_path: Path) -> None:
    block = {"type": "tool_use", "id": "t1", "name": "Bash", "input": "ls -l"}
    request = read_one(tmp_path, [replied("a1", None, block)]).calls[0].request
    assert (request.raw, request.arguments) == ("ls -l", {})


def test_a_file_without_messages_is_counted(tmp_path: Path) -> None:
    sessions, log = read_all(READER, save(tmp_path, TALK[:1]))
    assert (sessions, dict(log.counts)) == ([], {"file holds no message": 1})


# Branches


def test_a_prompt_taken_back_is_rewound_with_all_that_followed(tmp_path: Path) -> None:
    lines = [
        *TALK,
        said("u2", "a5", "Deploy."),
        replied("b1", "u2", use("t3", command="make deploy"), "msg_3"),
        got("r3", "b1", "t3"),
        line("system", "s1", "a5", subtype="turn_duration"),
        said("u3", "s1", "Do not deploy, tag it."),
        replied("b2", "u3", use("t4", command="git tag v1"), "msg_4"),
        got("r4", "b2", "t4"),
    ]
    session = read_one(tmp_path, lines)
    assert [m.fate for m in session.messages[5:]] == [Fate.REWOUND] * 3 + [Fate.LIVE] * 3
    assert [c.request.id for c in session.calls] == ["t1", "t2", "t4"]


def test_results_of_parallel_calls_are_no_branch(tmp_path: Path) -> None:
    lines = [
        said("u1", None, "Look."),
        replied("a1", "u1", use("t1")),
        replied("a2", "a1", use("t2")),
        got("r1", "a1", "t1"),
        got("r2", "a2", "t2"),
        replied("a3", "r2", "Seen.", "msg_2"),
    ]
    assert {m.fate for m in read_one(tmp_path, lines).messages} == {Fate.LIVE}


def test_two_lines_of_work_side_by_side_are_no_rewind(tmp_path: Path) -> None:
    lines = [
        *TALK,
        said("u2", "a5", "Left."),
        said("u3", "a5", "Right."),
        replied("b1", "u2", "Left done.", "msg_3"),
        replied("b2", "u3", "Right done.", "msg_4"),
    ]
    assert {m.fate for m in read_one(tmp_path, lines).messages} == {Fate.LIVE}


def test_a_file_without_links_is_one_line_of_work(tmp_path: Path) -> None:
    lines = [
        said("u1", None, "One."),
        replied("a1", None, "1"),
        said("u2", None, "Two."),
        replied("a2", None, "2", "msg_2"),
        said("u3", None, "Three."),
    ]
    assert {m.fate for m in read_one(tmp_path, lines).messages} == {Fate.LIVE}


def test_going_back_to_the_first_prompt_is_a_rewind(tmp_path: Path) -> None:
    lines = [
        line("progress", "p1", None, data={"type": "hook_progress"}),
        said("u1", "p1", "One."),
        replied("a1", "u1", "1"),
        said("u2", "p1", "Rather two."),
        replied("a2", "u2", "2", "msg_2"),
    ]
    fates = [fate for _, _, fate in users(read_one(tmp_path, lines).messages)]
    assert fates == [Fate.REWOUND, Fate.LIVE]


def clear_and_go_on(parent: str | None, **fields: Any) -> list[dict[str, Any]]:
    """A first part of two calls, a cleared context, and a second part of one call."""
    return [
        *TALK,
        said("u2", parent, "Implement the following plan: ...", **fields),
        replied("b1", "u2", use("t3", command="make deploy"), "msg_3"),
        got("r3", "b1", "t3"),
    ]


@pytest.mark.parametrize(
    ("parent", "fields"),
    [
        (None, {"planContent": "..."}),
        (None, {}),
        ("a5", {"planContent": "..."}),
        ("gone", {"planContent": "..."}),
    ],
)
def test_a_cleared_context_is_a_boundary_and_not_a_rewind(
    tmp_path: Path, parent: str | None, fields: dict[str, Any]
) -> None:
    session = read_one(tmp_path, clear_and_go_on(parent, **fields))
    assert [c.request.id for c in session.calls] == ["t1", "t2", "t3"]
    assert session.compactions == (Compaction(at=5, trigger="clear"),)
    assert [m.fate for m in session.messages] == [Fate.ARCHIVED] * 5 + [Fate.LIVE] * 3


def test_a_rewind_after_a_cleared_context_is_still_one(tmp_path: Path) -> None:
    lines = [
        *clear_and_go_on(None),
        said("u4", "r3", "Left."),
        replied("b4", "u4", use("t4"), "m4"),
    ]
    lines += [said("u5", "r3", "Right."), replied("b5", "u5", use("t5"), "m5")]
    session = read_one(tmp_path, lines)
    assert [c.request.id for c in session.calls] == ["t1", "t2", "t3", "t5"]


def test_a_cleared_context_may_open_with_hook_output(tmp_path: Path) -> None:
    context = {"type": "hook_additional_context", "content": "Be brief."}
    lines = [
        *TALK,
        line("progress", "p2", None, data={"type": "hook_progress"}),
        line("attachment", "h1", "p2", attachment=context),
        said("u2", "h1", "Implement it.", planContent="..."),
        replied("b1", "u2", "Done.", "msg_3"),
    ]
    assert [c.at for c in read_one(tmp_path, lines).compactions] == [6]


def test_a_compaction_is_not_counted_twice_where_it_opens_a_tree(tmp_path: Path) -> None:
    lines = [
        *TALK,
        line("system", "s1", None, subtype="compact_boundary", compactMetadata={"trigger": "auto"}),
        said("u2", "s1", "This session is being continued ...", isCompactSummary=True),
        said("u3", "u2", "Go on."),
        replied("b1", "u3", "Done.", "msg_3"),
    ]
    assert [(c.at, c.trigger) for c in read_one(tmp_path, lines).compactions] == [(5, "auto")]


def test_two_trees_written_side_by_side_are_no_boundary(tmp_path: Path) -> None:
    lines = [*clear_and_go_on(None), said("u9", "a5", "Go on."), replied("b9", "u9", "Yes.", "m9")]
    session = read_one(tmp_path, lines)
    assert (session.compactions, {m.fate for m in session.messages}) == ((), {Fate.LIVE})


def test_a_file_of_rival_prompts_takes_no_longer_than_its_length(tmp_path: Path) -> None:
    lines = [said("u0", None, "Go."), replied("a0", "u0", "Yes.")]
    lines += [said(f"v{number}", "a0", "Again.") for number in range(30_000)]
    lines += [line("progress", f"p{n}", f"p{n - 1}" if n else "a0") for n in range(20_000)]
    lines += [said(f"w{number}", "p19999", "Again.") for number in range(20_000)]
    path = save(tmp_path, lines)
    assert read_limited(path).sessions == [(f"claude_code:{SESSION}", 50_002, 0)]


# Copies


def own(lines: list[dict[str, Any]], session: str) -> list[dict[str, Any]]:
    return [{**data, "sessionId": session} for data in lines]


def test_lines_of_another_session_are_copies_and_name_the_parent(tmp_path: Path) -> None:
    lines = [*TALK, *own([said("u9", "a5", "Go on."), replied("a9", "u9", use("t9"))], OTHER)]
    sessions, _ = read_all(READER, save(tmp_path, lines, f"{OTHER}.jsonl"))
    assert sessions[0].parent == Parent(id=f"claude_code:{SESSION}", link=Link.BRANCH)
    assert [c.request.id for c in sessions[0].calls] == ["t9"]
    assert {m.fate for m in sessions[0].messages[:5]} == {Fate.COPIED}


def test_forked_lines_are_copies_even_if_nothing_was_added(tmp_path: Path) -> None:
    origin = {"sessionId": SESSION, "messageUuid": "u1"}
    lines = [{**data, "sessionId": OTHER, "forkedFrom": origin} for data in TALK]
    sessions, _ = read_all(READER, save(tmp_path, lines, f"{OTHER}.jsonl"))
    assert sessions[0].parent == Parent(id=f"claude_code:{SESSION}", link=Link.BRANCH)
    assert (sessions[0].calls, sessions[0].tokens) == ((), Tokens())


@pytest.mark.parametrize("original_first", [True, False])
def test_a_resumed_file_repeats_no_call(tmp_path: Path, *, original_first: bool) -> None:
    more = own([said("u9", "a5", "Go on."), replied("a9", "u9", use("t9"), "msg_9")], OTHER)
    first = save(tmp_path, TALK)
    second = save(tmp_path, [*own(TALK, OTHER), *more], f"{OTHER}.jsonl")
    os.utime(first if original_first else second, (1, 1))
    sessions, _ = read_all(READER, tmp_path)
    ids = [c.request.id for s in sessions for c in s.calls]
    assert sorted(filter(None, ids)) == ["t1", "t2", "t9"]


def test_an_original_read_after_its_fork_still_counts(tmp_path: Path) -> None:
    fork = save(tmp_path, [*TALK, *own([said("u9", "a5", "Go on.")], OTHER)], f"{OTHER}.jsonl")
    save(tmp_path, TALK)
    os.utime(fork, (1, 1))
    sessions, _ = read_all(READER, tmp_path)
    assert [(s.native_id, len(s.calls)) for s in sessions] == [(OTHER, 0), (SESSION, 2)]


def test_a_session_saved_twice_is_read_once(tmp_path: Path) -> None:
    save(tmp_path, TALK)
    write(tmp_path, f"{SESSION}.jsonl.gz", gzip.compress(to_jsonl(TALK)))
    sessions, log = read_all(READER, tmp_path)
    assert [s.native_id for s in sessions] == [SESSION]
    assert log.counts["copy of a session already read"] == 1


def test_short_ids_that_unrelated_files_share_make_no_copies(tmp_path: Path) -> None:
    other = own([said("u1", None, "Else."), replied("a3", "u1", use("t1"))], OTHER)
    save(tmp_path, TALK)
    save(tmp_path, other, f"{OTHER}.jsonl")
    sessions, _ = read_all(READER, tmp_path)
    assert sorted(len(s.calls) for s in sessions) == [1, 2]


def test_an_answer_of_the_api_is_known_again_by_its_id(tmp_path: Path) -> None:
    answer = "msg_01ACMEacmeACMEacme"
    save(tmp_path, [replied("a1", None, use("t1"), answer), got("r1", "a1", "t1")])
    copy = own([replied("z1", None, use("t1"), answer), got("z2", "z1", "t1")], OTHER)
    save(tmp_path, copy, f"{OTHER}.jsonl")
    sessions, _ = read_all(READER, tmp_path)
    assert sum(len(s.calls) for s in sessions) == 1
    assert [m.fate for m in sessions[1].messages] == [Fate.COPIED] * 2


def test_a_renamed_file_keeps_the_session_it_was_written_for(tmp_path: Path) -> None:
    sessions, _ = read_all(READER, save(tmp_path, TALK, "transcript.jsonl"))
    assert (sessions[0].native_id, len(sessions[0].calls)) == (SESSION, 2)


def test_a_file_without_session_ids_is_named_by_its_file(tmp_path: Path) -> None:
    lines = [{**data, "sessionId": 7} for data in TALK]
    sessions, _ = read_all(READER, save(tmp_path, lines, "old.jsonl.gz"))
    assert (sessions[0].native_id, len(sessions[0].calls)) == ("old", 2)


# Subagents


def side(data: dict[str, Any], agent: str | None = None) -> dict[str, Any]:
    return {**data, "isSidechain": True, **({"agentId": agent} if agent else {})}


def test_sidechains_of_old_files_are_sessions_of_their_own(tmp_path: Path) -> None:
    lines = [
        *TALK,
        side(said("s1", None, "Find the config.")),
        side(line("attachment", "s2", "s1", attachment={})),
        side(replied("s3", "s2", use("t8"), "msg_8")),
        side(said("s4", None, "Find the docs.")),
        side(said("s5", None, "Named."), "ab12"),
    ]
    sessions, _ = read_all(READER, save(tmp_path, lines))
    ids = [f"{SESSION}:{name}" for name in ("sidechain-1", "sidechain-2", "agent-ab12")]
    assert [s.native_id for s in sessions] == [SESSION, *ids]
    assert [len(s.calls) for s in sessions] == [2, 1, 0, 0]
    assert sessions[1].parent == Parent(id=f"claude_code:{SESSION}", link=Link.SUBAGENT)


AGENT = [side(said("s1", None, "Find it."), "ab12"), side(replied("s2", "s1", use("t8")), "ab12")]


def test_a_subagents_file_belongs_to_the_session_of_its_folder(tmp_path: Path) -> None:
    path = save(tmp_path, AGENT, f"shop/{SESSION}/subagents/agent-ab12.jsonl")
    meta = {"agentType": "Explore", "description": "Find the config", "toolUseId": "t1"}
    write(path.parent, "agent-ab12.meta.json", json.dumps(meta).encode())
    (session,), log = read_all(READER, path)
    assert session.native_id == f"{SESSION}:agent-ab12"
    assert session.parent == Parent(id=f"claude_code:{SESSION}", link=Link.SUBAGENT)
    assert (session.title, len(session.calls), log.total) == ("Find the config", 1, 0)


def test_a_folder_that_only_happens_to_be_named_so_owns_nothing(tmp_path: Path) -> None:
    path = save(tmp_path, AGENT, "notes/subagents/agent-ab12.jsonl")
    assert read_all(READER, path)[0][0].native_id == f"{SESSION}:agent-ab12"


def test_a_line_without_a_working_folder_leaves_it_to_the_next(tmp_path: Path) -> None:
    first = {key: value for key, value in TALK[1].items() if key != "cwd"}
    assert read_one(tmp_path, [first, said("u2", "u1", "Go.")]).project == "/home/dev/shop"


def test_a_subagents_subagent_has_it_for_a_parent(tmp_path: Path) -> None:
    path = save(tmp_path, AGENT, f"{SESSION}/subagents/agent-ab12.jsonl")
    write(path.parent, "agent-ab12.meta.json", b'{"parentAgentId": "cd34"}')
    parent = read_all(READER, path)[0][0].parent
    assert parent == Parent(id=f"claude_code:{SESSION}:agent-cd34", link=Link.SUBAGENT)


def test_a_broken_sidecar_costs_only_itself(tmp_path: Path) -> None:
    path = save(tmp_path, AGENT, "agent-ab12.jsonl")
    write(tmp_path, "agent-ab12.meta.json", b"{")
    sessions, log = read_all(READER, path)
    assert [s.native_id for s in sessions] == [f"{SESSION}:agent-ab12"]
    assert log.counts["unreadable .meta.json of a subagent"] == 1


def test_a_subagent_of_no_known_session_is_named_by_its_file(tmp_path: Path) -> None:
    lines = [{**data, "sessionId": None} for data in AGENT]
    (session,), _ = read_all(READER, save(tmp_path, lines, "agent-ab12.jsonl"))
    assert (session.native_id, session.parent) == ("agent-ab12", None)


# Folders


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A configuration folder: two projects, subagents, and files that are no transcripts."""
    root = tmp_path / "claude"
    save(root / "projects/-home-dev-shop", TALK)
    agents = f"projects/-home-dev-shop/{SESSION}/subagents"
    save(root / agents, AGENT, "agent-ab12.jsonl")
    save(root / agents, AGENT[:1], "workflows/wf_1/agent-ef56.jsonl")
    write(root / agents, "workflows/wf_1/journal.jsonl", b'{"type":"started","key":"x"}\n')
    write(root / agents, "agent-ab12.meta.json", b"{}")
    write(root, "projects/-home-dev-shop/sessions-index.json", b"{}")
    late = own([said("v1", None, "Hello.", timestamp="2026-04-01T00:00:00Z")], OTHER)
    packed = gzip.compress(to_jsonl(late))
    early = write(root, f"projects/-home-dev-blog/{OTHER}.jsonl.gz", packed)
    os.utime(early, (1, 1))
    write(root, "settings.json", b"{}")
    write(root, "history.jsonl", b'{"display":"Hello."}\n')
    return root


NAMES = [OTHER, SESSION, f"{SESSION}:agent-ab12", f"{SESSION}:agent-ef56"]


@pytest.mark.parametrize(
    ("inner", "names"),
    [
        ("", NAMES),
        ("projects", NAMES),
        ("projects/-home-dev-shop", NAMES[1:]),
        (f"projects/-home-dev-shop/{SESSION}", NAMES[2:]),
        (f"projects/-home-dev-shop/{SESSION}/subagents", NAMES[2:]),
    ],
)
def test_each_folder_of_a_home_is_read_as_a_whole(home: Path, inner: str, names: list[str]) -> None:
    log = ReadLog()
    sessions = list(read_sessions(home / inner, log))
    assert [s.native_id for s in sessions] == names
    assert log.total == 0


def test_a_folder_around_a_home_is_walked(home: Path) -> None:
    log = ReadLog()
    assert sorted(s.native_id for s in read_sessions(home.parent, log)) == sorted(NAMES)
    assert log.total == 0


def test_subagents_without_their_session_are_read(home: Path) -> None:
    (home / f"projects/-home-dev-shop/{SESSION}.jsonl").unlink()
    sessions = list(read_sessions(home / "projects", ReadLog()))
    assert [s.native_id for s in sessions] == [NAMES[0], *NAMES[2:]]


def test_a_folder_with_other_data_in_it_is_left_to_the_walk(home: Path) -> None:
    project = home / "projects/-home-dev-shop"
    write(project, "export.json", b'{"messages": []}')
    assert not READER.recognises(probe_path(project))
    assert not READER.recognises(probe_path(home / "projects"))
    write(home, "projects/x/codex/rollout.jsonl", b"{}\n")
    assert not READER.recognises(probe_path(home / "projects/x"))


def test_a_folder_of_other_files_is_not_claimed(tmp_path: Path) -> None:
    write(tmp_path, f"projects/shop/{SESSION}.jsonl", b'{"role":"user"}\n')
    write(tmp_path, "projects/blog/readme.txt", b"x")
    for inner in ("", "projects", "projects/shop", "projects/blog"):
        assert not READER.recognises(probe_path(tmp_path / inner))


def test_names_that_promise_too_much_are_looked_into(tmp_path: Path) -> None:
    write(tmp_path, "one/projects", b"no folder")
    write(tmp_path, f"two/{SESSION}.jsonl.gz", gzip.compress(to_jsonl(TALK))[:9])
    assert not READER.recognises(probe_path(tmp_path / "one"))
    assert not READER.recognises(probe_path(tmp_path / "two"))


def test_a_file_that_vanishes_while_listing_is_counted(tmp_path: Path) -> None:
    save(tmp_path, TALK)
    save(tmp_path, TALK, f"{OTHER}.jsonl")
    log = ReadLog()
    units = READER.units(tmp_path, log)
    kept = next(units).path
    next(path for path in tmp_path.iterdir() if path != kept).unlink()
    assert list(units) == []
    assert log.total == 1


def test_a_forced_folder_without_sessions_is_counted(tmp_path: Path) -> None:
    log = ReadLog()
    assert list(READER.units(tmp_path, log)) == []
    assert log.counts["folder holds no session"] == 1


def test_a_sidecar_alone_has_no_session(tmp_path: Path) -> None:
    path = write(tmp_path, "agent-ab12.meta.json", b'{"toolUseId":"t1"}')
    assert READER.recognises(probe_path(path))
    assert list(READER.units(path, ReadLog())) == []


@pytest.mark.parametrize(
    "first",
    [
        {"type": "summary", "summary": "Tests", "leafUuid": "a5"},
        {"type": "file-history-snapshot", "messageId": "u1", "snapshot": {}},
        {"type": "queue-operation", "operation": "enqueue", "sessionId": SESSION},
        {"type": "user", "sessionId": SESSION, "message": {"role": "user", "content": "Hi."}},
        TALK[1],
    ],
)
def test_a_file_is_known_by_whatever_line_it_begins_with(
    tmp_path: Path, first: dict[str, Any]
) -> None:
    found = find_reader(probe_path(save(tmp_path, [first], "x.jsonl")))
    assert found is not None
    assert found.name == "claude_code"


@pytest.mark.parametrize(
    "first",
    [
        {"type": 5, "parentUuid": None},
        {"type": "session_meta", "payload": {"id": "x"}},
        {"type": "session.start", "data": {"sessionId": SESSION}, "parentId": None},
        {"sessionId": SESSION, "kind": "main", "projectHash": "x"},
        {"type": "user", "message": {"role": "user", "content": "Hi."}, "session_id": SESSION},
    ],
)
def test_lines_of_other_agents_are_not_claimed(tmp_path: Path, first: dict[str, Any]) -> None:
    assert not READER.recognises(probe_path(save(tmp_path, [first], "x.jsonl")))


# Bad input

MIXED = [*TALK, *AGENT, *own(TALK[1:3], OTHER), line("system", "b1", None, compactMetadata={},
         subtype="compact_boundary"), said("u7", "a5", "x"), said("u8", "a5", "y"),
         {**said("u9", "u8", "z"), "forkedFrom": {"sessionId": OTHER}, "origin": {"kind": "human"}},
         line("attachment", "x1", "u9", attachment={"type": "hook_success", "content": "x"})]  # fmt: skip


@given(damaged(to_jsonl(MIXED)))
def test_damaged_bytes_never_break_the_reader(tmp_path: Path, data: bytes) -> None:
    survive(READER, write(tmp_path, f"{SESSION}.jsonl", data))


@given(retyped(MIXED))
def test_wrong_types_never_break_the_reader(tmp_path: Path, lines: Any) -> None:
    path = save(tmp_path, lines)
    survive(READER, path)
    READER.recognises(probe_path(path))


@given(retyped([*AGENT, {"toolUseId": "t1", "description": "x", "parentAgentId": "y"}]))
def test_wrong_types_never_break_a_subagent(tmp_path: Path, lines: Any) -> None:
    path = save(tmp_path, lines, "agent-ab12.jsonl")
    write(tmp_path, "agent-ab12.meta.json", json.dumps(lines[-1]).encode())
    survive(READER, path)


# The corpus


@pytest.mark.corpus
def test_every_real_transcript_is_read_and_agrees_with_its_labels(corpus: Path) -> None:
    log = ReadLog()
    sessions = list(read_sessions(corpus / "claude_code", log))
    flags = {
        (s.native_id, c.tool, c.result.text.strip()[:150], c.result.is_error)
        for s in sessions
        for c in s.calls
        if c.result
    }
    with gzip.open(corpus / "labelled" / "calls.jsonl.gz") as rows:
        labels = [row for row in map(orjson.loads, rows) if row["source"] == "claude_code"]
    here = {s.native_id for s in sessions}
    asked = [
        (row["session"], row["tool_name"], row["result_text"].strip()[:150], row["label_error"])
        for row in labels
        if row["session"] in here
    ]
    assert len(asked) > 600
    assert set(asked) <= flags
    assert not [reason for reason in log.counts if "failed" in reason]


@pytest.mark.corpus
def test_a_project_of_real_transcripts_is_taken_as_a_whole(corpus: Path) -> None:
    projects = [path for path in (corpus / "claude_code").iterdir() if path.is_dir()]
    assert projects
    assert all(READER.recognises(probe_path(path)) for path in projects)
