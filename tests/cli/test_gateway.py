"""``warmstart gateway``: the sessions of a chat gateway from a terminal."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from support.processes import list_left, needs_proc, wait_for
from warmstart.cli.gateway import gateway
from warmstart.errors import NotFoundError, UsageError
from warmstart.gateway import GatewayConfig, Platform, SessionSource, SessionStore
from warmstart.home import find_home
from warmstart.store.backend import Options
from warmstart.store.migrations import MIGRATIONS, migrate
from warmstart.store.sqlite_backend import SQLiteBackend

Run = Callable[..., Result]
KEY = "agent:main:telegram:dm:{}".format
SOURCE = SessionSource(Platform.TELEGRAM, "1", chat_name="Mira", user_id="7")
DAYS_AGO = datetime.now(UTC) - timedelta(days=3)


@pytest.fixture
def store(home: Path) -> Iterator[SessionStore]:
    """A gateway with one session that is long over and one that is not."""
    folder = home / "ws" / "gateway"
    with SessionStore(folder, GatewayConfig(), now=lambda: DAYS_AGO) as past:
        entry = past.get_or_create_session(SOURCE)
        past.append_to_transcript(entry.session_id, {"role": "user", "content": "hello"})
    with SessionStore(folder, GatewayConfig()) as opened:
        opened.get_or_create_session(replace(SOURCE, chat_id="2", chat_name="Shop\x1b[31m"))
        yield opened


@pytest.fixture
def run(home: Path) -> Run:
    del home

    def invoke(*arguments: object) -> Result:
        return CliRunner().invoke(gateway, [str(a) for a in arguments])

    return invoke


def read(result: Result) -> Any:
    assert result.exit_code == 0, result
    return json.loads(result.stdout)


def test_keys_lead_to_sessions(run: Run, store: SessionStore) -> None:
    keys = read(run("keys", "--json"))["keys"]
    assert keys == {entry.session_key: entry.session_id for entry in store.list_sessions()}
    assert [line.split()[0] for line in run("keys").stdout.splitlines()] == ["KEY", KEY(1), KEY(2)]


@pytest.mark.usefixtures("store")
def test_sessions_are_listed_with_their_state_and_nothing_a_terminal_obeys(run: Run) -> None:
    result = run("sessions")
    states = [line.split()[3] for line in result.stdout.splitlines()[1:]]
    assert states == ["open", "idle"]
    assert "\x1b" not in result.stdout
    assert result.stderr == "2 sessions\n"
    assert read(run("sessions", "--json"))["sessions"][1]["session_key"] == KEY(1)


@pytest.mark.usefixtures("store")
def test_listing_can_be_cut_by_activity(run: Run) -> None:
    listed = read(run("sessions", "--active", 60, "--json"))
    assert [entry["session_key"] for entry in listed["sessions"]] == [KEY(2)]


def test_a_reset_leads_the_key_to_a_new_session(run: Run, store: SessionStore) -> None:
    old = store.find_entry(KEY(1))
    new = read(run("reset", KEY(1), "--json"))["session"]["session_id"]
    assert old is not None
    assert new != old.session_id
    assert run("reset", KEY(1)).stdout.startswith(KEY(1))


def test_a_switch_takes_a_prefix(run: Run, store: SessionStore) -> None:
    old = store.find_entry(KEY(1))
    assert old is not None
    store.reset_session(KEY(1))
    moved = read(run("switch", KEY(1), old.session_id[:16], "--json"))
    assert moved["session"]["session_id"] == old.session_id


@pytest.mark.parametrize(
    "arguments", [("reset", "no:key"), ("switch", KEY(1), "nothing"), ("switch", "no:key", "20")]
)
@pytest.mark.usefixtures("store")
def test_what_is_not_there_is_said(run: Run, arguments: tuple[str, ...]) -> None:
    assert isinstance(run(*arguments).exception, NotFoundError)


def test_without_a_gateway_nothing_is_created(run: Run, home: Path) -> None:
    for command in ("keys", "sessions", "watch"):
        assert isinstance(run(command).exception, NotFoundError)
    assert not (home / "ws").exists()


def test_a_folder_or_a_database_may_be_named(run: Run, store: SessionStore, tmp_path: Path) -> None:
    folder = store.sessions_dir
    assert len(read(run("keys", "--json", "--dir", folder))["keys"]) == 2
    assert len(read(run("keys", "--json", "--db", folder / "state.db"))["keys"]) == 2
    assert isinstance(run("keys", "--dir", tmp_path / "none").exception, NotFoundError)


@pytest.mark.usefixtures("store")
def test_watch_without_a_command_lists_and_marks_nothing(run: Run) -> None:
    for _ in range(2):
        found = read(run("watch", "--once", "--json"))
        assert [entry["session_key"] for entry in found["sessions"]] == [KEY(1)]
    assert "1 session past the policy" in run("watch", "--once").stderr


@pytest.mark.usefixtures("store")
def test_watch_gives_each_session_to_the_command_once(run: Run, tmp_path: Path) -> None:
    target = tmp_path / "seen.jsonl"
    code = f"import sys; open({str(target)!r}, 'a').write(sys.stdin.read() + chr(10))"
    command = shlex.join([sys.executable, "-c", code])
    first = read(run("watch", "--once", "--json", "--run", command))
    second = read(run("watch", "--once", "--json", "--run", command))
    assert (len(first["flushed"]), second["flushed"]) == (1, [])
    assert [json.loads(line)["session_key"] for line in target.read_text().splitlines()] == [KEY(1)]


@pytest.mark.usefixtures("store")
def test_a_command_that_fails_is_counted(run: Run) -> None:
    command = shlex.join([sys.executable, "-c", "raise SystemExit(3)"])
    assert len(read(run("watch", "--once", "--json", "--run", command))["failed"]) == 1
    assert "0 flushed, 1 failed" in run("watch", "--once", "--run", command).stderr


@needs_proc
@pytest.mark.usefixtures("store")
def test_a_flush_command_ends_with_a_killed_watcher(home: Path) -> None:
    words = ["gateway", "watch", "--once", "--run", "sh -c 'sleep 600; :'"]
    environ = {**os.environ, "WARMSTART_HOME": str(home / "ws")}
    with subprocess.Popen([sys.executable, "-m", "warmstart", *words], env=environ) as watcher:
        flushing = wait_for(str(home), "sleep 600", 4)  # the watcher's own words, too
        watcher.kill()
    assert flushing
    assert list_left(str(home)) == {}


@pytest.mark.usefixtures("store")
def test_a_command_that_cannot_be_read_is_refused(run: Run) -> None:
    assert isinstance(run("watch", "--run", "'open").exception, UsageError)


def test_settings_are_found_in_the_default_home(
    run: Run, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("WARMSTART_HOME")
    monkeypatch.setenv("XDG_DATA_HOME", str(home / "data"))
    folder = home / "elsewhere"
    with SessionStore(folder, GatewayConfig()) as store:
        store.get_or_create_session(SOURCE)
    find_home().mkdir(parents=True)
    (find_home() / "gateway.toml").write_text(f"sessions_dir = {str(folder)!r}")
    assert list(read(run("keys", "--json"))["keys"]) == [KEY(1)]


def test_a_gateway_of_an_older_warmstart_is_listed(run: Run, home: Path) -> None:
    path = home / "ws" / "gateway" / "state.db"
    backend = SQLiteBackend(path, Options())
    migrate(backend, [step for step in MIGRATIONS if step.version <= 4])
    times = dict.fromkeys(("created_at", "updated_at"), "2026-04-10T12:00:00+00:00")
    entry = json.dumps({"session_key": KEY(1), "session_id": "s1"} | times)
    sql = "INSERT INTO routes (scope, session_key, session_id, entry, updated_at)"
    backend.execute(f"{sql} VALUES ('main', ?, 's1', ?, 1)", (KEY(1), entry))
    backend.close()
    assert read(run("keys", "--json"))["keys"] == {KEY(1): "s1"}
    backup = path.with_name("state.db.v4.backup")
    assert not backup.exists()  # listing changes nothing
    assert read(run("reset", KEY(1), "--json"))["session"]["session_id"] != "s1"
    assert backup.is_file()
