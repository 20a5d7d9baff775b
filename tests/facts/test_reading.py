"""What comes out of the index is what went in, as if a constructor had made it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from support.profiles import make_calls, make_facts
from warmstart.facts.index import ensure_place, open_index
from warmstart.facts.packing import pack_facts
from warmstart.facts.reading import list_ids, list_numbers, load_facts
from warmstart.facts.writing import Source, ensure_unit, write_sessions
from warmstart.model import Link, Parent, Tokens
from warmstart.model.facts import Marker, MarkerKind, SessionFacts, Voice

FULL = make_facts(
    id="test:full", origin="test", agent="a", agent_version="1", model="m", title="t",
    opening="go", project="/p", git_branch="main", started_at=1.5, ended_at=2.5,
    end_reason="done", parent=Parent(id="test:0", link=Link.SUBAGENT), task="k", reward=0.5,
    cost_usd=0.25, tokens=Tokens(input=1, output=2, cache_read=3, cache_write=4, reasoning=5),
    messages=9, turns=2, warmups=1, calls=make_calls(["bash", "edit"], "x."), compactions=(1,),
    markers=(Marker(MarkerKind.FILE, "a.py", 2),), voice=Voice(2, 9), path="/x/y.jsonl",
)  # fmt: skip
BARE = SessionFacts(id="test:bare", origin="test", agent="a")


@pytest.fixture
def index(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    """Holds the bare session as number 1 and the full one as number 2."""
    with open_index(tmp_path / "facts.db") as connection:
        place = ensure_place(connection, "here")
        unit = ensure_unit(connection, place, Source("root", "reader", tmp_path))
        rows = [pack_facts(one, key=str(number)) for number, one in enumerate((BARE, FULL))]
        write_sessions(connection, unit, (), rows)
        yield connection


def test_every_field_comes_back(index: sqlite3.Connection) -> None:
    assert list(load_facts(index, [1, 2])) == [BARE, FULL]


def test_sessions_come_in_the_order_asked_for_without_those_that_went(
    index: sqlite3.Connection,
) -> None:
    assert [one.id for one in load_facts(index, [2, 7, 1])] == ["test:full", "test:bare"]


def test_what_was_loaded_is_frozen_and_can_be_changed_by_a_copy(index: sqlite3.Connection) -> None:
    (facts,) = load_facts(index, [2])
    assert (type(facts), type(facts.tokens)) == (SessionFacts, Tokens)
    assert replace(facts, title="other").title == "other"
    with pytest.raises(AttributeError):
        facts.title = "other"  # type: ignore[misc]


def test_numbers_are_listed_as_ids_are(index: sqlite3.Connection) -> None:
    place = ensure_place(index, "here")
    assert list_numbers(index, place) == [(1, "root"), (2, "root")]
    assert [number for number, _, _ in list_ids(index, place)] == [1, 2]


def test_a_session_that_is_written_again_keeps_its_number(index: sqlite3.Connection) -> None:
    """Another process may have listed it and be about to read it."""
    unit = index.execute("SELECT unit FROM sessions").fetchone()[0]
    grown = pack_facts(replace(FULL, messages=10), key="1")
    write_sessions(index, unit, ["0", "1", "2"], [pack_facts(BARE, key="0"), grown])
    assert [one.messages for one in load_facts(index, [1, 2])] == [0, 10]
    write_sessions(index, unit, ["0", "1"], [grown])
    assert [one.id for one in load_facts(index, [1, 2])] == ["test:full"]
