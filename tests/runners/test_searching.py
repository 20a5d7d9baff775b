from __future__ import annotations

import io
import json
import os
import re
from pathlib import Path

import pytest

from warmstart.runners.searching import (
    EXIT_BAD_PATTERN,
    EXIT_FOUND,
    EXIT_NOT_FOUND,
    find_matches,
    main,
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "src").mkdir()
    (tmp_path / "a.txt").write_text("one\ntwo\n")
    (tmp_path / "src" / "b.py").write_text("two = 2\n")
    (tmp_path / "src" / "link.py").symlink_to(tmp_path / "a.txt")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("glob", "found"),
    [("*", ["a.txt:2:two", "src/b.py:1:two = 2"]), ("*.py", ["src/b.py:1:two = 2"]), ("x", [])],
)
def test_lines_are_found_by_pattern_and_glob(folder: Path, glob: str, found: list[str]) -> None:
    del folder
    assert list(find_matches(re.compile("tw."), glob)) == found


def test_the_program_prints_what_it_finds(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    (folder / "many").write_text("many\n" * 90)
    for pattern, code, lines in (
        ("many", EXIT_FOUND, 50),
        ("(", EXIT_BAD_PATTERN, 1),
        ("zz", EXIT_NOT_FOUND, 0),
    ):
        given = json.dumps({"pattern": pattern, "glob": "*"})
        monkeypatch.setattr("sys.stdin", io.StringIO(given))
        assert main() == code
        import sys

        sys.stdout.flush()
        assert len(capfdbinary.readouterr().out.splitlines()) == lines


@pytest.mark.skipif(not hasattr(os, "geteuid") or not os.geteuid(), reason="root may read it")
def test_a_file_that_cannot_be_read_is_passed_over(folder: Path) -> None:
    (folder / "0.txt").write_text("two\n")
    (folder / "0.txt").chmod(0)
    found = list(find_matches(re.compile("tw."), "*"))
    assert found == ["a.txt:2:two", "src/b.py:1:two = 2"]
