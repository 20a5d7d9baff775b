"""``doctor``: what it finds, what it warns of, and that finding nothing is no error."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from support.badinput import to_jsonl, write
from support.sessions import make_session, write_export
from warmstart.sources import READERS

Run = Callable[..., Result]
UUID = "00000000-0000-4000-8000-000000000000"
LINE = {
    "type": "user", "parentUuid": None, "uuid": "u1", "sessionId": UUID, "version": "9.9.9",
    "cwd": "/home/dev/shop", "timestamp": "2026-01-01T00:00:00Z", "isSidechain": False,
    "message": {"role": "user", "content": "hello"},
}  # fmt: skip


def old_session(home: Path, days: int) -> Path:
    path = write(home, f".claude/projects/-home-dev-shop/{UUID}.jsonl", to_jsonl([LINE]))
    os.utime(path, (time.time() - days * 86_400,) * 2)
    return path


def test_nothing_found_says_where_it_looked_and_what_to_do(run: Run) -> None:
    result = run("doctor")
    assert (result.exit_code, result.stderr) == (0, "")
    assert "hermes (~/.hermes/state.db)" in result.stdout
    assert "warmstart demo" in result.stdout


def test_a_store_is_described_and_its_end_announced(run: Run, home: Path) -> None:
    old_session(home, 28)
    result = run("doctor")
    assert "Claude Code  ~/.claude/projects" in result.stdout
    assert "readable, 1 session, " in result.stdout
    assert "version 9.9.9" in result.stdout
    assert "deletes sessions 30 days after their last change: 1 of 1" in result.stdout
    assert "warmstart profile" in result.stdout.rpartition("Next")[2]


def test_the_command_it_gives_keeps_the_sessions(run: Run, home: Path) -> None:
    path = old_session(home, 28)
    store = json.loads(run("doctor", "--json").stdout)["stores"][0]
    command = store["expiring"]["command"].split()
    assert run(*command[1:]).exit_code == 0
    path.unlink()
    assert UUID[:8] in run("sessions", "list").stdout


def test_json_has_the_same_facts(run: Run, home: Path) -> None:
    old_session(home, 1)
    data = json.loads(run("doctor", "--json").stdout)
    (store,) = data["stores"]
    assert data["schema_version"] == 1
    assert (store["format"], store["units"], store["counted"]) == ("claude_code", 1, "sessions")
    assert (store["readable"], store["expiring"]) == (True, None)
    assert {place["format"] for place in data["absent"]} >= {"hermes", "codex", "warmstart"}


def test_paths_are_examined_whatever_they_hold(run: Run, home: Path) -> None:
    known = write_export(home / "e.jsonl", make_session("one"), make_session("two"))
    unknown = write(home, "notes.txt", b"hello")
    folder = home / "empty"
    folder.mkdir()
    result = run("doctor", known, unknown, folder)
    assert result.exit_code == 0
    assert "warmstart export  ~/e.jsonl\n  readable, 1 file, " in result.stdout
    assert "unknown format  ~/notes.txt\n  not readable: no reader recognises" in result.stdout
    assert "unknown format  ~/empty\n  empty, no sessions" in result.stdout


def test_what_is_skipped_in_a_store_is_part_of_its_report(run: Run, tmp_path: Path) -> None:
    write(tmp_path, "in/notes.json", b"[1, 2]")
    result = run("doctor", tmp_path / "in")
    assert "unknown format" in result.stdout
    assert "skipped 1: file of no known format" in result.stdout


def test_every_format_is_listed(run: Run) -> None:
    names = [line.split()[0] for line in run("doctor", "--formats").stdout.splitlines()[1:]]
    assert names == list(READERS)
    formats = json.loads(run("doctor", "--formats", "--json").stdout)["formats"]
    assert [entry["name"] for entry in formats] == list(READERS)


SECRET = "ghp_x8Kq2LmZ7Vt4RbY1cNw9PdS3HfJ6GaTe05Uo"


@pytest.mark.parametrize("as_json", [False, True])
@pytest.mark.parametrize(
    "version", [SECRET, f"1.0 {SECRET}", "1.0\x1b]0;owned\x07\u202e\n\nnext: rm", "9" * 50_000]
)
def test_what_an_agent_says_of_its_version_is_masked_cleaned_and_cut(
    version: str,
    as_json: bool,  # noqa: FBT001 - the parameter of the test
    run: Run,
    home: Path,
) -> None:
    line = {**LINE, "version": version}
    write(home, f".claude/projects/-home-dev-shop/{UUID}.jsonl", to_jsonl([line]))
    result = run("doctor", *(["--json"] if as_json else []))
    assert result.exit_code == 0
    assert SECRET[:12] not in result.output
    assert "\x1b" not in result.output
    assert "\u202e" not in result.output
    assert "\nnext: rm" not in result.output
    assert max(map(len, result.stdout.splitlines())) < 2000


def test_a_file_name_with_a_secret_or_an_escape_is_made_safe(run: Run, home: Path) -> None:
    name = f"a\x1b[31m{SECRET}.jsonl"
    write(home, f".claude/projects/x/{name}", b"{broken")
    for words in (("doctor", home / ".claude"), ("doctor", "--json"), ("sessions", "list")):
        result = run(*words)
        assert "\x1b" not in result.output
    assert SECRET[:12] not in run("doctor", "--json", home / ".claude").output
