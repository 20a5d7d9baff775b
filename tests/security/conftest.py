"""A machine whose sessions hold a secret in every field, and a way to run commands on it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.machines import Machine, Run, invoke, set_machine
from support.planting import (
    Planter,
    write_claude_code,
    write_codex,
    write_hermes,
    write_openai_chat,
)


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    """Sessions of four formats, and an approved template made of Claude Code's."""
    home, plant = tmp_path_factory.mktemp("home"), Planter(7)
    known = plant.random("environment")
    with pytest.MonkeyPatch.context() as patch:
        set_machine(patch, home)
        patch.setenv("ACME_LICENCE_KEY", known)
        write_claude_code(home / ".claude", plant, 3)
        write_hermes(home / ".hermes", plant, 2)
        write_codex(home / ".codex", plant, 2)
        write_openai_chat(home / "chat.jsonl", plant, 2)
        made = invoke("template", "build", "--name", "all", "--min-messages", "5",
                      "--max-error-rate", "1", "--textual", "--keep-outside")  # fmt: skip
        assert made.exit_code == 0, made.stderr
        assert invoke("template", "approve", "all@1", "--yes", "--despite-flags").exit_code == 0
        yield Machine(home, plant.planted, invoke)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home."""
    folder = tmp_path / "home"
    folder.mkdir()
    set_machine(monkeypatch, folder)
    return folder


@pytest.fixture
def run(home: Path) -> Run:
    """Run commands in the empty home."""
    del home
    return invoke
