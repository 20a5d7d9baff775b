from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from support.badinput import damaged, read_all, retyped, survive, write
from warmstart.model import Compaction, Fate, Link, Role, Session
from warmstart.sources import ReadLog
from warmstart.sources.probe import probe_path
from warmstart.sources.readers.openai_agents import OpenAIAgents
from warmstart.sources.registry import find_reader

BASE = """
CREATE TABLE agent_sessions (session_id TEXT PRIMARY KEY,
    created_at TIMESTAMP DEFAULT '2026-11-01 10:00:00',
    updated_at TIMESTAMP DEFAULT '2026-11-01 10:00:00');
CREATE TABLE agent_messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL,
    message_data TEXT, created_at TIMESTAMP DEFAULT '2026-11-01 10:00:05');
"""
ADVANCED = """
CREATE TABLE message_structure (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT,
    message_id INTEGER, branch_id TEXT DEFAULT 'main', message_type TEXT, sequence_number INTEGER);
CREATE TABLE turn_usage (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT, branch_id TEXT,
    user_turn_number INTEGER, input_tokens INTEGER, output_tokens INTEGER, total_tokens INTEGER,
    input_tokens_details JSON, output_tokens_details JSON);
"""
Item = dict[str, Any]


def call(call_id: str, name: str = "shell", arguments: str = '{"cmd": "ls"}') -> Item:
    return {"type": "function_call", "call_id": call_id, "name": name, "arguments": arguments}


def output(call_id: str, value: Any = "a.txt") -> Item:
    return {"type": "function_call_output", "call_id": call_id, "output": value}


def said(text: str) -> Item:
    return {
        "type": "message",
        "id": "msg_1",
        "role": "assistant",
        "content": [{"type": "output_text", "text": text, "annotations": []}],
    }


TALK = [
    {"role": "user", "content": "list the files"},
    {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "use ls"}]},
    said("Looking."),
    call("c1"),
    call("c2", arguments="{half"),
    output("c2", [{"type": "input_text", "text": "b.txt"}]),
    output("c1"),
    said("Done."),
]


def make(folder: Path, *sessions: list[Any], extra: str = "") -> Path:
    """Sessions s0, s1, … of one database; what is no object is stored as it stands."""
    path = folder / "agents.db"
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as database, database:
        database.executescript(BASE + extra)
        for number, items in enumerate(sessions):
            key = f"s{number}"
            database.execute("INSERT INTO agent_sessions (session_id) VALUES (?)", (key,))
            cells = [json.dumps(item) if isinstance(item, dict) else item for item in items]
            database.executemany(
                "INSERT INTO agent_messages (session_id, message_data) VALUES (?, ?)",
                [(key, cell) for cell in cells],
            )
    return path


def execute(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path)) as database, database:
        for statement in statements:
            database.execute(statement)


def read(path: Path) -> list[Session]:
    sessions, log = read_all(OpenAIAgents(), path)
    assert log.total == 0
    return sessions


def test_the_two_tables_are_recognised(tmp_path: Path) -> None:
    assert isinstance(find_reader(probe_path(make(tmp_path, TALK))), OpenAIAgents)


def test_items_of_one_response_are_one_message(tmp_path: Path) -> None:
    (session,) = read(make(tmp_path, TALK))
    assert [m.role for m in session.messages] == [
        Role.USER, Role.ASSISTANT, Role.TOOL, Role.TOOL, Role.ASSISTANT,
    ]  # fmt: skip
    response = session.messages[1]
    assert (response.text, response.reasoning) == ("Looking.", "use ls")
    assert [request.id for request in response.requests] == ["c1", "c2"]


def test_calls_are_joined_and_claim_no_outcome(tmp_path: Path) -> None:
    (session,) = read(make(tmp_path, TALK))
    first, second = session.calls
    assert (first.request.arguments, second.request.raw) == ({"cmd": "ls"}, "{half")
    assert [c.result.text for c in session.calls if c.result] == ["a.txt", "b.txt"]
    assert first.result is not None
    assert (first.result.is_error, first.result.exit_code) == (None, None)


def test_times_are_utc_and_sessions_stand_in_order(tmp_path: Path) -> None:
    sessions = read(make(tmp_path, TALK, [said("hi")], []))
    assert [session.native_id for session in sessions] == ["s0", "s1", "s2"]
    assert sessions[0].started_at == 1_793_527_205.0


def test_two_texts_in_a_row_stay_two_messages(tmp_path: Path) -> None:
    (session,) = read(make(tmp_path, [said("one"), said("two"), call("c1"), said("three")]))
    assert [message.text for message in session.messages] == ["one", "two", "three"]


