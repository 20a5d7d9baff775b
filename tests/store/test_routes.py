"""The routing index, on both databases."""

from __future__ import annotations

from pathlib import Path

import pytest

from warmstart.store import MessageError, SessionDB


def test_a_route_is_put_and_replaced(db: SessionDB) -> None:
    db.put_route("main", "agent:main:telegram:dm:1", {"session_id": "s1", "n": 1})
    db.put_route("main", "agent:main:telegram:dm:1", {"session_id": "s2", "n": [2]})
    assert db.get_route("main", "agent:main:telegram:dm:1") == {"session_id": "s2", "n": [2]}
    assert db.count_routes("main") == 1


def test_a_route_is_found_by_its_session(db: SessionDB) -> None:
    db.put_route("main", "k1", {"session_id": "s1"})
    assert db.find_route("main", "s1") == ("k1", {"session_id": "s1"})
    assert db.find_route("main", "s2") is None


def test_scopes_do_not_see_each_other(db: SessionDB) -> None:
    db.put_route("a", "k", {"session_id": "s1"})
    assert db.get_route("b", "k") is None
    assert db.find_route("b", "s1") is None
    assert db.count_routes("b") == 0


def test_all_routes_of_a_scope_are_listed_by_key(db: SessionDB) -> None:
    keys = [f"k{number:04}" for number in range(620)]
    for key in reversed(keys):
        db.put_route("main", key, {"session_id": None})
    assert [key for key, _ in db.list_routes("main")] == keys


def test_a_deleted_route_is_gone(db: SessionDB) -> None:
    db.put_route("main", "k", {})
    assert db.delete_route("main", "k")
    assert not db.delete_route("main", "k")
    assert db.get_route("main", "k") is None


def test_a_touch_leaves_the_flush_to_the_message_that_follows(tmp_path: Path) -> None:
    with SessionDB(tmp_path / "store.db", durability="full") as db:
        db.put_route("main", "k", {"session_id": "s1"})
        assert db._conn.execute("PRAGMA synchronous").fetchone()[0] == 2
        assert db.count_routes("main") == 1


def test_a_key_that_cannot_be_indexed_is_refused(db: SessionDB) -> None:
    for key in ("", "x" * 513, "nul\0", "\ud800"):
        with pytest.raises(MessageError):
            db.put_route("main", key, {})


def test_only_the_first_of_two_swaps_is_done(db: SessionDB) -> None:
    assert db.swap_route("main", "k", None, {"session_id": "s1"})
    assert not db.swap_route("main", "k", None, {"session_id": "s2"})
    assert db.swap_route("main", "k", {"session_id": "s1"}, {"session_id": "s3"})
    assert not db.swap_route("main", "k", {"session_id": "s1"}, {"session_id": "s4"})
    assert db.find_route("main", "s3") is not None


def test_an_entry_written_in_another_spacing_is_still_the_same(db: SessionDB) -> None:
    db.put_route("main", "k", {"session_id": "s1", "n": 1})
    sql = "UPDATE routes SET entry = ? WHERE session_key = 'k'"
    db._backend.write(lambda: db._backend.execute(sql, ('{"n":1,"session_id":"s1"}',)))
    assert db.swap_route("main", "k", {"session_id": "s1", "n": 1}, {"session_id": "s2"})
