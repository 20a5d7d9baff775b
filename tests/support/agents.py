"""Where the real agents are that ``make test-agents`` installs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from support.launching import make_template
from warmstart.app import Workspace
from warmstart.app.templates import open_library
from warmstart.model.template import Template, TemplateState
from warmstart.store import RecordedStart
from warmstart.testing import ScriptedEndpoint

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 240
NOBODY = "http://127.0.0.1:9"
"""Whatever an agent wants of the network, nobody answers."""


def find_hermes() -> Path:
    """Hermes' command; the test is skipped where it is not installed."""
    folder = Path(os.environ.get("WARMSTART_AGENTS") or ROOT / ".agents")
    command = folder / "hermes" / "bin" / "hermes"
    if not command.exists():
        pytest.skip("Hermes is not installed here (make test-agents)")
    return command


def find_agent(name: str) -> Path:
    """The command of an agent that npm installs; the test is skipped where it is not."""
    folder = Path(os.environ.get("WARMSTART_AGENTS") or ROOT / ".agents")
    command = folder / "npm" / "node_modules" / ".bin" / name
    if not command.exists():
        pytest.skip(f"{name} is not installed here (make test-agents)")
    return command


class Computer:
    """A machine of its own for an agent: homes, a project, a library with one template."""

    def __init__(self, root: Path, endpoint: ScriptedEndpoint, *programs: Path) -> None:
        self.user, self.project = root / "user", root / "project"
        self.endpoint = endpoint
        self.workspace = Workspace(root / "ws")
        self.project.mkdir()
        for folder in (".claude", ".codex", ".hermes"):
            (self.user / folder).mkdir(parents=True)
        folders = [*(str(program.parent) for program in programs), str(Path(sys.executable).parent)]
        self.environ = {
            "PATH": os.pathsep.join([*folders, os.environ["PATH"]]),
            "HOME": str(self.user),
            "CLAUDE_CONFIG_DIR": str(self.user / ".claude"),
            "CODEX_HOME": str(self.user / ".codex"),
            "HERMES_HOME": str(self.user / ".hermes"),
            "WARMSTART_HOME": str(self.workspace.home),
            "WARMSTART_WARM_HOLDOUT": "0",
            "ANTHROPIC_BASE_URL": endpoint.url,
            "ANTHROPIC_API_KEY": "none",
            "OPENAI_API_KEY": "none",
            "DISABLE_AUTOUPDATER": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "HTTPS_PROXY": NOBODY,
            "HTTP_PROXY": NOBODY,
            "NO_PROXY": "127.0.0.1,localhost",
        }
        if "PYTHONPATH" in os.environ:  # another checkout's warmstart
            self.environ["PYTHONPATH"] = os.environ["PYTHONPATH"]
        self.save(make_template())

    def save(self, template: Template) -> None:
        """Put an approved template into the library."""
        with open_library(self.workspace) as library:
            library.save(template, state=TemplateState.APPROVED)

    def run(self, *words: str, given: str = "", **environ: str) -> subprocess.CompletedProcess[str]:
        """A command in the project, to its end."""
        return subprocess.run(
            words,
            cwd=self.project,
            env={**self.environ, **environ},
            input=given,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )

    def warmstart(self, *words: str, given: str = "", **environ: str) -> str:
        """Our own command; what it and its agent said."""
        done = self.run(sys.executable, "-m", "warmstart", *words, given=given, **environ)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout + done.stderr

    def starts(self) -> list[RecordedStart]:
        """What was written down."""
        with open_library(self.workspace) as library:
            return library.require_db().list_starts()

    def sync(self) -> dict[str, Any]:
        """What became of the one start there is."""
        done = self.run(sys.executable, "-m", "warmstart", "sync", "--idle", "0", "--json")
        (row,) = json.loads(done.stdout)["starts"]
        found: dict[str, Any] = row
        return found
