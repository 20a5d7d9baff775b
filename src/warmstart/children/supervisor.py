"""The small process between warmstart and a command, so that the command cannot outlive us.

Run by path as ``supervisor.py KIND WATCH REPORT CPU MEMORY LC_CTYPE WORDS…``. It starts the command
in a process group of its own, with its limits, and waits for one of two things: the command ends,
or ``WATCH`` does, a pipe whose other end only warmstart holds and which is closed however
warmstart ends, SIGKILL included. Either way the group is killed, and this process ends as the
command did. A thread inside the command could not do this: a regular expression holds Python's lock
until it is through.

``REPORT`` is a pipe as well: it is sent the command's process id and, as a negative number, the
error that kept it from running. Only modules that load fast are imported: this is started once per
command.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found] # what `signal` wraps; starts 3 ms faster
import errno
import os
import select
import sys

try:
    import resource
except ImportError:  # a system without limits
    resource = None  # type: ignore[assignment] # the same name on every system

EXIT_NOT_STARTED = 127
CPU_SLACK_SECONDS = 1
FROM_TERMINAL = ("SIGHUP", "SIGINT", "SIGQUIT", "SIGTERM")
"""Meant for the command, which ends by them or not."""
IGNORED_BY_PYTHON = ("SIGPIPE", "SIGXFSZ")


def main(arguments: list[str]) -> int:
    """Start the command and stay until it or warmstart is over."""
    kind, *numbers = arguments[:5]
    watch, report, cpu, memory = map(int, numbers)
    has_group = kind != "terminal"
    wake, waker = os.pipe()
    os.set_blocking(waker, False)
    # A signal wakes select by this pipe, and only one that has a handler in Python.
    _signal.signal(_signal.SIGCHLD, lambda *_: None)
    _signal.set_wakeup_fd(waker)
    child = os.fork()
    if not child:
        for handle in (watch, wake, waker):
            os.close(handle)
        if has_group:
            os.setpgid(0, 0)
        _prepare(cpu, memory, arguments[5])
        return _become(kind, report, arguments[6:])
    _report(report, child)
    os.close(report)
    _let_go()
    status = _supervise(child, watch, wake)
    if has_group:
        _kill_group(child)
    return _end_like(status)


def _prepare(cpu: int, memory: int, locale: str) -> None:
    """Limits, and the signals and the variable that Python changed for itself."""
    _signal.set_wakeup_fd(-1)
    for name in ("SIGCHLD", *IGNORED_BY_PYTHON):
        _signal.signal(getattr(_signal, name), _signal.SIG_DFL)
    if locale:
        os.environ["LC_CTYPE"] = locale
    else:
        os.environ.pop("LC_CTYPE", None)
    if resource is not None:
        _limit(resource.RLIMIT_CPU, cpu, cpu + CPU_SLACK_SECONDS)
        _limit(resource.RLIMIT_AS, memory, memory)


def _limit(kind: int, soft: int, hard: int) -> None:
    """Set a limit where one is asked for, never above the one that holds already."""
    if not soft:
        return
    _, allowed = resource.getrlimit(kind)
    if allowed != resource.RLIM_INFINITY:
        soft, hard = min(soft, allowed), min(hard, allowed)
    try:
        resource.setrlimit(kind, (soft, hard))
    except (OSError, ValueError):  # macOS has no limit on address space
        return


def _become(kind: str, report: int, words: list[str]) -> int:
    """Be the command; what keeps it from starting is reported by its number."""
    os.set_inheritable(report, False)  # noqa: FBT003 - it takes no keyword
    if kind == "python":
        os.close(report)
        sys.argv = words
        with open(words[0], "rb") as file:  # noqa: PTH123 - starts faster
            code = compile(file.read(), words[0], "exec")
        exec(code, {"__name__": "__main__"})  # noqa: S102 - a file of ours; saves a second start
        return 0
    try:
        os.execvp(words[0], words)  # noqa: S606 - no shell, on purpose
    except OSError as problem:
        _report(report, -(problem.errno or errno.ENOEXEC))
    os._exit(EXIT_NOT_STARTED)


def _report(report: int, number: int) -> None:
    try:
        os.write(report, b"%d\n" % number)
    except BrokenPipeError:  # warmstart is gone; WATCH says so, too
        return


def _let_go() -> None:
    """Hold no stream of the command, and leave to it what is sent from its terminal."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nothing, stream)
    for name in FROM_TERMINAL:
        _signal.signal(getattr(_signal, name), _signal.SIG_IGN)


def _supervise(child: int, watch: int, wake: int) -> int:
    """How the command ended, as a wait status."""
    while True:
        ready, _, _ = select.select([watch, wake], [], [])
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return status
        if watch in ready:
            os.kill(child, _signal.SIGKILL)
            return os.waitpid(child, 0)[1]
        os.read(wake, 1)


def _kill_group(group: int) -> None:
    try:
        os.killpg(group, _signal.SIGKILL)
    except (ProcessLookupError, PermissionError):  # nobody is left; macOS says the second
        return


def _end_like(status: int) -> int:
    """The command's exit code, or the end by the signal that ended it."""
    code = os.waitstatus_to_exitcode(status)
    if code >= 0:
        return code
    if resource is not None:  # no dump of this process beside the command's own
        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    if -code not in (_signal.SIGKILL, _signal.SIGSTOP):
        _signal.signal(-code, _signal.SIG_DFL)
    os.kill(os.getpid(), -code)
    return EXIT_NOT_STARTED


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
