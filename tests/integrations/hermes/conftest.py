"""A home with one approved template, and Hermes with the plugin in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.hermes_plugin import RecordingContext
from support.warming import make_template
from warmstart.app import Workspace
from warmstart.app.templates import open_library
from warmstart.integrations.hermes.quiet import forget_warnings
from warmstart.model.template import TemplateState
from warmstart.samples import samples_path


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    for name in ("HERMES_SESSION_SOURCE", "TERMINAL_CWD", "WARMSTART_STORE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("HERMES_HOME", str(samples_path() / "hermes"))
    monkeypatch.setenv("WARMSTART_HOME", str(tmp_path / "ws"))
    monkeypatch.setenv("WARMSTART_WARM_HOLDOUT", "0")
    monkeypatch.chdir(tmp_path)
    workspace = Workspace(tmp_path / "ws")
    with open_library(workspace) as library:
        library.save(make_template(), state=TemplateState.APPROVED)
    return workspace


@pytest.fixture
def hermes(workspace: Workspace) -> RecordingContext:
    del workspace
    forget_warnings()
    return RecordingContext()
