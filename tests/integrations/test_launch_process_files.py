"""Files of a launch: there while it runs, gone after, whatever happened."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import orjson
import pytest

from warmstart.app import Workspace
from warmstart.integrations.launch_parts import SeedFile
from warmstart.integrations.launch_process import clear_leftovers, hold_files


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path / "ws")


def list_files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def test_a_file_is_private_while_it_is_there_and_gone_after(
    workspace: Workspace, tmp_path: Path
) -> None:
    seed = SeedFile(tmp_path / "agent" / "deep" / "seed.jsonl", b"{}\n")
    with hold_files(workspace, [seed]):
        assert seed.path.read_bytes() == b"{}\n"
        assert stat.S_IMODE(seed.path.stat().st_mode) == 0o600
    assert list_files(tmp_path) == []


def test_a_file_the_agent_went_on_with_stays(workspace: Workspace, tmp_path: Path) -> None:
    seed = SeedFile(tmp_path / "rollout.jsonl", b"{}\n")
    with hold_files(workspace, [seed]), seed.path.open("ab") as file:
        file.write(b"more\n")
    assert list_files(tmp_path) == [seed.path]


def test_a_file_that_is_there_is_never_overwritten(workspace: Workspace, tmp_path: Path) -> None:
    seed = SeedFile(tmp_path / "mine", b"new")
    seed.path.write_bytes(b"old")
    with pytest.raises(FileExistsError), hold_files(workspace, [seed]):
        pass
    assert seed.path.read_bytes() == b"old"


def test_nothing_to_hold_writes_nothing(workspace: Workspace) -> None:
    with hold_files(workspace, []):
        assert not workspace.home.exists()


def test_what_a_killed_launch_left_is_cleared_by_the_next(
    workspace: Workspace, tmp_path: Path
) -> None:
    seed = tmp_path / "seed.jsonl"
    code = (
        "import os, pathlib, signal\n"
        "from warmstart.integrations.launch_process import hold_files\n"
        "from warmstart.integrations.launch_parts import SeedFile\n"
        "from warmstart.app import Workspace\n"
        f"with hold_files(Workspace(pathlib.Path({str(workspace.home)!r})),"
        f" [SeedFile(pathlib.Path({str(seed)!r}), b'x')]):\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=False)
    assert seed.exists()
    assert clear_leftovers(workspace) == 1
    assert list_files(tmp_path) == []
    assert clear_leftovers(workspace) == 0


def test_launches_that_run_are_left_alone(workspace: Workspace, tmp_path: Path) -> None:
    seed = SeedFile(tmp_path / "seed", b"x")
    with hold_files(workspace, [seed]):
        assert clear_leftovers(workspace) == 0
        assert seed.path.exists()


@pytest.mark.parametrize("data", [b"", b"no json", b"7", b'[["only a path"]]', b'[[1, "x"]]'])
def test_a_damaged_list_is_put_away(workspace: Workspace, data: bytes) -> None:
    folder = workspace.home / "launch"
    folder.mkdir(parents=True)
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    (folder / f"{child.pid}-00.running").write_bytes(data)
    clear_leftovers(workspace)
    assert list_files(workspace.home) == []


def test_a_list_names_only_what_it_wrote(workspace: Workspace, tmp_path: Path) -> None:
    other = tmp_path / "precious"
    other.write_bytes(b"mine")
    folder = workspace.home / "launch"
    folder.mkdir(parents=True)
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    (folder / f"{child.pid}-00.running").write_bytes(orjson.dumps([[os.fspath(other), "0" * 64]]))
    clear_leftovers(workspace)
    assert other.exists()
