"""Damaged files: each error names the file and a command, and the command helps."""

from __future__ import annotations

import os
import shlex
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from support.template_cases import make_template
from warmstart.library import Library
from warmstart.model.template import Template, TemplateState
from warmstart.samples import samples_path
from warmstart.store import SessionDB

Run = Callable[..., Result]
SESSIONS = 43


def follow_hint(run: Run, failed: Result, **words: object) -> Result:
    """Run the last command that an error's hint names; ``words`` stand for its placeholders."""
    hint = next(line for line in failed.stderr.splitlines() if line.startswith("hint: "))
    arguments = shlex.split(hint.rpartition("warmstart ")[2])
    return run(*(words.get(one, one) for one in arguments))


@pytest.fixture
def store(run: Run, home: Path) -> Path:
    """A store with the sample sessions, and a backup of it."""
    assert run("sessions", "import", samples_path()).exit_code == 0
    assert run("sessions", "backup", home / "copy.db").exit_code == 0
    return home / "ws" / "store.db"


def cut_in_half(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def overwrite_middle(path: Path) -> None:
    data = bytearray(path.read_bytes())
    middle = len(data) // 2
    data[middle : middle + 20_000] = b"\xa5" * 20_000
    path.write_bytes(data)


def flip_some_bytes(path: Path) -> None:
    data = bytearray(path.read_bytes())
    for at in range(len(data) // 3, len(data) // 3 + 60):
        data[at] ^= 0x55
    path.write_bytes(data)


def overwrite_header(path: Path) -> None:
    path.write_bytes(b"x" * 100 + path.read_bytes()[100:])


def overwrite_schema(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[:100] + b"\x5a" * 3996 + data[4096:])


def put_text_there(path: Path) -> None:
    path.write_text("these are notes\n" * 500)


PARTLY = (cut_in_half, overwrite_middle, flip_some_bytes)
WHOLLY = (overwrite_header, overwrite_schema, put_text_there)


@pytest.mark.parametrize("damage", PARTLY + WHOLLY)
def test_verify_says_what_is_damaged_and_its_hint_repairs_it(
    run: Run, store: Path, home: Path, damage: Callable[[Path], None]
) -> None:
    damage(store)
    before = store.read_bytes()
    verified = run("sessions", "verify")
    assert verified.exit_code == 1
    assert str(store) in verified.stdout
    assert f"newest backup: {home / 'copy.db'}" in verified.stdout
    assert ("messages: " in verified.stdout) == (damage in PARTLY)
    assert store.read_bytes() == before
    repaired = follow_hint(run, verified)
    assert repaired.exit_code == 0
    (kept,) = store.parent.glob("store.db.damaged-*[0-9]")
    assert kept.read_bytes() == before
    assert run("sessions", "verify").exit_code == 0
    command = repaired.stdout.rpartition("warmstart ")[2]
    assert run(*shlex.split(command)).exit_code == 0
    counted = run("sessions", "verify", "--json").stdout
    with SessionDB(home / "copy.db", read_only=True) as backup:
        assert f'"messages":{backup.verify().messages}' in counted
    assert f'"sessions":{SESSIONS}' in counted


@pytest.mark.parametrize("damage", PARTLY)
def test_a_repair_saves_what_lies_beside_the_damage(
    run: Run, store: Path, damage: Callable[[Path], None]
) -> None:
    with SessionDB(store, read_only=True) as db:
        whole = {row["content_hash"] for one in db.iterate_exports() for row in one["messages"]}
    damage(store)
    assert run("sessions", "verify", "--repair").exit_code == 0
    with SessionDB(store, read_only=True) as db:
        saved = {row["content_hash"] for one in db.iterate_exports() for row in one["messages"]}
        assert db.verify().is_clean
    assert saved <= whole
    assert len(saved) > len(whole) // 3


@pytest.mark.parametrize("damage", PARTLY + WHOLLY)
def test_any_command_on_a_damaged_store_leads_to_verify(
    run: Run, store: Path, damage: Callable[[Path], None]
) -> None:
    damage(store)
    for command in (("sessions", "search", "zzz"), ("sessions", "prune", "--yes"),
                    ("template", "list"), ("sessions", "backup", store.parent / "new")):  # fmt: skip
        done = run(*command)
        if done.exit_code:
            assert done.exit_code == 5
            assert str(store) in done.stderr
            assert follow_hint(run, done).exit_code == 1


def test_a_repair_of_a_whole_store_changes_nothing(run: Run, store: Path) -> None:
    before = store.read_bytes()
    assert run("sessions", "verify", "--repair").exit_code == 0
    assert store.read_bytes() == before


def test_another_programs_database_is_neither_repaired_nor_written(run: Run, home: Path) -> None:
    path = home / "other.db"
    with sqlite3.connect(path) as connection:
        connection.executescript("CREATE TABLE notes (text); INSERT INTO notes VALUES ('mine')")
        connection.execute(f"INSERT INTO notes VALUES ('{'x' * 50_000}')")
    connection.close()
    for damaged in (False, True):
        if damaged:
            cut_in_half(path)
        before = path.read_bytes()
        for command in (("verify", "--repair"), ("import", samples_path())):
            assert run("sessions", *command, "--store", path).exit_code in (1, 5)
        assert path.read_bytes() == before
        assert [one.name for one in home.glob("other*")] == ["other.db"]


def test_an_empty_file_is_a_store_that_was_not_begun(run: Run, home: Path) -> None:
    path = home / "ws" / "store.db"
    path.parent.mkdir()
    path.touch()
    done = run("sessions", "verify")
    assert (done.exit_code, "is empty" in done.stderr) == (5, True)
    assert run("template", "list").exit_code == 0
    assert follow_hint(run, done, PATH=samples_path()).exit_code == 0
    assert run("sessions", "verify").exit_code == 0


def test_a_store_without_its_log_is_what_was_in_the_file(run: Run, store: Path) -> None:
    copy = store.with_name("copied.db")
    with SessionDB(store) as db:
        db.append_message("late", "user", "only in the log so far")
        copy.write_bytes(store.read_bytes())
    done = run("sessions", "verify", "--store", copy)
    assert done.stdout.startswith(f"{SESSIONS} sessions")


def test_a_full_disk_leaves_no_store_behind(tmp_path: Path) -> None:
    script = "import sys; from warmstart.cli.main import main; main()"
    command = [sys.executable, "-c", script, "sessions", "import", str(samples_path())]
    environ = {**os.environ, "WARMSTART_HOME": str(tmp_path / "home"), "HOME": str(tmp_path)}
    for blocks in (1, 20, 40, 60):
        limited = ["bash", "-c", f'ulimit -f {blocks}; exec "$@"', "-", *command]
        done = subprocess.run(
            limited, capture_output=True, text=True, env=environ, timeout=60, check=False
        )
        assert done.returncode == 5
        assert "Traceback" not in done.stderr
        assert "store.db'" in done.stderr
        assert list((tmp_path / "home").glob("*store*")) == []
    done = subprocess.run(command, capture_output=True, env=environ, timeout=60, check=False)
    assert done.returncode == 0


@pytest.fixture
def versions(home: Path) -> list[Path]:
    """The files of two approved versions of one template; the second is in use."""
    with Library(home / "ws" / "templates", SessionDB(home / "ws" / "store.db")) as library:
        return [
            library.save(one, state=TemplateState.APPROVED).path
            for one in (template("first"), template("second"))
        ]


def template(description: str) -> Template:
    return make_template(name="py-tests", description=description)


def test_a_damaged_template_is_named_with_the_version_that_can_be_used(
    run: Run, versions: list[Path]
) -> None:
    versions[1].write_text("not json")
    done = run("template", "show", "py-tests")
    assert done.exit_code == 6
    assert str(versions[1]) in done.stderr
    assert "not valid JSON" in done.stderr
    assert follow_hint(run, done).exit_code == 0
    assert "first" in run("template", "show", "py-tests").stdout


def test_a_damaged_version_that_is_not_in_use_leads_to_the_one_that_is(
    run: Run, versions: list[Path]
) -> None:
    versions[0].write_bytes(versions[0].read_bytes()[:50])
    done = run("template", "show", "py-tests@1")
    assert "second" in follow_hint(run, done).stdout


def test_the_only_version_comes_back_from_an_export_or_is_deleted(
    run: Run, versions: list[Path], tmp_path: Path
) -> None:
    assert run("template", "delete", "py-tests@1", "--yes").exit_code == 0
    exported = tmp_path / "shared.json"
    assert run("template", "export", "py-tests", "-o", exported).exit_code == 0
    versions[1].write_text("{}")
    done = run("template", "show", "py-tests")
    assert "warmstart template import FILE" in done.stderr
    assert run("template", "import", exported).exit_code == 0
    assert run("template", "show", "py-tests").exit_code == 0
    versions[1].unlink()
    gone = run("template", "show", "py-tests")
    assert (gone.exit_code, "is gone" in gone.stderr) == (3, True)
    assert follow_hint(run, gone).exit_code == 0
    assert run("template", "verify").exit_code == 0


@pytest.mark.parametrize(
    "damage", [cut_in_half, overwrite_middle, overwrite_header, put_text_there]
)
def test_damaged_facts_are_made_again_and_say_the_same(
    run: Run, home: Path, damage: Callable[[Path], None]
) -> None:
    before = run("sessions", "list", samples_path(), "--json").stdout
    profile = run("profile", samples_path(), "--json").stdout
    damage(home / "ws" / "facts.db")
    again = run("profile", samples_path(), "--json")
    assert (again.exit_code, again.stdout) == (0, profile)
    assert run("sessions", "list", samples_path(), "--json").stdout == before


def test_facts_damaged_where_only_reading_them_shows_it_are_rebuilt_by_the_next_command(
    run: Run, home: Path
) -> None:
    """Every page in turn: no command ends in a traceback, and the one after it is right."""
    profile = run("profile", samples_path(), "--json").stdout
    facts = home / "ws" / "facts.db"
    whole = facts.read_bytes()
    pages = range(4096, len(whole), 4096 * 7)
    for at in pages:
        for beside in ("-wal", "-shm"):
            facts.with_name(facts.name + beside).unlink(missing_ok=True)
        facts.write_bytes(whole[:at] + b"\xa5" * 4096 + whole[at + 4096 :])
        first = run("profile", samples_path(), "--json")
        assert first.exit_code == 0 or "run the command again" in first.stderr
        assert run("profile", samples_path(), "--json").stdout == profile
