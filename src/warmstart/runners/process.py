"""Commands with limits on time, on output and on what they leave behind.

A command runs below the supervisor of ``children``: it and its process group are gone when it is
over, out of time, or when we are killed. It gets a small environment: of the user's variables only
those that programs need to start, so that no key reaches a model's command by itself.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, NamedTuple

from warmstart.children import ChildSetup, allow_cpu, start_child
from warmstart.runners import searching

MAX_OUTPUT_BYTES = 20_000
PASSED_ON = ("PATH", "LANG", "LC_ALL", "TZ", "SYSTEMROOT", "TMPDIR")
EXIT_TIMEOUT = 124
EXIT_NOT_FOUND = 127
DRAIN_SECONDS = 2.0
CHUNK_BYTES = 65_536
HELPER_MEMORY_BYTES = 1 << 30
"""Address space of a helper: a pattern can use up memory as well as time."""


class Finished(NamedTuple):
    """How a command ended."""

    exit_code: int
    output: str
    """Both streams together, the middle cut out where it was too long."""
    timed_out: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessLimits:
    """What a command may use."""

    seconds: float = 30.0
    output_bytes: int = MAX_OUTPUT_BYTES
    environ: Mapping[str, str] = field(default_factory=dict)
    """Variables beside the few that are passed on."""
    stop: threading.Event | None = None
    """Set when everything must end."""


class _Collector(threading.Thread):
    """Reads a pipe to its end, keeping its head and its tail."""

    def __init__(self, pipe: IO[bytes], most: int) -> None:
        super().__init__(daemon=True)
        self._pipe = pipe
        self._half = most // 2
        self._head = bytearray()
        self._tail = bytearray()
        self._cut = 0

    def run(self) -> None:
        with suppress(OSError, ValueError):
            while chunk := os.read(self._pipe.fileno(), CHUNK_BYTES):
                self._keep(chunk)

    def _keep(self, chunk: bytes) -> None:
        room = self._half - len(self._head)
        self._head += chunk[:room]
        self._tail += chunk[room:] if room < len(chunk) else b""
        surplus = len(self._tail) - self._half
        if surplus > 0:
            self._cut += surplus
            del self._tail[:surplus]

    def text(self) -> str:
        """What was read so far."""
        middle = f"\n[{self._cut} bytes left out]\n".encode() if self._cut else b""
        return (bytes(self._head) + middle + bytes(self._tail)).decode("utf-8", "replace")


def run_process(
    words: Sequence[str], folder: Path, limits: ProcessLimits, stdin: str | None = None
) -> Finished:
    """Run a command in a folder; it and all it started are gone when this returns."""
    setup = ChildSetup(
        folder=folder,
        environ=build_environ(folder, limits.environ),
        cpu_seconds=allow_cpu(limits.seconds),
    )
    return _run(words, setup, limits, stdin)


def run_helper(program: Path, folder: Path, limits: ProcessLimits, stdin: str) -> Finished:
    """Run a Python file of ours that needs the standard library only."""
    setup = ChildSetup(
        kind="python",
        folder=folder,
        environ=build_environ(folder, limits.environ),
        cpu_seconds=math.ceil(limits.seconds),
        memory_bytes=HELPER_MEMORY_BYTES,
    )
    return _run([str(program)], setup, limits, stdin)


def search_guarded(wanted: Mapping[str, str], folder: Path, limits: ProcessLimits) -> Finished:
    """How the search for a regular expression ended; ``searching`` says what it may be given."""
    return run_helper(Path(searching.__file__), folder, limits, json.dumps(wanted))


def build_environ(folder: Path, more: Mapping[str, str]) -> dict[str, str]:
    """The variables of a command: home is its own folder."""
    passed = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    return {**passed, "HOME": str(folder), "PWD": str(folder), "TERM": "dumb", **more}


def _run(
    words: Sequence[str], setup: ChildSetup, limits: ProcessLimits, stdin: str | None
) -> Finished:
    given = subprocess.PIPE if stdin is not None else subprocess.DEVNULL
    setup = replace(setup, stdin=given, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    try:
        child = start_child(words, setup)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        return Finished(EXIT_NOT_FOUND, f"cannot start {words[0]!r}: {reason}")
    process = child.process
    if process.stdout is None:  # it was asked for as a pipe
        raise AssertionError
    collector = _Collector(process.stdout, limits.output_bytes)
    collector.start()
    feeder = threading.Thread(target=_feed, args=(process.stdin, stdin or ""), daemon=True)
    feeder.start()
    with child:
        timed_out = not _wait(process, limits)
    collector.join(DRAIN_SECONDS)
    feeder.join(DRAIN_SECONDS)
    process.stdout.close()
    code = EXIT_TIMEOUT if timed_out else process.returncode
    text = collector.text()
    if timed_out:
        text += f"\n[stopped after {limits.seconds:g} seconds]"
    return Finished(code, text, timed_out)


def _feed(pipe: IO[bytes] | None, stdin: str) -> None:
    """Write a command's input, in a thread of its own: one that reads nothing blocks the writer."""
    if pipe is None:
        return
    # A command may end without reading what it was given.
    with suppress(OSError), pipe:
        pipe.write(stdin.encode("utf-8", "replace"))


def _wait(process: subprocess.Popen[bytes], limits: ProcessLimits) -> bool:
    """Whether it ended by itself in time."""
    left = limits.seconds
    while left > 0:
        step = min(left, 0.25)
        with suppress(subprocess.TimeoutExpired):
            process.wait(step)
            return True
        if limits.stop is not None and limits.stop.is_set():
            return False
        left -= step
    return False
