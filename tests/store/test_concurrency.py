"""Many processes on one store; processes that die; a server that goes away."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from warmstart.store import SessionDB, StoreBusyError, StoreError

WRITER = Path(__file__).parent / "writer_process.py"
CUT_ONE_COMMIT = (
    "CREATE SEQUENCE commits",
    """CREATE FUNCTION cut() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF nextval('commits') = 3 THEN PERFORM pg_terminate_backend(pg_backend_pid()); END IF;
        RETURN NULL; END $$""",
    """CREATE CONSTRAINT TRIGGER cut AFTER INSERT ON messages
        DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION cut()""",
)


def start_writer(
    address: str, session_id: str, count: int, batch: int = 1
) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, str(WRITER), address, session_id, str(count), str(batch)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def numbers(db: SessionDB, session_id: str) -> list[int]:
    return [int(row["content"].split()[-1]) for row in db.get_messages(session_id)]


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
        db._backend.execute("VACUUM")
    with SessionDB(path) as db:
        db.vacuum()


def test_indexing_never_waits_for_the_lock(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with SessionDB(path) as db:
        db.append_message("s1", "user", "needle")
        with held(path):
            assert len(db.search_messages("needle")) == 1


def test_a_lost_connection_is_made_anew_and_nothing_is_stored_twice(
    schema: str, postgresql: str
) -> None:
    import psycopg

    stop = threading.Event()

    def cut_connections() -> None:
        with psycopg.connect(postgresql, autocommit=True) as admin:
            while not stop.wait(0.05):
                admin.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                    " WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"
                )

    with SessionDB.open(schema) as db:
        cutter = threading.Thread(target=cut_connections)
        cutter.start()
        for number in range(150):
            db.append_message("s1", "user", f"s1 {number}")
        stop.set()
        cutter.join()
        assert numbers(db, "s1") == list(range(150))
        assert db.verify().is_clean


def test_a_commit_that_never_happened_is_run_again(schema: str) -> None:
    with SessionDB.open(schema) as db:
        for statement in CUT_ONE_COMMIT:
            db._backend.execute(statement)
        for number in range(5):
            db.append_message("s1", "user", f"s1 {number}")
        assert numbers(db, "s1") == list(range(5))


def test_a_commit_whose_answer_was_lost_is_looked_up(schema: str) -> None:
    from warmstart.store.postgres_backend import LostCommitError, PostgresBackend

    with SessionDB.open(schema) as db:
        backend = db._backend
        assert isinstance(backend, PostgresBackend)
        lost = StoreError("lost", path="", retryable=True)

        def commit_and_lose() -> str:
            backend.execute("BEGIN")
            transaction = backend.query("SELECT pg_current_xact_id()::text AS id")[0]["id"]
            backend.execute("INSERT INTO meta (key, value) VALUES ('k', 'v')")
            backend.execute("COMMIT")
            raise LostCommitError(lost, transaction, "done")

        assert backend._patiently(commit_and_lose) == "done"
        assert len(backend.query("SELECT * FROM meta")) == 1


def start_again(server: Any) -> None:
    """A busy machine may need a second try; without the server all later tests would fail."""
    for _ in range(4):
        try:
            server.start()
        except subprocess.SubprocessError as error:
            failure = error
        else:
            return
    raise failure


def test_a_server_restarted_in_mid_run_costs_nothing(server: Any, schema: str) -> None:
    writer = start_writer(schema, "s1", 400)
    assert writer.stdout is not None
    for _ in range(20):
        writer.stdout.readline()
    server.stop()
    time.sleep(0.3)
    start_again(server)
    out, complaints = writer.communicate(timeout=60)
    assert (complaints, writer.returncode) == ("", 0)
    assert out.split()[-1] == "400"
    with SessionDB.open(schema) as db:
        assert numbers(db, "s1") == list(range(400))
        assert db.verify().is_clean
