from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from support.badinput import damaged, read_all, retyped, survive, write
from warmstart.model import Compaction, Fate, Kind, Link, Role, Session
from warmstart.sources import ReadLog
from warmstart.sources.probe import probe_path
from warmstart.sources.readers.hermes import Hermes
from warmstart.sources.registry import find_reader

V4 = {
    "sessions": "id TEXT PRIMARY KEY, source TEXT, model TEXT, model_config TEXT, system_prompt "
    "TEXT, parent_session_id TEXT, started_at REAL, ended_at REAL, end_reason TEXT, "
    "input_tokens INTEGER, output_tokens INTEGER, title TEXT",
    "messages": "id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT, role TEXT, content TEXT, "
    "tool_call_id TEXT, tool_calls TEXT, tool_name TEXT, timestamp REAL",
}
V22 = {
    "sessions": V4["sessions"] + ", cache_read_tokens INTEGER, cache_write_tokens INTEGER, "
    "reasoning_tokens INTEGER, cwd TEXT, git_branch TEXT, estimated_cost_usd REAL, "
    "actual_cost_usd REAL, cost_status TEXT, a_column_of_tomorrow TEXT",
    "messages": V4["messages"] + ", reasoning TEXT, reasoning_content TEXT, reasoning_details "
    "TEXT, observed INTEGER DEFAULT 0, active INTEGER NOT NULL DEFAULT 1, compacted INTEGER "
    "NOT NULL DEFAULT 0, _compressed_summary INTEGER, display_kind TEXT",
}
SUMMARY = "[CONTEXT COMPACTION - REFERENCE ONLY] Earlier turns were compacted: the shop was built."
ARCHIVED = {"active": 0, "compacted": 1}
REWOUND = {"active": 0, "compacted": 0}
Row = dict[str, Any]


def user(text: str, **fields: Any) -> Row:
    return {"role": "user", "content": text, **fields}


def says(text: str, **fields: Any) -> Row:
    return {"role": "assistant", "content": text, **fields}


def asks(*ids: str, text: str = "", arguments: str = '{"command": "ls"}', **fields: Any) -> Row:
    calls = [
        {"id": i, "type": "function", "function": {"name": "terminal", "arguments": arguments}}
        for i in ids
    ]
    return {"role": "assistant", "content": text, "tool_calls": json.dumps(calls), **fields}


def answers(call_id: str, text: str = '{"exit_code": 0}', **fields: Any) -> Row:
    return {"role": "tool", "tool_call_id": call_id, "content": text, **fields}


def to_cell(value: Any) -> Any:
    storable = value is None or isinstance(value, str | float | bytes)
    return value if storable or (isinstance(value, int) and abs(value) < 2**63) else str(value)


def insert(database: sqlite3.Connection, table: str, row: Row) -> None:
    names, marks = ", ".join(row), ", ".join("?" * len(row))
    values = [to_cell(value) for value in row.values()]
    database.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", values)


def make(
    path: Path,
    messages: dict[str, list[Row]],
    sessions: Iterable[Row] = (),
    schema: dict[str, str] = V22,
) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as database, database:
        for table, columns in schema.items():
            database.execute(f"CREATE TABLE {table} ({columns})")
        given_rows = {row["id"]: row for row in sessions}
        for number, (session_id, rows) in enumerate(messages.items()):
            start = {"id": session_id, "source": "cli", "started_at": 1_790_000_000.0 + number}
            insert(database, "sessions", start | given_rows.get(session_id, {}))
            for row in rows:
                insert(database, "messages", {"session_id": session_id} | row)
    return path


def read(path: Path) -> dict[str, Session]:
    sessions, log = read_all(Hermes(), path)
    assert log.total == 0
    return {session.native_id: session for session in sessions}


def fates(session: Session) -> list[str]:
    return [message.fate.value for message in session.messages]


def test_a_v4_database_without_the_newer_columns_reads_whole(tmp_path: Path) -> None:
    rows = [user("list it"), asks("c1"), answers("c1"), says("done")]
    session = read(make(tmp_path / "state.db", {"s": rows}, schema=V4))["s"]
    assert fates(session) == ["live"] * 4
    assert [call.request.arguments for call in session.calls] == [{"command": "ls"}]


