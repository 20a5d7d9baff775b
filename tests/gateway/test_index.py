"""The index of session keys: what is held in memory and what the database says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from warmstart.gateway import SessionSource, SessionStore, index
from warmstart.store import SessionDB

Open = Callable[..., SessionStore]


def test_a_held_entry_is_touched_without_reading_its_row(
    tmp_path_factory: pytest.TempPathFactory, source: SessionSource, open_store: Open
) -> None:
    with SessionDB(tmp_path_factory.mktemp("traced") / "state.db") as db:
        store = open_store(db=db)
        store.get_or_create_session(source)
        said: list[str] = []
        db._conn.set_trace_callback(said.append)
        store.get_or_create_session(source)
    assert [text.split()[0] for text in said] == ["BEGIN", "UPDATE", "COMMIT"]


def test_an_entry_another_process_moved_on_is_read_again(
    open_store: Open, source: SessionSource
) -> None:
    here, there = open_store(), open_store()
    key = here.get_or_create_session(source).session_key
    moved = there.reset_session(key)
    assert moved is not None
    here.update_session(key, input_tokens=5)
    found = there.find_entry(key)
    assert found is not None
    assert (found.session_id, found.input_tokens) == (moved.session_id, 5)


def test_a_key_another_process_forgot_starts_anew(open_store: Open, source: SessionSource) -> None:
    here, there = open_store(), open_store()
    entry = here.get_or_create_session(source)
    del there._entries[entry.session_key]
    assert here.get_or_create_session(source).session_id != entry.session_id
    assert len(there._entries) == 1


@pytest.mark.parametrize("text", ["torn", "[]", "null"])
def test_a_row_that_is_no_entry_gives_way_to_a_new_session(
    db: SessionDB, store: SessionStore, source: SessionSource, text: str
) -> None:
    key = store.get_or_create_session(source).session_key
    sql = "UPDATE routes SET entry = ? WHERE session_key = ?"
    db._backend.write(lambda: db._backend.execute(sql, (text, key)))
    assert store.list_sessions() == []
    entry = store.get_or_create_session(source)
    assert [one.session_id for one in store.list_sessions()] == [entry.session_id]


def test_the_oldest_are_let_go_but_never_one_in_use(
    store: SessionStore, source: SessionSource, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index, "MAX_HELD", 10)
    store._entries._recent = type(store._entries._recent)(maxlen=3)
    first = store.get_or_create_session(replace(source, chat_id="0"))
    for chat in range(1, 11):
        store.get_or_create_session(replace(source, chat_id="0"))
        store.get_or_create_session(replace(source, chat_id=str(chat)))
    assert len(store._entries._held) == 7
    assert store.find_entry(first.session_key) is first


def test_only_what_was_changed_is_saved(store: SessionStore, source: SessionSource) -> None:
    entries = [store.get_or_create_session(replace(source, chat_id=str(n))) for n in range(3)]
    entries[1].suspended = True
    assert store._entries.write_changes() == 1
    assert store._entries.write_changes() == 0
