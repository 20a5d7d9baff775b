"""``sessions export``: where it goes, what it holds, and what it refuses."""

from __future__ import annotations

import json
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from support.sessions import make_session, write_export

Run = Callable[..., Result]


@pytest.fixture
def store(home: Path) -> Path:
    return write_export(
        home / "in.jsonl", make_session("aaaaaaaa-1"), make_session("bbbbbbbb-2", origin="codex")
    )


def test_sessions_go_to_stdout_one_per_line(run: Run, store: Path) -> None:
    result = run("sessions", "export", store)
    assert result.stdout.encode() == store.read_bytes()
    assert result.stderr == "2 sessions written\n"


@pytest.mark.parametrize("target", ["openai", "anthropic"])
def test_the_providers_formats_are_conversations(run: Run, store: Path, target: str) -> None:
    lines = run("sessions", "export", store, "--as", target).stdout.splitlines()
    assert [json.loads(line)["metadata"]["session"] for line in lines] == [
        "hermes:aaaaaaaa-1", "codex:bbbbbbbb-2",
    ]  # fmt: skip


def test_ids_choose_and_filters_narrow(run: Run, store: Path) -> None:
    chosen = run("sessions", "export", store, "bbbb", "aaaaaaaa-1").stdout.splitlines()
    assert [json.loads(line)["native_id"] for line in chosen] == ["bbbbbbbb-2", "aaaaaaaa-1"]
    narrowed = run("sessions", "export", store, "--source", "codex").stdout.splitlines()
    assert [json.loads(line)["origin"] for line in narrowed] == ["codex"]


def test_a_file_is_private_and_never_overwritten_by_accident(
    run: Run, store: Path, tmp_path: Path
) -> None:
    output = tmp_path / "out.jsonl"
    assert run("sessions", "export", store, "--output", output).exit_code == 0
    assert stat.S_IMODE(output.stat().st_mode) == 0o600
    again = run("sessions", "export", store, "--output", output)
    assert again.exit_code == 2
    assert "--force" in again.stderr
    assert run("sessions", "export", store, "--output", output, "--force").exit_code == 0


def test_nothing_to_write_writes_nothing(run: Run, store: Path, tmp_path: Path) -> None:
    output = tmp_path / "out.jsonl"
    result = run("sessions", "export", store, "--source", "gemini", "--output", output)
    assert result.exit_code == 3
    assert not output.exists()


def test_archiving_again_keeps_what_the_agent_has_deleted(run: Run, home: Path) -> None:
    archive = home / "ws/archive/hermes.jsonl"
    write_export(archive, make_session("gone-since-then"))
    extra = write_export(home / "ws/archive/later.jsonl", make_session("newly-written"))
    assert run("sessions", "export", "--output", archive, "--force").exit_code == 0
    extra.unlink()
    kept = {json.loads(line)["native_id"] for line in archive.read_text().splitlines()}
    assert kept == {"gone-since-then", "newly-written"}
