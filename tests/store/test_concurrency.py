"""Many processes on one store; processes that die."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from support.stores import numbers, start_writer
from warmstart.store import SessionDB, StoreBusyError


def test_several_processes_lose_and_repeat_nothing_and_keep_their_order(
    address: str, db: SessionDB
) -> None:
    writers = [start_writer(address, f"s{n % 2}", 150) for n in range(4)]
    ended = [(writer.communicate(timeout=60)[1], writer.returncode) for writer in writers]
    assert ended == [("", 0)] * 4
    for session_id in ("s0", "s1"):
        assert sorted(numbers(db, session_id)) == sorted([*range(150), *range(150)])
    assert db.verify().is_clean


def test_each_writers_messages_stay_in_their_order(address: str, db: SessionDB) -> None:
    writers = [start_writer(address, f"s{n}", 100, 5) for n in range(3)]
    for writer in writers:
        writer.communicate(timeout=60)
    assert [numbers(db, f"s{n}") for n in range(3)] == [list(range(100))] * 3


def test_what_was_acknowledged_survives_a_kill(address: str, db: SessionDB) -> None:
    for attempt in range(4):
        writer = start_writer(address, f"k{attempt}", 1_000_000, 3)
        assert writer.stdout is not None
        for _ in range(20 + 17 * attempt):
            writer.stdout.readline()
        writer.kill()
        acknowledged = [int(line) for line in writer.communicate()[0].split()]
        stored = numbers(db, f"k{attempt}")
        assert stored == list(range(len(stored)))
        assert len(stored) % 3 == 0
        assert len(stored) >= max(acknowledged, default=0)
    assert db.verify().is_clean


def test_threads_share_a_handle(db: SessionDB) -> None:
    def append(name: str) -> None:
        for number in range(50):
            db.append_message(name, "user", str(number))
            db.get_messages(name, limit=1)

    threads = [threading.Thread(target=append, args=(f"t{n}",)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [numbers(db, f"t{n}") for n in range(4)] == [list(range(50))] * 4


def test_processes_that_open_a_new_store_at_once_all_succeed(address: str) -> None:
    writers = [start_writer(address, f"s{n}", 3) for n in range(5)]
    ended = [(writer.communicate(timeout=60)[1], writer.returncode) for writer in writers]
    assert ended == [("", 0)] * 5
    with SessionDB.open(address) as db:
        assert db.message_count() == 15


@contextmanager
def held(path: Path) -> Iterator[SessionDB]:
    """A store whose write lock someone holds."""
    with SessionDB(path) as holder:
        holder._conn.execute("BEGIN IMMEDIATE")
        yield holder
        holder._conn.execute("ROLLBACK")


def test_a_lock_held_past_the_deadline_is_an_error_that_names_the_holder(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with SessionDB(path, deadline_seconds=0.2) as db, held(path):
        with pytest.raises(StoreBusyError, match="was held by process") as caught:
            db.append_message("s1", "user", "hi")
        assert "this one" in str(caught.value.holder)
        assert db.session_count() == 0
    with SessionDB(path) as db:
        db.append_message("s1", "user", "hi")


def test_another_process_that_holds_the_lock_is_named(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    code = (
        "import sqlite3, sys, time\n"
        "c = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
        "c.execute('BEGIN IMMEDIATE'); print('held', flush=True); time.sleep(60)"
    )
    with SessionDB(path, deadline_seconds=0.1) as db:
        holder = subprocess.Popen(
            [sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE, text=True
        )
        assert holder.stdout is not None
        holder.stdout.readline()
        with pytest.raises(StoreBusyError) as caught:
            db.append_message("s1", "user", "hi")
        holder.kill()
        holder.communicate()
    assert f"process {holder.pid}" in str(caught.value)


def test_a_lock_let_go_before_the_deadline_is_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with SessionDB(path) as db, SessionDB(path) as other:
        other._conn.execute("BEGIN IMMEDIATE")
        release = threading.Timer(0.3, lambda: other._conn.execute("ROLLBACK"))
        release.start()
        db.append_message("s1", "user", "hi")
        release.join()
        assert db.message_count() == 1


def test_a_vacuum_waits_for_other_writers(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with SessionDB(path, deadline_seconds=0.1) as db, held(path), pytest.raises(StoreBusyError):
        db.backend.execute("VACUUM")
    with SessionDB(path) as db:
        db.vacuum()


def test_indexing_never_waits_for_the_lock(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with SessionDB(path) as db:
        db.append_message("s1", "user", "needle")
        with held(path):
            assert len(db.search_messages("needle")) == 1
