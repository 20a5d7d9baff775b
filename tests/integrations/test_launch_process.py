"""A child that has everything its parent has, and whose end is its parent's."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from warmstart.integrations.launch_process import run_command

RUN = (
    "import os, signal, sys\n"
    "from warmstart.integrations.launch_process import run_command\n"
    # Whoever runs the tests in the background may have these ignored, and then they stay so.
    "signal.signal(signal.SIGHUP, signal.SIG_DFL)\n"
    "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
    "sys.exit(run_command([sys.executable, '-c', sys.argv[1]], os.environ))\n"
)


def start(code: str, **fields: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", RUN, code]
    return subprocess.Popen(command, text=True, stdout=subprocess.PIPE, **fields)  # type: ignore[call-overload,no-any-return]


@pytest.mark.parametrize("code", [0, 3, 255])
def test_the_exit_code_is_passed_on(code: int) -> None:
    command = [sys.executable, "-c", f"raise SystemExit({code})"]
    assert run_command(command, os.environ) == code


def test_a_child_that_a_signal_ended_answers_as_a_shell_would() -> None:
    command = [sys.executable, "-c", "import os; os.kill(os.getpid(), 9)"]
    assert run_command(command, os.environ) == 137


def test_a_command_that_is_not_there_is_an_error() -> None:
    with pytest.raises(FileNotFoundError):
        run_command(["/nonexistent/agent"], os.environ)


def test_handlers_are_as_they_were() -> None:
    before = signal.getsignal(signal.SIGINT)
    run_command([sys.executable, "-c", ""], os.environ)
    assert signal.getsignal(signal.SIGINT) is before


def test_stdin_stdout_and_environment_are_the_parents() -> None:
    code = "import os, sys; print(os.environ['MARK'] + sys.stdin.read())"
    child = start(code, stdin=subprocess.PIPE, env={**os.environ, "MARK": "m:"})
    assert child.communicate("words")[0] == "m:words\n"


def test_a_message_that_was_read_is_there_again(capfd: pytest.CaptureFixture[str]) -> None:
    with tempfile.TemporaryFile() as kept:
        kept.write(b"words")
        kept.seek(0)
        code = "import sys; print(sys.stdin.read())"
        assert run_command([sys.executable, "-c", code], os.environ, kept) == 0
    assert capfd.readouterr().out == "words\n"


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP", "SIGINT", "SIGUSR1"])
def test_a_signal_to_the_parent_alone_reaches_the_child(name: str) -> None:
    code = (
        "import signal, sys, time\n"
        f"signal.signal(signal.{name}, lambda *_: sys.exit(42))\n"
        "print('ready', flush=True)\n"
        "time.sleep(30)\n"
    )
    # A session of its own: without a terminal nobody else sends the child what the parent gets.
    with start(code, start_new_session=True) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == "ready\n"
        parent.send_signal(getattr(signal, name))
        assert parent.wait(20) == 42


@pytest.mark.parametrize("name", ["SIGTERM", "SIGUSR2"])
def test_a_child_can_be_told_by_way_of_its_parent(name: str) -> None:
    code = (
        "import os, signal, sys, time\n"
        f"signal.signal(signal.{name}, lambda *_: sys.exit(42))\n"
        f"os.kill(os.getppid(), signal.{name})\n"
        "time.sleep(30)\n"
    )
    assert run_command([sys.executable, "-c", code], os.environ) == 42


def test_a_signal_that_is_ignored_stays_so() -> None:
    before = signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    try:
        code = "import os, signal; os.kill(os.getppid(), signal.SIGUSR1)"
        assert run_command([sys.executable, "-c", code], os.environ) == 0
    finally:
        signal.signal(signal.SIGUSR1, before)


def test_a_key_of_the_terminal_reaches_the_child_once(tmp_path: Path) -> None:
    log = tmp_path / "log"
    code = (
        "import signal, sys, time\n"
        f"log = open({str(log)!r}, 'a')\n"
        "signal.signal(signal.SIGINT, lambda *_: print('int', file=log, flush=True))\n"
        "print('tty', sys.stdin.isatty() and sys.stdout.isatty(), file=log, flush=True)\n"
        "while sys.stdin.readline() != 'end\\n': pass\n"
    )
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(sys.executable, [sys.executable, "-c", RUN, code])  # noqa: S606 - our own
    wait_for(log, "tty True")
    os.write(terminal, b"\x03")
    wait_for(log, "int")
    os.write(terminal, b"end\n")
    _, status = os.waitpid(pid, 0)
    os.close(terminal)
    assert os.waitstatus_to_exitcode(status) == 0
    assert log.read_text().count("int") == 1


def wait_for(log: Path, text: str) -> None:
    for _ in range(400):
        if log.exists() and text in log.read_text():
            return
        time.sleep(0.05)
    pytest.fail(f"{text!r} never came")
