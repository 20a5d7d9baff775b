"""Inspect logs: archives written here with deflate and zstd, and the older single document."""

from __future__ import annotations

import copy
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.badinput import damaged, read_all, retyped, survive, write
from warmstart.errors import SourceError
from warmstart.model import Kind, Role, Session, Status
from warmstart.sources import READERS, ReadLog, find_reader
from warmstart.sources.probe import probe_path
from warmstart.sources.reader import Unit

if sys.version_info >= (3, 14):
    import zipfile
else:
    from backports.zstd import zipfile

READER = READERS["inspect_ai"]
METHODS = [zipfile.ZIP_DEFLATED, zipfile.ZIP_ZSTANDARD]
EVAL: dict[str, Any] = {
    "task": "till_repair",
    "model": "acme/acme-1",
    "solver": "react",
    "eval_id": "E1",
    "created": "2026-03-01T10:00:00+00:00",
    "packages": {"inspect_ai": "0.3.150"},
}
HEADER: dict[str, Any] = {"version": 2, "status": "success", "eval": EVAL, "plan": {}}


def _model_event(message_id: str, second: int) -> dict[str, Any]:
    output = {"choices": [{"message": {"role": "assistant", "id": message_id}}]}
    stamp = f"2026-03-01T10:00:{second:02d}+00:00"
    return {"event": "model", "timestamp": stamp, "completed": stamp, "output": output}


SAMPLE: dict[str, Any] = {
    "id": "shop",
    "epoch": 2,
    "uuid": "U1",
    "input": "Fix the till.",
    "messages": [
        {"id": "m0", "role": "system", "content": "You are."},
        {"id": "m1", "role": "user", "content": "Fix the till.", "source": "input"},
        {
            "id": "m2",
            "role": "assistant",
            "model": "acme-1",
            "content": [
                {"type": "reasoning", "reasoning": "hm"},
                {"type": "text", "text": "Looking."},
                {
                    "type": "tool_use",
                    "id": "s1",
                    "name": "web_search",
                    "arguments": '{"q": "till"}',
                    "result": "found",
                },
            ],
            "tool_calls": [
                {"id": "c1", "function": "bash", "arguments": {"cmd": "attachment://a1"}},
                {"id": "c2", "function": "read_file", "arguments": {"path": "/x"}},
                {"id": "c3", "function": "bash", "arguments": {"cmd": "rm -r /"}},
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "function": "bash", "content": "attachment://a2"},
        {
            "role": "tool",
            "tool_call_id": "c2",
            "function": "read_file",
            "content": "",
            "error": {"type": "file_not_found", "message": "no such file"},
        },
        {
            "role": "tool",
            "tool_call_id": "c3",
            "function": "bash",
            "content": "",
            "error": {"type": "approval", "message": "rejected by the operator"},
        },
        {"id": "m6", "role": "user", "content": "Please proceed."},
        {"id": "m7", "role": "assistant", "content": "Done."},
    ],
    "attachments": {"a1": "ls -la", "a2": "shop.py"},
    "events": [
        _model_event("m2", 1),
        {"event": "tool", "id": "c1", "timestamp": "2026-03-01T10:00:05+00:00"},
        {"event": "compaction", "tokens_before": 900, "tokens_after": 90},
        _model_event("m7", 9),
    ],
    "output": {"choices": [{"stop_reason": "stop"}]},
    "scores": {"includes": {"value": "C"}, "match": {"value": "I"}},
    "model_usage": {
        "acme/acme-1": {
            "input_tokens": 100,
            "output_tokens": 5,
            "total_tokens": 165,
            "input_tokens_cache_read": 60,
            "total_cost": 0.25,
        }
    },
    "started_at": "2026-03-01T10:00:00+00:00",
    "completed_at": "2026-03-01T10:01:00+00:00",
}


def _archive(
    path: Path, members: dict[str, Any], method: int = zipfile.ZIP_DEFLATED, header: Any = HEADER
) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", compression=method) as archive:
        archive.writestr("header.json", json.dumps(header))
        archive.writestr("summaries.json", "[]")
        for name, value in members.items():
            archive.writestr(name, json.dumps(value))
    return path


def _only(path: Path) -> Session:
    sessions, log = read_all(READER, path)
    assert log.total == 0
    assert len(sessions) == 1
    return sessions[0]


@pytest.fixture(params=METHODS)
def session(tmp_path: Path, request: pytest.FixtureRequest) -> Session:
    members = {"samples/shop_epoch_2.json": SAMPLE}
    return _only(_archive(tmp_path / "log.eval", members, request.param))


def _change(**fields: Any) -> dict[str, Any]:
    return copy.deepcopy(SAMPLE) | fields


def test_an_error_is_told_by_its_field_and_absence_is_success(session: Session) -> None:
    results = [call.result for call in session.calls]
    assert [r.is_error for r in results if r] == [False, False, True, True]
    assert [r.status for r in results if r] == [None, None, None, Status.REJECTED]


def test_a_result_without_content_shows_the_error(session: Session) -> None:
    assert session.calls[2].result is not None
    assert session.calls[2].result.text == "no such file"


def test_attachments_are_put_back(session: Session) -> None:
    call = session.calls[1]
    assert call.request.arguments == {"cmd": "ls -la"}
    assert call.result is not None
    assert call.result.text == "shop.py"


def test_tools_the_provider_ran_are_calls_with_results(session: Session) -> None:
    call = session.calls[0]
    assert (call.tool, call.request.arguments) == ("web_search", {"q": "till"})
    assert call.result is not None
    assert call.result.text == "found"


def test_reasoning_is_kept_apart_from_the_text(session: Session) -> None:
    message = session.messages[2]
    assert (message.text, message.reasoning) == ("Looking.", "hm")


def test_the_eval_describes_the_session(session: Session) -> None:
    assert (session.native_id, session.task) == ("U1", "till_repair/shop/2")
    assert (session.agent, session.agent_version) == ("react", "0.3.150")
    assert (session.model, session.project) == ("acme/acme-1", "till_repair")
    assert (session.reward, session.end_reason) == (1.0, "stop")


def test_usage_is_billed_once(session: Session) -> None:
    tokens = session.tokens
    assert (tokens.input, tokens.cache_read, tokens.output) == (100, 60, 5)
    assert session.cost_usd == 0.25


def test_the_solver_speaking_is_no_turn_of_the_user(session: Session) -> None:
    users = [m.kind for m in session.messages if m.role is Role.USER]
    assert users == [Kind.TURN, Kind.INJECTED]


def test_a_compaction_stands_before_the_next_answer(session: Session) -> None:
    compaction = session.compactions[0]
    assert compaction.at == 7
    assert (compaction.tokens_before, compaction.tokens_after) == (900, 90)


def test_events_date_the_messages(session: Session) -> None:
    times = [m.timestamp for m in session.messages]
    assert times[2] is not None
    assert times[3] == times[2] + 4
    assert session.ended_at == session.started_at + 60  # type: ignore[operator]


def test_a_compaction_after_the_last_answer_ends_the_list(tmp_path: Path) -> None:
    sample = _change(events=[{"event": "compaction"}])
    session = _only(_archive(tmp_path / "a.eval", {"samples/a_epoch_1.json": sample}))
    assert session.compactions[0].at == len(session.messages)


@pytest.mark.parametrize(
    ("value", "reward"),
    [
        ("P", 0.5), ("N", 0.0), ("I", 0.0), (True, 1.0), (0.75, 0.75), ("0.25", 0.25),
        ("Yes", 1.0), ("unclear", None), ({"a": 1}, None), ("nan", None), (None, None),
    ],
)  # fmt: skip
def test_grades_become_numbers(tmp_path: Path, value: Any, reward: float | None) -> None:
    sample = _change(scores={"judge": {"value": value}})
    session = _only(_archive(tmp_path / "a.eval", {"samples/a_epoch_1.json": sample}))
    assert session.reward == reward


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"limit": {"type": "message", "limit": 30}}, "message limit"),
        ({"error": {"message": "boom"}}, "error"),
        ({"output": {}}, None),
    ],
)
def test_the_end_is_an_error_a_limit_or_a_stop(
    tmp_path: Path, fields: dict[str, Any], reason: str | None
) -> None:
    members = {"samples/a_epoch_1.json": _change(**fields)}
    assert _only(_archive(tmp_path / "a.eval", members)).end_reason == reason


