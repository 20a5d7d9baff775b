"""A machine with no sessions but the ones a test writes, and a way to run commands on it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from warmstart.cli.main import cli

Run = Callable[..., Result]
OVERRIDES = (
    "CLAUDE_CONFIG_DIR", "CODEX_HOME", "COPILOT_HOME", "GEMINI_CLI_HOME", "HERMES_HOME",
    "OPENCODE_DB", "XDG_CONFIG_HOME", "XDG_DATA_HOME",
)  # fmt: skip


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's home, empty."""
    folder = tmp_path / "home"
    folder.mkdir()
    for name in OVERRIDES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("WARMSTART_HOME", str(folder / "ws"))
    monkeypatch.setenv("TZ", "UTC")
    monkeypatch.setenv("COLUMNS", "120")
    return folder


@pytest.fixture
def run(home: Path) -> Run:
    """Run ``warmstart`` with arguments; a traceback is a failed test."""
    del home

    def invoke(*arguments: object, **environ: str) -> Result:
        result = CliRunner().invoke(cli, [str(a) for a in arguments], env=environ)
        assert result.exception is None or isinstance(result.exception, SystemExit), result
        return result

    return invoke
