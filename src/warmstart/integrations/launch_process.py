"""The agent as a child process, with the files it is started with.

It behaves as if it were started directly: it has this process's terminal, files and folder. What a
terminal sends (Ctrl-C, Ctrl-Z, a hang-up) reaches it by itself; what is sent to this process alone
is passed on. Its exit code is the answer; a child that a signal ended answers as a shell would say
it, 128 and the signal's number.

Files are written before and removed after. A file that is as it was written has served its purpose
and goes; one that the agent has written to is its session now and stays. Each launch keeps a list
of its files in warmstart's home while it runs, so that the next one can clear away what a killed
one left behind.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import orjson

from warmstart.app import Workspace
from warmstart.integrations.launch_parts import SeedFile

FOLDER = "launch"
SUFFIX = ".running"
PROCESS_QUERY_LIMITED_INFORMATION = 0x1000
PASSED_ON = ("SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2")
FROM_TERMINAL = ("SIGINT", "SIGQUIT")
"""A terminal sends these to every process of the foreground group, so the child has them."""


def run_command(
    command: Sequence[str], environ: Mapping[str, str], stdin: IO[bytes] | None = None
) -> int:
    """Run a command to its end; its exit code.

    Without the supervisor of ``children``, on purpose: this is the user's own agent on the user's
    terminal, in our process group, as if we were not there. It has no CPU limit, and if this
    process alone is killed it goes on, as it would under a shell that is killed; a terminal that
    is closed ends both.

    Raises:
        OSError: it cannot be started.
    """
    child: list[subprocess.Popen[bytes]] = []
    with _signals(child):
        process = subprocess.Popen(  # noqa: S603 - the user's own command, no shell
            list(command), env=dict(environ), stdin=stdin
        )
        child.append(process)
        code = process.wait()
    return code if code >= 0 else 128 - code


@contextlib.contextmanager
def _signals(child: list[subprocess.Popen[bytes]]) -> Iterator[None]:
    def pass_on(number: int, _frame: Any) -> None:
        for process in child:
            process.send_signal(number)

    def leave_to_child(number: int, frame: Any) -> None:
        if not _has_terminal():
            pass_on(number, frame)

    handlers = dict.fromkeys(PASSED_ON, pass_on) | dict.fromkeys(FROM_TERMINAL, leave_to_child)
    before: dict[signal.Signals, Any] = {}
    for name, handler in handlers.items():
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            before[number] = signal.signal(number, handler)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _has_terminal() -> bool:
    """Whether this process is in the foreground of a terminal.

    Without process groups (Windows) every process of a console gets its keys.
    """
    if not hasattr(os, "tcgetpgrp"):
        return sys.stdin is not None and sys.stdin.isatty()
    try:
        terminal = os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY)
    except OSError:
        return False
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        return False
    finally:
        os.close(terminal)


# -- files


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


__all__ = ["clear_leftovers", "hold_files", "run_command"]
