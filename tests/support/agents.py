"""Where the real agents are that ``make test-agents`` installs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def find_hermes() -> Path:
    """Hermes' command; the test is skipped where it is not installed."""
    folder = Path(os.environ.get("WARMSTART_AGENTS") or ROOT / ".agents")
    command = folder / "hermes" / "bin" / "hermes"
    if not command.exists():
        pytest.skip("Hermes is not installed here (make test-agents)")
    return command
