"""The lossless format: what was written is what is read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from support.badinput import damaged, read_all, retyped, survive, to_jsonl, write
from support.sessions import make_session, sessions, write_export
from warmstart.export import export_warmstart
from warmstart.model import Session, Status
from warmstart.sources import READERS, ReadLog
from warmstart.sources.probe import probe_path
from warmstart.sources.readers.warmstart import Warmstart
from warmstart.wire import encode_line

READER = Warmstart()
RECORD = json.loads(encode_line(export_warmstart(make_session())))


def read_records(folder: Path, *records: Any) -> tuple[list[Session], ReadLog]:
    return read_all(READER, write(folder, "export.jsonl", to_jsonl(records)))


@given(session=sessions())
def test_a_session_survives_the_round_trip_whole(session: Session, tmp_path: Path) -> None:
    path = write_export(tmp_path / "export.jsonl", session)
    found, log = read_all(READER, path)
    assert found == [structs.replace(session, path=str(path))]
    assert log.total == 0


def test_the_stored_origin_and_agent_are_kept(tmp_path: Path) -> None:
    session = make_session(origin="claude_code", agent="acme_agent")
    (found,), _ = read_all(READER, write_export(tmp_path / "e.jsonl", session))
    assert found.id == "claude_code:ab12cd34-shop-1"
    assert found.agent == "acme_agent"


def test_calls_point_into_the_messages_instead_of_repeating_them() -> None:
    line = encode_line(export_warmstart(make_session()))
    assert line.count(b"1 failed, 3 passed") == 1
    assert [call["request"] for call in RECORD["calls"]] == [0, 1, 2]


def test_a_result_that_is_in_no_message_is_written_out(tmp_path: Path) -> None:
    session = make_session()
    first = session.calls[0]
    assert first.result is not None
    completed = structs.replace(first, result=structs.replace(first.result, exit_code=1))
    session = structs.replace(session, calls=(completed, *session.calls[1:]))
    (found,), _ = read_all(READER, write_export(tmp_path / "e.jsonl", session))
    assert found.calls == session.calls


def test_another_version_s_outcomes_are_judged_anew(tmp_path: Path) -> None:
    outcome = {"status": "rejected", "certainty": "textual", "evidence": "old_rule"}
    calls = [call | {"outcome": outcome} for call in RECORD["calls"]]
    (kept,), _ = read_records(tmp_path, RECORD | {"calls": calls})
    (judged,), _ = read_records(tmp_path, RECORD | {"calls": calls, "judged_by": "0.0.0"})
    assert {call.outcome.status for call in kept.calls} == {Status.REJECTED}
    assert judged.calls == make_session().calls


@pytest.mark.parametrize(
    "broken",
    [
        {"message": 99, "request": 0},
        {"message": -1, "request": 0},
        {"message": 2, "request": "x"},
        {"message": 2, "request": 0, "result": [3, 9]},
        {"message": 2, "request": 0, "result": [3]},
        {"message": 2, "request": 0, "outcome": {"status": "?"}},
        None,
    ],
)
def test_calls_that_point_nowhere_are_joined_anew(tmp_path: Path, broken: Any) -> None:
    outcome = RECORD["calls"][0]["outcome"]
    call = {"outcome": outcome, **broken} if isinstance(broken, dict) else broken
    (found,), _ = read_records(tmp_path, RECORD | {"calls": [call]})
    assert found.calls == make_session().calls


def test_a_newer_schema_is_counted_and_says_to_upgrade(tmp_path: Path) -> None:
    found, log = read_records(tmp_path, RECORD | {"schema": "warmstart.session/2"}, RECORD)
    assert len(found) == 1
    assert any("newer warmstart" in sentence for sentence in log.sentences())


def test_other_lines_and_sessions_without_an_id_are_counted(tmp_path: Path) -> None:
    found, log = read_records(tmp_path, {"a": 1}, RECORD | {"native_id": 7}, RECORD)
    assert len(found) == 1
    assert set(log.counts) == {"line is not an exported session", "exported session without an id"}


def test_a_name_of_a_later_version_reads_as_the_usual_one(tmp_path: Path) -> None:
    messages = [m | {"kind": "dream", "fate": [], "role": "robot"} for m in RECORD["messages"]]
    (found,), _ = read_records(tmp_path, RECORD | {"messages": messages})
    assert {(m.kind, m.fate, m.role) for m in found.messages} == {("turn", "live", "user")}


def test_it_recognises_its_own_files_only(tmp_path: Path) -> None:
    ours = write_export(tmp_path / "ours.jsonl", make_session())
    other = write(tmp_path, "other.jsonl", b'{"schema": "acme/1"}\n{"messages": []}\n')
    assert [r.name for r in READERS.values() if r.recognises(probe_path(ours))] == ["warmstart"]
    assert not READER.recognises(probe_path(other))


@given(data=damaged(to_jsonl([RECORD, RECORD])))
def test_damage_is_survived(data: bytes, tmp_path: Path) -> None:
    survive(READER, write(tmp_path, "e.jsonl", data))


@given(records=st.lists(retyped(RECORD), max_size=3))
def test_wrong_types_are_survived(records: list[Any], tmp_path: Path) -> None:
    survive(READER, write(tmp_path, "e.jsonl", to_jsonl(records)))
