from __future__ import annotations

import gzip
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from hypothesis import given

from support.badinput import damaged, write
from warmstart.errors import SourceError
from warmstart.model import Session
from warmstart.sources.log import ReadLog
from warmstart.sources.reader import Unit
from warmstart.sources.sqlite import (
    DatabaseReader,
    is_database,
    list_tables,
    open_database,
)
from warmstart.sources.sqlite_guard import GuardedConnection
from warmstart.sources.unpacking import zstd_module

NOBODY = 65534


def make(path: Path, *, journal: str = "delete") -> sqlite3.Connection:
    """A database with two rows; its writer stays open for the caller to close."""
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA journal_mode = {journal}")
    connection.execute("CREATE TABLE notes (id INTEGER, text TEXT)")
    connection.executemany("INSERT INTO notes VALUES (?, ?)", [(1, "one"), (2, "two")])
    connection.commit()
    return connection


def made(path: Path, *, journal: str = "delete") -> Path:
    make(path, journal=journal).close()
    return path


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def count(path: Path) -> int:
    with open_database(path) as connection:
        return int(connection.select("SELECT count(*) FROM notes")[0][0])


@contextmanager
def unprivileged() -> Iterator[None]:
    """Root may write anywhere; a test of permissions must not be root."""
    me = os.geteuid()
    if me == 0:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(me)