def test_a_session_names_the_platform_it_was_held_on(tmp_path: Path) -> None:
    held = [{"id": "a", "source": "telegram"}, {"id": "b", "source": None}]
    sessions = read(make(tmp_path / "state.db", {"a": [user("hi")], "b": [user("hi")]}, held))
    assert [sessions[name].platform for name in ("a", "b")] == ["telegram", None]


def test_session_columns_fill_the_session(tmp_path: Path) -> None:
    row = {
        "id": "s", "model": "m-1", "title": "Shop", "cwd": "/home/dev/shop", "git_branch": "main",
        "ended_at": 1_790_000_500.0, "end_reason": "cli_close", "input_tokens": 10,
        "output_tokens": 5, "cache_read_tokens": 3, "estimated_cost_usd": 0.25,
    }  # fmt: skip
    session = read(make(tmp_path / "state.db", {"s": [user("hi")]}, [row]))["s"]
    assert (session.id, session.agent, session.model) == ("hermes:s", "hermes", "m-1")
    assert (session.project, session.git_branch) == ("/home/dev/shop", "main")
    assert (session.end_reason, session.ended_at) == ("cli_close", 1_790_000_500.0)
    assert (session.tokens.total, session.cost_usd) == (18, 0.25)


def test_the_actual_cost_wins_and_an_unknown_price_is_no_zero(tmp_path: Path) -> None:
    rows = [
        {"id": "paid", "estimated_cost_usd": 0.2, "actual_cost_usd": 0.3},
        {"id": "local", "estimated_cost_usd": 0.0, "cost_status": "unknown"},
    ]
    path = make(tmp_path / "state.db", {"paid": [], "local": []}, rows)
    assert [session.cost_usd for session in read(path).values()] == [0.3, None]


def test_the_system_prompt_comes_first(tmp_path: Path) -> None:
    path = make(tmp_path / "state.db", {"s": [user("hi")]}, [{"id": "s", "system_prompt": "Be."}])
    assert [(m.role, m.text) for m in read(path)["s"].messages] == [
        (Role.SYSTEM, "Be."),
        (Role.USER, "hi"),
    ]


def test_messages_stand_in_the_order_of_ids_though_the_clock_stepped_back(tmp_path: Path) -> None:
    rows = [user("first", timestamp=1_790_000_900.0), says("second", timestamp=1_790_000_100.0)]
    session = read(make(tmp_path / "state.db", {"s": rows}))["s"]
    assert [message.text for message in session.messages] == ["first", "second"]


def test_six_parallel_calls_each_get_their_own_result(tmp_path: Path) -> None:
    ids = [f"c{n}" for n in range(6)]
    rows = [asks(*ids), *(answers(i, f"out {i}") for i in reversed(ids))]
    calls = read(make(tmp_path / "state.db", {"s": rows}))["s"].calls
    assert [call.result.text for call in calls if call.result] == [f"out {i}" for i in ids]


def test_a_result_claims_neither_failure_nor_exit_code(tmp_path: Path) -> None:
    rows = [asks("c1"), answers("c1", '{"exit_code": 1, "error": null}', tool_name=None)]
    result = read(make(tmp_path / "state.db", {"s": rows}))["s"].calls[0].result
    assert result is not None
    assert (result.is_error, result.exit_code, result.status, result.tool) == (None,) * 4


def test_a_call_is_known_by_call_id_where_it_has_no_id(tmp_path: Path) -> None:
    call = [{"call_id": "c9", "name": "search", "arguments": {"q": "x"}}]
    rows = [{"role": "assistant", "tool_calls": json.dumps(call)}, answers("c9")]
    session = read(make(tmp_path / "state.db", {"s": rows}))["s"]
    assert session.calls[0].tool == "search"
    assert session.calls[0].result is not None


def test_arguments_that_are_no_json_are_kept_raw(tmp_path: Path) -> None:
    session = read(make(tmp_path / "state.db", {"s": [asks("c1", arguments="{half")]}))["s"]
    assert session.calls[0].request.raw == "{half"


