"""Files an agent is started with: written before, taken away after.

A file that is as it was written has served its purpose and goes; one that the agent wrote on in is
its session now and stays. Each launch keeps a list of its files in warmstart's home while it runs,
so that what a killed one left behind is cleared away by the next.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import orjson

from warmstart.app import Workspace
from warmstart.integrations.launch_parts import SeedFile

FOLDER = "launch"
SUFFIX = ".running"
PROCESS_QUERY_LIMITED_INFORMATION = 0x1000


@contextlib.contextmanager
def hold_files(workspace: Workspace, seeds: Sequence[SeedFile]) -> Iterator[None]:
    """The files are there inside, and gone after unless the agent went on with them.

    Raises:
        OSError: one cannot be written; then none is left.
    """
    if not seeds:
        yield
        return
    note = workspace.home / FOLDER / f"{os.getpid()}-{os.urandom(4).hex()}{SUFFIX}"
    rows = [[str(seed.path), _hash(seed.data)] for seed in seeds]
    workspace.write_file(note, [orjson.dumps(rows)])
    try:
        for seed in seeds:
            _write(seed)
        yield
    finally:
        _clear(note)


def clear_leftovers(workspace: Workspace) -> int:
    """Take away what launches that are no longer running left behind; how many there were."""
    cleared = 0
    for note in sorted((workspace.home / FOLDER).glob(f"*{SUFFIX}")):
        pid = note.name.partition("-")[0]
        if pid.isdigit() and not _is_running(int(pid)):
            _clear(note)
            cleared += 1
    return cleared


def _write(seed: SeedFile) -> None:
    """Whole, and private to its user; never over something that is there."""
    seed.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=seed.path.parent, prefix=".warmstart-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(seed.data)
        _put_in_place(Path(name), seed.path)
    finally:
        Path(name).unlink(missing_ok=True)


def _put_in_place(part: Path, path: Path) -> None:
    try:
        os.link(part, path)
    except FileExistsError:
        raise
    except OSError:  # not every file system knows links
        if path.exists():
            raise FileExistsError(errno.EEXIST, "exists already", str(path)) from None
        part.rename(path)


def _clear(note: Path) -> None:
    for path, digest in _read_note(note):
        with contextlib.suppress(OSError):
            if _hash(path.read_bytes()) == digest:
                path.unlink()
    note.unlink(missing_ok=True)


def _read_note(note: Path) -> list[tuple[Path, str]]:
    try:
        rows: Any = orjson.loads(note.read_bytes())
        return [(Path(path), str(digest)) for path, digest in rows]
    except (OSError, orjson.JSONDecodeError, TypeError, ValueError):
        return []


def _is_running(pid: int) -> bool:
    if os.name == "nt":
        return _is_running_on_windows(pid)
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True


def _is_running_on_windows(pid: int) -> bool:
    """Whether the process can be opened; ``os.kill(pid, 0)`` would send it a Ctrl-C there."""
    import ctypes  # noqa: PLC0415 - only there

    kernel: Any = getattr(ctypes, "windll").kernel32  # noqa: B009 - unknown to other systems
    handle = kernel.OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, 0, pid)
    if handle:
        kernel.CloseHandle(handle)
    return bool(handle)


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


__all__ = ["clear_leftovers", "hold_files"]
