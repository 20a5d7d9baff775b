"""Every process we start: it ends with us, has its limits, and leaves nothing of its group behind.

A command runs below a supervisor of ours (``supervisor``) that watches a pipe to this process. When
the pipe ends, because the command is to stop or because this process was killed, the supervisor
kills the command's whole process group. A command that leaves its group on purpose (``setsid``, job
control) is out of reach, as it always was.

Where there are no process groups (Windows) a command is started directly: it is killed when it is
over or out of time, but outlives us if we are killed, and has no limits.
"""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Literal, NamedTuple, Self

__all__ = ["Child", "ChildSetup", "Completed", "allow_cpu", "run_child", "start_child"]

Kind = Literal["command", "python", "terminal"]
SUPERVISOR = str(Path(__file__).with_name("supervisor.py"))
HAS_SUPERVISOR = os.name == "posix"
END_SECONDS = 5.0
"""A supervisor needs milliseconds; one that takes longer is killed itself."""
REPORT_BYTES = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class ChildSetup:
    """How a command is started. Streams are what ``subprocess`` takes; None means ours."""

    kind: Kind = "command"
    """``python``: the first word is a file of ours to run. ``terminal``: it may ask the user, so
    it stays in our process group, and only the process itself is killed."""
    folder: Path | None = None
    environ: Mapping[str, str] | None = None
    stdin: int | None = subprocess.DEVNULL
    stdout: int | None = None
    stderr: int | None = None
    cpu_seconds: int = 0
    """Of one process; 0 for no limit."""
    memory_bytes: int = 0
    """Address space of one process; 0 for no limit."""


class Completed(NamedTuple):
    """How a command ended, and what it printed where that was asked for."""

    exit_code: int
    stdout: bytes
    stderr: bytes


class Child:
    """A command that runs; a context manager that ends it with all it left running."""

    def __init__(self, process: subprocess.Popen[bytes], watch: int | None, pid: int) -> None:
        self.process = process
        self._watch = watch
        self._pid = pid

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.end()

    def end(self) -> None:
        """Kill what still runs of it, and wait until it is gone."""
        if self._watch is None:
            self.process.kill()
            self.process.wait()
            return
        watch, self._watch = self._watch, None
        os.close(watch)
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(END_SECONDS)
        self.process.kill()
        self.process.wait()
        if self.process.returncode == -signal.SIGKILL and self._pid:
            # Perhaps it was the supervisor that was killed, and the group lives.
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._pid, signal.SIGKILL)


def allow_cpu(seconds: float) -> int:
    """CPU seconds that a command cannot use up within its time, whatever it does in parallel."""
    return math.ceil(seconds) * (os.cpu_count() or 1)


def start_child(words: Sequence[str], setup: ChildSetup) -> Child:
    """Start a command; end it with ``Child.end`` or ``with``.

    Raises:
        OSError: it cannot be started.
        ValueError: there is a NUL in a word.
    """
    if not HAS_SUPERVISOR:
        prefix = [sys.executable, "-I", "-S"] if setup.kind == "python" else []
        return Child(_open([*prefix, *words], setup), None, 0)
    watched, watch = os.pipe()
    report, reported = os.pipe()
    try:
        process = _open(_supervised(words, setup, watched, reported), setup, (watched, reported))
    except BaseException:
        os.close(watch)
        os.close(report)
        raise
    finally:
        os.close(watched)
        os.close(reported)
    child = Child(process, watch, 0)
    try:
        pid = _read_report(report, words[0])
    except BaseException:
        with process:  # closes its streams
            child.end()
        raise
    finally:
        os.close(report)
    return Child(process, watch, 0 if setup.kind == "terminal" else pid)


def run_child(words: Sequence[str], setup: ChildSetup, data: bytes, *, seconds: float) -> Completed:
    """Run a command to its end on some input.

    Raises:
        OSError: it cannot be started.
        subprocess.TimeoutExpired: it took too long, and was killed.
    """
    child = start_child(words, setup)
    with child.process as process, child:  # first it is ended, then its streams are closed
        stdout, stderr = process.communicate(data, timeout=seconds)
        return Completed(process.returncode, stdout or b"", stderr or b"")


def _supervised(words: Sequence[str], setup: ChildSetup, watch: int, report: int) -> list[str]:
    environ = os.environ if setup.environ is None else setup.environ
    numbers = (watch, report, setup.cpu_seconds, setup.memory_bytes)
    return [
        sys.executable, "-I", "-S", "-X", "utf8", SUPERVISOR, setup.kind, *map(str, numbers),
        environ.get("LC_CTYPE", ""), *words,
    ]  # fmt: skip


def _open(
    words: Sequence[str], setup: ChildSetup, pass_fds: tuple[int, ...] = ()
) -> subprocess.Popen[bytes]:
    return subprocess.Popen(  # noqa: S603 - whoever calls says what is run; no shell
        list(words),
        cwd=setup.folder,
        env=None if setup.environ is None else dict(setup.environ),
        stdin=setup.stdin,
        stdout=setup.stdout,
        stderr=setup.stderr,
        start_new_session=setup.kind != "terminal",
        pass_fds=pass_fds,
    )


def _read_report(report: int, name: str) -> int:
    """The command's process id, once it runs."""
    text = b""
    while part := os.read(report, REPORT_BYTES):
        text += part
    pid = 0
    for number in map(int, text.split()):
        if number < 0:
            raise OSError(-number, os.strerror(-number), name)
        pid = number
    return pid