@pytest.mark.parametrize(
    ("stored", "text"),
    [
        ('\x00json:[{"type": "text", "text": "look"}, {"type": "image_url"}]', "look\n[image_url]"),
        ("\x00json:{half", "{half"),
        (b"raw \xff", "raw \ufffd"),
        (None, ""),
    ],
)
def test_content_is_decoded(tmp_path: Path, stored: Any, text: str) -> None:
    session = read(make(tmp_path / "state.db", {"s": [user(stored)]}))["s"]
    assert session.messages[0].text == text


def test_reasoning_is_found_in_each_of_its_columns(tmp_path: Path) -> None:
    details = json.dumps([{"type": "reasoning.text", "text": "c"}, {"summary": "d"}])
    rows = [
        says("", reasoning="a"),
        says("", reasoning_content="b"),
        says("", reasoning_details=details),
    ]
    session = read(make(tmp_path / "state.db", {"s": rows}))["s"]
    assert [message.reasoning for message in session.messages] == ["a", "b", "c\nd"]


@pytest.mark.parametrize(
    "row",
    [
        user("they talk", observed=1),
        user("job finished", display_kind="process_complete"),
        user("[System: Your previous response was truncated, go on]"),
        user("[IMPORTANT: Background process proc_1 completed]"),
    ],
)
def test_what_hermes_says_in_the_users_name_is_injected(tmp_path: Path, row: Row) -> None:
    session = read(make(tmp_path / "state.db", {"s": [row, user("go on")]}))["s"]
    assert [message.kind for message in session.messages] == [Kind.INJECTED, Kind.TURN]


def test_rewound_calls_do_not_count_and_archived_ones_do(tmp_path: Path) -> None:
    rows = [
        asks("old", **ARCHIVED), answers("old", **ARCHIVED),
        user(SUMMARY),
        asks("undone", **REWOUND), answers("undone", **REWOUND),
        asks("new"), answers("new"),
    ]  # fmt: skip
    session = read(make(tmp_path / "state.db", {"s": rows}))["s"]
    assert [call.request.id for call in session.calls] == ["old", "new"]
    assert Fate.REWOUND in {message.fate for message in session.messages}


def in_place(tail_flags: Row) -> list[Row]:
    """A conversation of two calls compacted in place: the second call is kept and written again."""
    return [
        user("build it", **ARCHIVED), asks("c1", **ARCHIVED), answers("c1", **ARCHIVED),
        asks("c2", **tail_flags), answers("c2", "long output", **tail_flags),
        says("built", **tail_flags),
        user("build it"), user(SUMMARY), asks("c2"), answers("c2", "[shortened]"), says("built"),
        user("[Your active task list was preserved across context compression]\n- test"),
        user("build it"), asks("c3"), answers("c3"),
    ]  # fmt: skip


@pytest.mark.parametrize("tail_flags", [ARCHIVED, REWOUND], ids=["archived", "superseded"])
def test_what_a_compaction_writes_again_counts_once(tmp_path: Path, tail_flags: Row) -> None:
    session = read(make(tmp_path / "state.db", {"s": in_place(tail_flags)}))["s"]
    assert [call.request.id for call in session.calls] == ["c1", "c2", "c3"]
    assert session.calls[1].result == session.messages[4].results[0]
    expected = ["archived"] * 6 + ["copied", "live"] + ["copied"] * 3 + ["live"] * 4
    assert fates(session) == expected


def test_a_compaction_stands_where_its_batch_begins(tmp_path: Path) -> None:
    prompt = [{"id": "s", "system_prompt": "Be."}]
    session = read(make(tmp_path / "state.db", {"s": in_place(ARCHIVED)}, prompt))["s"]
    assert session.compactions == (Compaction(at=7),)
    assert session.messages[8].kind is Kind.SUMMARY


