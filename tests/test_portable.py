"""Every module can be imported where POSIX is missing, and no text file gets another system's ends."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import warmstart
from warmstart.integrations import launch_process
from warmstart.integrations.launch_parts import SeedFile

ROOT = Path(warmstart.__file__).parent
IMPORT_ALL = """
import contextlib, importlib, os, pkgutil, signal, sys
for name in ("mcp.server.mcpserver", "mcp.server.fastmcp", "uvicorn"):
    with contextlib.suppress(ImportError):  # has ways of its own on other systems
        importlib.import_module(name)
for name in ("fcntl", "resource", "pwd", "grp", "termios", "tty", "pty", "syslog"):
    sys.modules[name] = None
for name in ("fork", "killpg", "getuid", "geteuid", "getpgrp", "setsid", "tcgetpgrp", "O_NOCTTY",
             "O_NOFOLLOW", "O_NONBLOCK", "fchmod", "chown", "mkfifo"):
    if hasattr(os, name):
        delattr(os, name)
for name in ("SIGKILL", "SIGALRM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2", "SIGCHLD",
             "setitimer", "alarm"):
    if hasattr(signal, name):
        delattr(signal, name)
import warmstart
for found in pkgutil.walk_packages(warmstart.__path__, "warmstart."):
    if not found.name.endswith("__main__"):
        __import__(found.name)
        print(found.name)
"""


def test_every_module_is_imported_without_posix() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", IMPORT_ALL], capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    assert len(done.stdout.splitlines()) > 100


def test_text_is_never_written_with_the_ends_of_the_system() -> None:
    """Files are written as bytes, or with their newline named; CRLF would change a hash."""
    assert [host for path in ROOT.rglob("*.py") for host in find_text_writes(path)] == []


def find_text_writes(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if not isinstance(node, ast.Call):
            continue
        is_method = isinstance(node.func, ast.Attribute)
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        given = {word.arg for word in node.keywords}
        modes = [one.value for one in node.args if isinstance(one, ast.Constant)]
        is_ours = is_method and getattr(node.func.value, "id", "").startswith("_")
        writes = (is_method and name == "write_text" and not is_ours) or (
            name in ("open", "fdopen", "NamedTemporaryFile")
            and any(mode in ("w", "a", "x", "w+", "a+", "r+") for mode in modes)
        )
        if writes and "newline" not in given:
            yield f"{path.name}:{node.lineno}"


def test_without_links_a_file_is_put_in_place_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any) -> None:
        raise OSError(1, "no links here")

    monkeypatch.setattr(os, "link", refuse)
    seed = SeedFile(tmp_path / "a", b"x")
    launch_process._write(seed)
    assert seed.path.read_bytes() == b"x"
    with pytest.raises(FileExistsError):
        launch_process._write(SeedFile(tmp_path / "a", b"y"))
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_without_process_groups_the_terminal_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "tcgetpgrp", raising=False)
    assert launch_process._has_terminal() is sys.stdin.isatty()