@pytest.mark.parametrize(
    ("item", "tool", "arguments"),
    [
        ({"type": "local_shell_call", "call_id": "c", "action": {"command": ["ls"]}},
         "local_shell_call", {"command": ["ls"]}),
        ({"type": "computer_call", "call_id": "c", "action": {"type": "click"}},
         "computer_call", {"type": "click"}),
        ({"type": "custom_tool_call", "call_id": "c", "name": "sql", "input": '{"q": 1}'},
         "sql", {"q": 1}),
        ({"type": "code_interpreter_call", "id": "c", "code": "1+1"},
         "code_interpreter_call", {"code": "1+1"}),
        ({"type": "file_search_call", "id": "c", "queries": ["x"]},
         "file_search_call", {"queries": ["x"]}),
    ],
)  # fmt: skip
def test_calls_of_other_types_are_kept(
    tmp_path: Path, item: Item, tool: str, arguments: dict[str, Any]
) -> None:
    (session,) = read(make(tmp_path, [item]))
    assert (session.calls[0].tool, session.calls[0].request.arguments) == (tool, arguments)
    assert session.calls[0].result is None


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        ({"type": "mcp_call", "name": "find", "output": "3 hits", "status": "completed"},
         ("3 hits", False)),
        ({"type": "mcp_call", "name": "find", "error": "no such server"}, ("no such server", True)),
        ({"type": "web_search_call", "status": "failed", "action": {"query": "x"}}, ("", True)),
        ({"type": "file_search_call", "status": "completed", "results": [{"text": "t"}]},
         ("t", False)),
        ({"type": "mcp_call", "name": "find", "output": {"hits": 3}}, ('{"hits":3}', None)),
    ],
)  # fmt: skip
def test_a_hosted_call_answers_itself(
    tmp_path: Path, item: Item, expected: tuple[str, bool | None]
) -> None:
    (session,) = read(make(tmp_path, [item | {"id": "h1"}]))
    result = session.calls[0].result
    assert result is not None
    assert (result.text, result.is_error) == expected


def chunk(stdout: str, stderr: str, **outcome: Any) -> Item:
    return {"stdout": stdout, "stderr": stderr, "outcome": outcome}


@pytest.mark.parametrize(
    ("chunks", "expected"),
    [
        ([chunk("ok", "", type="exit", exit_code=0)], ("ok", None, 0)),
        ([chunk("", "no", type="exit", exit_code=2), chunk("ok", "", type="exit", exit_code=0)],
         ("no\nok", None, 2)),
        ([chunk("half", "", type="timeout")], ("half", True, None)),
    ],
)  # fmt: skip
def test_a_shell_says_how_its_commands_ended(
    tmp_path: Path, chunks: list[Item], expected: tuple[str, bool | None, int | None]
) -> None:
    asked = {"type": "shell_call", "call_id": "c", "action": {"commands": ["ls"]}}
    answer = {"type": "shell_call_output", "call_id": "c", "output": chunks}
    (session,) = read(make(tmp_path, [asked, answer]))
    result = session.calls[0].result
    assert result is not None
    assert (result.text, result.is_error, result.exit_code) == expected


@pytest.mark.parametrize("status", ["completed", "failed"])
def test_a_patch_says_whether_it_applied(tmp_path: Path, status: str) -> None:
    asked = {"type": "apply_patch_call", "call_id": "c", "operation": {"path": "a.py"}}
    answer = {"type": "apply_patch_call_output", "call_id": "c", "status": status}
    (session,) = read(make(tmp_path, [asked, answer]))
    assert session.messages[1].results[0].is_error is (status == "failed")


def test_a_compaction_item_is_a_compaction(tmp_path: Path) -> None:
    items = [{"role": "user", "content": "go"}, {"type": "compaction", "id": "cmp"}, said("on")]
    (session,) = read(make(tmp_path, items))
    assert session.compactions == (Compaction(at=1),)
    assert len(session.messages) == 2