def test_a_summary_merged_into_a_kept_call_is_a_summary_and_a_copy(tmp_path: Path) -> None:
    merged = f"[PRIOR CONTEXT: reference]\nlook\n\n[END; COMPACTION SUMMARY BELOW]\n\n{SUMMARY}"
    rows = [
        user("go", **ARCHIVED), asks("c1", text="look", **ARCHIVED), answers("c1", **ARCHIVED),
        user("go"), asks("c1", text=merged), answers("c1"), asks("c2"),
    ]  # fmt: skip
    session = read(make(tmp_path / "state.db", {"s": rows}))["s"]
    assert [call.request.id for call in session.calls] == ["c1", "c2"]
    assert session.messages[4].kind is Kind.SUMMARY
    assert session.compactions == (Compaction(at=3),)


def test_a_second_compaction_in_place_counts_nothing_again(tmp_path: Path) -> None:
    kept = [user("go"), user(SUMMARY), asks("c2"), answers("c2")]
    first = [user("go"), asks("c1"), answers("c1"), asks("c2"), answers("c2")]
    again = [user("go"), user(SUMMARY + " More."), asks("c3"), answers("c3")]
    gone = [*first, *kept, asks("c3"), answers("c3")]
    rows = [*(row | ARCHIVED for row in gone), *again, asks("c4"), answers("c4")]
    session = read(make(tmp_path / "state.db", {"s": rows}))["s"]
    assert [call.request.id for call in session.calls] == ["c1", "c2", "c3", "c4"]
    assert session.compactions == (Compaction(at=5), Compaction(at=11))


def test_a_compaction_without_a_readable_summary_is_found_by_its_flags(tmp_path: Path) -> None:
    gone = [user("go"), asks("c1"), answers("c1")]
    rows = [*(row | ARCHIVED for row in gone), asks("c1"), answers("c1"), asks("c2")]
    session = read(make(tmp_path / "state.db", {"s": rows}))["s"]
    assert [call.request.id for call in session.calls] == ["c1", "c2"]
    assert session.compactions == (Compaction(at=3),)


def test_a_model_that_reuses_call_ids_loses_no_call(tmp_path: Path) -> None:
    def turn(command: str) -> list[Row]:
        return [asks("call_0", arguments=json.dumps({"command": command})), answers("call_0")]

    gone = [user("go"), *turn("a"), *turn("b"), *turn("c")]
    rows = [*(row | ARCHIVED for row in gone), user(SUMMARY), *turn("c"), *turn("d")]
    session = read(make(tmp_path / "state.db", {"s": rows}))["s"]
    assert [call.request.arguments["command"] for call in session.calls] == list("abcd")


def test_a_kept_call_with_shortened_arguments_is_still_a_copy(tmp_path: Path) -> None:
    long = {"arguments": '{"command": "echo long long"}'}
    gone = [user("go"), asks("c1", **long), answers("c1")]
    rows = [*(row | ARCHIVED for row in gone), user(SUMMARY), asks("c1"), answers("c1")]
    session = read(make(tmp_path / "state.db", {"s": rows}))["s"]
    assert len(session.calls) == 1
    assert fates(session)[-2:] == ["copied", "copied"]


def rotated(child: Row, parent: Row) -> tuple[dict[str, list[Row]], list[Row]]:
    messages = {
        "parent": [user("go"), asks("c1"), answers("c1"), asks("c2"), answers("c2"), says("ok")],
        "child": [user("go"), says(SUMMARY), asks("c2"), answers("c2"), says("ok"), asks("c3")],
    }
    return messages, [
        {"id": "parent", "ended_at": 1_790_000_001.0} | parent,
        {"id": "child", "parent_session_id": "parent"} | child,
    ]


def test_a_rotating_compaction_counts_each_call_in_one_session(tmp_path: Path) -> None:
    messages, rows = rotated({}, {"end_reason": "compression"})
    sessions = read(make(tmp_path / "state.db", messages, rows))
    child = sessions["child"]
    assert child.parent is not None
    assert (child.parent.id, child.parent.link) == ("hermes:parent", Link.COMPACTION)
    assert [c.request.id for s in sessions.values() for c in s.calls] == ["c1", "c2", "c3"]
    assert child.compactions == (Compaction(at=0),)