@pytest.fixture
def public_folder() -> Iterator[Path]:
    """A folder that others may enter, which pytest's own are not."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    folder.chmod(0o755)
    shutil.rmtree(folder)


def test_rows_are_tuples(tmp_path: Path) -> None:
    with open_database(made(tmp_path / "a.db")) as connection:
        rows = connection.select("SELECT * FROM notes WHERE id < ? ORDER BY id", 3)
    assert rows == [(1, "one"), (2, "two")]


def test_rows_still_in_the_log_of_a_live_writer_are_seen(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with closing(make(path, journal="wal")) as writer:
        writer.execute("PRAGMA wal_autocheckpoint = 0")
        writer.execute("INSERT INTO notes VALUES (3, 'three')")
        writer.commit()
        assert count(path) == 3


def test_a_live_writer_does_not_notice_us(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with closing(make(path, journal="wal")) as writer:
        before = (names_in(tmp_path), path.read_bytes())
        with open_database(path) as connection:
            connection.select("SELECT * FROM notes")
            writer.execute("INSERT INTO notes VALUES (3, 'three')")
            writer.commit()
        assert (names_in(tmp_path), path.read_bytes()) == before
        assert writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0


def test_a_reader_keeps_the_moment_it_began_in(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with closing(make(path, journal="wal")) as writer, open_database(path) as connection:
        rows = connection.execute("SELECT * FROM notes")
        rows.fetchone()
        writer.execute("DELETE FROM notes")
        writer.commit()
        assert len(rows.fetchall()) == 1


@pytest.mark.parametrize("journal", ["delete", "wal"])
def test_nothing_is_left_beside_a_database_at_rest(tmp_path: Path, journal: str) -> None:
    path = made(tmp_path / "a.db", journal=journal)
    assert count(path) == 2
    assert names_in(tmp_path) == ["a.db"]


@pytest.mark.parametrize("statement", ["DELETE FROM notes", "CREATE TABLE more (id)"])
def test_writing_is_refused(tmp_path: Path, statement: str) -> None:
    path = made(tmp_path / "a.db")
    with pytest.raises(SourceError, match="readonly"), open_database(path) as connection:
        connection.select(statement)
    assert count(path) == 2


@pytest.mark.parametrize("journal", ["delete", "wal"])
def test_a_database_in_a_folder_we_may_not_write_to_is_read(
    public_folder: Path, journal: str
) -> None:
    path = made(public_folder / "a.db", journal=journal)
    path.chmod(0o444)
    public_folder.chmod(0o555)
    with unprivileged():
        assert count(path) == 2
    assert names_in(public_folder) == ["a.db"]


@pytest.mark.parametrize("name", ["a.db.gz", "a.db.zst"])
def test_a_packed_database_is_read_from_a_copy(tmp_path: Path, name: str) -> None:
    plain = made(tmp_path / "a.db").read_bytes()
    pack = gzip.compress if name.endswith("gz") else zstd_module().compress
    path = write(tmp_path / "packed", name, pack(plain))
    assert (is_database(path), count(path)) == (True, 2)
    assert names_in(path.parent) == [name]


def test_a_packed_database_is_known_by_its_bytes_not_by_its_name(tmp_path: Path) -> None:
    packed = gzip.compress(made(tmp_path / "a.db").read_bytes())
    assert count(write(tmp_path, "a.backup", packed)) == 2


def test_odd_characters_in_a_name_are_no_uri(tmp_path: Path) -> None:
    assert count(made(tmp_path / "a b?mode=rw#c%20.db")) == 2


def test_broken_text_is_read_with_its_damage_marked(tmp_path: Path) -> None:
    path = made(tmp_path / "a.db")
    with closing(sqlite3.connect(path)) as writer:
        writer.execute("UPDATE notes SET text = CAST(x'61FF' AS TEXT) WHERE id = 2")
        writer.commit()
    with open_database(path) as connection:
        assert connection.select("SELECT text FROM notes") == [("one",), ("a\ufffd",)]


@pytest.mark.parametrize(
    "data", [b"not a database at all" * 99, b"SQLite format 3\x00" + b"x" * 99]
)
def test_what_is_no_database_is_an_error(tmp_path: Path, data: bytes) -> None:
    path = write(tmp_path, "a.db", data)
    with pytest.raises(SourceError) as caught:
        count(path)
    assert caught.value.path == path


def test_a_missing_or_truncated_database_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SourceError):
        count(tmp_path / "gone.db")
    packed = gzip.compress(made(tmp_path / "a.db").read_bytes())
    with pytest.raises(SourceError):
        count(write(tmp_path, "cut.db.gz", packed[: len(packed) // 2]))


def test_a_lock_says_what_to_do_about_it(tmp_path: Path) -> None:
    path = made(tmp_path / "a.db")
    with pytest.raises(SourceError) as caught, open_database(path):
        raise sqlite3.OperationalError("database is locked")
    assert caught.value.hint is not None
    assert "try again" in caught.value.hint


def test_a_database_is_known_by_name_log_or_bytes(tmp_path: Path) -> None:
    odd = write(tmp_path, "store", made(tmp_path / "a.db").read_bytes())
    live = write(tmp_path, "live", b"")
    write(tmp_path, "live-wal", b"")
    text = write(tmp_path, "a.jsonl", b"{}")
    assert [is_database(p) for p in (tmp_path / "a.db", odd, live, text)] == [
        True,
        True,
        True,
        False,
    ]


def test_missing_tables_and_columns_read_as_nothing(tmp_path: Path) -> None:
    with open_database(made(tmp_path / "a.db")) as connection:
        assert list_tables(connection) == {"notes"}
        assert connection.columns("notes") == {"id", "text"}
        assert connection.columns("gone") == frozenset()
        columns = connection.known_columns("notes", ("id", "added_later"))
        assert connection.select(f"SELECT {columns} FROM notes")[0] == (1, None)


@pytest.fixture(scope="module")
def valid() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        return made(Path(folder) / "a.db").read_bytes()


def test_a_damaged_database_raises_nothing_but_a_source_error(tmp_path: Path, valid: bytes) -> None:
    @given(data=damaged(valid))
    def check(data: bytes) -> None:
        path = write(tmp_path, "a.db", data)
        try:
            with open_database(path) as connection:
                list_tables(connection)
                connection.select("SELECT * FROM notes")
        except SourceError as error:
            caught.append(error)

    caught: list[SourceError] = []
    check()
    assert caught


def test_a_packed_database_is_unpacked_once_for_all_its_readers(tmp_path: Path) -> None:
    plain = tmp_path / "a.db"
    with closing(sqlite3.connect(plain)) as connection:
        connection.execute("CREATE TABLE t (x)")
        connection.commit()
    packed = tmp_path / "a.db.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    with open_database(packed) as first, open_database(packed) as second:
        files = [c.select("PRAGMA database_list")[0][2] for c in (first, second)]
    assert files[0] == files[1]


def test_a_packed_database_that_changed_is_unpacked_again(tmp_path: Path) -> None:
    packed = tmp_path / "a.db.gz"
    for number in (1, 2):
        plain = tmp_path / f"{number}.db"
        with closing(sqlite3.connect(plain)) as connection:
            connection.executescript(f"CREATE TABLE t{number} (x); CREATE TABLE u{number} (x)")
        packed.write_bytes(gzip.compress(plain.read_bytes(), mtime=number))
        os.utime(packed, ns=(number, number))
        with open_database(packed) as connection:
            assert f"t{number}" in list_tables(connection)


class Notes(DatabaseReader):
    """Reads each note as a session whose id is its text, and remembers what it read over."""

    def __init__(self) -> None:
        self.connections: list[GuardedConnection] = []

    def read_rows(
        self, connection: GuardedConnection, unit: Unit, log: ReadLog
    ) -> Iterator[Session]:
        del log
        self.connections.append(connection)
        for (text,) in connection.select("SELECT text FROM notes WHERE id = ?", int(unit.key)):
            yield Session(origin="notes", native_id=text, agent="notes")


def test_all_units_of_a_database_are_read_over_one_connection(tmp_path: Path) -> None:
    path, reader = made(tmp_path / "a.db"), Notes()
    units = [Unit(path=path, key=key) for key in "12"]
    with reader.open(path) as source:
        found = [one.native_id for unit in units for one in source.read(unit, ReadLog())]
    assert found == ["one", "two"]
    assert reader.connections[0] is reader.connections[1]
    with pytest.raises(SourceError, match="closed"):
        reader.connections[0].select("SELECT 1")


def test_a_writer_that_begins_meanwhile_is_seen(tmp_path: Path) -> None:
    path, reader = made(tmp_path / "a.db", journal="wal"), Notes()
    unit = Unit(path=path, key="1")
    with reader.open(path) as source:
        assert len(list(source.read(unit, ReadLog()))) == 1
        with closing(sqlite3.connect(path)) as writer:
            writer.execute("UPDATE notes SET text = 'new' WHERE id = 1")
            writer.commit()
            (after,) = source.read(unit, ReadLog())
    assert after.native_id == "new"
