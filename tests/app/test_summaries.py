"""Summaries are kept, made in two processes where many are missing, and the same either way."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from support.hermes_db import add_session, answers, asks, make_database, user
from warmstart.app import Workspace
from warmstart.app.facts import index_path, open_view, refresh_facts
from warmstart.app.summaries import (
    SummaryRecipe,
    _Chunk,
    _summarise_chunks,
    read_summaries,
    read_summary,
)
from warmstart.facts import can_fork, move_aside, reading, split_chunks
from warmstart.model import Selection
from warmstart.sources import ReadLog

OK = '{"output": "a", "exit_code": 0, "error": null}'
TURN = [user("go"), asks(("c1", "terminal", {"command": "ls"})), answers("c1", OK)]


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace.open(tmp_path / "ws")


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return make_database(tmp_path / "state.db", {f"s{n}": TURN for n in range(4)})


@pytest.fixture
def large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Sessions for eleven summaries, each of two."""
    monkeypatch.setattr(reading, "CHUNK", 2)
    return make_database(tmp_path / "large.db", {f"s{n:02}": TURN for n in range(21)})


def read_parts(
    workspace: Workspace, database: Path, summarise: Callable[[Any], bytes], version: str = "1"
) -> list[bytes]:
    selection = Selection(paths=(str(database),))
    return list(
        read_summaries(workspace, selection, ReadLog(), version=version, summarise=summarise)
    )


def name_sessions(facts: Any) -> bytes:
    """Which sessions a summary is of, and which process made it."""
    return b"%s by %d" % (b" ".join(one.id.encode() for one in facts), os.getpid())


def split_makers(parts: list[bytes]) -> tuple[list[bytes], set[int]]:
    pairs = [part.split(b" by ") for part in parts]
    return [names for names, _ in pairs], {int(maker) for _, maker in pairs}


def count_kept(workspace: Workspace) -> int:
    with closing(sqlite3.connect(index_path(workspace))) as index:
        return int(index.execute("SELECT count(*) FROM summary").fetchone()[0])


def test_summaries_are_made_once_and_again_after_a_change(
    workspace: Workspace, database: Path
) -> None:
    made: list[int] = []

    def summarise(facts: Any) -> bytes:
        made.append(len(facts))
        return b"%d" % len(facts)

    def total(**filters: Any) -> int:
        selection = Selection(paths=(str(database),), **filters)
        parts = read_summaries(workspace, selection, ReadLog(), version="1", summarise=summarise)
        return sum(map(int, parts))

    assert (total(), total(), made) == (4, 4, [4])
    assert (total(errors_only=True), made) == (0, [4])
    add_session(database, "s9", TURN)
    assert (total(), made) == (5, [4, 5])


def test_the_summary_of_everything_is_kept_until_a_session_changes(
    workspace: Workspace, database: Path
) -> None:
    joined: list[int] = []

    def join(parts: Any) -> bytes:
        joined.append(len(parts))
        return b"%d" % sum(map(int, parts))

    making = SummaryRecipe("1", lambda facts: b"%d" % len(facts), join)

    def total(**filters: Any) -> int:
        selection = Selection(paths=(str(database),), **filters)
        return int(read_summary(workspace, selection, ReadLog(), making))

    assert (total(), total(), joined) == (4, 4, [1])
    assert (total(errors_only=True), joined) == (0, [1, 0])
    assert (total(), joined) == (4, [1, 0])
    add_session(database, "s9", TURN)
    assert (total(), joined) == (5, [1, 0, 1])


def test_without_an_index_the_summary_is_made_each_time(
    workspace: Workspace, database: Path
) -> None:
    workspace.home.write_text("a file stands where the folder would be")
    making = SummaryRecipe("1", lambda facts: b"%d" % len(facts), b"+".join)
    selection = Selection(paths=(str(database),))
    assert read_summary(workspace, selection, ReadLog(), making) == b"4"
    assert read_parts(workspace, database, lambda facts: b"%d" % len(facts)) == [b"4"]


def test_many_missing_summaries_are_made_by_two_workers(workspace: Workspace, large: Path) -> None:
    refresh_facts(workspace, Selection(paths=(str(large),)), ReadLog())
    if not can_fork():
        pytest.skip("one core, or threads")
    parts = read_parts(workspace, large, name_sessions)
    names, makers = split_makers(parts)
    assert len(makers) == 2
    assert os.getpid() not in makers
    assert b" ".join(names) == b" ".join(b"hermes:s%02d" % n for n in range(21))
    assert read_parts(workspace, large, name_sessions) == parts
    assert count_kept(workspace) == len(parts) == 11


def test_beside_another_thread_no_process_is_begun(workspace: Workspace, large: Path) -> None:
    stop = threading.Event()
    thread = threading.Thread(target=stop.wait)
    thread.start()
    try:
        names, makers = split_makers(read_parts(workspace, large, name_sessions))
    finally:
        stop.set()
        thread.join()
    assert (len(names), makers) == (11, {os.getpid()})


def test_a_few_missing_summaries_are_made_here(workspace: Workspace, large: Path) -> None:
    before = read_parts(workspace, large, name_sessions)
    add_session(large, "s99", TURN, started_at=1.8e9)
    after = read_parts(workspace, large, name_sessions)
    assert after == [*before, b"hermes:s99 by %d" % os.getpid()]


def test_what_a_worker_leaves_undone_is_made_here(workspace: Workspace, large: Path) -> None:
    here = os.getpid()

    def summarise(facts: Any) -> bytes:
        if os.getpid() != here:
            os._exit(3)
        return name_sessions(facts)

    names, makers = split_makers(read_parts(workspace, large, summarise))
    assert (len(names), makers, count_kept(workspace)) == (11, {here}, 11)


def test_an_interruption_is_passed_on_and_nothing_half_made_is_kept(
    workspace: Workspace, database: Path
) -> None:
    def summarise(_: Any) -> bytes:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        read_parts(workspace, database, summarise)
    assert count_kept(workspace) == 0
    assert read_parts(workspace, database, lambda facts: b"%d" % len(facts)) == [b"4"]


def test_the_summary_of_a_chunk_that_changed_meanwhile_is_not_kept(
    workspace: Workspace, database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "CHUNK", 2)

    def summarise(facts: Any) -> bytes:
        with closing(sqlite3.connect(index_path(workspace))) as index, index:
            index.execute("DELETE FROM session_fact WHERE id = 'hermes:s3'")
        return b"%d" % len(facts)

    parts = read_parts(workspace, database, summarise)
    assert sum(map(int, parts)) == 3
    assert count_kept(workspace) == len(parts) - 1


def test_an_index_moved_aside_meanwhile_is_read_to_its_end(
    workspace: Workspace, large: Path, tmp_path: Path
) -> None:
    """Another version of the program, or a rebuild, puts a file of its own in the place."""
    selection = Selection(paths=(str(large),))
    with open_view(workspace, selection, ReadLog()) as view:
        assert view is not None
        move_aside(index_path(workspace))
        other = make_database(tmp_path / "other.db", {"other": TURN})
        refresh_facts(workspace, Selection(paths=(str(other),)), ReadLog())
        chunks = [
            _Chunk(number, some, b"")
            for number, some in split_chunks(view.select(selection)).items()
        ]
        made = list(_summarise_chunks(view, chunks, name_sessions))
    names = [name for one in sorted(made) for name in split_makers([one.data])[0]]
    assert b" ".join(names) == b" ".join(b"hermes:s%02d" % n for n in range(21))
