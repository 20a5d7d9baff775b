from __future__ import annotations

import json
import os
import sys
import threading
import time
from pathlib import Path

import pytest  # noqa: TC002 - fixtures are asked for by annotation

from warmstart.runners import searching
from warmstart.runners.process import (
    EXIT_NOT_FOUND,
    EXIT_TIMEOUT,
    ProcessLimits,
    run_helper,
    run_process,
)


def _shell(line: str, folder: Path, **limits: object) -> tuple[int, str, bool]:
    return run_process(["sh", "-c", line], folder, ProcessLimits(**limits))  # type: ignore[arg-type] # limits of every kind


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    status = Path(f"/proc/{pid}/status")
    return "\nState:\tZ" not in (status.read_text() if status.exists() else "")


def test_both_streams_and_the_exit_code_are_kept(tmp_path: Path) -> None:
    code, output, timed_out = _shell("echo out; echo err >&2; exit 3", tmp_path)
    assert (code, timed_out) == (3, False)
    assert output.split() == ["out", "err"]


def test_long_output_keeps_its_head_and_its_tail(tmp_path: Path) -> None:
    _, output, _ = _shell("echo first; seq 100000; echo last", tmp_path, output_bytes=1000)
    assert output.startswith("first")
    assert output.rstrip().endswith("last")
    assert "bytes left out" in output
    assert len(output) < 1200


def test_a_command_out_of_time_is_killed_with_all_it_started(tmp_path: Path) -> None:
    line = "sleep 100 & echo $! > child; sleep 100"
    code, output, timed_out = _shell(line, tmp_path, seconds=0.5)
    assert (code, timed_out) == (EXIT_TIMEOUT, True)
    assert "stopped after 0.5 seconds" in output
    assert not _is_alive(int((tmp_path / "child").read_text()))


def test_what_a_command_leaves_running_is_killed_too(tmp_path: Path) -> None:
    code, _, _ = _shell("sleep 100 & echo $! > child", tmp_path)
    assert code == 0
    pid = int((tmp_path / "child").read_text())
    for _ in range(100):
        if not _is_alive(pid):
            break
        time.sleep(0.01)
    assert not _is_alive(pid)


def test_a_stop_ends_a_command(tmp_path: Path) -> None:
    stop = threading.Event()
    stop.set()
    assert _shell("sleep 100", tmp_path, seconds=50.0, stop=stop)[0] == EXIT_TIMEOUT


def test_no_variable_of_the_user_is_passed_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "planted-secret")
    _, output, _ = _shell("env", tmp_path, environ={"EXTRA": "yes"})
    assert "planted-secret" not in output
    assert "EXTRA=yes" in output
    assert f"HOME={tmp_path}" in output


def test_a_command_that_is_not_there_is_an_answer(tmp_path: Path) -> None:
    ended = run_process(["/no/such/program"], tmp_path, ProcessLimits())
    assert ended.exit_code == EXIT_NOT_FOUND
    assert "cannot start" in ended.output
    assert run_process(["a\0b"], tmp_path, ProcessLimits()).exit_code == EXIT_NOT_FOUND


def test_input_is_given_and_need_not_be_read(tmp_path: Path) -> None:
    code = "import sys; print(len(sys.stdin.read()))"
    assert (
        run_process([sys.executable, "-c", code], tmp_path, ProcessLimits(), "abc").output == "3\n"
    )
    assert run_process(["true"], tmp_path, ProcessLimits(), "x" * 1_000_000).exit_code == 0


def test_a_command_that_reads_no_input_is_out_of_time_all_the_same(tmp_path: Path) -> None:
    ended = run_process(["sleep", "600"], tmp_path, ProcessLimits(seconds=0.3), "x" * 1_000_000)
    assert ended.timed_out


def test_a_pattern_out_of_memory_is_not_one_that_was_not_found(tmp_path: Path) -> None:
    program = tmp_path / "large.py"
    program.write_text("x = bytearray(1 << 40)\n")
    ended = run_helper(program, tmp_path, ProcessLimits(), "")
    assert ended.exit_code not in (searching.EXIT_FOUND, searching.EXIT_NOT_FOUND)


def test_a_helper_is_given_its_input_and_answers(tmp_path: Path) -> None:
    for pattern, code in (("b", searching.EXIT_FOUND), ("z", searching.EXIT_NOT_FOUND)):
        wanted = json.dumps({"pattern": pattern, "text": "abc"})
        program = Path(searching.__file__)
        assert run_helper(program, tmp_path, ProcessLimits(), wanted) == (code, "", False)
