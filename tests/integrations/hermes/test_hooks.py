"""What Hermes tells becomes the outcome of a start, exactly once."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import pytest

from support.hermes_db import answers, asks, make_database, user
from support.hermes_plugin import TASK, RecordingContext
from warmstart.app import Workspace
from warmstart.app.starting import find_start
from warmstart.app.templates import open_library
from warmstart.model.warmup import Arm
from warmstart.store import RecordedStart

OK = '{"output": "4 passed", "exit_code": 0, "error": null}'
FAILED = '{"output": "1 failed, 3 passed", "exit_code": 1, "error": null}'


def get_start(workspace: Workspace, session_id: str = "s-1") -> RecordedStart:
    start = find_start(workspace, "hermes", session_id)
    assert start is not None
    return start


def test_calls_are_judged_and_settled_at_the_end(
    hermes: RecordingContext, workspace: Workspace
) -> None:
    hermes.begin()
    for number, result in enumerate([OK, FAILED, OK]):
        hermes.call(number, result)
    hermes.fire("on_session_finalize", session_id="s-1", platform="cli", reason="shutdown")
    start = get_start(workspace)
    assert (start.calls, start.errors, start.success) == (3, 1, True)
    assert start.session_id == "hermes:s-1"
    with open_library(workspace, read_only=True) as library:
        (row,) = library.list()
    assert (row.record.uses, row.record.calls, row.record.errors) == (1, 3, 1)


def test_the_last_test_run_says_whether_the_task_was_done(
    hermes: RecordingContext, workspace: Workspace
) -> None:
    for session_id, results in {"good": [FAILED, OK], "bad": [OK, FAILED]}.items():
        hermes.begin(session_id=session_id)
        for number, result in enumerate(results):
            hermes.call(number, result, session_id)
        hermes.call(8, OK, session_id, args={"command": "ls"})
        hermes.call(9, OK, session_id, args={"command": "pytest | tail -1"})
        hermes.fire("on_session_finalize", session_id=session_id)
    hermes.begin(session_id="neither")
    hermes.call(0, OK, "neither", args={"command": "ls"})
    hermes.fire("on_session_finalize", session_id="neither")
    found = {name: get_start(workspace, name).success for name in ("good", "bad", "neither")}
    assert found == {"good": True, "bad": False, "neither": None}


def test_a_session_is_settled_once_whoever_ends_it(
    hermes: RecordingContext, workspace: Workspace
) -> None:
    hermes.begin()
    hermes.call(0, OK)
    hermes.fire("on_session_finalize", session_id="s-1", platform="cli", reason="new_session")
    hermes.call(1, FAILED)
    hermes.fire("on_session_reset", session_id="s-2", old_session_id="s-1", reason="new_session")
    hermes.fire("on_session_finalize", session_id="s-1", platform="cli", reason="shutdown")
    start = get_start(workspace)
    assert (start.calls, start.errors) == (1, 0)


def test_a_reset_settles_the_session_that_made_way(
    hermes: RecordingContext, workspace: Workspace
) -> None:
    hermes.begin()
    hermes.fire("on_session_reset", session_id="s-2", old_session_id="s-1")
    assert get_start(workspace).settled_at is not None


def test_a_call_that_is_told_twice_counts_once(
    hermes: RecordingContext, workspace: Workspace
) -> None:
    hermes.begin()
    hermes.call(0, FAILED)
    hermes.call(0, FAILED)
    hermes.fire("post_tool_call", session_id="s-1", tool_name="x", result=OK)
    hermes.fire("post_tool_call", session_id="s-1", tool_name="x", result=OK)
    hermes.fire("on_session_finalize", session_id="s-1")
    start = get_start(workspace)
    assert (start.calls, start.errors) == (3, 1)


def test_cold_and_held_out_sessions_are_settled_too(
    hermes: RecordingContext, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    hermes.begin("Write a poem about autumn leaves", "cold")
    monkeypatch.setenv("WARMSTART_WARM_HOLDOUT", "1")
    hermes.begin(TASK, "held")
    for session_id in ("cold", "held"):
        hermes.call(0, FAILED, session_id)
        hermes.fire("on_session_finalize", session_id=session_id)
    cold, held = get_start(workspace, "cold"), get_start(workspace, "held")
    assert (cold.arm, cold.calls, cold.errors) == (Arm.COLD, 1, 1)
    assert (held.arm, held.calls, held.errors) == (Arm.HOLDOUT, 1, 1)


def test_a_gateway_that_stops_ends_no_session(
    hermes: RecordingContext, workspace: Workspace
) -> None:
    hermes.begin(platform="telegram")
    hermes.fire("on_session_finalize", session_id="s-1", platform="gateway", reason="shutdown")
    assert get_start(workspace).settled_at is None


def test_a_session_seen_from_its_middle_is_left_to_sync(
    hermes: RecordingContext, workspace: Workspace
) -> None:
    hermes.begin()
    later = RecordingContext()
    later.begin("go on", is_first_turn=False)
    later.call(7, OK)
    later.fire("on_session_finalize", session_id="s-1")
    assert get_start(workspace).settled_at is None


def keep_transcript(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hermes' own record of session s-1: three calls, one failed, no review of it."""
    rows = [user(TASK)]
    for number, result in enumerate([FAILED, OK, OK]):
        call = (f"call_{number}", "terminal", {"command": "pytest -q"})
        rows += [asks(call), answers(f"call_{number}", result)]
    make_database(folder / "state.db", {"s-1": rows, "s-10": rows[:3]})
    monkeypatch.setenv("HERMES_HOME", str(folder))


