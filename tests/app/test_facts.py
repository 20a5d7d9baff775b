from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from support.hermes_db import add_messages, add_session, answers, asks, change, make_database, user
from support.sessions import make_session, write_export
from warmstart.app import Workspace
from warmstart.app.facts import (
    index_path,
    read_facts,
    read_rows,
    read_status,
    refresh_facts,
)
from warmstart.errors import NotFoundError, SourceError
from warmstart.facts import derive_facts, refresh
from warmstart.model import Selection, Session, SessionFacts, Status
from warmstart.sources import FoundUnit, ReadLog, UnitReader
from warmstart.sources.readers.hermes import Hermes

OK = '{"output": "a", "exit_code": 0, "error": null}'
BAD = '{"output": "no such thing", "exit_code": 2, "error": null}'
TURN = [user("go"), asks(("c1", "terminal", {"command": "ls"})), answers("c1", OK)]


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    home = tmp_path / "user"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    for name in (
        "CLAUDE_CONFIG_DIR",
        "CODEX_HOME",
        "HERMES_HOME",
        "XDG_DATA_HOME",
        "XDG_CONFIG_HOME",
    ):
        monkeypatch.delenv(name, raising=False)
    return Workspace.open(tmp_path / "ws")


def by_id(facts: Any) -> dict[str, SessionFacts]:
    found = sorted(facts, key=lambda one: (one.id, one.path))
    assert len({(one.id, one.path) for one in found}) == len(found)
    return {one.id: one for one in found}


def check(
    workspace: Workspace, *paths: Path, log: ReadLog | None = None
) -> dict[str, SessionFacts]:
    """Facts from the index, after it was seen that they are those of the sessions as they are."""
    selection = Selection(paths=tuple(map(str, paths)))
    plain = ReadLog()
    expected = by_id(derive_facts(s) for s in workspace.read_sessions(selection, plain))
    told = log or ReadLog()
    found = by_id(read_facts(workspace, selection, told))
    assert found == expected
    assert told.counts == plain.counts
    return found


def errors(facts: SessionFacts) -> int:
    return sum(call.status is Status.ERROR for call in facts.calls)


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return make_database(tmp_path / "state.db", {f"s{n}": TURN for n in range(4)})


def test_a_database_stays_right_whatever_happens_to_it(
    workspace: Workspace, database: Path
) -> None:
    assert len(check(workspace, database)) == 4
    add_messages(database, "s1", asks(("c2", "terminal", {"command": "x"})), answers("c2", BAD))
    assert errors(check(workspace, database)["hermes:s1"]) == 1
    add_session(database, "s9", TURN, started_at=1.79e9, parent_session_id="s1")
    assert len(check(workspace, database)) == 5
    change(database, "UPDATE messages SET active = 0 WHERE session_id = 's2' AND role = 'tool'")
    assert check(workspace, database)["hermes:s2"].messages == 2
    change(database, "UPDATE messages SET content = ? WHERE tool_call_id = 'c1'", BAD)
    assert errors(check(workspace, database)["hermes:s0"]) == 1
    change(database, "UPDATE sessions SET end_reason = 'compression' WHERE id = 's1'")
    assert check(workspace, database)["hermes:s9"].parent is not None
    change(database, "DELETE FROM messages WHERE id > 5")
    check(workspace, database)
    change(database, "DELETE FROM sessions WHERE id IN ('s0', 's1')")
    check(workspace, database)
    change(database, "DELETE FROM messages")
    assert set(check(workspace, database)) == {"hermes:s2", "hermes:s3", "hermes:s9"}


def test_messages_left_behind_by_their_session_are_kept(
    workspace: Workspace, database: Path
) -> None:
    add_messages(database, "orphan", user("still here"))
    assert "hermes:orphan" in check(workspace, database)
    change(database, "DELETE FROM sessions WHERE id = 's0'")
    assert "hermes:s0" in check(workspace, database)
    add_messages(database, "late", user("x"))
    assert "hermes:late" in check(workspace, database)


