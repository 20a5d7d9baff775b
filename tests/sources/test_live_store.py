"""Our own store is a source like any other."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from support.badinput import damaged, read_all, survive, write
from warmstart.model import Fate, Link, Role, Status
from warmstart.sources import find_reader
from warmstart.sources.probe import probe_path
from warmstart.sources.readers.live_store import LiveStore
from warmstart.store import SessionDB

CALL = {"id": "c1", "type": "function",
        "function": {"name": "terminal", "arguments": '{"command": "make"}'}}  # fmt: skip


def fill(path: Path) -> Path:
    """A store with a session, and a child that went on after a compaction."""
    with SessionDB(path) as db:
        db.ensure_session("s1", "cli", model="m1")
        db.append_message("s1", "user", [{"type": "text", "text": "build it"}])
        db.append_message("s1", "assistant", "", tool_calls=[CALL])
        answer = '{"output": "", "exit_code": 2, "error": null}'
        db.append_message("s1", "tool", answer, tool_call_id="c1", tool_name="terminal")
        db.end_session("s1", "compression")
        db.create_session("s2", "cli", parent_session_id="s1")
        db.append_message("s2", "user", "go on")
    return path


def test_a_store_is_recognised_before_hermes_is(tmp_path: Path) -> None:
    reader = find_reader(probe_path(fill(tmp_path / "store.db")))
    assert isinstance(reader, LiveStore)


def test_sessions_are_read_under_their_own_origin(tmp_path: Path) -> None:
    sessions, log = read_all(LiveStore(), fill(tmp_path / "store.db"))
    assert [s.id for s in sessions] == ["live_store:s1", "live_store:s2"]
    assert log.total == 0


def test_messages_calls_and_outcomes_come_out_as_they_went_in(tmp_path: Path) -> None:
    session = read_all(LiveStore(), fill(tmp_path / "store.db"))[0][0]
    assert (session.messages[0].role, session.messages[0].text) == (Role.USER, "build it")
    assert session.calls[0].request.arguments == {"command": "make"}
    assert (session.calls[0].outcome.status, session.calls[0].outcome.exit_code) == (
        Status.ERROR,
        2,
    )


def test_a_child_names_its_parent_by_full_id(tmp_path: Path) -> None:
    child = read_all(LiveStore(), fill(tmp_path / "store.db"))[0][1]
    assert child.parent is not None
    assert (child.parent.id, child.parent.link) == ("live_store:s1", Link.COMPACTION)


def test_compacted_messages_are_archived_and_count(tmp_path: Path) -> None:
    path = fill(tmp_path / "store.db")
    with SessionDB(path) as db:
        db.archive_and_compact("s1", [{"role": "user", "content": "summary so far"}])
    session = read_all(LiveStore(), path)[0][0]
    assert session.messages[0].fate is Fate.ARCHIVED
    assert len(session.calls) == 1


@given(st.data())
def test_a_damaged_store_is_survived(tmp_path: Path, data: st.DataObject) -> None:
    whole = (
        fill(tmp_path / "whole.db")
        if not (tmp_path / "whole.db").exists()
        else tmp_path / "whole.db"
    )
    survive(LiveStore(), write(tmp_path, "damaged.db", data.draw(damaged(whole.read_bytes()))))
