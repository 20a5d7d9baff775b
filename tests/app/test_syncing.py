"""Starts and the sessions they became, in real stores of real formats."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from support.hermes_db import Row, add_session, answers, asks, make_database, user
from support.launching import MESSAGE, make_prepared, make_template
from support.planting import Planter
from support.sessions import make_session
from warmstart.app import Workspace, syncing
from warmstart.app.facts import read_facts
from warmstart.app.starts import hash_message
from warmstart.app.syncing import SyncReport, SyncResult, sync_starts
from warmstart.app.templates import open_library
from warmstart.facts import derive_facts
from warmstart.model import Selection, SessionFacts
from warmstart.model.template import TemplateState
from warmstart.model.warmup import Arm
from warmstart.sources import ReadLog
from warmstart.store import RecordedStart, Start
from warmstart.warm import Target

NOW = 1_800_000_000.0
LATER = NOW + 3600
PASSED = '{"output": "4 passed", "exit_code": 0, "error": null}'
FAILED = '{"output": "1 failed, 3 passed", "exit_code": 1, "error": null}'
FOLDER = "/home/dev/shop"
CLAUDE_ID = "11111111-2222-4333-8444-555555555555"


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    (tmp_path / "user").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "HERMES_HOME", "WARMSTART_STORE",
                 "XDG_DATA_HOME", "XDG_CONFIG_HOME"):  # fmt: skip
        monkeypatch.delenv(name, raising=False)
    found = Workspace(tmp_path / "ws")
    with open_library(found) as library:
        library.save(make_template(), state=TemplateState.APPROVED)
    return found


@pytest.fixture
def hermes(tmp_path: Path) -> Path:
    return make_database(tmp_path / "user" / ".hermes" / "state.db", {})


def begin(workspace: Workspace, **fields: Any) -> int:
    values: dict[str, Any] = {
        "agent": "hermes",
        "arm": Arm.WARM,
        "message_hash": hash_message(MESSAGE),
        "started_at": NOW,
        "cwd": FOLDER,
    }
    with open_library(workspace) as library:
        stored = library.get("fix-cart")
        start = Start(**(values | fields))
        if start.arm in (Arm.WARM, Arm.HOLDOUT):
            start = replace(
                start, template=stored.info.name, template_id=stored.id, version=stored.info.version
            )
        return library.require_db().record_start(start)


def talk(*results: str, message: str = MESSAGE, at: float = NOW + 2) -> list[Row]:
    """A message and a test run for every result."""
    rows = [user(message, timestamp=at)]
    for number, result in enumerate(results):
        call = (f"c{number}", "terminal", {"command": "pytest -q"})
        rows += [asks(call, timestamp=at + number), answers(f"c{number}", result)]
    return [*rows, {"role": "assistant", "content": "Done.", "timestamp": at + len(results)}]


def add(hermes: Path, name: str, rows: Sequence[Row], **fields: Any) -> None:
    add_session(hermes, name, rows, **({"started_at": NOW + 1, "cwd": FOLDER} | fields))


def sync(workspace: Workspace, now: float = LATER) -> SyncReport:
    return sync_starts(workspace, ReadLog(), now=now)


def get_start(workspace: Workspace, start: int) -> RecordedStart:
    with open_library(workspace) as library:
        return library.require_db().get_start(start)


def test_a_session_is_found_by_folder_time_and_message(workspace: Workspace, hermes: Path) -> None:
    start = begin(workspace)
    add(hermes, "other-words", talk(PASSED, message="write a poem"))
    add(hermes, "other-place", talk(PASSED), cwd="/home/dev/bank")
    add(hermes, "too-late", talk(PASSED, at=NOW + 900), started_at=NOW + 900)
    add(hermes, "this-one", talk(FAILED, PASSED))
    (row,) = sync(workspace).rows
    assert (row.result, row.session_id) == (SyncResult.SETTLED, "hermes:this-one")
    assert (row.calls, row.errors, row.success) == (2, 1, True)
    settled = get_start(workspace, start)
    assert (settled.session_id, settled.calls, settled.success) == ("hermes:this-one", 2, True)


def test_a_start_settles_once(workspace: Workspace, hermes: Path) -> None:
    begin(workspace)
    add(hermes, "s1", talk(PASSED))
    assert sync(workspace).count(SyncResult.SETTLED) == 1
    assert sync(workspace).rows == ()
    with open_library(workspace) as library:
        record = library.list()[0].record
    assert (record.uses, record.successes, record.failures) == (1, 1, 0)


def test_a_session_settles_one_start(workspace: Workspace, hermes: Path) -> None:
    begin(workspace)
    begin(workspace, started_at=NOW - 1)
    add(hermes, "s1", talk(PASSED))
    report = sync(workspace)
    assert (report.count(SyncResult.SETTLED), report.count(SyncResult.NOT_FOUND)) == (1, 1)
    assert sync(workspace).count(SyncResult.NOT_FOUND) == 1


def test_two_launches_with_one_message_get_a_session_each(
    workspace: Workspace, hermes: Path
) -> None:
    first, second = begin(workspace), begin(workspace, started_at=NOW + 20)
    add(hermes, "a", talk(PASSED, at=NOW + 22), started_at=NOW + 21)
    add(hermes, "b", talk(FAILED), started_at=NOW + 1)
    sync(workspace)
    assert get_start(workspace, first).session_id == "hermes:b"
    assert get_start(workspace, second).session_id == "hermes:a"


def test_what_is_still_running_waits(workspace: Workspace, hermes: Path) -> None:
    begin(workspace)
    add(hermes, "s1", talk(PASSED))
    assert sync(workspace, NOW + 60).rows[0].result is SyncResult.RUNNING
    assert sync(workspace, NOW + 660).rows[0].result is SyncResult.SETTLED


def test_without_a_message_two_that_fit_are_left_alone(workspace: Workspace, hermes: Path) -> None:
    begin(workspace, message_hash=hash_message(""))
    add(hermes, "s1", talk(PASSED))
    add(hermes, "s2", talk(PASSED, message="write a poem"))
    assert sync(workspace).rows[0].result is SyncResult.AMBIGUOUS


def test_without_a_message_the_only_one_that_fits_is_it(workspace: Workspace, hermes: Path) -> None:
    begin(workspace, message_hash=hash_message(""))
    add(hermes, "s1", talk(PASSED))
    add(hermes, "nowhere", talk(PASSED), cwd=None)
    assert sync(workspace).rows[0].session_id == "hermes:s1"


def test_a_session_that_never_came_stays_open(workspace: Workspace) -> None:
    begin(workspace)
    assert sync(workspace).rows[0].result is SyncResult.NOT_FOUND
    assert sync(workspace, NOW + 50 * 86_400).rows == ()


def test_a_long_message_is_compared_whole(workspace: Workspace, hermes: Path) -> None:
    long = MESSAGE + " and explain it" * 200
    begin(workspace, message_hash=hash_message(long))
    add(hermes, "same-beginning", talk(PASSED, message=f"{long} twice"))
    add(hermes, "same", talk(PASSED, message=long))
    assert sync(workspace).rows[0].session_id == "hermes:same"


def test_what_facts_have_masked_is_compared_as_it_was_written(
    workspace: Workspace, hermes: Path
) -> None:
    plant = Planter(3)
    folder = f"/srv/{plant.self_telling('folder')}/shop"
    told = [f"{MESSAGE} with {plant.self_telling('key', 'github_pat')}" for _ in range(2)]
    begin(workspace, message_hash=hash_message(told[0]), cwd=folder)
    add(hermes, "another-key", talk(PASSED, message=told[1]), cwd=folder)
    add(hermes, "another-folder", talk(PASSED, message=told[0]), cwd="/srv/shop")
    add(hermes, "this-one", talk(PASSED, message=told[0]), cwd=folder)
    assert sync(workspace).rows[0].session_id == "hermes:this-one"


def test_without_a_test_run_nothing_is_said_about_success(
    workspace: Workspace, hermes: Path
) -> None:
    begin(workspace)
    rows = [user(MESSAGE), asks(("c", "terminal", {"command": "ls"})), answers("c", FAILED)]
    add(hermes, "s1", rows)
    (row,) = sync(workspace).rows
    assert (row.calls, row.success) == (1, None)


def test_a_harmful_template_is_retired(workspace: Workspace, hermes: Path) -> None:
    for number in range(24):
        arm, result = (Arm.WARM, FAILED) if number % 2 else (Arm.HOLDOUT, PASSED)
        message = f"{MESSAGE} number {number}"
        begin(workspace, arm=arm, message_hash=hash_message(message))
        add(hermes, f"s{number}", talk(result, message=message))
    report = sync(workspace)
    assert report.count(SyncResult.SETTLED) == 24
    assert [retired.name for retired in report.retired] == ["fix-cart"]
    with open_library(workspace) as library:
        assert library.get("fix-cart").state is TemplateState.RETIRED


def write_claude_session(
    folder: Path, *, with_seed: bool, at: str = "2027-01-15T08:00:02.000Z"
) -> Path:
    """A fork of a seed as Claude Code writes it: the seed's lines again, then its own."""
    common = {"isSidechain": False, "userType": "external", "cwd": FOLDER, "sessionId": CLAUDE_ID,
              "version": "2.1.197", "timestamp": at}  # fmt: skip
    lines: list[dict[str, Any]] = []
    if with_seed:
        target = Target(cwd=FOLDER, session_id="seed", version="2.1.197", now=NOW)
        text = make_prepared(tools=["Bash"]).render("claude-session", target).text
        lines = [json.loads(line) | {"sessionId": CLAUDE_ID} for line in text.splitlines()]
    call = {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "pytest -q"}}
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "4 passed"}
    for number, (role, content) in enumerate(
        [("user", MESSAGE), ("assistant", [call]), ("user", [result])]
    ):
        parent = lines[-1]["uuid"] if lines else None
        message = {"role": role, "content": content, "id": f"m{number}", "model": "opus"}
        lines.append({**common, "type": role, "uuid": f"u{number}", "parentUuid": parent,
                      "message": message})  # fmt: skip
    path = folder / ".claude" / "projects" / "-home-dev-shop" / f"{CLAUDE_ID}.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_examples_that_a_session_begins_with_never_count(
    workspace: Workspace, tmp_path: Path
) -> None:
    begin(workspace, agent="claude_code", native_id=CLAUDE_ID, form="claude-session")
    write_claude_session(tmp_path / "user", with_seed=True)
    (row,) = sync(workspace).rows
    assert (row.session_id, row.calls, row.errors) == (f"claude_code:{CLAUDE_ID}", 1, 0)


