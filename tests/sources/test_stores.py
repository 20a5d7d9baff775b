"""Where stores are looked for, and what a survey says of them."""

from __future__ import annotations

import gzip
import json
import os
import sqlite3
import time
from pathlib import Path
from typing import Any

import pytest

from support.badinput import write
from support.sessions import make_session, write_export
from warmstart.sources import ReadLog
from warmstart.sources.stores import Machine, Store, find_stores, list_places, list_units
from warmstart.sources.survey import survey_store

DAY = 86_400


def machine(home: Path, **environ: str) -> Machine:
    return Machine(environ=environ, user_home=home, warmstart_home=home / "ws")


def places(home: Path, **environ: str) -> dict[str, list[Path]]:
    found: dict[str, list[Path]] = {}
    for store in list_places(machine(home, **environ)):
        found.setdefault(store.reader, []).append(store.path)
    return found


def claude_line(session: str, **more: Any) -> bytes:
    record = {
        "type": "user", "parentUuid": None, "uuid": "u1", "sessionId": session, "version": "9.9.9",
        "cwd": "/home/dev/shop", "timestamp": "2026-01-01T00:00:00Z", "isSidechain": False,
        "message": {"role": "user", "content": "hello"},
    }  # fmt: skip
    return json.dumps(record | more).encode() + b"\n"


UUIDS = [f"0000000{n}-0000-4000-8000-000000000000" for n in range(3)]


def claude_home(home: Path, ages_days: list[float]) -> Path:
    projects = home / ".claude" / "projects"
    for name, age in zip(UUIDS, ages_days, strict=False):
        path = write(projects / "-home-dev-shop", f"{name}.jsonl", claude_line(name))
        os.utime(path, (time.time() - age * DAY,) * 2)
    return projects


def test_defaults_are_below_the_user_s_home(tmp_path: Path) -> None:
    assert places(tmp_path) == {
        "hermes": [tmp_path / ".hermes/state.db"],
        "claude_code": [tmp_path / ".claude/projects"],
        "codex": [tmp_path / ".codex"],
        "gemini": [tmp_path / ".gemini"],
        "opencode": [tmp_path / ".local/share/opencode/opencode.db"],
        "copilot": [tmp_path / ".copilot"],
        "openhands": [tmp_path / ".openhands/conversations"],
        "live_store": [tmp_path / "ws/store.db"],
        "warmstart": [tmp_path / "ws/archive"],
    }


@pytest.mark.parametrize(
    ("variable", "value", "reader", "path"),
    [
        ("HERMES_HOME", "/x/h", "hermes", "/x/h/state.db"),
        ("CLAUDE_CONFIG_DIR", "/x/c", "claude_code", "/x/c/projects"),
        ("CODEX_HOME", "/x/codex", "codex", "/x/codex"),
        ("GEMINI_CLI_HOME", "/x/g", "gemini", "/x/g/.gemini"),
        ("XDG_DATA_HOME", "/x/d", "opencode", "/x/d/opencode/opencode.db"),
        ("OPENCODE_DB", "/x/o.db", "opencode", "/x/o.db"),
        ("COPILOT_HOME", "/x/p", "copilot", "/x/p"),
        ("CODEX_HOME", "", "codex", "~/.codex"),
        ("CODEX_HOME", "~/own", "codex", "~/own"),
        ("OPENCODE_DB", "own.db", "opencode", "~/.local/share/opencode/own.db"),
        ("OPENCODE_DB", ":memory:", "opencode", "~/.local/share/opencode/opencode.db"),
    ],
)
def test_each_agent_s_own_variable_is_honoured(
    tmp_path: Path, variable: str, value: str, reader: str, path: str
) -> None:
    wanted = Path(path.replace("~", str(tmp_path)))
    assert places(tmp_path, **{variable: value})[reader] == [wanted]


def test_profiles_and_older_places_count_where_they_exist(tmp_path: Path) -> None:
    write(tmp_path, ".hermes/profiles/office/state.db", b"")
    write(tmp_path, ".config/claude/projects/p/x.jsonl", b"")
    write(tmp_path, ".local/share/opencode/storage/x.json", b"")
    found = places(tmp_path)
    assert found["hermes"][1] == tmp_path / ".hermes/profiles/office/state.db"
    assert len(found["claude_code"]) == len(found["opencode"]) == 2


def test_only_places_that_exist_are_stores(tmp_path: Path) -> None:
    claude_home(tmp_path, [1])
    assert [store.reader for store in find_stores(machine(tmp_path))] == ["claude_code"]


