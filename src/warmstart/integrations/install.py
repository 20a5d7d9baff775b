"""Carrying an agent's setup out and taking it back.

A file is written whole or not at all and keeps its permissions, its layout and its line ends; a
read-only file is left alone. What was in it is not kept, since settings may hold secrets: the text
that was put in is, and taking back cuts exactly that out again. A file that was made for it and
holds nothing else is removed.
"""

from __future__ import annotations

import stat
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import orjson

from warmstart.app import Workspace, redact
from warmstart.atomic import PRIVATE_MODE, write_whole
from warmstart.children import ChildSetup, allow_cpu, run_child
from warmstart.errors import UsageError
from warmstart.integrations.agents import FileChange, Host, Setup, describe, this_host
from warmstart.integrations.edits import find_inserted

RECORD_FILE = "installed.json"
COMMAND_SECONDS = 120
MAX_OUTPUT_BYTES = 20_000
MAX_LINE_CHARS = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """What became of one change."""

    where: str
    result: str
    """``written``, ``there already``, ``removed``, ``not there``, ``done``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inserted:
    """What was put into one file."""

    text: str = ""
    """Empty where that is not known."""
    made: bool = False
    """Whether the file was not there before."""


def install_agent(workspace: Workspace, agent: str, host: Host | None = None) -> list[Done]:
    """Write an agent's settings.

    Raises:
        UsageError: a file cannot be changed with certainty; nothing of it was.
    """
    setup = describe(agent, host or this_host())
    done = [_write(workspace, agent, change) for change in setup.changes]
    return [*done, *_run(setup.enable)]


def uninstall_agent(workspace: Workspace, agent: str, host: Host | None = None) -> list[Done]:
    """Take away exactly what ``install`` wrote."""
    setup = describe(agent, host or this_host())
    done = [_take_back(workspace, change) for change in setup.changes]
    return [*done, *_run(setup.disable)]


def list_changes(setup: Setup) -> list[tuple[str, str, str]]:
    """Each change as its file, its reason, and what to write there."""
    return [(str(change.path), change.why, change.edit.show()) for change in setup.changes]


def _write(workspace: Workspace, agent: str, change: FileChange) -> Done:
    where, before = str(change.path), _read(change.path)
    try:
        after = change.edit.apply(before or "")
    except UsageError as error:
        raise UsageError(
            f"{where!r} was left alone: {error.message}",
            hint=f"add it by hand, see: warmstart install {agent}",
        ) from error
    if after == before:
        return Done(where=where, result="there already")
    _check_writable(change.path)
    inserted = Inserted(text=find_inserted(before or "", after), made=before is None)
    _save_record(workspace, {**_load_record(workspace), where: inserted})
    _write_file(change.path, after)
    return Done(where=where, result="written")


def _take_back(workspace: Workspace, change: FileChange) -> Done:
    where, current = str(change.path), _read(change.path)
    if current is None:
        return Done(where=where, result="not there")
    record = _load_record(workspace)
    ours = record.pop(where, Inserted())
    try:
        without = change.edit.undo(current, ours.text)
    except UsageError as error:
        raise UsageError(
            f"{where!r} was left alone: {error.message}", hint="take it out by hand"
        ) from error
    if without == current:
        return Done(where=where, result="not there")
    if ours.made and without.strip() in ("", "{}"):
        change.path.unlink()
    else:
        _check_writable(change.path)
        _write_file(change.path, without)
    _save_record(workspace, record)
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
        output = (run.stderr or run.stdout)[-MAX_OUTPUT_BYTES:].decode("utf-8", "replace")
        lines = redact(output).text.strip().splitlines()
        why = lines[-1][:MAX_LINE_CHARS] if lines else f"exit code {run.exit_code}"
        raise UsageError(f"{' '.join(command)} failed: {why}")
    return [Done(where=" ".join(command), result="done")]


def _read(path: Path) -> str | None:
    """The text with its own line ends."""
    try:
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        raise UsageError(f"{str(path)!r} is not UTF-8 text and was left alone") from error


def _check_writable(path: Path) -> None:
    """Refuse what its owner made read-only; replacing the file would get around that.

    Raises:
        UsageError: the file is read-only.
    """
    target = path.resolve()
    if target.exists() and not target.stat().st_mode & stat.S_IWUSR:
        raise UsageError(
            f"{str(target)!r} is read-only and was left alone", hint="make it writable first"
        )


def _write_file(path: Path, text: str) -> None:
    """Write with the permissions the file had; a link keeps pointing where it points."""
    target = path.resolve()
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    mode = target.stat().st_mode & 0o777 if target.exists() else PRIVATE_MODE
    write_whole(target, [text.encode()], mode=mode)


def _load_record(workspace: Workspace) -> dict[str, Inserted]:
    """What was put into each file. Versions before 0.2 kept the names of files they made."""
    try:
        data = orjson.loads((workspace.home / RECORD_FILE).read_bytes())
    except (FileNotFoundError, orjson.JSONDecodeError):
        return {}
    if isinstance(data, list):
        return {str(where): Inserted(made=True) for where in data}
    files = data.get("files") if isinstance(data, dict) else None
    return {
        where: Inserted(text=str(row.get("text", "")), made=row.get("made") is True)
        for where, row in (files.items() if isinstance(files, dict) else ())
        if isinstance(row, dict)
    }


def _save_record(workspace: Workspace, record: Mapping[str, Inserted]) -> None:
    files = {where: {"text": one.text, "made": one.made} for where, one in sorted(record.items())}
    document = {"schema_version": 1, "files": files}
    workspace.write_file(workspace.home / RECORD_FILE, [orjson.dumps(document)], overwrite=True)
