from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.hermes_db import (
    MESSAGE,
    SESSION_ROWS,
    Row,
    add_messages,
    answers,
    asks,
    change,
    make_database,
    user,
)
from warmstart.facts.derive import derive_facts
from warmstart.facts.hermes_book import read_session_table
from warmstart.facts.hermes_build import Builder
from warmstart.facts.hermes_lane import Walk, plain_rows_query
from warmstart.facts.lanes import Unusual
from warmstart.facts.packing import SessionRow, unpack_facts
from warmstart.facts.skips import tell_skips
from warmstart.model.facts import SessionFacts
from warmstart.sources import ReadLog, read_sessions

LS = ("call_0", "terminal", {"command": "ls"})
OK = '{"output": "a", "exit_code": 0, "error": null}'


def build(path: Path, reader: str = "hermes") -> tuple[dict[str, SessionFacts], ReadLog]:
    with closing(sqlite3.connect(path)) as connection:
        rows = read_session_table(connection)
    log = ReadLog()
    found = {}
    with Builder(path, reader, rows) as builder:
        for built in builder.build(sorted(rows.values)):
            tell_skips(built.skips, log)
            assert built.row is not None
            facts = unpack_facts(SessionRow._make(built.row[2:-1]), built.row.calls)
            found[facts.id] = facts
    return found, log


def derive_all(path: Path) -> tuple[dict[str, SessionFacts], ReadLog]:
    log = ReadLog()
    return {s.id: derive_facts(s) for s in read_sessions(path, log, "hermes")}, log


def take(path: Path, name: str = "s0") -> Walk:
    walk = Walk(offset=0)
    with closing(sqlite3.connect(path)) as connection:
        walk.take(connection.execute(plain_rows_query(connection), (name,)))
    return walk


@given(
    st.lists(st.lists(MESSAGE, max_size=8), min_size=1, max_size=3),
    st.lists(SESSION_ROWS, min_size=3, max_size=3),
)
def test_any_database_gives_what_the_reader_and_derive_facts_give(
    tmp_path: Path, sessions: list[list[Row]], rows: list[Row]
) -> None:
    names = [f"s{number}" for number in range(len(sessions))]
    path = make_database(
        tmp_path / "state.db",
        dict(zip(names, sessions, strict=True)),
        dict(zip(names, rows, strict=False)),
    )
    built, log = build(path)
    derived, expected = derive_all(path)
    assert built == derived
    assert log.counts == expected.counts


@given(st.lists(MESSAGE, max_size=12))
def test_a_session_that_continues_another_is_no_different(
    tmp_path: Path, messages: list[Row]
) -> None:
    parent = [user("build the shop"), asks(LS), answers("call_0", OK), *messages[:3]]
    path = make_database(
        tmp_path / "state.db",
        {"s0": parent, "s1": messages},
        {"s0": {"end_reason": "compression"}, "s1": {"parent_session_id": "s0"}},
    )
    assert build(path)[0] == derive_all(path)[0]


def test_plain_sessions_do_not_leave_the_lane(tmp_path: Path) -> None:
    rows = [user("go"), asks(LS), answers("call_0", OK), {"role": "assistant", "content": "done"}]
    walk = take(make_database(tmp_path / "state.db", {"s0": rows}))
    assert (walk.size, len(walk.calls.messages), walk.opening) == (4, 1, "go")


def test_ids_used_again_in_every_turn_stay_in_the_lane(tmp_path: Path) -> None:
    turns = [asks(LS, LS), asks(LS), answers("call_0", OK), answers("call_0", "Error: no")]
    path = make_database(tmp_path / "state.db", {"s0": turns * 3})
    assert len(take(path).calls.messages) == 9
    assert build(path)[0] == derive_all(path)[0]


@pytest.mark.parametrize(
    "row",
    [
        user("x", active=0),
        user("x", observed=1),
        user("[CONTEXT COMPACTION] x"),
        answers(None, "x"),
        {"role": "assistant", "content": "x", "tool_calls": "nonsense"},
        {"role": "odd", "content": "x"},
    ],
)
def test_a_row_that_is_not_plain_sends_its_session_to_the_reader(tmp_path: Path, row: Row) -> None:
    path = make_database(tmp_path / "state.db", {"s0": [user("go"), row]})
    with pytest.raises(Unusual):
        take(path)


def test_rows_that_an_index_gives_in_another_order_are_taken_by_their_ids(tmp_path: Path) -> None:
    rows = [user("first", timestamp=9.0), user("second", timestamp=1.0)]
    path = make_database(tmp_path / "state.db", {"s0": rows})
    with pytest.raises(Unusual):
        take(path)
    assert build(path)[0] == derive_all(path)[0]


@pytest.mark.parametrize(
    "times",
    [
        (9.0, 1.0, 5.0),
        (None, None, None),
        (1.8e12, 1.9e9, 7.0),
        (-3.0, 0.0, None),
        ("2026-01-01T00:00:00Z", 1.9e9, 5),
        (b"x", 4.0, "soon"),
    ],
)
@pytest.mark.parametrize("started", [None, 3.0])
def test_a_session_that_does_not_say_when_it_ended_ended_with_its_last_message(
    tmp_path: Path, times: tuple[Any, ...], started: float | None
) -> None:
    rows = [user(f"turn {time}", timestamp=time) for time in times]
    path = make_database(tmp_path / "state.db", {"s0": rows})
    change(path, "UPDATE sessions SET ended_at = NULL")
    change(path, "UPDATE sessions SET started_at = ?", started)
    assert build(path)[0] == derive_all(path)[0]


def test_text_that_is_no_utf8_is_left_to_the_reader(tmp_path: Path) -> None:
    path = make_database(tmp_path / "state.db", {"s0": [user("go")]})
    change(path, "UPDATE messages SET content = CAST(x'ff41' AS TEXT)")
    assert build(path)[0] == derive_all(path)[0]


def test_messages_without_a_session_are_found(tmp_path: Path) -> None:
    path = make_database(tmp_path / "state.db", {"s0": [user("go")]})
    add_messages(path, "orphan", user("still here"))
    assert set(derive_all(path)[0]) == {"hermes:s0", "hermes:orphan"}


def test_our_own_store_keeps_its_name(tmp_path: Path) -> None:
    path = make_database(
        tmp_path / "store.db",
        {"s0": [user("a")], "s1": [user("b")]},
        {"s1": {"parent_session_id": "s0"}},
    )
    facts: dict[str, Any] = build(path, "live_store")[0]
    assert facts["live_store:s1"].parent.id == "live_store:s0"
