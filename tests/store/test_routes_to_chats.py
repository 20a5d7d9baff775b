"""Schema 4 to 5: what stood in ``routes`` is in ``chats``, on both databases."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from warmstart.store import SessionDB
from warmstart.store.backend import Backend, Options
from warmstart.store.migrations import MIGRATIONS, find_version, migrate
from warmstart.store.sqlite_backend import SQLiteBackend

FOUR = [step for step in MIGRATIONS if step.version <= 4]
ROUTE = "INSERT INTO routes (scope, session_key, session_id, entry, updated_at) VALUES (?,?,?,?,?)"
ENTRY = {
    "updated_at": "2026-04-10T12:00:30.250000+00:00", "session_key": "k1", "session_id": "s1",
    "created_at": "2026-04-10T12:00:00+00:00", "chat_type": "dm", "input_tokens": 7,
    "origin": {"platform": "slack", "chat_id": "C1", "chat_name": "half \ud83d"},
}  # fmt: skip
NOON = 1775822400.0


@pytest.fixture
def old(address: str) -> Backend:
    """A store as version 4 left it, without a chat."""
    backend: Backend
    if address.startswith("postgresql"):
        from warmstart.store.postgres_backend import PostgresBackend

        backend = PostgresBackend(address, Options())
    else:
        backend = SQLiteBackend(Path(address), Options())
    migrate(backend, FOUR)
    return backend


def add(backend: Backend, key: str, entry: Any, session_id: str | None = "s1") -> None:
    text = entry if isinstance(entry, str) else json.dumps(entry)
    scope = "main/flush" if key == "claim" else "main"
    backend.execute(ROUTE, (scope, key, session_id, text, 99.5))


def test_a_chat_keeps_its_session_its_times_and_the_rest(old: Backend, address: str) -> None:
    add(old, "k1", ENTRY)
    old.close()
    with SessionDB.open(address) as db:
        chat = db.find_chat("main", "k1")
    assert chat is not None
    assert (chat.session_id, chat.created_at, chat.updated_at) == ("s1", NOON, NOON + 30.25)
    assert chat.revision
    kept = ("chat_type", "input_tokens", "origin")
    assert json.loads(chat.state) == {name: ENTRY[name] for name in kept}


def test_a_text_that_cannot_be_read_is_kept_as_it_is(old: Backend, address: str) -> None:
    texts = {"a": "torn", "b": "[]", "c": '{"created_at": 5, "updated_at": "soon"}'}
    for key, text in texts.items():
        add(old, key, text, None)
    old.close()
    with SessionDB.open(address) as db:
        chats = {chat.session_key: chat for chat in db.list_chats("main")}
    assert {key: chats[key].state for key in "abc"} == texts | {"c": "{}"}
    assert {(chat.session_id, chat.updated_at) for chat in chats.values()} == {("", 99.5)}


def test_claims_are_left_behind_and_the_old_table_is_gone(old: Backend, address: str) -> None:
    add(old, "k1", ENTRY)
    add(old, "claim", {"session_id": "s1", "until": 1.0})
    old.close()
    with SessionDB.open(address) as db:
        assert [(scope, chat.session_key) for scope, chat in db.iterate_chats()] == [("main", "k1")]
        with pytest.raises(Exception, match="routes"):
            db.backend.query("SELECT * FROM routes")


def test_moving_twice_is_nothing(old: Backend, address: str) -> None:
    add(old, "k1", ENTRY)
    old.close()
    with SessionDB.open(address) as db:
        before = list(db.iterate_chats())
    with SessionDB.open(address) as db:
        migrate(db.backend)
        assert list(db.iterate_chats()) == before
        assert find_version(db.backend) == MIGRATIONS[-1].version


def test_a_move_that_fails_leaves_the_old_rows(old: Backend, address: str) -> None:
    add(old, "k1", ENTRY)
    old.execute("CREATE TABLE chats (id TEXT)")
    old.close()
    with pytest.raises(Exception, match="chats"):
        SessionDB.open(address)
    with SessionDB.open(address, read_only=True) as db:
        assert db.schema_version == 4
        assert len(db.backend.query("SELECT * FROM routes")) == 1


def test_an_old_store_opened_for_reading_is_read_as_it_is(old: Backend, address: str) -> None:
    add(old, "k1", ENTRY)
    add(old, "k2", ENTRY, "s2")
    old.close()
    with SessionDB.open(address, read_only=True) as reader:
        found = list(reader.iterate_chats())
        assert reader.schema_version == 4
        assert reader.count_chats("main") == 2
        asked = [reader.find_chat("main", "k1"), reader.find_session_chat("main", "s2")]
        assert asked == [chat for _, chat in found]
        assert reader.find_chat("main", "k3") is reader.find_session_chat("main", "s3") is None
    with SessionDB.open(address) as db:
        assert list(db.iterate_chats()) == found
