"""Files a user names are written where the name leads, and nothing that is no file is replaced."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from warmstart.app import Workspace
from warmstart.errors import UsageError


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace.open(tmp_path / "home")


def test_a_link_keeps_pointing_where_it_points(workspace: Workspace, tmp_path: Path) -> None:
    target, link = tmp_path / "page.html", tmp_path / "link.html"
    target.write_bytes(b"old")
    link.symlink_to(target)
    workspace.write_file(link, [b"new"], overwrite=True)
    assert link.is_symlink()
    assert target.read_bytes() == b"new"
    assert target.stat().st_mode & 0o777 == 0o600


def test_a_link_to_nothing_leads_to_a_new_file(workspace: Workspace, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "later")
    workspace.write_file(tmp_path / "link", [b"new"])
    assert (tmp_path / "later").read_bytes() == b"new"


def test_a_link_to_itself_is_replaced(workspace: Workspace, tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    workspace.write_file(tmp_path / "loop", [b"new"])
    assert (tmp_path / "loop").read_bytes() == b"new"


def test_what_is_no_file_stays(workspace: Workspace, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path in (pipe, tmp_path):
        with pytest.raises(UsageError, match="is not a file"):
            workspace.write_file(path, [b"new"], overwrite=True)
    assert pipe.is_fifo()