def test_an_agent_s_home_is_never_walked_through(tmp_path: Path) -> None:
    write(tmp_path, ".gemini/oauth_creds.json", b'{"messages": []}')
    log = ReadLog()
    (store,) = find_stores(machine(tmp_path))
    assert list(list_units(store, log)) == []
    assert log.total == 0


def test_a_survey_counts_without_reading_and_reads_one_sample(tmp_path: Path) -> None:
    projects = claude_home(tmp_path, [1, 2])
    (report,) = survey_store(Store(reader="claude_code", path=projects))
    assert (report.units, report.counted, report.version) == (2, "sessions", "9.9.9")
    assert report.problem is None
    assert report.bytes > 100
    assert report.expiry is None


def test_a_file_of_many_sessions_is_counted_as_a_file(tmp_path: Path) -> None:
    path = write_export(tmp_path / "e.jsonl", make_session("one"), make_session("two"))
    (report,) = survey_store(Store(reader="", path=path))
    assert (report.units, report.counted) == (1, "files")


def test_what_claude_code_deletes_soon_is_counted(tmp_path: Path) -> None:
    projects = claude_home(tmp_path, [1, 25, 29])
    (report,) = survey_store(Store(reader="claude_code", path=projects))
    assert report.expiry is not None
    assert (report.expiry.files, report.expiry.period_days) == (2, 30)
    assert abs(report.expiry.first_at - time.time() - DAY) < 60


@pytest.mark.parametrize(
    ("settings", "files"),
    [
        (b'{"cleanupPeriodDays": 365}', None),
        (b'{"cleanupPeriodDays": 8}', 2),
        (b'{"cleanupPeriodDays": "x"}', 1),
        (b"{broken", 1),
    ],
)
def test_its_own_setting_decides_the_period(
    tmp_path: Path, settings: bytes, files: int | None
) -> None:
    projects = claude_home(tmp_path, [0, 3, 26])
    write(tmp_path, ".claude/settings.json", settings)
    (report,) = survey_store(Store(reader="claude_code", path=projects))
    assert (report.expiry.files if report.expiry else None) == files


def test_what_cannot_be_read_says_why(tmp_path: Path) -> None:
    path = write(tmp_path, "state.db", b"SQLite format 3\x00 and then garbage")
    (report,) = survey_store(Store(reader="hermes", path=path))
    assert report.problem is not None
    assert report.units == 0


def test_a_sample_that_cannot_be_read_is_the_store_s_problem(tmp_path: Path) -> None:
    path = write_export(tmp_path / "e.jsonl", make_session())
    path.write_bytes(gzip.compress(path.read_bytes())[:40])
    (report,) = survey_store(Store(reader="", path=path))
    assert report.problem is not None


def test_a_folder_of_event_files_is_measured_whole(tmp_path: Path) -> None:
    events = [
        {"id": "e1", "kind": "MessageEvent", "source": "user", "timestamp": "2026-01-01T00:00:00",
         "llm_message": {"role": "user", "content": [{"type": "text", "text": "hi"}]}},
    ]  # fmt: skip
    store = tmp_path / "conversations"
    for number, event in enumerate(events):
        data = json.dumps(event).encode()
        write(store, f"c1/events/event-{number:05}-e1.json", data)
    (report,) = survey_store(Store(reader="openhands", path=store, folders=(store,)))
    assert (report.reader, report.units, report.bytes > 50) == ("openhands", 1, True)


def test_a_database_s_schema_version_stands_for_the_agent_s(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    with sqlite3.connect(path) as database:
        database.executescript("""
            CREATE TABLE schema_version(version INTEGER); INSERT INTO schema_version VALUES (22);
            CREATE TABLE sessions(id TEXT PRIMARY KEY, source TEXT, started_at REAL);
            CREATE TABLE messages(id INTEGER PRIMARY KEY, session_id TEXT, role TEXT, content TEXT,
                tool_call_id TEXT, tool_calls TEXT, tool_name TEXT, timestamp REAL);
            INSERT INTO sessions VALUES ('s1', 'cli', 1767225600.0);
            INSERT INTO messages VALUES (1, 's1', 'user', 'hi', NULL, NULL, NULL, 1767225601.0);
        """)
    database.close()
    (report,) = survey_store(Store(reader="hermes", path=path))
    assert (report.version, report.units) == ("schema 22", 1)


def test_a_gateway_s_database_is_found_beside_the_store(tmp_path: Path) -> None:
    write(tmp_path, "ws/gateway/state.db", b"")
    assert places(tmp_path)["live_store"][1] == tmp_path / "ws/gateway/state.db"
