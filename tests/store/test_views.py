"""Looking into a session at one message, on both databases."""

from __future__ import annotations

from typing import Any

import pytest

from warmstart.store import SessionDB


@pytest.fixture
def ids(db: SessionDB) -> list[int]:
    """A session of twelve messages in turns, with a tool result at every fourth place."""
    roles = ("user", "assistant", "user", "tool")
    db.append_message("other", "user", "elsewhere")
    return [int(db.append_message("s1", roles[n % 4], f"m{n}")) for n in range(12)]


def texts(rows: Any) -> list[str]:
    return [row["content"] for row in rows]


def test_a_window_holds_the_message_and_its_neighbours(db: SessionDB, ids: list[int]) -> None:
    view = db.get_messages_around("s1", ids[5], window=2)
    assert texts(view["window"]) == ["m3", "m4", "m5", "m6", "m7"]
    assert (view["messages_before"], view["messages_after"]) == (2, 2)


@pytest.mark.parametrize(("at", "before", "after"), [(0, 0, 3), (1, 1, 3), (11, 3, 0)])
def test_fewer_on_one_side_are_an_end_of_the_session(
    db: SessionDB, ids: list[int], at: int, before: int, after: int
) -> None:
    view = db.get_messages_around("s1", ids[at], window=3)
    assert (view["messages_before"], view["messages_after"]) == (before, after)


def test_a_message_of_another_session_has_no_window_here(db: SessionDB, ids: list[int]) -> None:
    empty = {"window": [], "messages_before": 0, "messages_after": 0}
    assert db.get_messages_around("other", ids[0]) == empty
    bare = empty | {"bookend_start": [], "bookend_end": []}
    assert db.get_anchored_view("s1", ids[-1] + 99) == bare


def test_a_view_has_the_beginning_and_the_end_of_what_was_said(
    db: SessionDB, ids: list[int]
) -> None:
    view = db.get_anchored_view("s1", ids[6], window=1, bookend=2)
    assert texts(view["bookend_start"]) == ["m0", "m1"]
    assert texts(view["window"]) == ["m5", "m6"]
    assert texts(view["bookend_end"]) == ["m9", "m10"]


def test_the_anchor_is_kept_whatever_its_role(db: SessionDB, ids: list[int]) -> None:
    view = db.get_anchored_view("s1", ids[7], window=1, bookend=0)
    assert texts(view["window"]) == ["m6", "m7", "m8"]
    assert (view["bookend_start"], view["bookend_end"]) == ([], [])
    everything = db.get_anchored_view("s1", ids[6], window=1, bookend=9, keep_roles=None)
    assert texts(everything["bookend_end"]) == ["m8", "m9", "m10", "m11"]


def test_around_an_active_message_stand_only_active_ones(db: SessionDB, ids: list[int]) -> None:
    db.archive_and_compact("s1", [{"role": "user", "content": "summary"}])
    new = db.get_messages("s1")[0]["id"]
    assert texts(db.get_messages_around("s1", new)["window"]) == ["summary"]
    assert texts(db.get_messages_around("s1", ids[11], 1)["window"]) == ["m10", "m11", "summary"]


def test_archiving_hides_ended_sessions_that_are_old(db: SessionDB) -> None:
    for name, source in (("a", "cli"), ("b", "cron"), ("open", "cli")):
        db.create_session(name, source, started_at=1.0)
    db.create_session("new", "cli")
    for name in ("a", "b", "new"):
        db.end_session(name, "done")
    assert db.archive_sessions(older_than_days=90, source="cron") == 1
    assert (db.archive_sessions(), db.archive_sessions()) == (1, 0)
    assert {row["id"] for row in db.list_sessions()} == {"open", "new"}
    assert db.get_session("a") is not None
