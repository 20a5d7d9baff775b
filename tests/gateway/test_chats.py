"""Entries and the rows that keep them."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warmstart.gateway import (
    ConfigError,
    GatewayConfig,
    Platform,
    RecordError,
    SessionEntry,
    SessionSource,
    SessionStore,
)
from warmstart.gateway.entry import read_row, write_row
from warmstart.store import SessionDB

Open = Callable[..., SessionStore]
NOON = datetime(2026, 4, 10, 12, 0, tzinfo=UTC)
NAMES = st.none() | st.text(st.characters(), max_size=20)
SOURCES = st.builds(
    SessionSource, platform=st.sampled_from(Platform), chat_id=st.text(max_size=9),
    chat_name=NAMES, chat_topic=NAMES, is_bot=st.booleans(),
)  # fmt: skip
CHANGES = st.fixed_dictionaries(
    {},
    optional={
        "display_name": NAMES, "origin": st.none() | SOURCES, "suspended": st.booleans(),
        "input_tokens": st.integers(0, 2**53), "estimated_cost_usd": st.floats(0, 9),
        "updated_at": st.datetimes(datetime(2000, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC)),  # noqa: DTZ001 - a bound
    },
)  # fmt: skip


def make(**fields: Any) -> SessionEntry:
    origin = SessionSource(Platform.SLACK, "C1", chat_name="Shop")
    basics = {"session_key": "agent:main:slack:dm:C1", "session_id": "s1", "origin": origin}
    return SessionEntry(**(basics | {"created_at": NOON, "updated_at": NOON} | fields))


@given(fields=CHANGES)
def test_any_entry_is_read_as_it_was_written(fields: dict[str, Any]) -> None:
    entry = make(**fields)
    assert read_row(write_row(entry)) == entry


def test_the_key_the_session_and_the_times_stand_in_columns_alone() -> None:
    row = write_row(make(suspended=True))
    assert (row.session_key, row.session_id) == ("agent:main:slack:dm:C1", "s1")
    assert json.loads(row.state).keys() == {"chat_type", "cost_status", "origin", "suspended"}


def test_without_a_zone_times_are_stored_in_utc_and_come_back_as_the_wall_clock() -> None:
    wall = NOON.astimezone().replace(tzinfo=None)
    row = write_row(make(created_at=wall, updated_at=wall))
    assert row.updated_at == NOON.timestamp()
    assert read_row(row, None).updated_at == wall


@pytest.mark.parametrize(
    "broken",
    [
        {"state": ""}, {"state": "{"}, {"state": "[]"}, {"state": "null"}, {"state": "[" * 99999},
        {"session_id": ""}, {"session_id": "../up"}, {"session_key": "/abs"},
        {"updated_at": 1e300}, {"updated_at": float("nan")}, {"created_at": -1e9},
    ],
)  # fmt: skip
def test_a_row_that_no_entry_can_be_made_of_is_refused(broken: dict[str, Any]) -> None:
    with pytest.raises(RecordError):
        read_row(write_row(make())._replace(**broken))


def test_a_touch_is_one_update(
    tmp_path_factory: pytest.TempPathFactory, source: SessionSource, open_store: Open
) -> None:
    with SessionDB(tmp_path_factory.mktemp("traced") / "state.db") as db:
        store = open_store(db=db)
        store.get_or_create_session(source)
        said: list[str] = []
        db._conn.set_trace_callback(said.append)
        store.get_or_create_session(source)
    assert [text.split()[0] for text in said] == ["SELECT", "BEGIN", "UPDATE", "COMMIT"]


def test_what_a_newer_gateway_added_survives_a_touch(
    db: SessionDB, store: SessionStore, source: SessionSource
) -> None:
    key = store.get_or_create_session(source).session_key
    chat = db.find_chat("main", key)
    assert chat is not None
    db.put_chat("main", chat._replace(state=json.dumps({"mood": "calm"})))
    store.get_or_create_session(source)
    assert db.find_chat("main", key).state == '{"mood": "calm"}'  # type: ignore[union-attr]


@pytest.mark.parametrize("state", ["torn", "[]", "null"])
def test_a_row_that_is_no_entry_gives_way_to_a_new_session(
    db: SessionDB, store: SessionStore, source: SessionSource, state: str
) -> None:
    key = store.get_or_create_session(source).session_key
    chat = db.find_chat("main", key)
    assert chat is not None
    db.put_chat("main", chat._replace(state=state))
    assert store.list_sessions() == []
    assert store.find_entry(key) is None
    entry = store.get_or_create_session(source)
    assert [one.session_id for one in store.list_sessions()] == [entry.session_id]


def test_a_key_another_process_forgot_starts_again(open_store: Open, source: SessionSource) -> None:
    here, there = open_store(), open_store()
    entry = here.get_or_create_session(source)
    found = there.find_entry(entry.session_key)
    assert found is not None
    assert there.chats.delete(found)
    assert here.get_or_create_session(source).session_id != entry.session_id
    assert len(there.list_sessions()) == 1


@pytest.mark.parametrize("scope", ["", "x" * 256, "nul\0"])
def test_a_scope_the_database_cannot_keep_is_refused_at_the_start(
    db: SessionDB, tmp_path: Path, scope: str
) -> None:
    with pytest.raises(ConfigError, match="scope is"):
        SessionStore(tmp_path, GatewayConfig(scope=scope), db=db)


def test_a_saved_change_keeps_what_others_changed_meanwhile(
    open_store: Open, source: SessionSource, clock: Any
) -> None:
    here, there = open_store(), open_store()
    entry = here.get_or_create_session(source)
    entry.display_name = "Mira K"
    clock.turn(minutes=1)
    there.update_session(entry.session_key, input_tokens=5)
    assert here.save_entry(entry)
    found = there.find_entry(entry.session_key)
    assert found is not None
    assert (found.display_name, found.input_tokens, found.updated_at) == ("Mira K", 5, clock())


def test_a_saved_change_does_not_take_a_reset_back(open_store: Open, source: SessionSource) -> None:
    here, there = open_store(), open_store()
    entry = here.get_or_create_session(source)
    here.append_to_transcript(entry.session_id, {"role": "user", "content": "hello"})
    new = there.reset_session(entry.session_key)
    entry.was_auto_reset = True
    assert not here.save_entry(entry)
    found = here.find_entry(entry.session_key)
    assert new is not None
    assert found == new


def test_a_holder_may_lead_its_key_to_another_session(
    open_store: Open, source: SessionSource, clock: Any
) -> None:
    here, there = open_store(), open_store()
    entry = here.get_or_create_session(source)
    clock.turn(minutes=1)
    there.get_or_create_session(source)
    entry.session_id = "split"
    assert here.save_entry(entry)
    assert there.get_or_create_session(source).session_id == "split"


def test_a_chat_touched_meanwhile_is_not_forgotten(
    open_store: Open, source: SessionSource, clock: Any
) -> None:
    def answer(_: str) -> bool:
        there.get_or_create_session(source)
        return False

    there = open_store({"default_reset_policy": {"mode": "none"}})
    here = open_store(has_active_processes_fn=answer)
    entry = there.get_or_create_session(source)
    clock.turn(days=91)
    assert here.prune_old_entries(90) == 0
    assert here.find_entry(entry.session_key) is not None
