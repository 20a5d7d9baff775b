"""The commands on real transcripts of every agent, where there are any."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result
from rich.cells import cell_len

Run = Callable[..., Result]
FOLDERS = (
    "agentdojo", "claude_code", "codex", "copilot", "gemini", "hermes", "mini_swe_agent",
    "tau2_bench", "tau_bench",
)  # fmt: skip


@pytest.mark.corpus
@pytest.mark.parametrize("folder", FOLDERS)
def test_every_folder_is_listed_and_its_newest_session_shown(
    run: Run, corpus: Path, folder: str
) -> None:
    path = corpus / folder
    listed = run("sessions", "list", path, "--limit", 5, COLUMNS="80")
    assert max(cell_len(line) for line in listed.stdout.splitlines()) <= 80
    newest = json.loads(run("sessions", "list", path, "--json", "--limit", 1).stdout)["sessions"][0]
    shown = run("sessions", "show", newest["id"], path)
    assert shown.exit_code == 0
    assert "reader failed" not in listed.stderr + shown.stderr


@pytest.mark.corpus
@pytest.mark.parametrize("folder", FOLDERS)
def test_an_export_reads_back_as_the_same_sessions(
    run: Run, corpus: Path, folder: str, tmp_path: Path
) -> None:
    copy = tmp_path / "copy.jsonl"
    assert run("sessions", "export", corpus / folder, "--output", copy).exit_code == 0
    original = json.loads(run("sessions", "list", corpus / folder, "--json", "--all").stdout)
    again = json.loads(run("sessions", "list", copy, "--json", "--all").stdout)
    assert again["totals"] == original["totals"]
    assert {s["id"] for s in again["sessions"]} == {s["id"] for s in original["sessions"]}
