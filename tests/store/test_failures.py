"""Full disks, folders that may not be written, files that are no store: clear, and nothing lost."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from warmstart.errors import UsageError
from warmstart.store import Chat, ProblemKind, SessionDB, StoreError
from warmstart.store.opening import find_location
from warmstart.store.sqlite_backend import find_writer

BIG = "x" * 4000
NOBODY = 65534


def append_many(db: SessionDB, count: int) -> None:
    for number in range(count):
        db.append_message("s1", "user", f"{number} {BIG}")


def test_a_full_disk_is_a_clear_error_and_the_store_is_intact(file_db: SessionDB) -> None:
    file_db.append_message("s1", "user", "before")
    pages = file_db._conn.execute("PRAGMA page_count").fetchone()[0]
    file_db._conn.execute(f"PRAGMA max_page_count = {pages + 20}")
    with pytest.raises(StoreError, match="full") as caught:
        append_many(file_db, 1000)
    assert "space" in str(caught.value.hint)
    file_db._conn.execute("PRAGMA max_page_count = 100000")
    stored = [row["content"].split()[0] for row in file_db.get_messages("s1")][1:]
    assert stored == [str(number) for number in range(len(stored))]
    file_db.append_message("s1", "user", "after")
    assert file_db.verify().is_clean


def test_a_file_size_limit_is_a_clear_error_and_the_store_is_intact(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    code = (
        "import sys\n"
        "from warmstart.store import ProblemKind, SessionDB, StoreError\n"
        "done = 0\n"
        "with SessionDB(sys.argv[1]) as db:\n"
        "    try:\n"
        "        while True:\n"
        "            db.append_message('s1', 'user', 'x' * 4000); done += 1\n"
        "    except StoreError as error:\n"
        "        print(done, error.exit_code, error.hint)\n"
    )
    limited = ["bash", "-c", 'ulimit -f 600; exec "$@"', "-", sys.executable, "-c", code, str(path)]
    done = subprocess.run(limited, capture_output=True, text=True, timeout=60, check=True)
    count, exit_code, hint = done.stdout.strip().split(" ", 2)
    assert (exit_code, done.stderr) == ("5", "")
    assert hint != "None"
    with SessionDB(path) as db:
        assert db.message_count() >= int(count) > 10
        assert db.verify().is_clean


def test_a_folder_that_cannot_be_made_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreError, match="cannot be used") as caught:
        SessionDB(tmp_path / "file" / "store.db")
    assert caught.value.path.endswith("store.db")
    assert caught.value.exit_code == 5


@pytest.fixture
def unprivileged() -> Iterator[Path]:
    """A folder of a user whom permissions bind, as which the test runs even for root."""
    folder = Path(tempfile.mkdtemp(prefix="warmstart-"))
    is_root = os.geteuid() == 0
    if is_root:
        os.chown(folder, NOBODY, NOBODY)
        os.seteuid(NOBODY)
    yield folder
    if is_root:
        os.seteuid(0)
    (folder / "home").chmod(0o700)
    shutil.rmtree(folder)


def test_a_read_only_folder_is_a_clear_error_and_can_be_read(unprivileged: Path) -> None:
    path = unprivileged / "home" / "store.db"
    with SessionDB(path) as db:
        db.append_message("s1", "user", "hi")
    path.chmod(0o400)
    path.parent.chmod(0o500)
    with pytest.raises(StoreError) as caught:
        SessionDB(path)
    assert caught.value.hint
    with SessionDB(path, read_only=True) as reader:
        assert [hit["session_id"] for hit in reader.search_messages("hi")] == ["s1"]
    with pytest.raises(StoreError, match="Permission denied"):
        SessionDB(path.parent / "other.db")


def test_a_missing_store_cannot_be_opened_for_reading(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="there is no store"):
        SessionDB(tmp_path / "none.db", read_only=True)
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_no_database_is_refused_and_not_changed(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("these are my notes, not a database\n" * 100)
    before = path.read_bytes()
    with pytest.raises(StoreError, match="not a database") as caught:
        SessionDB(path)
    assert path.read_bytes() == before
    assert caught.value.hint


def test_files_are_private_to_their_user(file_db: SessionDB) -> None:
    file_db.append_message("s1", "user", "secret")
    folder = Path(file_db.db_path).parent
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}
    assert modes == dict.fromkeys(("store.db", "store.db-wal", "store.db-shm"), 0o600)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_backup_is_one_private_file_with_everything(file_db: SessionDB, tmp_path: Path) -> None:
    file_db.append_message("s1", "user", "hi")
    copy = file_db.backup(tmp_path / "copy.db")
    assert [path.name for path in tmp_path.glob("copy*")] == ["copy.db"]
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    with SessionDB(copy) as restored:
        assert restored.export_all() == file_db.export_all()


def test_a_backup_overwrites_nothing(file_db: SessionDB, tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("precious")
    with pytest.raises(UsageError, match="exists already"):
        file_db.backup(tmp_path / "taken")
    with pytest.raises(StoreError, match="cannot be used"):
        file_db.backup(tmp_path / "no" / "such" / "folder.db")
    assert (tmp_path / "taken").read_text() == "precious"


def test_a_server_is_backed_up_to_a_store_in_a_file(schema: str, tmp_path: Path) -> None:
    with SessionDB.open(schema) as db:
        db.append_to("s1", [{"role": "user", "content": "hi"}], "cli", model="m")
        db.set_session_title("s1", "Greeting")
        db.put_chat("main", Chat("k", "s1", 1.0, 2.0, "{}"))
        with SessionDB(db.backup(tmp_path / "copy.db")) as copy:
            assert [m["content"] for m in copy.get_messages("s1")] == ["hi"]
            assert copy.get_session("s1")["title"] == "Greeting"
            assert list(copy.iterate_chats()) == list(db.iterate_chats())
        with pytest.raises(UsageError, match="no such folder"):
            db.backup(tmp_path / "no" / "copy.db")
    assert [path.name for path in tmp_path.glob("copy*")] == ["copy.db"]


def test_only_a_file_has_a_file_connection(schema: str) -> None:
    with SessionDB.open(schema) as db, pytest.raises(UsageError):
        _ = db._conn


def test_an_address_that_is_wrong_is_an_error_without_its_password() -> None:
    with pytest.raises(StoreError) as caught:
        SessionDB.open("postgresql://dev:hunter2@127.0.0.1:1/none", deadline_seconds=0.1)
    assert "hunter2" not in str(caught.value)
    assert caught.value.path == "postgresql://dev:***@127.0.0.1:1/none"


def test_a_database_that_does_not_exist_is_not_waited_for(postgresql: str) -> None:
    with pytest.raises(StoreError, match="does not exist"):
        SessionDB.open(postgresql.replace("/postgres?", "/nowhere?"), deadline_seconds=60)


def test_a_store_without_a_name_lies_in_the_home(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("WARMSTART_HOME", str(tmp_path / "home"))
    with SessionDB() as db:
        assert db.db_path == tmp_path / "home" / "store.db"
    monkeypatch.delenv("WARMSTART_HOME")
    assert Path(find_location(None)).name == "store.db"


def test_a_damaged_file_is_named_by_verify(file_db: SessionDB) -> None:
    append_many(file_db, 200)
    path = Path(file_db.db_path)
    file_db.close()
    data = bytearray(path.read_bytes())
    data[40_000:60_000] = b"\xff" * 20_000
    path.write_bytes(data)
    with SessionDB(path) as db:
        kinds = {problem.kind for problem in db.verify().problems}
        assert ProblemKind.DAMAGED_FILE in kinds


def test_nobody_holds_what_is_not_there(tmp_path: Path) -> None:
    assert find_writer(tmp_path / "none.db") is None
