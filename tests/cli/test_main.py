"""The command itself: light help, exit codes, and never a traceback."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import click
import pytest
from click.testing import Result

from support.badinput import write
from support.sessions import make_session, write_export
from warmstart import __version__
from warmstart.cli._complete import (
    complete_experiments,
    complete_sessions,
    complete_templates,
)
from warmstart.cli.main import COMMANDS, OTHER_WORDS, cli, main

Run = Callable[..., Result]
HEAVY = ("rich", "orjson", "sqlite3", "warmstart.sources", "warmstart.model", "platformdirs")
START = (
    "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "
    "from warmstart.cli.main import main; main()"
)


PIPE_BYTES = 1 << 17
"""More than a pipe holds before somebody reads it."""


def start(*arguments: object, stdin: int | None = None) -> subprocess.Popen[bytes]:
    """Start the command as a process of its own, with Ctrl-C as a terminal would have it."""
    command = [sys.executable, "-c", START, *map(str, arguments)]
    return subprocess.Popen(command, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


@pytest.mark.parametrize(
    "arguments", [["--help"], ["sessions", "--help"], ["sessions", "list", "--help"],
                  ["sessions", "export", "--help"], ["doctor", "--help"]],
)  # fmt: skip
def test_help_loads_nothing_heavy(arguments: list[str]) -> None:
    code = (
        "import atexit, sys\n"
        f"atexit.register(lambda: print([m for m in {HEAVY!r} if m in sys.modules], "
        "file=sys.stderr))\n"
        "from warmstart.cli.main import main; main()"
    )
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"
    assert "Usage: warmstart" in done.stdout


def test_help_names_every_command(run: Run) -> None:
    shown = run("--help").output
    assert all(name in shown and entry.help in shown for name, entry in COMMANDS.items())


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("profil", "warmstart profile"), ("analyze", "warmstart profile"),
        ("extract", "warmstart template extract"), ("create-template", "warmstart template build"),
        ("list-templates", "warmstart template list"), ("test", "warmstart template test"),
        ("list", "warmstart sessions list, warmstart template list"),
        ("delete", "warmstart template delete"), ("lst", "warmstart sessions list"),
    ],
)  # fmt: skip
def test_an_unknown_word_is_answered_with_what_it_may_mean(run: Run, word: str, meant: str) -> None:
    result = run(word)
    assert result.exit_code == 2
    assert f"Did you mean: {meant}" in result.stderr


def test_every_suggestion_is_a_command(run: Run) -> None:
    for meant in {one for many in OTHER_WORDS.values() for one in many}:
        assert run(*meant.split(), "--help").exit_code == 0, meant


def test_without_a_command_the_machine_is_described_and_the_next_step_named(
    run: Run, home: Path
) -> None:
    empty = run()
    assert empty.exit_code == 0
    assert "warmstart demo" in empty.stdout
    write_export(home / "ws/archive/all.jsonl", make_session("one"))
    found = run()
    assert "readable, 1 " in found.stdout
    assert "warmstart profile" in found.stdout


def test_names_of_sessions_and_templates_are_completed(home: Path) -> None:
    write_export(home / "ws/archive/all.jsonl", make_session("abcdefgh-1234"))
    context = click.Context(cli)
    parameter = click.Argument(["name"])
    assert complete_sessions(context, parameter, "abc") == ["abcdefgh"]
    assert complete_sessions(context, parameter, "x") == []
    assert complete_templates(context, parameter, "") == []
    assert complete_experiments(context, parameter, "") == []


def test_every_command_can_be_loaded() -> None:
    context = click.Context(cli)
    names = cli.list_commands(context)
    assert [cli.get_command(context, name).name for name in names] == names  # type: ignore[union-attr]
    assert cli.get_command(context, "nonsense") is None


def test_the_entry_point_runs_the_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["warmstart", "--version"])
    with pytest.raises(SystemExit) as caught:
        main()
    assert caught.value.code == 0
    assert __version__ in capsys.readouterr().out


def test_the_module_is_the_command() -> None:
    command = [sys.executable, "-m", "warmstart", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == f"warmstart, version {__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["nonsense"], 2),
        (["sessions", "list", "--since", "yesterday"], 2),
        (["sessions", "list", "--source", "nonsense"], 2),
        (["sessions", "list", "--min-messages", "-1"], 2),
        (["sessions", "list", "/nowhere/at/all"], 3),
        (["sessions", "show", "nothing"], 3),
        (["doctor", "/nowhere/at/all"], 3),
    ],
)
def test_each_kind_of_mistake_has_its_exit_code(run: Run, arguments: list[str], code: int) -> None:
    result = run(*arguments)
    assert result.exit_code == code
    assert result.stdout == ""
    assert "rror: " in result.stderr


def test_an_unknown_file_says_what_to_do(run: Run, tmp_path: Path) -> None:
    result = run("sessions", "list", write(tmp_path, "notes.txt", b"hello"))
    assert result.exit_code == 4
    assert result.stderr.startswith("error: no reader recognises")
    assert "\nhint: " in result.stderr


def test_a_path_too_long_for_the_system_is_an_error_like_any_other(run: Run) -> None:
    result = run("sessions", "list", "x" * 5000)
    assert result.exit_code == 4
    assert "File name too long" in result.stderr


def test_an_error_shows_foreign_text_harmlessly(run: Run, tmp_path: Path) -> None:
    ids = ("a\x1b[31m-1", "a\x1b[31m-2")
    path = write_export(tmp_path / "e.jsonl", *map(make_session, ids))
    result = run("sessions", "show", "a", path)
    assert result.exit_code == 3
    assert "\x1b" not in result.stderr


@pytest.mark.parametrize("command", [["export"], ["list", "--all"]])
def test_a_reader_that_goes_away_ends_the_command_quietly(
    tmp_path: Path, command: list[str]
) -> None:
    many = [make_session(f"session-{n:05}", title="x" * 180) for n in range(1500)]
    path = write_export(tmp_path / "e.jsonl", *many)
    with start("sessions", *command, path) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(1)
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141


def test_ctrl_c_ends_the_command_quietly() -> None:
    with start("redact", "-", stdin=subprocess.PIPE) as process:
        assert process.stdin is not None
        process.stdin.write(b"word " * PIPE_BYTES)  # returns once the command reads
        process.stdin.flush()
        process.send_signal(signal.SIGINT)
        process.wait(timeout=30)
        assert process.stderr is not None
        assert process.stderr.read() == b""
    assert process.returncode == 130


def test_a_pipe_is_refused_instead_of_waited_for(tmp_path: Path, run: Run) -> None:
    fifo = tmp_path / "endless.jsonl"
    os.mkfifo(fifo)
    refused = run("sessions", "list", fifo)
    assert refused.exit_code
    assert "endless.jsonl" in refused.stderr


def test_a_narrow_encoding_never_ends_a_command(tmp_path: Path) -> None:
    path = write_export(tmp_path / "e.jsonl", make_session(title="café 你好 ✓"))
    command = [sys.executable, "-m", "warmstart", "sessions", "list", str(path)]
    environ = os.environ | {"PYTHONIOENCODING": "ascii"}
    done = subprocess.run(command, capture_output=True, check=True, env=environ)
    assert b"caf? ?" in done.stdout