def branched(folder: Path) -> Path:
    """Five items on main; a branch shares the first three and goes on with two of its own."""
    items = [
        {"role": "user", "content": "go"}, call("c1"), output("c1"),
        call("c2"), output("c2"),
        call("c3"), output("c3"),
        {"role": "user", "content": "in no branch"},
    ]  # fmt: skip
    path = make(folder, items, extra=ADVANCED)
    places = [("main", n) for n in (1, 2, 3, 4, 5)] + [("try", n) for n in (1, 2, 3, 6, 7, 99)]
    execute(
        path,
        *(
            "INSERT INTO message_structure (session_id, branch_id, message_id, sequence_number) "
            f"VALUES ('s0', '{branch}', {row}, {number})"
            for number, (branch, row) in enumerate(places)
        ),
        "INSERT INTO turn_usage VALUES (1, 's0', 'main', 1, 100, 10, 110, "
        """'{"cached_tokens": 40}', '{"reasoning_tokens": 4}')""",
        "INSERT INTO turn_usage VALUES (2, 's0', 'main', 2, 50, 5, 55, NULL, 'x')",
        "INSERT INTO turn_usage VALUES (3, 's0', 'try', 1, 7, 1, 8, NULL, NULL)",
    )
    return path


def test_a_branch_is_a_session_that_repeats_no_call(tmp_path: Path) -> None:
    main, branch = read(branched(tmp_path))
    assert [c.request.id for s in (main, branch) for c in s.calls] == ["c1", "c2", "c3"]
    assert (main.native_id, branch.native_id) == ("s0", "s0/try")
    assert [m.fate for m in branch.messages] == [Fate.COPIED] * 3 + [Fate.LIVE] * 2
    assert branch.parent is not None
    assert (branch.parent.id, branch.parent.link) == ("openai_agents:s0", Link.BRANCH)


def test_rows_of_no_branch_are_not_lost(tmp_path: Path) -> None:
    main, _ = read(branched(tmp_path))
    assert main.messages[-1].text == "in no branch"


def test_usage_counts_each_token_once(tmp_path: Path) -> None:
    main, branch = read(branched(tmp_path))
    assert (main.tokens.input, main.tokens.cache_read, main.tokens.output) == (110, 40, 15)
    assert (main.tokens.reasoning, main.tokens.total) == (4, 165)
    assert branch.tokens.total == 8


def test_what_is_no_item_is_counted_and_silent_items_are_known(tmp_path: Path) -> None:
    items = ["{half", "[]", {"__enc__": 1, "payload": "x"}, {"type": "alien"}, {"role": "alien"},
             {"type": "item_reference", "id": "x"}, call("c1")]  # fmt: skip
    sessions, log = read_all(OpenAIAgents(), make(tmp_path, items))
    assert len(sessions[0].messages) == 1
    assert log.counts == {
        "item is not a JSON object": 2,
        "item is encrypted": 1,
        "item of an unknown type": 2,
    }


def test_a_session_without_an_id_is_counted(tmp_path: Path) -> None:
    path = make(tmp_path, TALK)
    execute(path, "INSERT INTO agent_sessions (session_id) VALUES (NULL)")
    sessions, log = read_all(OpenAIAgents(), path)
    assert (len(sessions), log.total) == (1, 1)


CHANGES = (
    "INSERT INTO agent_messages (session_id, message_data) VALUES ('s0', '{}')",
    "DELETE FROM agent_messages WHERE session_id = 's0' AND id = 3",
    "UPDATE agent_sessions SET updated_at = 'later' WHERE session_id = 's0'",
    "INSERT INTO message_structure (session_id) VALUES ('s0')",
    "INSERT INTO turn_usage (session_id, total_tokens) VALUES ('s0', 5)",
)


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_changes_that_sessions_fingerprint_alone(tmp_path: Path, change: str) -> None:
    path = make(tmp_path, TALK, TALK, extra=ADVANCED)
    before = {unit.key: unit.fingerprint for unit in OpenAIAgents().units(path, ReadLog())}
    execute(path, change)
    after = {unit.key: unit.fingerprint for unit in OpenAIAgents().units(path, ReadLog())}
    assert after["s1"] == before["s1"]
    assert after["s0"] != before["s0"]


ITEMS = [
    *TALK,
    {"type": "shell_call", "call_id": "c", "action": {"commands": ["ls"]}, "status": "completed"},
    {"type": "shell_call_output", "call_id": "c",
     "output": [chunk("a", "b", type="exit", exit_code=1)]},
    {"type": "mcp_call", "id": "m", "name": "n", "arguments": "{}", "output": "x", "error": None},
]  # fmt: skip


@given(items=retyped(ITEMS))
def test_items_of_any_shape_are_survived(tmp_path: Path, items: Any) -> None:
    cells = [json.dumps(item) for item in items] if isinstance(items, list) else []
    assert survive(OpenAIAgents(), make(tmp_path, cells)) is not None


def test_a_damaged_database_is_survived(tmp_path: Path) -> None:
    valid = branched(tmp_path).read_bytes()

    @given(data=damaged(valid))
    def check(data: bytes) -> None:
        survive(OpenAIAgents(), write(tmp_path, "agents.db", data))

    check()
