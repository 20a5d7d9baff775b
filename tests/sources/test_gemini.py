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

GEMINI = READERS["gemini"]
NAME = "session-2026-03-02T10-00-abcd1234.jsonl"
STAMP = "2026-03-02T10:00:05.000Z"
HEADER = {
    "sessionId": "s1",
    "projectHash": "f00d",
    "startTime": "2026-03-02T10:00:00.000Z",
    "lastUpdated": "2026-03-02T10:00:01.000Z",
    "kind": "main",
}
Record = dict[str, Any]


def message(name: str, kind: str, content: Any = "", **more: Any) -> Record:
    return {"id": name, "timestamp": STAMP, "type": kind, "content": content, **more}


def user(name: str, text: str) -> Record:
    return message(name, "user", [{"text": text}])


def tool_call(name: str, status: str, response: Any = None, **more: Any) -> Record:
    answer = [{"functionResponse": {"id": name, "name": "read_file", "response": response}}]
    result = answer if response is not None else None
    return {"id": name, "name": "read_file", "args": {"path": "a.txt"}, "status": status,
            "result": result, **more}  # fmt: skip


def asking(name: str, *calls: Record, **more: Any) -> Record:
    return message(name, "gemini", toolCalls=list(calls), model="gemini-x", **more)


CHAT = [
    HEADER,
    message("m0", "user", [{"text": "<session_context>\nToday"}]),
    user("m1", "what is in a.txt?"),
    asking("m2", tool_call("c1", "executing")),
    {"$set": {"lastUpdated": "2026-03-02T10:00:09.000Z"}},
    asking(
        "m2",
        tool_call("c1", "success", {"output": "hello"}),
        thoughts=[{"subject": "Plan", "description": "read it"}],
        tokens={"input": 100, "output": 10, "cached": 40, "thoughts": 5, "tool": 2, "total": 117},
    ),
    message("m3", "info", "Request cancelled."),
    message("m4", "gemini", "It says hello.", model="gemini-x"),
]


def read(folder: Path, *records: Record, name: str = NAME) -> Session:
    sessions, log = read_all(GEMINI, write(folder, name, to_jsonl(records)))
    assert log.sentences() == []
    assert len(sessions) == 1
    return sessions[0]


def spoken(session: Session) -> list[tuple[str, Fate]]:
    return [(m.text, m.fate) for m in session.messages if m.text]


def test_the_header_and_its_updates_describe_the_session(tmp_path: Path) -> None:
    session = read(tmp_path, *CHAT, {"$set": {"summary": "Reads a file", "sessionId": "s2"}})
    assert (session.id, session.title, session.project) == ("gemini:s1", "Reads a file", "f00d")
    assert (session.started_at, session.ended_at) == (1772445600.0, 1772445609.0)
    assert session.model == "gemini-x"


def test_a_rewritten_message_keeps_its_place_and_its_last_content(tmp_path: Path) -> None:
    session = read(tmp_path, *CHAT)
    assert [m.native_id for m in session.messages] == ["m0", "m1", "m2", None, "m3", "m4"]
    assert len(session.calls) == 1
    assert session.calls[0].result is not None
    assert session.calls[0].result.text == "hello"


def test_thoughts_and_tokens_are_counted_once(tmp_path: Path) -> None:
    session = read(tmp_path, *CHAT)
    assert session.messages[2].reasoning == "Plan: read it"
    assert session.tokens == Tokens(input=62, cache_read=40, output=15, reasoning=5)
    assert session.tokens.total == 117


def test_what_the_harness_says_is_injected(tmp_path: Path) -> None:
    session = read(tmp_path, *CHAT, message("m5", "error", "no capacity"))
    injected = [(m.role, m.native_id) for m in session.messages if m.kind is Kind.INJECTED]
    assert injected == [(Role.USER, "m0"), (Role.SYSTEM, "m3"), (Role.SYSTEM, "m5")]


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (tool_call("c1", "success", {"output": "ok"}), ("ok", False, None)),
        (tool_call("c1", "error", {"error": "no such file"}), ("no such file", True, None)),
        (tool_call("c1", "cancelled", {"error": "[Operation Cancelled]"}),
         ("[Operation Cancelled]", None, Status.CANCELLED)),
        (tool_call("c1", "success", {"items": 2}), ('{"items":2}', False, None)),
        (tool_call("c1", "success", resultDisplay="Listed 2"), ("Listed 2", False, None)),
        (tool_call("c1", "success") | {"result": "plain"}, ("plain", False, None)),
    ],
)  # fmt: skip
def test_results_carry_the_status_and_the_text_the_model_saw(
    tmp_path: Path, call: Record, expected: Any
) -> None:
    result = read(tmp_path, HEADER, asking("m1", call)).calls[0].result
    assert result is not None
    assert (result.text, result.is_error, result.status) == expected