def test_a_database_that_did_not_change_is_not_opened(
    workspace: Workspace, database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.utime(database, (1e9, 1e9))
    before = check(workspace, database)
    monkeypatch.setattr(Hermes, "units", None)
    assert by_id(read_facts(workspace, Selection(paths=(str(database),)), ReadLog())) == before


def test_an_edit_in_place_that_comes_with_growth_is_found_within_the_hour(
    workspace: Workspace, database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    check(workspace, database)
    monkeypatch.setattr(refresh, "MEASURE_SECONDS", -1.0)
    add_messages(database, "s1", user("more"))
    change(
        database, "UPDATE messages SET content = ? WHERE session_id = 's0' AND role = 'tool'", BAD
    )
    assert errors(check(workspace, database)["hermes:s0"]) == 1


def test_an_edit_in_place_is_found_in_a_folder_of_databases(
    workspace: Workspace, tmp_path: Path
) -> None:
    for name in ("one", "two"):
        make_database(tmp_path / "data" / f"{name}.db", {f"{name}-1": TURN})
    check(workspace, tmp_path / "data")
    database = tmp_path / "data" / "two.db"
    change(database, "UPDATE messages SET content = ? WHERE role = 'tool'", BAD)
    assert errors(check(workspace, tmp_path / "data")["hermes:two-1"]) == 1


def test_only_changed_sessions_are_read_again(
    workspace: Workspace, database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    check(workspace, database)
    add_messages(database, "s1", user("more"))
    read: list[str] = []

    class Watched(UnitReader):
        def read(self, found: FoundUnit, log: ReadLog, *, alone: bool = False) -> Iterator[Session]:
            read.append(found.unit.key)
            return super().read(found, log, alone=alone)

    monkeypatch.setattr(refresh, "UnitReader", Watched)
    refresh_facts(workspace, Selection(paths=(str(database),)), ReadLog())
    assert read == ["s1"]


def test_what_was_done_before_an_interrupt_is_kept(workspace: Workspace, database: Path) -> None:
    selection = Selection(paths=(str(database),))

    def stop(done: int, total: int) -> None:
        assert total == 4
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        refresh_facts(workspace, selection, ReadLog(), on_progress=stop)
    status = read_status(workspace)
    assert status is not None
    assert status.sessions == 2
    assert len(check(workspace, database)) == 4


def test_a_large_database_is_read_by_two_workers(
    workspace: Workspace, database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(refresh, "POOL_UNITS", 1)
    monkeypatch.setattr(refresh, "can_fork", lambda: threading.active_count() == 1)
    assert len(check(workspace, database)) == 4


def test_bad_rows_are_told_again_from_the_index(workspace: Workspace, database: Path) -> None:
    add_messages(database, "s1", {"role": "odd", "content": "x"})
    first, second = ReadLog(), ReadLog()
    check(workspace, database, log=first)
    check(workspace, database, log=second)
    assert first.counts == second.counts == {"message of an unknown role": 1}
    assert first.examples == second.examples


def test_a_database_with_odd_ids_is_read_session_by_session(
    workspace: Workspace, database: Path
) -> None:
    change(database, "INSERT INTO sessions (id, started_at) VALUES (NULL, 1)")
    log = ReadLog()
    assert len(check(workspace, database, log=log)) == 4
    assert log.counts == {"session without an id": 1}


LINE = (
    '{{"type": "{kind}", "uuid": "{uuid}", "parentUuid": {parent}, "sessionId": "{session}", '
    '"timestamp": "2026-01-01T00:00:0{second}Z", "message": {{"role": "{kind}", "content": "{text}"}}}}\n'
)
ONE, TWO = "11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"


def line(session: str, uuid: str, text: str, *, kind: str = "user", second: int = 0) -> str:
    return LINE.format(
        kind=kind,
        uuid=f"{uuid}-uuid-of-some-length",
        parent="null",
        session=session,
        text=text,
        second=second,
    )


def write(path: Path, text: str, age: float) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    moment = time.time() - age
    os.utime(path, (moment, moment))
    return path


def test_a_message_in_two_files_counts_once_whatever_happens_to_them(
    workspace: Workspace, tmp_path: Path
) -> None:
    folder = tmp_path / "claude" / "projects" / "-home-dev-shop"
    shared = line(ONE, "a", "build the shop")
    write(folder / f"{ONE}.jsonl", shared, 900)
    copied = shared.replace(f'"sessionId": "{ONE}"', f'"sessionId": "{TWO}"')
    write(folder / f"{TWO}.jsonl", copied + line(TWO, "b", "go on"), 600)
    root = tmp_path / "claude"
    assert {f.turns for f in check(workspace, root).values()} == {1}
    write(folder / f"{ONE}.jsonl", shared + line(ONE, "c", "more"), 300)  # now the later one
    check(workspace, root)
    write(folder / "33333333-3333-4333-8333-333333333333.jsonl", line("x", "b", "go on"), 800)
    check(workspace, root)
    (folder / f"{TWO}.jsonl").unlink()
    assert len(check(workspace, root)) == 2
    (folder / f"{ONE}.jsonl").write_text("not json\n" + shared)
    check(workspace, root)
    (folder / f"{ONE}.jsonl").unlink()
    check(workspace, root)


def test_files_are_read_again_only_when_they_changed(workspace: Workspace, tmp_path: Path) -> None:
    write_export(tmp_path / "x" / "a.jsonl", make_session("aaaaaaaa-1"))
    write_export(tmp_path / "x" / "b.jsonl", make_session("bbbbbbbb-1"))
    before = check(workspace, tmp_path / "x")
    calls: list[int] = []
    selection = Selection(paths=(str(tmp_path / "x"),))
    refresh_facts(workspace, selection, ReadLog(), on_progress=lambda done, _: calls.append(done))
    assert calls == []
    write_export(tmp_path / "x" / "b.jsonl", make_session("bbbbbbbb-1"), make_session("cccccccc-1"))
    refresh_facts(workspace, selection, ReadLog(), on_progress=lambda done, _: calls.append(done))
    assert calls == [1]
    assert len(check(workspace, tmp_path / "x")) == len(before) + 1


def test_selections_mean_the_same_for_facts_as_for_sessions(
    workspace: Workspace, tmp_path: Path
) -> None:
    sessions = [
        make_session("one", origin="codex", model="acme-large"),
        make_session("two", project=None, title=None),
        make_session("three", messages=make_session().messages[:2]),
    ]
    path = write_export(tmp_path / "all.jsonl", *sessions)
    for filters in (
        {"errors_only": True}, {"tool": "READ_*"}, {"tool": "nope"}, {"min_messages": 3},
        {"max_messages": 2}, {"project": "SHOP"}, {"agent": "Codex"}, {"model": "acme"},
        {"since": 1_767_225_600.0 + 50}, {"until": 1_767_225_600.0 - 1}, {"source": "hermes"}, {},
    ):  # fmt: skip
        selection = Selection(paths=(str(path),), **filters)
        wanted = [s.id for s in workspace.read_sessions(selection, ReadLog())]
        assert [f.id for f in read_facts(workspace, selection, ReadLog())] == wanted
        assert [row.id for row in read_rows(workspace, selection, ReadLog())] == wanted
        for session in sessions:
            assert selection.matches_facts(derive_facts(session)) == selection.matches(session)


def test_an_archived_copy_of_a_live_session_is_left_out(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    hermes = tmp_path / "hermes"
    make_database(hermes / "state.db", {"s0": TURN, "s1": TURN})
    monkeypatch.setenv("HERMES_HOME", str(hermes))
    session = workspace.get_session("hermes:s0", Selection(), ReadLog())
    write_export(workspace.archive / "old.jsonl", session, make_session("only-here"))
    expected = {s.id for s in workspace.read_sessions(Selection(), ReadLog())}
    assert set(by_id(read_facts(workspace, Selection(), ReadLog()))) == expected
    assert set(by_id(read_facts(workspace, Selection(source="hermes"), ReadLog()))) == expected
    assert len(expected) == 3


def test_a_home_that_cannot_be_written_to_costs_the_index_only(
    workspace: Workspace, database: Path
) -> None:
    workspace.home.write_text("a file stands where the folder would be")
    log = ReadLog()
    assert len(by_id(read_facts(workspace, Selection(paths=(str(database),)), log))) == 4
    assert len(log.notes) == 1
    assert log.total == 0
    rows = list(read_rows(workspace, Selection(paths=(str(database),)), ReadLog()))
    assert len(rows) == 4


def test_two_refreshes_at_once_leave_every_session_once(
    workspace: Workspace, tmp_path: Path
) -> None:
    database = make_database(tmp_path / "state.db", {f"s{n}": TURN for n in range(60)})
    selection = Selection(paths=(str(database),))
    failures: list[BaseException] = []

    def work() -> None:
        try:
            refresh_facts(workspace, selection, ReadLog())
        except BaseException as error:  # noqa: BLE001 - told to the test below
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    with closing(sqlite3.connect(index_path(workspace))) as index:
        assert index.execute("SELECT count(*) FROM session_fact").fetchone() == (60,)
    check(workspace, database)


def test_rebuilding_begins_anew(workspace: Workspace, database: Path) -> None:
    assert read_status(workspace) is None
    check(workspace, database)
    selection = Selection(paths=(str(database),))
    assert refresh_facts(workspace, selection, ReadLog(), rebuild=True) == 4
    assert len(by_id(read_facts(workspace, selection, ReadLog(), rebuild=True))) == 4
    status = read_status(workspace)
    assert status is not None
    assert (status.sessions, status.calls, status.units) == (4, 4, 4)


def test_nothing_at_a_path_is_an_error_as_it_is_for_sessions(
    workspace: Workspace, tmp_path: Path
) -> None:
    with pytest.raises(NotFoundError):
        list(read_facts(workspace, Selection(paths=(str(tmp_path / "nope"),)), ReadLog()))
    bad = tmp_path / "bad.db"
    bad.write_bytes(b"no database")
    with pytest.raises(SourceError):
        list(read_facts(workspace, Selection(paths=(str(bad),)), ReadLog()))
    log = ReadLog()
    assert list(read_facts(workspace, Selection(paths=(str(bad), str(bad))), log)) == []
    assert log.total == 2


@pytest.mark.corpus
@pytest.mark.parametrize("name", ["hermes", "codex", "gemini", "copilot", "tau_bench"])
def test_real_sessions_come_out_of_the_index_as_they_went_in(
    workspace: Workspace, corpus: Path, name: str
) -> None:
    check(workspace, corpus / name)
    assert check(workspace, corpus / name)
