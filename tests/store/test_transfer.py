"""Export and import, on both databases, and from one to the other."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warmstart.store import SessionDB
from warmstart.store.transfer import fill_times

CALLS = [{"id": "c1", "function": {"name": "terminal", "arguments": "{}"}}]


def fill(db: SessionDB) -> None:
    db.create_session("s1", "cli", model="m", model_config={"a": 1}, started_at=5.0)
    db.append_message("s1", "user", "hi", platform_message_id="1", timestamp=6.0)
    db.append_message("s1", "assistant", [{"type": "text", "text": "\0"}], tool_calls=CALLS)
    db.archive_and_compact("s1", [{"role": "user", "content": "summary"}])
    db.set_title("s1", "shop")
    db.update_token_counts("s1", 10, 5, actual_cost_usd=0.25)
    db.end_session("s1", "compression")


def without_ids(session: dict[str, object]) -> object:
    parsed = json.loads(json.dumps(session))
    for message in parsed["messages"]:
        del message["id"]
    return parsed


def test_what_is_exported_and_imported_is_equal(db: SessionDB, tmp_path: Path) -> None:
    fill(db)
    (exported,) = db.export_all()
    with SessionDB(tmp_path / "other.db") as other:
        assert other.import_sessions([json.loads(json.dumps(exported))])["imported"] == 1
        (copied,) = other.export_all(source="cli")
        assert without_ids(copied) == without_ids(exported)
        assert other.verify().is_clean


def test_importing_twice_changes_nothing(db: SessionDB) -> None:
    fill(db)
    exported = db.export_all()
    report = db.import_sessions(exported)
    assert (report["skipped"], report["imported"]) == (1, 0)
    assert db.export_all() == exported


def test_a_session_that_has_grown_gets_what_it_lacks(db: SessionDB, tmp_path: Path) -> None:
    db.append_message("s1", "user", "one")
    with SessionDB(tmp_path / "other.db") as other:
        other.import_sessions(db.export_all())
        db.append_message("s1", "user", "two", tool_calls=CALLS)
        assert other.import_sessions(db.export_all())["updated"] == 1
        assert [row["content"] for row in other.get_messages("s1")] == ["one", "two"]
        assert other.verify().is_clean


def test_a_session_with_another_beginning_is_reported_and_left_alone(db: SessionDB) -> None:
    db.append_message("s1", "user", "ours")
    theirs = {"id": "s1", "source": "cli", "messages": [{"role": "user", "content": "theirs"}]}
    assert db.import_sessions([theirs])["conflicts"] == 1
    assert db.get_messages("s1")[0]["content"] == "ours"


def test_a_title_that_is_taken_does_not_stop_an_import(db: SessionDB) -> None:
    db.create_session("s1", "cli")
    db.set_title("s1", "shop")
    assert db.import_sessions([{"id": "s2", "title": "shop", "messages": []}])["imported"] == 1
    assert db.get_session_title("s2") is None


def test_what_is_no_session_is_named_and_the_rest_goes_on(db: SessionDB) -> None:
    good = {"id": "good", "messages": [{"role": "user", "content": "hi"}]}
    bad = [{"id": 7}, {"id": "x", "messages": [3]}, {"id": "y", "messages": [{"content": "a"}]}]
    report = db.import_sessions([*bad, good])
    assert (report["imported"], len(report["errors"]), db.session_count()) == (1, 3, 1)


def test_an_unknown_session_exports_nothing(db: SessionDB) -> None:
    assert db.export_session("nobody") is None
    assert db.export_all(source="nobody") == []


def test_messages_without_a_time_are_the_same_at_the_next_import(db: SessionDB) -> None:
    bare = {"id": "s1", "messages": [{"role": "user", "content": "hi"}]}
    assert db.import_sessions([bare])["imported"] == 1
    assert db.import_sessions([bare])["skipped"] == 1


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
)
FIELDS = ("source", "title", "started_at", "ended_at", "model", "model_config", "archived",
          "input_tokens", "actual_cost_usd", "end_reason", "cost_status")  # fmt: skip
MESSAGE = st.dictionaries(
    st.sampled_from(("role", "content", "tool_calls", "timestamp", "active", "token_count",
                     "platform_message_id", "reasoning")), JSON, max_size=5)  # fmt: skip
SESSIONS = st.fixed_dictionaries(
    {"id": st.sampled_from("abc") | JSON, "messages": st.lists(MESSAGE | JSON, max_size=3) | JSON},
    optional=dict.fromkeys(FIELDS, JSON),
)


@given(sessions=st.lists(SESSIONS | JSON, max_size=4))
def test_no_import_breaks_a_file(tmp_path_factory: pytest.TempPathFactory, sessions: Any) -> None:
    with SessionDB(tmp_path_factory.mktemp("i") / "store.db") as db:
        report = db.import_sessions(sessions)
        assert report["imported"] == db.session_count()
        assert db.verify().is_clean
        assert len(db.export_all()) == report["imported"]


@given(sessions=st.lists(SESSIONS | JSON, max_size=4))
def test_no_import_breaks_a_server(schema: str, sessions: Any) -> None:
    with SessionDB.open(schema) as db:
        db.import_sessions(sessions)
        assert db.verify().is_clean


def times_of(db: SessionDB, session_id: str = "s1") -> list[float]:
    return [row["timestamp"] for row in db.get_messages(session_id, include_inactive=True)]


def undated(*times: float | None, **fields: object) -> dict[str, Any]:
    messages = [{"role": "user", "content": str(n), "timestamp": t} for n, t in enumerate(times)]
    return {"id": "s1", "source": "cli", **fields, "messages": messages}


def test_messages_without_a_time_are_spread_between_their_neighbours(db: SessionDB) -> None:
    session = undated(None, None, 20.0, None, 30.0, None, None, started_at=10.0, ended_at=50.0)
    db.import_sessions([session])
    assert times_of(db) == [10.0, 15.0, 20.0, 25.0, 30.0, 40.0, 50.0]
    assert db.get_session("s1")["last_message_at"] == 50.0


def test_without_any_time_messages_are_spread_over_the_session(db: SessionDB) -> None:
    db.import_sessions([undated(None, None, None, started_at=10.0, ended_at=14.0)])
    assert times_of(db) == [10.0, 12.0, 14.0]


moments = st.floats(0, 1e10)


@given(st.lists(st.none() | moments, max_size=12), st.none() | moments, st.none() | moments)
def test_a_made_up_time_is_never_out_of_order(
    times: list[float | None], start: float | None, end: float | None
) -> None:
    filled = fill_times(times, start, end)
    assert len(filled) == len(times)
    known = [time for time in times if time is not None]
    if known == sorted(known):
        assert filled == pytest.approx(sorted(filled))
    assert all(own is None or own == time for own, time in zip(times, filled, strict=True))


def test_a_session_grows_although_its_made_up_times_change(db: SessionDB) -> None:
    db.import_sessions([undated(10.0, None, started_at=10.0, ended_at=12.0)])
    report = db.import_sessions([undated(10.0, None, 20.0, started_at=10.0, ended_at=20.0)])
    assert (report["updated"], report["conflicts"]) == (1, 0)
    assert times_of(db) == [10.0, 15.0, 20.0]
    assert db.verify().is_clean


def test_a_later_import_corrects_times_and_loses_nothing(db: SessionDB) -> None:
    first = undated(7.0, 7.0, started_at=7.0)
    first["messages"][1] |= {"role": "assistant", "reasoning": "because", "finish_reason": "stop"}
    second = undated(7.0, 9.0, started_at=7.0)
    second["messages"][1]["role"] = "assistant"
    db.import_sessions([first])
    assert db.import_sessions([second])["updated"] == 1
    assert times_of(db) == [7.0, 9.0]
    last = db.get_messages("s1")[1]
    assert (last["reasoning"], last["finish_reason"]) == ("because", "stop")
    assert db.verify().is_clean
    assert db.import_sessions([second])["skipped"] == 1


def test_what_was_compacted_since_the_last_import_is_archived(db: SessionDB) -> None:
    db.import_sessions([undated(1.0, 2.0, started_at=1.0)])
    later = undated(1.0, 2.0, 3.0, started_at=1.0)
    for message in later["messages"][:2]:
        message |= {"active": 0, "compacted": 1}
    db.import_sessions([later])
    assert [row["content"] for row in db.get_messages("s1")] == ["2"]
    assert db.verify().is_clean
