"""A library in a folder of its own, with a real store."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from warmstart.library import Library
from warmstart.store import SessionDB


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


@pytest.fixture
def library(home: Path) -> Iterator[Library]:
    with Library(home / "templates", SessionDB(home / "store.db")) as opened:
        yield opened