def test_a_call_still_running_is_unanswered(tmp_path: Path) -> None:
    session = read(tmp_path, HEADER, asking("m1", tool_call("c1", "executing")))
    assert session.calls[0].outcome.status is Status.UNANSWERED


def test_rewinding_takes_back_the_message_and_all_after_it(tmp_path: Path) -> None:
    again = user("m4", "again")
    session = read(tmp_path, *CHAT, {"$rewindTo": "m2"}, again)
    assert session.calls == ()
    assert [m.fate for m in session.messages] == [Fate.LIVE] * 2 + [Fate.REWOUND] * 4 + [Fate.LIVE]


def test_a_rewind_to_an_unknown_message_is_reported_and_takes_nothing(tmp_path: Path) -> None:
    path = write(tmp_path, NAME, to_jsonl([*CHAT, {"$rewindTo": "gone"}]))
    sessions, log = read_all(GEMINI, path)
    assert log.counts == {"rewind to an unknown message": 1}
    assert len(sessions[0].calls) == 1


def test_a_compression_archives_what_it_replaced_and_copies_its_tail(tmp_path: Path) -> None:
    tail = asking("m2", tool_call("c1", "success", {"output": "hello"}))
    copied = message(
        "n3", "gemini", [{"functionCall": {"name": "read_file", "args": {"path": "a.txt"}}}]
    )
    masked = message(
        "n4", "user", [{"functionResponse": {"id": "c1", "response": {"output": "…"}}}]
    )
    history = [
        user("n1", "<state_snapshot>half done</state_snapshot>"),
        message("n2", "gemini", [{"text": "Got it."}]),
        copied,
        masked,
    ]
    session = read(
        tmp_path, HEADER, user("m1", "go"), tail, {"$set": {"messages": history}}, user("m5", "on")
    )
    assert [c.at for c in session.compactions] == [3]
    assert [m.fate for m in session.messages[:3]] == [Fate.ARCHIVED] * 3
    assert [m.kind for m in session.messages[3:5]] == [Kind.SUMMARY, Kind.INJECTED]
    assert [m.fate for m in session.messages[5:]] == [Fate.COPIED, Fate.COPIED, Fate.LIVE]
    assert len(session.calls) == 1


def test_a_history_that_masks_results_changes_nothing_that_happened(tmp_path: Path) -> None:
    masked = asking("m2", tool_call("c1", "success", {"output": "[masked]"}))
    session = read(tmp_path, *CHAT, {"$set": {"messages": [CHAT[2], masked, CHAT[7]]}})
    assert session.calls[0].result is not None
    assert session.calls[0].result.text == "hello"
    assert session.compactions == ()


def test_a_history_without_new_messages_is_no_compression(tmp_path: Path) -> None:
    session = read(tmp_path, HEADER, user("m1", "stop that"), {"$set": {"messages": []}})
    assert spoken(session) == [("stop that", Fate.ARCHIVED)]
    assert session.compactions == ()


def test_calls_known_only_as_parts_are_read_from_them(tmp_path: Path) -> None:
    parts = [
        {"text": "**hidden**", "thought": True},
        {"text": "I look."},
        {"functionCall": {"id": "c1", "name": "ls", "args": {}}},
    ]
    reply = [{"functionResponse": {"id": "c1", "name": "ls", "response": {"output": "a.txt"}}}]
    session = read(tmp_path, HEADER, message("m1", "gemini", parts), message("m2", "user", reply))
    assert [(m.role, m.text) for m in session.messages] == [
        (Role.ASSISTANT, "I look."),
        (Role.TOOL, ""),
    ]
    assert session.calls[0].result is not None
    assert session.calls[0].result.text == "a.txt"


def test_the_users_words_are_what_was_typed_not_the_files_pulled_in(tmp_path: Path) -> None:
    asked = message("m1", "user", [{"text": "see @a.txt"}, {"text": "contents"}],
                    displayContent=[{"text": "see @a.txt"}])  # fmt: skip
    assert read(tmp_path, HEADER, asked).messages[0].text == "see @a.txt"


