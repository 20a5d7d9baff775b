"""What was said: in the file and in the database, once, whichever holds more."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from warmstart.gateway import SessionSource, SessionStore, UnsafeNameError
from warmstart.store import SessionDB, StoreError

Open = Callable[..., SessionStore]


def say(text: str, **fields: Any) -> dict[str, Any]:
    return {"role": "user", "content": text} | fields


def texts(store: SessionStore, session_id: str = "s1") -> list[Any]:
    return [message["content"] for message in store.load_transcript(session_id)]


def test_a_message_is_in_the_file_and_in_the_database_once(
    store: SessionStore, db: SessionDB
) -> None:
    store.append_to_transcript("s1", say("hello"))
    assert store.get_transcript_path("s1").read_bytes().count(b"\n") == 1
    assert db.message_count("s1") == 1


def test_an_agent_that_stores_its_own_messages_skips_the_database(
    store: SessionStore, db: SessionDB
) -> None:
    db.append_message("s1", "user", "hello")
    store.append_to_transcript("s1", say("hello"), skip_db=True)
    assert db.message_count("s1") == 1
    assert texts(store) == ["hello"]


def test_with_db_alone_no_file_is_written(open_store: Open) -> None:
    store = open_store({"transcripts": "db"})
    store.append_to_transcript("s1", say("hello"))
    assert not store.get_transcript_path("s1").exists()
    assert texts(store) == ["hello"]


def test_every_part_of_a_message_is_kept(store: SessionStore, db: SessionDB) -> None:
    calls = [{"id": "c1", "type": "function", "function": {"name": "ls", "arguments": "{}"}}]
    store.append_to_transcript(
        "s1",
        {"role": "assistant", "content": "", "tool_calls": calls, "finish_reason": "tool_calls"},
    )
    store.append_to_transcript(
        "s1", {"role": "tool", "content": "a.py", "tool_call_id": "c1", "name": "ls", "x": 1}
    )
    asked, answered = db.get_messages("s1")
    assert (asked["tool_calls"], asked["finish_reason"]) == (calls, "tool_calls")
    assert (answered["tool_call_id"], answered["tool_name"]) == ("c1", "ls")


def test_a_message_without_a_role_is_kept_as_unknown(store: SessionStore, db: SessionDB) -> None:
    store.append_to_transcript("s1", {"content": "hello"})
    assert db.get_messages("s1")[0]["role"] == "unknown"


def test_whichever_holds_more_is_read(store: SessionStore, db: SessionDB) -> None:
    store.append_to_transcript("s1", say("one"), skip_db=True)
    store.append_to_transcript("s1", say("two"))
    assert texts(store) == ["one", "two"]
    for text in ("three", "four"):
        db.append_message("s1", "user", text)
    assert texts(store) == ["two", "three", "four"]


def test_what_was_taken_back_or_compacted_in_the_database_does_not_return_from_the_file(
    store: SessionStore, db: SessionDB
) -> None:
    for text in ("one", "two", "three", "four"):
        store.append_to_transcript("s1", say(text))
    db.rewind_to_message("s1", db.get_messages("s1")[2]["id"])
    assert texts(store) == ["one", "two"]
    db.archive_and_compact("s1", [say("summary")])
    assert texts(store) == ["summary"]


def test_of_two_equal_ones_the_database_is_read(store: SessionStore, db: SessionDB) -> None:
    db.append_message("s1", "user", "stored")
    store.append_to_transcript("s1", say("written"), skip_db=True)
    assert texts(store) == ["stored"]


def test_a_torn_file_is_made_good_by_the_database(store: SessionStore) -> None:
    for text in ("one", "two"):
        store.append_to_transcript("s1", say(text))
    path = store.get_transcript_path("s1")
    path.write_bytes(path.read_bytes()[:-9])
    assert texts(store) == ["one", "two"]


def test_a_message_delivered_twice_is_read_once(store: SessionStore, db: SessionDB) -> None:
    for _ in range(2):
        store.append_to_transcript("s1", say("hello", platform_message_id="m1"))
    assert (db.message_count("s1"), texts(store)) == (1, ["hello"])


def test_a_rewrite_replaces_both(store: SessionStore, db: SessionDB) -> None:
    for text in ("one", "two", "three"):
        store.append_to_transcript("s1", say(text))
    store.rewrite_transcript("s1", [say("summary"), {"content": "no role"}])
    assert texts(store) == ["summary", "no role"]
    assert db.message_count("s1") == 2
    assert store.get_transcript_path("s1").read_bytes().count(b"\n") == 2


def test_a_rewrite_to_nothing_leaves_nothing(store: SessionStore) -> None:
    store.append_to_transcript("s1", say("one"))
    store.rewrite_transcript("s1", [])
    assert texts(store) == []


def test_a_rewrite_of_nothing_makes_no_session(store: SessionStore, db: SessionDB) -> None:
    store.rewrite_transcript("s1", [])
    assert db.session_count() == 0


def test_a_session_nobody_knows_has_said_nothing(store: SessionStore) -> None:
    assert store.load_transcript("none") == []


@pytest.mark.parametrize("session_id", ["../up", "a/b", "", "C:x"])
def test_an_unsafe_id_is_refused_everywhere(store: SessionStore, session_id: str) -> None:
    for use in (store.load_transcript, store.get_transcript_path):
        with pytest.raises(UnsafeNameError):
            use(session_id)
    with pytest.raises(UnsafeNameError):
        store.append_to_transcript(session_id, say("x"))
    with pytest.raises(UnsafeNameError):
        store.rewrite_transcript(session_id, [])


def test_the_row_names_the_chat_also_after_a_rewrite(
    store: SessionStore, source: SessionSource, db: SessionDB
) -> None:
    entry = store.get_or_create_session(source)
    store.rewrite_transcript(entry.session_id, [say("x")])
    row = db.get_session(entry.session_id)
    assert row is not None
    assert (row["source"], row["chat_id"]) == ("telegram", "99")


@pytest.fixture
def closed(tmp_path: Path) -> SessionDB:
    """A database that fails at everything that is asked of it."""
    path = tmp_path / "readonly.db"
    SessionDB(path).close()
    return SessionDB(path, read_only=True)


def test_a_message_the_database_refuses_is_kept_in_the_file(
    open_store: Open, closed: SessionDB
) -> None:
    with closed:
        store = open_store(db=closed)
        store.append_to_transcript("s1", say("hello"))
        assert texts(store) == ["hello"]


def test_with_db_alone_a_refusal_reaches_the_caller(open_store: Open, closed: SessionDB) -> None:
    with closed:
        store = open_store({"transcripts": "db"}, db=closed)
        with pytest.raises(StoreError):
            store.append_to_transcript("s1", say("hello"))


def test_a_rewrite_the_database_refuses_leaves_what_was_there(
    open_store: Open, closed: SessionDB
) -> None:
    with closed:
        store = open_store(db=closed)
        store.append_to_transcript("s1", say("hello"))
        with pytest.raises(StoreError):
            store.rewrite_transcript("s1", [say("new")])
        assert texts(store) == ["hello"]


def test_a_database_that_is_gone_leaves_the_file(open_store: Open, tmp_path: Path) -> None:
    gone = SessionDB(tmp_path / "gone.db")
    store = open_store(db=gone)
    store.append_to_transcript("s1", say("hello"))
    gone.close()
    assert texts(store) == ["hello"]
    with pytest.raises(StoreError):
        store.load_transcript("never")
