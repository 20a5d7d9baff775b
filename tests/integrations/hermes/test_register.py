"""Registering: cheap, complete, and without anything that Hermes does not have."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

from support.hermes_plugin import RecordingContext

ROOT = Path(__file__).resolve().parents[3]
HEAVY = (
    "click", "rich", "sqlite3", "orjson", "platformdirs", "tomllib", "hashlib", "asyncio",
    "warmstart.app", "warmstart.sources", "warmstart.store", "warmstart.warm",
    "warmstart.model", "warmstart.outcome",
)  # fmt: skip


def test_registering_loads_nothing_heavy() -> None:
    code = (
        "import sys\nfrom warmstart.integrations.hermes import register\n"
        "class Context:\n"
        "    def __getattr__(self, name): return lambda *a, **k: None\n"
        f"register(Context())\nprint([m for m in {HEAVY!r} if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_hermes_finds_the_plugin_by_its_entry_point() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["entry-points"]["hermes_agent.plugins"] == {
        "warmstart": "warmstart.integrations.hermes"
    }


def test_everything_is_registered_once(hermes: RecordingContext) -> None:
    assert list(hermes.tools) == ["warm_session"]
    assert list(hermes.commands) == ["warm"]
    assert list(hermes.middleware) == ["llm_request"]
    assert sorted(hermes.hooks) == [
        "on_session_finalize", "on_session_reset", "post_tool_call", "pre_llm_call",
    ]  # fmt: skip