def test_a_subagents_chat_knows_its_parent_by_its_folder(tmp_path: Path) -> None:
    header = HEADER | {"sessionId": "child", "kind": "subagent", "directories": ["/home/dev/shop"]}
    session = read(tmp_path, header, user("m1", "go"), name="tmp/shop/chats/s1/child.jsonl")
    assert session.parent is not None
    assert (session.parent.id, session.parent.link) == ("gemini:s1", Link.SUBAGENT)
    assert session.project == "/home/dev/shop"


def test_a_parent_named_in_the_header_is_taken_and_none_is_made_up(tmp_path: Path) -> None:
    child = HEADER | {"kind": "subagent"}
    named = read(tmp_path, child | {"parentSessionId": "p1"}, user("m1", "go")).parent
    assert named is not None
    assert named.id == "gemini:p1"
    assert read(tmp_path, child, user("m1", "go")).parent is None


def test_the_project_is_the_root_kept_beside_the_chats(tmp_path: Path) -> None:
    write(tmp_path, "tmp/shop/.project_root", b"/home/dev/shop\n")
    session = read(tmp_path, *CHAT, name=f"tmp/shop/chats/{NAME}")
    assert session.project == "/home/dev/shop"


def test_the_older_document_is_read(tmp_path: Path) -> None:
    document = {**HEADER, "summary": "Old", "messages": [CHAT[2], CHAT[5], CHAT[7]]}
    path = write(tmp_path, "session-old.json", json.dumps(document, indent=2).encode())
    assert find_reader(probe_path(path)) is GEMINI
    sessions, log = read_all(GEMINI, path)
    assert [(s.title, len(s.calls), len(s.messages)) for s in sessions] == [("Old", 1, 4)]
    assert log.total == 0


def test_a_home_lists_each_chat_once(tmp_path: Path) -> None:
    chats = "tmp/shop/chats"
    write(tmp_path, f"{chats}/session-b.json", json.dumps({**HEADER, "messages": []}).encode())
    write(tmp_path, f"{chats}/session-b.jsonl", to_jsonl(CHAT))
    write(tmp_path, f"{chats}/session-a.json", json.dumps({**HEADER, "sessionId": "s0"}).encode())
    write(tmp_path, f"{chats}/s1/child.jsonl", to_jsonl([HEADER | {"sessionId": "s3"}]))
    write(tmp_path, f"{chats}/session-a.json.lock", b"")
    assert find_reader(probe_path(tmp_path)) is GEMINI
    assert [s.native_id for s in read_all(GEMINI, tmp_path)[0]] == ["s3", "s0", "s1"]


def test_a_folder_without_chats_is_not_claimed(tmp_path: Path) -> None:
    write(tmp_path, "tmp/shop/logs.json", b"[]")
    assert not GEMINI.recognises(probe_path(tmp_path))


@pytest.mark.parametrize("records", [[{"sessionId": "x", "type": "user"}], [user("m1", "go")]])
def test_other_files_are_not_claimed(tmp_path: Path, records: list[Record]) -> None:
    assert not GEMINI.recognises(probe_path(write(tmp_path, "other.jsonl", to_jsonl(records))))


def test_a_chat_without_a_header_is_named_after_its_file(tmp_path: Path) -> None:
    assert read(tmp_path, user("m1", "go")).native_id == NAME.removesuffix(".jsonl")


def test_lines_of_no_known_shape_are_counted(tmp_path: Path) -> None:
    path = write(tmp_path, NAME, to_jsonl([{"something": "else"}, {"id": 7, "type": "user"}]))
    sessions, log = read_all(GEMINI, path)
    assert log.counts == {"line of no known shape": 2}
    assert sessions == []


REPLAYED = [*CHAT, {"$set": {"messages": [user("n1", "short"), CHAT[7]]}}, {"$rewindTo": "m4"}]


@given(data=st.data())
def test_a_damaged_chat_never_raises(data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder:
        survive(GEMINI, write(Path(folder), NAME, data.draw(damaged(to_jsonl(REPLAYED)))))


@given(records=retyped(REPLAYED))
def test_wrong_types_never_raise(records: list[Any]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = write(Path(folder), NAME, to_jsonl(records))
        GEMINI.recognises(probe_path(path))
        survive(GEMINI, path)


@pytest.mark.corpus
def test_real_chats_are_read_whole(corpus: Path) -> None:
    for path in sorted((corpus / "gemini").iterdir()):
        sessions, log = read_all(GEMINI, path)
        assert find_reader(probe_path(path)) is GEMINI
        assert log.sentences() == []
        assert all(s.calls and s.model and s.tokens.total for s in sessions)