def test_the_transcript_is_believed_rather_than_what_was_told(
    hermes: RecordingContext,
    workspace: Workspace,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    keep_transcript(tmp_path / "h", monkeypatch)
    hermes.begin()
    for number in range(9):  # a review under the session's id tells of calls that are not its own
        hermes.call(number, FAILED)
    hermes.fire("on_session_finalize", session_id="s-1")
    start = get_start(workspace)
    assert (start.calls, start.errors, start.success) == (3, 1, True)


def test_a_resumed_session_is_settled_from_its_transcript(
    hermes: RecordingContext,
    workspace: Workspace,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    keep_transcript(tmp_path / "h", monkeypatch)
    hermes.begin()
    later = RecordingContext()
    later.begin("go on", is_first_turn=False)
    later.fire("on_session_finalize", session_id="s-1", platform="telegram", reason="idle")
    start = get_start(workspace)
    assert (start.calls, start.errors, start.session_id) == (3, 1, "hermes:s-1")


def test_a_transcript_of_another_session_is_not_taken_for_it(
    hermes: RecordingContext,
    workspace: Workspace,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    keep_transcript(tmp_path / "h", monkeypatch)
    hermes.begin(session_id="s")
    hermes.call(0, OK, "s")
    hermes.fire("on_session_finalize", session_id="s")
    start = get_start(workspace, "s")
    assert (start.calls, start.session_id) == (1, "hermes:s")


def test_a_start_that_sync_settled_stays_as_it_is(
    hermes: RecordingContext, workspace: Workspace
) -> None:
    hermes.begin()
    with open_library(workspace) as library:
        db = library.require_db()
        db.settle_start(get_start(workspace).id, "hermes:s-1", 9, 2, success=True)
    hermes.fire("on_session_finalize", session_id="s-1")
    assert get_start(workspace).calls == 9


@pytest.mark.parametrize(
    "fields",
    [
        {"session_id": None},
        {"session_id": "unknown"},
        {"session_id": "s-1", "args": "text", "result": None, "tool_name": None},
        {"session_id": "s-1", "args": {"a": object()}, "result": {"error": object()}},
        {},
    ],
)
def test_odd_events_change_nothing_else(hermes: RecordingContext, fields: dict[str, Any]) -> None:
    hermes.begin()
    hermes.fire("post_tool_call", **fields)
    hermes.fire("pre_llm_call", **fields)
    hermes.fire("on_session_reset", **fields)
    hermes.fire("on_session_finalize", **fields)


def test_a_store_that_is_gone_is_said_and_breaks_nothing(
    hermes: RecordingContext,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    hermes.begin()
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("WARMSTART_HOME", str(tmp_path / "file" / "ws"))
    with caplog.at_level(logging.WARNING):
        hermes.fire("on_session_finalize", session_id="s-1")
    assert len(caplog.records) == 1


def test_the_tool_answers_in_json_whatever_is_asked(hermes: RecordingContext) -> None:
    tool = hermes.tools["warm_session"]
    assert tool["schema"]["name"] == "warm_session"
    actions = tool["schema"]["parameters"]["properties"]["action"]["enum"]
    assert actions == [
        "build", "list", "load", "delete", "profile", "compress-check", "compare", "select",
    ]  # fmt: skip
    listed = json.loads(tool["handler"]({"action": "list"}, task_id="t", session_id="s"))
    assert listed["success"]
    assert listed["templates"][0]["name"] == "fix-tests"
    assert not json.loads(tool["handler"]({"action": "fly"}))["success"]
    assert not json.loads(tool["handler"](None))["success"]
