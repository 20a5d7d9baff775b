"""The table of chats, on both databases."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from warmstart.store import MAX_KEY_LENGTH, Chat, MessageError, SessionDB

Open = Callable[..., SessionDB]


def make(key: str = "k", session_id: str = "s1", revision: int = 0) -> Chat:
    return Chat(key, session_id, 1.5, 2.25, '{"n": [1]}', revision)


def put(db: SessionDB, chat: Chat, scope: str = "main") -> Chat:
    """The row as it is stored."""
    return chat._replace(revision=db.put_chat(scope, chat))


def test_a_row_comes_back_as_it_was_put(db: SessionDB) -> None:
    stored = put(db, make())
    assert stored.revision
    assert db.find_chat("main", "k") == stored
    assert db.find_session_chat("main", "s1") == stored
    assert db.find_chat("main", "other") is db.find_session_chat("main", "other") is None


def test_a_change_is_made_over_the_revision_it_names_and_no_other(db: SessionDB) -> None:
    first = put(db, make())
    second = put(db, first._replace(session_id="s2"))
    assert second.revision == first.revision + 1
    assert not db.put_chat("main", first._replace(session_id="s3"))
    assert not db.put_chat("main", make(session_id="s4"))
    assert not db.touch_chat("main", first, 9.0)
    assert not db.delete_chat("main", first)
    assert db.find_chat("main", "k") == second


def test_a_touch_changes_the_time_and_the_revision(db: SessionDB) -> None:
    chat = put(db, make())
    revision = db.touch_chat("main", chat, 9.0)
    assert db.find_chat("main", "k") == chat._replace(updated_at=9.0, revision=revision)


def test_of_many_changes_at_once_one_is_made(db: SessionDB, open_store: Open) -> None:
    chat = put(db, make())
    stores = [open_store() for _ in range(4)]
    ready = threading.Barrier(len(stores))

    def change(number: int) -> int:
        ready.wait()
        return stores[number].put_chat("main", chat._replace(session_id=f"t{number}"))

    with ThreadPoolExecutor(len(stores)) as pool:
        revisions = list(pool.map(change, range(len(stores))))
    assert sum(map(bool, revisions)) == 1


def test_a_key_that_was_forgotten_never_repeats_a_revision(db: SessionDB) -> None:
    first = put(db, make())
    assert db.delete_chat("main", first)
    second = put(db, make(session_id="s2"))
    assert second.revision != first.revision
    assert not db.touch_chat("main", first, 9.0)


def test_scopes_do_not_see_each_other(db: SessionDB) -> None:
    put(db, make(), "a")
    assert db.find_chat("b", "k") is db.find_session_chat("b", "s1") is None
    assert (db.count_chats("a"), db.count_chats("b")) == (1, 0)


def test_all_rows_of_a_scope_are_listed_by_key(db: SessionDB) -> None:
    keys = [f"k{number:04}" for number in range(620)]
    db.take_chats(("main", make(key, revision=1)) for key in reversed(keys))
    assert [chat.session_key for chat in db.list_chats("main")] == keys
    assert len(list(db.iterate_chats())) == 620


def test_a_session_is_not_ended_while_a_chat_leads_to_it(db: SessionDB) -> None:
    db.append_to("s1", [{"role": "user", "content": "hi"}], "cli")
    chat = put(db, make())
    db.end_left_session("s1", "session_reset")
    assert db.get_session("s1")["ended_at"] is None  # type: ignore[index]
    put(db, chat._replace(session_id="s2"))
    db.end_left_session("s1", "session_reset")
    assert db.get_session("s1")["end_reason"] == "session_reset"  # type: ignore[index]


def test_a_chat_led_back_reopens_its_session(db: SessionDB) -> None:
    db.append_to("s1", [{"role": "user", "content": "hi"}], "cli")
    db.end_session("s1", "session_reset")
    assert not db.put_chat("main", make(revision=7), reopen=True)
    assert db.get_session("s1")["ended_at"] is not None  # type: ignore[index]
    assert db.put_chat("main", make(), reopen=True)
    assert db.get_session("s1")["ended_at"] is None  # type: ignore[index]


def test_a_touch_leaves_the_flush_to_the_message_that_follows(tmp_path: Path) -> None:
    with SessionDB(tmp_path / "store.db", durability="full") as db:
        db.touch_chat("main", put(db, make()), 3.0)
        assert db._conn.execute("PRAGMA synchronous").fetchone()[0] == 2


def test_a_key_that_cannot_be_indexed_is_refused(db: SessionDB) -> None:
    for key in ("", "x" * (MAX_KEY_LENGTH + 1), "nul\0", "\ud800"):
        with pytest.raises(MessageError):
            db.put_chat("main", make(key))


def test_the_longest_key_of_the_widest_characters_fits(db: SessionDB) -> None:
    key = "".join(chr(0x1F300 + number) for number in range(MAX_KEY_LENGTH))
    assert db.put_chat("main", make(key))