def test_a_branch_repeats_no_call_of_its_parent(tmp_path: Path) -> None:
    history = [user("go"), asks("c1"), answers("c1"), says("ok")]
    messages = {"parent": history, "child": [*history, user("instead"), asks("c2")]}
    rows = [{"id": "child", "parent_session_id": "parent",
             "model_config": '{"_branched_from": "parent"}'}]  # fmt: skip
    child = read(make(tmp_path / "state.db", messages, rows))["child"]
    assert fates(child) == ["copied"] * 4 + ["live"] * 2
    assert child.compactions == ()


@pytest.mark.parametrize(
    ("child", "parent", "link"),
    [
        ({"source": "subagent"}, {"end_reason": "compression"}, Link.SUBAGENT),
        ({"model_config": '{"_delegate_from": "parent"}'}, {}, Link.SUBAGENT),
        ({"model_config": '{"_branched_from": "parent"}'}, {"end_reason": "x"}, Link.BRANCH),
        ({}, {"end_reason": "branched"}, Link.BRANCH),
        ({}, {"end_reason": "daily"}, Link.RESET),
        ({}, {"end_reason": "session_reset"}, Link.RESET),
        ({"source": "tool"}, {"end_reason": "compression"}, Link.UNKNOWN),
        ({}, {"end_reason": "compression", "ended_at": 1_790_009_000.0}, Link.UNKNOWN),
        ({}, {"end_reason": "cli_close"}, Link.UNKNOWN),
    ],
)
def test_a_parent_is_a_compaction_only_if_it_was_one(
    tmp_path: Path, child: Row, parent: Row, link: Link
) -> None:
    session = read(make(tmp_path / "state.db", *rotated(child, parent)))["child"]
    assert session.parent is not None
    assert session.parent.link is link


def test_a_child_outlives_its_parents_row(tmp_path: Path) -> None:
    rows = [{"id": "s", "model_config": '{"_delegate_from": "gone"}'}]
    session = read(make(tmp_path / "state.db", {"s": [user("help")]}, rows))["s"]
    assert session.parent is not None
    assert session.parent.id == "hermes:gone"


def test_messages_outlive_their_sessions_row(tmp_path: Path) -> None:
    path = make(tmp_path / "state.db", {"s": [user("hi")]})
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("DELETE FROM sessions")
    assert [message.text for message in read(path)["s"].messages] == ["hi"]


def test_a_home_is_read_with_its_profiles(tmp_path: Path) -> None:
    make(tmp_path / "state.db", {"main": [user("hi")]})
    make(tmp_path / "profiles" / "work" / "state.db", {"work": [user("hi")]})
    write(tmp_path, "profiles/broken/state.db", b"no database at all" * 10)
    sessions, log = read_all(Hermes(), tmp_path)
    assert [session.native_id for session in sessions] == ["main", "work"]
    assert log.total == 1


def test_other_agents_databases_are_left_alone(tmp_path: Path) -> None:
    goose = {"sessions": "id TEXT", "messages": "session_id TEXT, role TEXT, content_json TEXT",
             "schema_version": "version INTEGER"}  # fmt: skip
    path = make(tmp_path / "sessions.db", {}, schema=goose)
    write(tmp_path, "elsewhere/state.db", b"junk")
    assert not Hermes().recognises(probe_path(path))
    assert not Hermes().recognises(probe_path(tmp_path / "elsewhere"))


@pytest.mark.parametrize("schema", [V4, V22], ids=["v4", "v22"])
def test_database_and_home_are_recognised(tmp_path: Path, schema: dict[str, str]) -> None:
    path = make(tmp_path / "state.db", {"s": []}, schema=schema)
    assert isinstance(find_reader(probe_path(path)), Hermes)
    assert isinstance(find_reader(probe_path(tmp_path)), Hermes)


