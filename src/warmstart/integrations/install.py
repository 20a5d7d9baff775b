"""Carrying an agent's setup out and taking it back.

A file is written whole or not at all and keeps its permissions and its layout. Of what was in it
nothing is kept, since settings may hold secrets: taking back cuts exactly our entry out, and
removes a file that was made for it and holds nothing else.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import orjson

from warmstart.app import Workspace
from warmstart.atomic import PRIVATE_MODE, write_whole
from warmstart.children import ChildSetup, allow_cpu, run_child
from warmstart.errors import UsageError
from warmstart.integrations.agents import Change, Machine, Setup, describe, find_command

RECORD_FILE = "installed.json"
COMMAND_SECONDS = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """What became of one change."""

    where: str
    result: str
    """``written``, ``there already``, ``removed``, ``not there``, ``done``."""


def this_machine() -> Machine:
    """The machine as this process sees it."""
    return Machine(environ=os.environ, user_home=Path.home(), command=find_command())


def install(workspace: Workspace, agent: str, machine: Machine | None = None) -> list[Done]:
    """Write an agent's settings.

    Raises:
        UsageError: a file cannot be changed with certainty; nothing of it was.
    """
    setup = describe(agent, machine or this_machine())
    done = [_write(workspace, agent, change) for change in setup.changes]
    return [*done, *_run(setup.enable)]


def uninstall(workspace: Workspace, agent: str, machine: Machine | None = None) -> list[Done]:
    """Take away exactly what ``install`` wrote."""
    setup = describe(agent, machine or this_machine())
    done = [_take_back(workspace, change) for change in setup.changes]
    return [*done, *_run(setup.disable)]


def show(setup: Setup) -> list[tuple[str, str, str]]:
    """Each change as its file, its reason, and what to write there."""
    return [(str(change.path), change.why, change.edit.show()) for change in setup.changes]


def _write(workspace: Workspace, agent: str, change: Change) -> Done:
    before = _read(change.path)
    try:
        after = change.edit.apply(before or "")
    except UsageError as error:
        raise UsageError(
            f"{str(change.path)!r} was left alone: {error.message}",
            hint=f"add it by hand, see: warmstart install {agent}",
        ) from error
    if after == before:
        return Done(where=str(change.path), result="there already")
    if before is None:
        _save_record(workspace, {*_load_record(workspace), str(change.path)})
    _write_file(change.path, after)
    return Done(where=str(change.path), result="written")


def _take_back(workspace: Workspace, change: Change) -> Done:
    where, current = str(change.path), _read(change.path)
    if current is None:
        return Done(where=where, result="not there")
    without = change.edit.undo(current)
    made_here = _load_record(workspace)
    if without == current:
        return Done(where=where, result="not there")
    if where in made_here and without.strip() in ("", "{}"):
        change.path.unlink()
    else:
        _write_file(change.path, without)
    _save_record(workspace, made_here - {where})
    return Done(where=where, result="removed")


def _run(command: tuple[str, ...]) -> list[Done]:
    """The agent's own door, where it has one."""
    if not command:
        return []
    setup = ChildSetup(
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, cpu_seconds=allow_cpu(COMMAND_SECONDS)
    )
    try:
        run = run_child(command, setup, b"", seconds=COMMAND_SECONDS)
    except FileNotFoundError as error:
        raise UsageError(
            f"{command[0]} is not on the PATH", hint=f"run it where {command[0]} is installed"
        ) from error
    except subprocess.TimeoutExpired as error:
        raise UsageError(f"{' '.join(command)} did not end") from error
    if run.exit_code:
        said = (run.stderr or run.stdout).decode("utf-8", "replace").strip().splitlines()
        raise UsageError(f"{' '.join(command)} failed: {said[-1] if said else run.exit_code}")
    return [Done(where=" ".join(command), result="done")]


def _read(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        raise UsageError(f"{str(path)!r} is no UTF-8 text and was left alone") from error


def _write_file(path: Path, text: str) -> None:
    """With the permissions it had; a link keeps pointing where it points."""
    target = path.resolve()
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    mode = target.stat().st_mode & 0o777 if target.exists() else PRIVATE_MODE
    write_whole(target, [text.encode()], mode=mode)


def _load_record(workspace: Workspace) -> set[str]:
    """Files that were not there before."""
    try:
        data = orjson.loads((workspace.home / RECORD_FILE).read_bytes())
    except (FileNotFoundError, orjson.JSONDecodeError):
        return set()
    return set(map(str, data)) if isinstance(data, list) else set()


def _save_record(workspace: Workspace, made_here: Iterable[str]) -> None:
    path = workspace.home / RECORD_FILE
    workspace.write_file(path, [orjson.dumps(sorted(made_here))], overwrite=True)