def test_cache_inside_the_input_is_taken_out(tmp_path: Path) -> None:
    usage = {"input_tokens": 100, "output_tokens": 5, "total_tokens": 105}
    sample = _change(model_usage={"m": usage | {"input_tokens_cache_read": 60}})
    tokens = _only(_archive(tmp_path / "a.eval", {"samples/a_epoch_1.json": sample})).tokens
    assert (tokens.input, tokens.cache_read) == (40, 60)


def test_each_sample_is_a_unit_that_changes_alone(tmp_path: Path) -> None:
    members = {f"samples/s{n}_epoch_1.json": _change(id=f"s{n}", uuid=f"U{n}") for n in (2, 1)}
    path = _archive(tmp_path / "a.eval", members)
    before = list(READER.units(path, ReadLog()))
    members["samples/s1_epoch_1.json"]["scores"] = {}
    after = list(READER.units(_archive(path, members), ReadLog()))
    assert [unit.key for unit in before] == ["samples/s1_epoch_1.json", "samples/s2_epoch_1.json"]
    assert [a == b for a, b in zip(before, after, strict=True)] == [False, True]


def test_a_remembered_unit_is_read_without_its_listing(tmp_path: Path) -> None:
    path = _archive(tmp_path / "a.eval", {"samples/a_epoch_1.json": SAMPLE})
    unit = Unit(path=path, key="samples/a_epoch_1.json")
    assert [s.model for s in READER.read(unit, ReadLog())] == ["acme/acme-1"]


