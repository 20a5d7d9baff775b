from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from support.processes import list_left, list_marked, needs_proc, wait_for
from warmstart import children
from warmstart.children import SUPERVISOR, ChildSetup, run_child, start_child

PIPED = ChildSetup(stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
SPIN = "while :; do :; done"
OWNER = """
import sys, time
from pathlib import Path
from warmstart.children import SUPERVISOR, ChildSetup, start_child
kind, *words = sys.argv[1:]
child = start_child(words, ChildSetup(kind=kind))
time.sleep(600)
"""


def _shell(line: str, setup: ChildSetup = PIPED) -> tuple[int, str]:
    done = run_child(["sh", "-c", line], setup, b"", seconds=60)
    return done.exit_code, done.stdout.decode()


def _own(marker: str, *words: str) -> subprocess.Popen[bytes]:
    """A process that starts a child and waits."""
    return subprocess.Popen(
        [sys.executable, "-c", OWNER, *words], env={**os.environ, "TEST_MARK": marker}
    )


@needs_proc
@pytest.mark.parametrize("kind", ["command", "terminal"])
def test_a_child_ends_when_its_parent_is_killed(tmp_path: Path, kind: str) -> None:
    marker = str(tmp_path)
    with _own(marker, kind, "sleep", "600") as owner:
        assert wait_for(marker, "sleep 600")
        owner.kill()
    assert list_left(marker) == {}


@needs_proc
def test_all_that_a_child_started_ends_when_its_parent_is_killed(tmp_path: Path) -> None:
    marker = str(tmp_path)
    with _own(
        marker, "command", "sh", "-c", "trap '' TERM HUP; (sleep 600 & wait) & wait"
    ) as owner:
        assert wait_for(marker, "sleep 600")
        owner.kill()
    assert list_left(marker) == {}


@needs_proc
def test_a_child_that_leaves_its_session_is_out_of_reach(tmp_path: Path) -> None:
    """A limit that docs/experiments.md names."""
    marker = str(tmp_path)
    setup = ChildSetup(environ={**os.environ, "TEST_MARK": marker})
    leave = "import os; os.setsid(); os.execvp('sleep', ['sleep', '600'])"
    with start_child(["sh", "-c", f'{sys.executable} -c "{leave}" & wait'], setup):
        assert wait_for(marker, "sleep 600")
    left = [pid for pid, words in list_marked(marker).items() if words.startswith("sleep")]
    assert len(left) == 1
    os.kill(left[0], signal.SIGKILL)


@needs_proc
def test_a_child_ends_when_its_parent_was_killed_before_it_ran(tmp_path: Path) -> None:
    marker = str(tmp_path)
    watch, other = os.pipe()
    read, report = os.pipe()
    os.close(other)
    os.close(read)  # as a killed parent leaves them
    numbers = (str(watch), str(report), "0", "0", "")
    words = [sys.executable, "-I", "-S", SUPERVISOR, "command", *numbers, "sleep", "600"]
    environ = {**os.environ, "TEST_MARK": marker}
    with subprocess.Popen(words, env=environ, pass_fds=(watch, report)) as process:
        os.close(watch)
        os.close(report)
        assert process.wait() == -signal.SIGKILL
    assert list_left(marker) == {}


@needs_proc
def test_a_supervisor_that_is_killed_does_not_keep_its_command_alive(tmp_path: Path) -> None:
    marker = str(tmp_path)
    setup = ChildSetup(environ={**os.environ, "TEST_MARK": marker})
    with start_child(["sh", "-c", "kill -9 $PPID; sleep 600"], setup) as child:
        child.process.wait()
    assert list_left(marker) == {}


@pytest.mark.parametrize("setup", [PIPED, ChildSetup(kind="terminal", stdout=subprocess.PIPE)])
def test_a_child_ends_by_itself_as_it_would_alone(setup: ChildSetup) -> None:
    assert _shell("echo out; exit 7", setup) == (7, "out\n")
    assert _shell("kill -TERM $$", setup)[0] == -signal.SIGTERM
    assert _shell("kill -9 $$", setup)[0] == -signal.SIGKILL


def test_a_child_may_signal_its_own_group() -> None:
    assert _shell("trap 'echo caught' TERM; kill -TERM 0; exit 3") == (3, "caught\n")


def test_a_child_has_the_variables_it_was_given_and_no_others() -> None:
    given = {"PATH": os.environ["PATH"], "odd.name": "kept", "BASH_FUNC_f%%": "() { :; }", "E": ""}
    setup = ChildSetup(stdout=subprocess.PIPE, environ=given)
    done = run_child(["env", "-0"], setup, b"", seconds=60)
    assert dict(row.split("=", 1) for row in done.stdout.decode().split("\0") if row) == given
    coerced = ChildSetup(stdout=subprocess.PIPE, environ={**given, "LC_CTYPE": "C"})
    assert b"LC_CTYPE=C\0" in run_child(["env", "-0"], coerced, b"", seconds=60).stdout


def test_a_child_has_no_files_of_ours(tmp_path: Path) -> None:
    with (tmp_path / "ours").open("w"):
        code = "import os; print([n for n in range(3, 200) if os.path.exists(f'/dev/fd/{n}')])"
        with_ours = run_child([sys.executable, "-c", code], PIPED, b"", seconds=60)
    assert with_ours.stdout.decode() == "[]\n"


def test_a_broken_pipe_ends_a_child_quietly() -> None:
    assert _shell("yes | head -1") == (0, "y\n")


def test_a_child_has_a_limit_on_its_cpu() -> None:
    pytest.importorskip("resource")
    setup = ChildSetup(stdout=subprocess.PIPE, cpu_seconds=1)
    assert _shell(SPIN, setup)[0] == -signal.SIGXCPU


@pytest.mark.skipif(sys.platform != "linux", reason="others have no limit on address space")
def test_a_child_has_a_limit_on_its_memory(tmp_path: Path) -> None:
    program = tmp_path / "large.py"
    program.write_text("x = bytearray(1 << 30)\n")
    setup = ChildSetup(kind="python", stderr=subprocess.PIPE, memory_bytes=1 << 28)
    done = run_child([str(program)], setup, b"", seconds=60)
    assert (done.exit_code, b"MemoryError" in done.stderr) == (1, True)


@pytest.mark.parametrize(
    ("word", "error"),
    [("/no/such/program", FileNotFoundError), ("no-such-program", FileNotFoundError),
     ("/", PermissionError), ("a\0b", ValueError)],
)  # fmt: skip
def test_what_cannot_be_started_is_an_error(word: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        start_child([word], PIPED)


def test_a_child_out_of_time_is_killed() -> None:
    with pytest.raises(subprocess.TimeoutExpired):
        run_child(["sleep", "600"], PIPED, b"", seconds=0.2)


OTHER_WAYS = re.compile(r"subprocess\.(?:run|Popen\(|call|check|get)|os\.(?:system|fork|popen|spawn|posix)"
                        r"|multiprocessing\.get_context|create_subprocess")  # fmt: skip
SOURCE = Path(children.__file__).parents[1]
ON_PURPOSE = {
    "children/__init__.py", "children/supervisor.py",
    "facts/pool.py",  # forks, and watches a pipe of its own
    "integrations/launch_process.py",  # the user's own agent on the user's own terminal
}  # fmt: skip


def test_nothing_else_starts_a_process() -> None:
    found = {path.relative_to(SOURCE).as_posix() for path in SOURCE.rglob("*.py")
             if OTHER_WAYS.search(path.read_text("utf-8"))}  # fmt: skip
    assert found == ON_PURPOSE
