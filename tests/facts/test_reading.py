"""What comes out of the index is what went in."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from msgspec.structs import replace

from support.profiles import make_calls, make_facts
from support.sessions import sessions
from warmstart.facts import derive_facts, ensure_source_set, list_ids, load_facts, open_index
from warmstart.facts.reading import list_rows, list_tools
from warmstart.facts.tables import CALL, MAX_INTEGER, SESSION
from warmstart.facts.writing import Reading, UnitRow, ensure_sources, keep_texts, write_readings
from warmstart.model import (
    Link,
    Marker,
    MarkerKind,
    Parent,
    Session,
    SessionFacts,
    StatusCounts,
    Tokens,
    UserStyleCounts,
)
from warmstart.sources import ReadLog

CALLS = make_calls(["bash", "edit"], "x.")
FULL = make_facts(
    id="test:full", origin="test", agent="a", agent_version="1", model="m", title="t",
    opening="go", project="/p", git_branch="main", started_at=1.5, ended_at=2.5,
    end_reason="done", parent=Parent(id="test:0", link=Link.SUBAGENT), task="k", reward=0.5,
    cost_usd=0.25, tokens=Tokens(input=1, output=2, cache_read=3, cache_write=4, reasoning=5),
    messages=9, turns=2, warmups=1, calls=CALLS, compactions=(1,),
    markers=(Marker(MarkerKind.FILE, "a.py", 2),), user_style=UserStyleCounts(2, 9),
    statuses=StatusCounts.of(CALLS), path="/x/y.jsonl",
)  # fmt: skip
BARE = SessionFacts(id="test:bare", origin="test", agent="a")


class Kept:
    """An index with one source set, one source and one unit in it."""

    def __init__(self, connection: sqlite3.Connection, folder: Path) -> None:
        self.connection = connection
        self.source_set = ensure_source_set(connection, "here")
        ((source, _, _),) = ensure_sources(connection, self.source_set, [folder])
        self.unit = UnitRow(source, "reader", folder / "file", "", 0, "1")

    def write(self, *facts: SessionFacts) -> None:
        write_readings(self.connection, [Reading(self.unit, facts, ReadLog())], keep_texts)

    def load(self) -> list[SessionFacts]:
        numbers = [number for number, _, _ in list_ids(self.connection, self.source_set)]
        return list(load_facts(self.connection, numbers))


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[Kept]:
    """Holds the bare session as number 1 and the full one as number 2."""
    with open_index(tmp_path / "facts.db") as connection:
        index = Kept(connection, tmp_path)
        index.write(BARE, FULL)
        yield index


def test_every_field_comes_back(kept: Kept) -> None:
    assert kept.load() == [BARE, FULL]


@given(sessions())
def test_any_session_comes_back(session: Session) -> None:
    facts = derive_facts(session)
    (fields,) = SESSION.decode(list(SESSION.encode([facts])))
    calls = CALL.decode([row[1:] for row in CALL.encode([(1, facts.calls)])])
    assert SessionFacts(**fields, calls=tuple(calls), markers=facts.markers) == facts


def test_rows_are_the_facts_without_calls_and_markers(kept: Kept) -> None:
    rows = [one.facts for one in list_rows(kept.connection, kept.source_set)]
    assert rows == [BARE, replace(FULL, calls=(), markers=())]
    assert list_tools(kept.connection, kept.source_set) == {2: ["bash", "edit"]}


def test_any_tool_can_ask_the_tables(kept: Kept) -> None:
    ask = kept.connection.execute
    assert ask("SELECT tool, status, error_class FROM call_fact").fetchall() == [
        ("bash", "error", "not_found"), ("edit", "ok", None)
    ]  # fmt: skip
    assert ask("SELECT tool, ok, error FROM session_tool ORDER BY tool").fetchall() == [
        ("bash", 0, 1), ("edit", 1, 0)
    ]  # fmt: skip
    assert ask("SELECT id, tokens_cache_read, parent_link FROM session_fact").fetchall() == [
        ("test:bare", 0, None), ("test:full", 3, "subagent")
    ]  # fmt: skip


def test_sessions_come_in_the_order_asked_for_without_those_that_went(kept: Kept) -> None:
    found = load_facts(kept.connection, [2, 7, 1])
    assert [one.id for one in found] == ["test:full", "test:bare"]


def test_without_repeats_calls_lack_the_hash_of_their_arguments_alone(kept: Kept) -> None:
    (found,) = load_facts(kept.connection, [2], repeats=False)
    assert any(call.arguments_hash for call in FULL.calls)
    assert found.calls == tuple(call._replace(arguments_hash=0) for call in FULL.calls)


def test_a_session_that_is_written_again_keeps_its_number(kept: Kept) -> None:
    """Another process may have listed it and be about to read it."""
    kept.write(BARE, replace(FULL, messages=10))
    assert [one.messages for one in load_facts(kept.connection, [1, 2])] == [0, 10]
    kept.write(FULL)
    assert [one.id for one in load_facts(kept.connection, [1, 2])] == ["test:full"]


def test_what_goes_takes_its_calls_along(kept: Kept) -> None:
    kept.connection.execute("DELETE FROM source_set")
    for table in ("source", "unit", "session_fact", "call_fact", "session_tool", "marker"):
        assert kept.connection.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,)


def test_half_characters_and_huge_numbers_can_be_stored(kept: Kept) -> None:
    calls = [call._replace(exit_code=10**30) for call in CALLS]
    tokens = Tokens(input=10**30, output=-(10**30))
    kept.write(replace(FULL, title="half \ud800", calls=tuple(calls), tokens=tokens))
    (facts,) = kept.load()
    assert facts.title == "half ?"
    assert facts.tokens == Tokens(input=MAX_INTEGER, output=-MAX_INTEGER)
    assert facts.calls[0].exit_code == MAX_INTEGER


def test_every_text_of_a_transcript_is_masked() -> None:
    """A text that is not masked is one that a new field was added for on purpose."""
    texts = {one.name for one in (*SESSION.columns, *CALL.columns) if one.kind is str}
    tables = (SESSION, CALL)
    masked = {table.columns[place].name for table in tables for place in table.masked}
    assert texts - masked == {"id", "origin", "path", "parent_id", "evidence"}
