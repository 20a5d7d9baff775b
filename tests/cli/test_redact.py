"""``warmstart redact``: text out, counts on stderr, values nowhere."""

from __future__ import annotations

import json
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from redact.planted import is_gone, plant, random_word
from support.badinput import write
from warmstart.cli.main import cli
from warmstart.redact import MAX_CHARACTERS

Run = Callable[..., Result]


@pytest.fixture(autouse=True)
def folder(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to work in."""
    place = home / "work"
    place.mkdir()
    monkeypatch.chdir(place)
    return place


def test_the_text_is_on_stdout_and_the_counts_on_stderr(run: Run, folder: Path) -> None:
    path = write(folder, "log.txt", f"a {plant('npm', 1)} b\n".encode())
    result = run("redact", path)
    assert result.stdout == "a <SECRET:npm:1> b\n"
    assert "1 value replaced: npm 1" in result.stderr


def test_stdin_is_read_and_bytes_pass_through() -> None:
    result = CliRunner().invoke(cli, ["redact", "-", "--quiet"], input=b"x \xff y\r\n")
    assert result.stdout_bytes == b"x \xff y\r\n"
    assert result.stderr == ""


def test_check_exits_one_and_prints_no_text(run: Run, folder: Path) -> None:
    path = write(folder, "log.txt", plant("npm", 1).encode())
    result = run("redact", path, "--check")
    assert (result.exit_code, result.stdout) == (1, "")
    assert run("redact", write(folder, "b.txt", b"plain"), "--check").exit_code == 0


def test_json_has_counts_and_no_values(run: Run, folder: Path) -> None:
    secret = plant("npm", 1)
    result = run("redact", write(folder, "log.txt", secret.encode()), "--json", "-q")
    assert json.loads(result.stdout) == {
        "schema_version": 1, "characters": len(secret), "total": 1, "found": {"npm": 1},
    }  # fmt: skip


def test_output_is_private_and_not_overwritten(run: Run, folder: Path) -> None:
    source, target = write(folder, "log.txt", plant("npm", 1).encode()), folder / "clean.txt"
    assert run("redact", source, "-o", target).exit_code == 0
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert run("redact", source, "-o", target).exit_code == 2
    assert run("redact", source, "-o", target, "--force").exit_code == 0
    assert target.read_text() == "<SECRET:npm:1>"


def test_own_secrets_of_environment_and_env_files_go(run: Run, folder: Path) -> None:
    in_file, in_environment = random_word(1, 12), random_word(2, 12)
    write(folder, ".env", f"MAIL_PASSWORD='{in_file}'\nNAME=shop-front\n".encode())
    path = write(folder, "log.txt", f"{in_file} {in_environment} shop-front".encode())
    result = run("redact", path, SHOP_TOKEN=in_environment)
    assert result.stdout == "<SECRET:env:1> <SECRET:env:2> shop-front"
    assert is_gone(in_file, run("redact", path).stdout)
    assert in_file in run("redact", path, "--no-env").stdout


def test_people_go_when_asked(run: Run, folder: Path) -> None:
    path = write(folder, "log.txt", b"zoe@corp.io in /home/zoe/x")
    assert run("redact", path, "--pii").stdout == "<EMAIL:1> in <HOME>/x"


def test_a_missing_file_is_one_line(run: Run, folder: Path) -> None:
    result = run("redact", folder / "no.txt")
    assert (result.exit_code, result.stdout) == (4, "")
    assert "No such file" in result.stderr


def test_too_much_is_refused_unread(run: Run, folder: Path) -> None:
    large = folder / "log.txt"
    with large.open("wb") as file:
        file.truncate(MAX_CHARACTERS + 1)  # a hole: it takes no room on the disk
    result = run("redact", large)
    assert (result.exit_code, result.stdout) == (1, "")
    assert "over the limit" in result.stderr
