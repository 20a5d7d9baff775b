"""An agent as a child process that behaves as if it were started directly.

It has this process's terminal, files and folder. What a terminal sends (Ctrl-C, Ctrl-Z, a hang-up)
reaches it by itself; what is sent to this process alone is passed on. Its exit code is the answer;
a child that a signal ended answers as a shell would say it, 128 and the signal's number.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import IO, Any

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


__all__ = ["run_command"]