CHANGES = (
    "INSERT INTO messages (session_id, role) VALUES ('s', 'user')",
    "UPDATE messages SET active = 0",
    "UPDATE sessions SET title = 'New' WHERE id = 's'",
    "UPDATE sessions SET end_reason = 'compression' WHERE id = 'parent'",
    "DELETE FROM messages",
)


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_changes_that_sessions_fingerprint_alone(tmp_path: Path, change: str) -> None:
    rows = [{"id": "s", "parent_session_id": "parent"}]
    path = make(tmp_path / "state.db", {"parent": [], "other": [], "s": [user("hi")]}, rows)
    before = {unit.key: unit.fingerprint for unit in Hermes().units(path, ReadLog())}
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(change)
    after = {unit.key: unit.fingerprint for unit in Hermes().units(path, ReadLog())}
    assert after["other"] == before["other"]
    assert after["s"] != before["s"]


def test_what_is_no_message_is_counted_or_known(tmp_path: Path) -> None:
    rows = [{"role": "session_meta"}, {"role": "alien"}, says("x", tool_calls='{"no": "list"}')]
    sessions, log = read_all(Hermes(), make(tmp_path / "state.db", {"s": rows}))
    assert len(sessions[0].messages) == 1
    assert dict(log.counts) == {
        "message of an unknown role": 1,
        "tool calls are not a JSON list": 1,
    }


def test_a_session_without_an_id_is_counted(tmp_path: Path) -> None:
    path = make(tmp_path / "state.db", {"s": []})
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("INSERT INTO sessions (id, started_at) VALUES (NULL, 1)")
    sessions, log = read_all(Hermes(), path)
    assert (len(sessions), log.total) == (1, 1)


VALID = {
    "sessions": [
        {"id": "a", "source": "cli", "started_at": 1.79e9, "end_reason": "compression",
         "model_config": {"k": 1}, "input_tokens": 4, "system_prompt": "p"},
        {"id": "b", "source": "cli", "started_at": 1.79e9, "parent_session_id": "a"},
    ],
    "messages": [
        *({"session_id": "a"} | row for row in in_place(ARCHIVED)),
        {"session_id": "b", "role": "user", "content": SUMMARY, "timestamp": 1.79e9},
        {"session_id": "b"} | asks("c3"),
        {"session_id": "b"} | answers("c3"),
    ],
}  # fmt: skip


@given(tables=retyped(VALID))
def test_cells_of_any_type_are_survived(tmp_path: Path, tables: Any) -> None:
    path = make(tmp_path / "state.db", {})
    with closing(sqlite3.connect(path)) as database, database:
        for name, rows in tables.items() if isinstance(tables, dict) else ():
            for row in rows if name in V22 and isinstance(rows, list) else ():
                try:
                    insert(database, name, row)
                except (sqlite3.Error, TypeError, AttributeError):
                    continue
    survive(Hermes(), path)


@given(calls=retyped(json.loads(asks("c1", "c2")["tool_calls"])))
def test_tool_calls_of_any_shape_are_survived(tmp_path: Path, calls: Any) -> None:
    rows = [says("", tool_calls=json.dumps(calls)), answers("c1")]
    assert survive(Hermes(), make(tmp_path / "state.db", {"s": rows})) is not None


@pytest.fixture(scope="module")
def valid_bytes(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("hermes") / "state.db"
    return make(path, {"s": in_place(ARCHIVED), "t": [user("hi")] * 9}).read_bytes()


def test_a_damaged_database_is_survived(tmp_path: Path, valid_bytes: bytes) -> None:
    @given(data=damaged(valid_bytes))
    def check(data: bytes) -> None:
        survive(Hermes(), write(tmp_path, "state.db", data))

    check()


@pytest.mark.corpus
def test_real_databases_read_without_a_skip(corpus: Path) -> None:
    paths = sorted((corpus / "hermes").glob("*.db.gz"))
    assert paths
    for path in paths:
        assert isinstance(find_reader(probe_path(path)), Hermes)
        assert read(path)


@pytest.mark.corpus
def test_both_real_compactions_count_the_same_calls(corpus: Path) -> None:
    counts = []
    for name in ("compact_inplace", "compact_rotate"):
        sessions = read(corpus / "hermes" / f"{name}.db.gz").values()
        counts.append([call.request.id for session in sessions for call in session.calls])
    assert counts[0] == counts[1] == sorted(set(counts[0]), key=counts[0].index)