def test_a_run_under_way_has_a_journal_only(tmp_path: Path) -> None:
    path = tmp_path / "a.eval"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("_journal/start.json", json.dumps(HEADER))
        archive.writestr("samples/a_epoch_1.json", json.dumps(SAMPLE))
    assert find_reader(probe_path(path)) is READER
    assert _only(path).task == "till_repair/shop/2"


def test_a_broken_header_costs_the_description_only(tmp_path: Path) -> None:
    path = tmp_path / "a.eval"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("header.json", b"{")
        archive.writestr("samples/a_epoch_1.json", json.dumps(SAMPLE))
    session = _only(path)
    assert (session.model, len(session.calls)) == ("acme-1", 4)


def test_a_sample_in_chunks_is_put_together(tmp_path: Path) -> None:
    shell = {k: v for k, v in SAMPLE.items() if k not in ("messages", "attachments", "events")}
    rows = copy.deepcopy(SAMPLE["messages"])
    rows[3]["content"] = "attachment://1"
    folder = "samples/shop_epoch_2/"
    members = {
        f"{folder}sample.json": shell | {"message_refs": [[0, 3], 3, [4, 8], "x", []]},
        f"{folder}messages/0.json": rows[:5],
        f"{folder}messages/5.json": rows[5:],
        f"{folder}attachments/0.json": ["ls", "shop.py"],
        f"{folder}events/0.json": [],
        f"{folder}events/stats.json": {},
    }
    session = _only(_archive(tmp_path / "a.eval", members))
    assert (len(session.messages), len(session.calls)) == (8, 4)
    assert session.calls[1].result is not None
    assert session.calls[1].result.text == "shop.py"


def test_the_older_document_holds_every_sample(tmp_path: Path) -> None:
    early = {"id": 7, "epoch": 1, "input": "Fix it.", "score": {"value": "C"}}
    document = HEADER | {"samples": [SAMPLE, early, 5]}
    path = write(tmp_path, "log.json", json.dumps(document, indent=2).encode())
    assert find_reader(probe_path(path)) is READER
    (_, second), log = read_all(READER, path)
    assert (second.native_id, second.reward) == ("E1/7/1", 1.0)
    assert second.messages[0].text == "Fix it."
    assert log.counts["sample is not an object"] == 1


def test_early_tool_errors_are_plain_text(tmp_path: Path) -> None:
    rows = copy.deepcopy(SAMPLE["messages"][:4])
    rows[3] = {"role": "tool", "tool_call_id": "c1", "content": "", "tool_error": "boom"}
    document = HEADER | {"samples": [_change(messages=rows)]}
    calls = _only(write(tmp_path, "log.json", json.dumps(document).encode())).calls
    assert calls[1].result is not None
    assert (calls[1].result.is_error, calls[1].result.text) == (True, "boom")


@pytest.mark.parametrize("names", [["a.txt"], ["samples/a.json"], ["header.json"]])
def test_other_archives_are_not_claimed(tmp_path: Path, names: list[str]) -> None:
    path = tmp_path / "other.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(name, "{}")
    assert not READER.recognises(probe_path(path))


@pytest.mark.parametrize("document", [{"eval": {"task": "x"}}, {"samples": []}, [HEADER]])
def test_other_documents_are_not_claimed(tmp_path: Path, document: Any) -> None:
    path = write(tmp_path, "other.json", json.dumps(document).encode())
    assert not READER.recognises(probe_path(path))


@pytest.mark.parametrize("data", [b"[]", b'{"eval": 1}', b"PK\x03\x04", b""])
def test_files_of_another_kind_are_refused(tmp_path: Path, data: bytes) -> None:
    assert survive(READER, write(tmp_path, "x.eval", data)) is None


def test_a_sample_that_is_gone_is_refused(tmp_path: Path) -> None:
    path = _archive(tmp_path / "a.eval", {})
    unit = Unit(path=path, key="samples/gone_epoch_1.json")
    with pytest.raises(SourceError, match="no entry"):
        list(READER.read(unit, ReadLog()))


@given(data=st.data(), method=st.sampled_from(METHODS))
def test_damaged_archives_are_survived(tmp_path: Path, data: st.DataObject, method: int) -> None:
    path = _archive(tmp_path / "a.eval", {"samples/a_epoch_1.json": SAMPLE}, method)
    survive(READER, write(tmp_path, "b.eval", data.draw(damaged(path.read_bytes()))))


@given(sample=retyped(SAMPLE), header=retyped(HEADER))
def test_wrong_types_are_survived(tmp_path: Path, sample: Any, header: Any) -> None:
    survive(
        READER, _archive(tmp_path / "a.eval", {"samples/a_epoch_1.json": sample}, header=header)
    )
    document = {**HEADER, **header, "samples": [sample]}
    survive(READER, write(tmp_path, "log.json", json.dumps(document).encode()))
