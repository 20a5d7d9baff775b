"""A machine for tests: its user's home, and ``warmstart`` run on it in this process."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from click.testing import CliRunner, Result

from support.planting import Planted
from warmstart.cli.main import cli

if TYPE_CHECKING:
    import pytest

Run = Callable[..., Result]
OVERRIDES = (
    "CLAUDE_CONFIG_DIR", "CODEX_HOME", "COPILOT_HOME", "GEMINI_CLI_HOME", "HERMES_HOME",
    "OPENCODE_DB", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "WARMSTART_STORE",
)  # fmt: skip


class Machine(NamedTuple):
    """A home full of planted secrets."""

    home: Path
    planted: list[Planted]
    run: Run


def invoke(*arguments: object, stdin: str | None = None) -> Result:
    """Run ``warmstart``; a traceback is a failed test."""
    result = CliRunner().invoke(cli, [str(a) for a in arguments], input=stdin)
    assert result.exception is None or isinstance(result.exception, SystemExit), result
    return result


def set_machine(patch: pytest.MonkeyPatch, home: Path) -> None:
    """Let this process believe that ``home`` is its user's."""
    for name in OVERRIDES:
        patch.delenv(name, raising=False)
    patch.setenv("HOME", str(home))
    patch.setenv("WARMSTART_HOME", str(home / "ws"))
    patch.setenv("COLUMNS", "200")
    patch.chdir(home)
