from __future__ import annotations

import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from warmstart.facts.index import (
    MAX_SOURCE_SETS,
    IndexUnavailableError,
    ensure_source_set,
    next_revision,
    open_index,
    stamp_schema,
    transaction,
)
from warmstart.facts.pool import can_fork, count_cores, run_shares


def test_the_index_is_private_and_opens_twice(tmp_path: Path) -> None:
    path = tmp_path / "home" / "facts.db"
    with open_index(path) as one, open_index(path) as two:
        assert ensure_source_set(one, "x") == ensure_source_set(two, "x")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    "content", [b"no database at all, just some text", b"SQLite format 3\x00" + b"\xff" * 200]
)
def test_a_damaged_file_is_moved_aside(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "facts.db"
    path.write_bytes(content)
    with open_index(path) as connection:
        assert connection.execute("SELECT schema FROM meta").fetchone() == (stamp_schema(),)
    assert (tmp_path / "facts.db.old").read_bytes() == content


@pytest.mark.parametrize("schema", [4, "4", "5:00000000000000000000000000000000", ""])
def test_a_file_of_another_schema_is_moved_aside(tmp_path: Path, schema: object) -> None:
    path = tmp_path / "facts.db"
    with open_index(path) as connection:
        connection.execute("UPDATE meta SET schema = ?", (schema,))
        ensure_source_set(connection, "x")
    with open_index(path) as connection:
        assert connection.execute("SELECT count(*) FROM source_set").fetchone() == (0,)


def test_an_index_that_older_code_wrote_leaves_nothing_behind(tmp_path: Path) -> None:
    path, old = tmp_path / "facts.db", tmp_path / "facts.db.old"
    with open_index(path) as connection:
        ensure_source_set(connection, "a title with a key in it")
        connection.execute("UPDATE meta SET schema = 4")
    old.write_bytes(path.read_bytes())
    with open_index(path):
        assert not old.exists()
    assert not any(b"a key in it" in file.read_bytes() for file in tmp_path.iterdir())


def test_a_database_of_someone_else_is_moved_aside(tmp_path: Path) -> None:
    path = tmp_path / "facts.db"
    with closing(sqlite3.connect(path)) as other:
        other.execute("CREATE TABLE notes (x)")
    with open_index(path) as connection:
        assert next_revision(connection) == 1
    with open_index(path) as connection:
        connection.execute("UPDATE meta SET schema = 4")
    with open_index(path), closing(sqlite3.connect(tmp_path / "facts.db.old")) as other:
        assert other.execute("SELECT * FROM notes").fetchall() == []


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(IndexUnavailableError), open_index(tmp_path / "file" / "facts.db"):
        pass


def test_what_fails_half_way_leaves_nothing(tmp_path: Path) -> None:
    insert = "INSERT INTO source_set (name, used_at) VALUES (?, 0)"
    with open_index(tmp_path / "facts.db") as connection:
        with pytest.raises(sqlite3.IntegrityError), transaction(connection):
            connection.executemany(insert, [("x",), ("x",)])
        assert connection.execute("SELECT count(*) FROM source_set").fetchone() == (0,)


def test_source_sets_long_not_asked_for_are_deleted(tmp_path: Path) -> None:
    with open_index(tmp_path / "facts.db") as connection:
        ensure_source_set(connection, "")
        for number in range(MAX_SOURCE_SETS + 5):
            ensure_source_set(connection, f"place {number}")
        names = {row[0] for row in connection.execute("SELECT name FROM source_set")}
    assert len(names) == MAX_SOURCE_SETS + 1
    assert "" in names


def test_a_source_set_that_is_asked_for_again_is_not_the_one_deleted(tmp_path: Path) -> None:
    with open_index(tmp_path / "facts.db") as connection:
        for number in range(MAX_SOURCE_SETS):
            ensure_source_set(connection, f"place {number}")
        connection.execute("UPDATE source_set SET used_at = used_at - 100000")
        ensure_source_set(connection, "place 0")
        ensure_source_set(connection, "another")
        names = {row[0] for row in connection.execute("SELECT name FROM source_set")}
    assert "place 0" in names
    assert len(names) == MAX_SOURCE_SETS


def double(share: list[int]) -> list[int]:
    return [2 * item for item in share]


def fail(share: list[int]) -> list[int]:
    raise SystemExit(share[0])


def test_workers_send_back_all_they_made() -> None:
    if not can_fork():
        pytest.skip("one core, or threads")
    assert sorted(run_shares(double, [list(range(300)), [300]])) == [2 * n for n in range(301)]
    assert count_cores() > 1


def test_a_worker_that_dies_is_noticed() -> None:
    if not can_fork():
        pytest.skip("one core, or threads")
    with pytest.raises(ChildProcessError):
        list(run_shares(fail, [[3]]))


FOREVER = """
import sys, time
from itertools import count
from warmstart.facts.pool import run_shares
for number in run_shares(lambda share: count(), [[1], [2]]):
    if number > 500:
        print("running", flush=True)
        time.sleep(60)
"""


STUCK = """
import time
from warmstart.facts.pool import run_shares
def work(share):
    print("running", flush=True)
    time.sleep(600)
list(run_shares(work, [[1]]))
"""


@pytest.mark.parametrize("program", [FOREVER, STUCK])
def test_workers_end_when_their_parent_is_killed(program: str) -> None:
    if not can_fork():
        pytest.skip("one core, or threads")
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == b"running\n"
        parent.kill()
        # The workers hold the same end: it closes with the last of them.
        assert parent.communicate(timeout=20) == (b"", None)


def test_a_full_disk_is_told_and_leaves_what_was_there(tmp_path: Path) -> None:
    with open_index(tmp_path / "facts.db") as connection:
        ensure_source_set(connection, "kept")
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(IndexUnavailableError, match="full"):
            ensure_source_set(connection, "x" * 200_000)
        assert connection.execute("SELECT name FROM source_set").fetchall() == [("kept",)]