def test_an_id_the_agent_was_given_is_the_only_one(workspace: Workspace, tmp_path: Path) -> None:
    begin(workspace, agent="claude_code", native_id="another")
    write_claude_session(tmp_path / "user", with_seed=False)
    assert sync(workspace).rows[0].result is SyncResult.NOT_FOUND


def test_of_a_session_that_was_there_before_only_the_rest_counts(
    workspace: Workspace, hermes: Path
) -> None:
    begin(workspace, native_id="s1", started_at=NOW + 1000)
    later = [row for row in talk(FAILED, at=NOW + 1001)[1:] if "tool_call_id" not in row]
    add(hermes, "s1", [*talk(PASSED, PASSED), *later])
    (row,) = sync(workspace, NOW + 9000).rows
    assert (row.session_id, row.calls) == ("hermes:s1", 1)


def test_a_held_out_session_of_an_agent_that_names_its_own_is_found(
    workspace: Workspace, tmp_path: Path
) -> None:
    begin(workspace, agent="codex", arm=Arm.HOLDOUT, native_id="never-used")
    lines = [
        ("session_meta", {"id": CLAUDE_ID, "cwd": FOLDER, "cli_version": "0.166.0"}),
        ("response_item", {"type": "message", "role": "user",
                           "content": [{"type": "input_text", "text": MESSAGE}]}),
    ]  # fmt: skip
    path = tmp_path / "user" / ".codex" / "sessions" / "2027" / f"rollout-x-{CLAUDE_ID}.jsonl"
    path.parent.mkdir(parents=True)
    stamp = "2027-01-15T08:00:02.000Z"
    path.write_text(
        "".join(
            json.dumps({"timestamp": stamp, "type": kind, "payload": payload}) + "\n"
            for kind, payload in lines
        )
    )
    assert sync(workspace).rows[0].session_id == f"codex:{CLAUDE_ID}"


def test_of_a_session_that_is_gone_the_facts_are_left(workspace: Workspace) -> None:
    calls = derive_facts(make_session()).calls
    facts = SessionFacts(id="hermes:gone", origin="hermes", agent="hermes", calls=calls, reward=1.0)
    start = get_start(workspace, begin(workspace))
    judged = syncing._judge(workspace, start, facts)
    assert (judged.calls, judged.errors, judged.success) == (3, 1, True)


def test_a_session_that_another_process_took_meanwhile_is_left(
    workspace: Workspace, hermes: Path
) -> None:
    add(hermes, "s1", talk(PASSED))
    first, second = begin(workspace), begin(workspace)
    with open_library(workspace) as library:
        db = library.require_db()
        facts = list(read_facts(workspace, Selection(), ReadLog()))
        search = syncing._Search(workspace, facts, set())
        db.settle_start(first, "hermes:s1", 1, 0, success=True)
        row = syncing._settle(db, search, db.get_start(second), LATER)
    assert (row.result, row.session_id) == (SyncResult.NOT_FOUND, None)
