from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from support.badinput import to_jsonl, write
from support.limited import read_limited
from warmstart.model import Session
from warmstart.sources import ReadLog, read_sessions
from warmstart.sources.joining import LOST_RESULTS, NO_RESULTS

Entry = dict[str, Any]


def ask(*calls: tuple[str | None, str], **fields: Any) -> Entry:
    """A message that asks for tools, by id and name."""
    written = [
        {"type": "function", "function": {"name": name, "arguments": "{}"}}
        | ({} if call_id is None else {"id": call_id})
        for call_id, name in calls
    ]
    return {"role": "assistant", "content": None, "tool_calls": written, **fields}


def answer(text: str, call_id: str | None = None, role: str = "tool", **fields: Any) -> Entry:
    named = {} if call_id is None else {"tool_call_id": call_id}
    return {"role": role, "content": text, **named, **fields}


def chat(*messages: Entry) -> list[Entry]:
    return [{"role": "user", "content": "Go."}, *messages, {"role": "assistant", "content": "Ok."}]


def read(path: Path) -> tuple[list[Session], ReadLog]:
    log = ReadLog()
    return list(read_sessions(path, log)), log


def read_one(folder: Path, document: Any, name: str = "a.json") -> tuple[list[str | None], ReadLog]:
    """What each call got."""
    (session,), log = read(write(folder, name, json.dumps(document).encode()))
    return [call.result.text if call.result else None for call in session.calls], log


TWO = ask(("c1", "ls"), ("c2", "cat"))


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        ([TWO, answer("1"), answer("2")], ["1", "2"]),
        ([TWO, answer("2", name="cat"), answer("1", name="ls")], ["1", "2"]),
        ([TWO, answer("1", "x1"), answer("2", "x2")], ["1", "2"]),
        ([ask((None, "ls"), (None, "cat")), answer("1", "x1"), answer("2", "x2")], ["1", "2"]),
        ([ask(("c", "ls")), answer("1", "c"), ask(("c", "ls")), answer("2", "c")], ["1", "2"]),
        ([ask(("c", "a"), ("c", "b")), answer("1", "z"), answer("2", "z")], ["1", "2"]),
        ([ask(("c1", "ls")), ask(("c2", "ls")), answer("1"), answer("2")], ["1", "2"]),
        ([ask(("c1", "ls")), answer("1"), ask(("c2", "ls")), answer("2")], ["1", "2"]),
        ([TWO, answer("1"), ask(("c3", "ls")), answer("3")], ["1", None, "3"]),
        ([TWO, answer("1", role="observation"), answer("2", role="ipython")], ["1", "2"]),
        ([TWO, answer("1", role="function"), answer("2", role="environment")], ["1", "2"]),
    ],
)
def test_results_are_joined_by_order_where_ids_are_no_use(
    tmp_path: Path, messages: list[Entry], expected: list[str | None]
) -> None:
    found, log = read_one(tmp_path, chat(*messages))
    assert (found, log.total) == (expected, 0)


def test_ids_that_fit_are_not_overruled(tmp_path: Path) -> None:
    messages = chat(TWO, answer("2", "c2"), answer("1", "c1"), answer("late", "gone"))
    assert read_one(tmp_path, messages)[0] == ["1", "2"]


def test_results_may_stand_beside_their_calls(tmp_path: Path) -> None:
    asked = ask(("c1", "ls"), (None, "cat"))
    asked["tool_calls"][0]["output"] = "1"
    asked["tool_calls"][1]["result"] = {"ok": True}
    assert read_one(tmp_path, chat(asked))[0] == ["1", '{"ok":true}']


def test_results_may_be_blocks_of_the_user(tmp_path: Path) -> None:
    blocks = [
        {"type": "tool_result", "tool_use_id": "c1", "content": "1"},
        {"type": "tool_result", "tool_use_id": "c2", "content": "2", "is_error": True},
        {"type": "text", "text": "And now?"},
    ]
    messages = chat(TWO, {"role": "user", "content": blocks})
    for document in (messages, [{"messages": messages}]):
        assert read_one(tmp_path, document)[0] == ["1", "2"]
    (session,), _ = read(tmp_path / "a.json")
    assert [m.text for m in session.messages if m.results] == ["And now?"]


@pytest.mark.parametrize("key", ["messages", "conversation", "traj", "trajectory", "history"])
def test_conversations_are_found_under_the_names_that_benchmarks_use(
    tmp_path: Path, key: str
) -> None:
    talk = chat(TWO, answer("1"), answer("2"))
    records = [{"task": 1, key: talk}, {"task": 2, key: talk}]
    for data in (json.dumps(records).encode(), to_jsonl(records)):
        sessions, log = read(write(tmp_path, "a.json", data))
        assert ([len(s.calls) for s in sessions], log.total) == ([2, 2], 0)
        assert all(call.result for s in sessions for call in s.calls)


def test_a_list_of_lists_is_many_conversations(tmp_path: Path) -> None:
    talk = chat(TWO, answer("1", "c1"), answer("2", "c2"))
    sessions, log = read(write(tmp_path, "a.json", json.dumps([talk, talk]).encode()))
    assert ([len(s.calls) for s in sessions], log.total) == ([2, 2], 0)


def test_a_list_of_lists_may_be_of_anthropic_messages(tmp_path: Path) -> None:
    use = {"type": "tool_use", "id": "t1", "name": "ls", "input": {}}
    talk = [
        {"role": "assistant", "content": [use]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "x", "content": "1"}]},
    ]
    sessions, _ = read(write(tmp_path, "a.json", json.dumps([talk]).encode()))
    assert [(s.origin, s.calls[0].result is not None) for s in sessions] == [("anthropic", True)]


def test_a_chat_that_goes_on_without_any_result_is_reported(tmp_path: Path) -> None:
    spoken = {"role": "user", "content": "OBSERVATION: 1"}
    found, log = read_one(tmp_path, chat(TWO, spoken, ask(("c3", "ls")), spoken))
    assert found == [None] * 3
    assert dict(log.counts) == {NO_RESULTS: 3}


def test_a_last_call_without_a_result_is_no_news(tmp_path: Path) -> None:
    _, log = read_one(tmp_path, [{"role": "user", "content": "Go."}, TWO])
    assert log.total == 0


def test_results_that_fit_no_call_are_reported(tmp_path: Path) -> None:
    messages = [*(answer(str(n), f"x{n}") for n in range(12)), TWO]
    found, log = read_one(tmp_path, chat(*messages))
    assert found == [None, None]
    assert dict(log.counts) == {LOST_RESULTS: 12}


def test_a_sharegpt_file_without_results_is_reported(tmp_path: Path) -> None:
    asked = {"from": "gpt", "value": '<tool_call>{"name": "ls", "arguments": {}}</tool_call>'}
    talk = {"conversations": [asked, {"from": "human", "value": "1"}, asked]}
    _, log = read(write(tmp_path, "a.jsonl", to_jsonl([talk])))
    assert dict(log.counts) == {NO_RESULTS: 2}


def test_joining_takes_no_longer_than_there_are_calls(tmp_path: Path) -> None:
    asked = ask(*((f"c{n}", f"t{n % 7}") for n in range(60_000)))
    given = [answer("x", f"x{n}", name=f"t{n % 5}") for n in range(60_000)]
    path = write(tmp_path, "a.json", json.dumps(chat(asked, *given)).encode())
    assert read_limited(path).sessions[0][2] == 60_000
