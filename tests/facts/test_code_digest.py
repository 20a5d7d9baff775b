"""Whatever was kept by other code is made again, without anybody raising a number for it."""

from __future__ import annotations

import compileall
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import zipfile
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import warmstart
from support.hermes_db import answers, asks, make_database, user
from warmstart.app.profiles import PROFILE_CODE
from warmstart.facts.code_digest import FACTS_CODE, digest_code

PRINT = "from warmstart.facts.code_digest import *; print(digest_code(*FACTS_CODE))"
FAILED = '{"output": "Killed", "exit_code": 124, "error": null}'
ROWS = [user("read it"), asks(("c1", "terminal", {"command": "make"})), answers("c1", FAILED)]


def run(package: Path, *arguments: object, home: Path | None = None) -> str:
    """What a Python process prints that imports warmstart from ``package``."""
    environment = {**os.environ, "PYTHONPATH": str(package), "PYTHONDONTWRITEBYTECODE": "1"}
    if home is not None:
        environment |= {"WARMSTART_HOME": str(home), "HOME": str(home)}
    command = [sys.executable, *map(str, arguments)]
    return subprocess.run(
        command, env=environment, cwd=package.parent, capture_output=True, text=True, check=True
    ).stdout


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A folder with a copy of the package in it."""
    source = Path(warmstart.__file__).parent
    ignored = shutil.ignore_patterns("__pycache__", "samples")
    shutil.copytree(source, tmp_path / "copy" / "warmstart", ignore=ignored)
    return tmp_path / "copy"


class Home:
    """One home, one database, and warmstart from a copy of the package run on both."""

    def __init__(self, package: Path, folder: Path) -> None:
        self.package = package
        self.home = folder / "home"
        self.home.mkdir()
        self.database = make_database(folder / "state.db", {"s1": ROWS})

    def profile(self) -> dict[str, Any]:
        """What ``warmstart profile --json`` says."""
        told = run(
            self.package, "-m", "warmstart", "profile", "--json", self.database, home=self.home
        )
        profile: dict[str, Any] = json.loads(told)["profile"]
        return profile

    def read_index(self) -> tuple[str, int, list[bytes]]:
        """Its mark, how often it was written to, and the summaries it keeps."""
        with closing(sqlite3.connect(self.home / "facts.db")) as index:
            schema, revision = index.execute("SELECT schema, revision FROM meta").fetchone()
            stamps = [row[0] for row in index.execute("SELECT stamp FROM summary ORDER BY 1")]
        return schema, revision, stamps

    def change(self, module: str, old: str, new: str) -> None:
        """Edit the copy."""
        path = self.package / "warmstart" / module
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new, 1))


@pytest.fixture
def at(package: Path, tmp_path: Path) -> Home:
    return Home(package, tmp_path)


def test_a_changed_rule_of_the_judge_makes_new_facts(at: Home) -> None:
    before = at.profile()
    assert before["classes"] == {"timeout": 1}
    at.change("outcome/classes.py", "124: ErrorClass.TIMEOUT", "124: ErrorClass.NETWORK")
    assert at.profile()["classes"] == {"network": 1}


def test_unchanged_code_reads_nothing_again(at: Home) -> None:
    first, kept = at.profile(), at.read_index()
    at.change("cli/demo.py", '"""', '"""Changed: ')
    assert at.profile() == first
    assert at.read_index() == kept


def test_a_changed_rule_of_the_profile_keeps_the_facts_and_makes_new_summaries(at: Home) -> None:
    before, kept = at.profile(), at.read_index()
    at.change("profile/tool_types.py", "bash shell terminal exec ", "bash shell exec ")
    after, now = at.profile(), at.read_index()
    assert before != after
    assert now[0] == kept[0]
    assert len(now[2]) == len(kept[2])
    assert set(now[2]).isdisjoint(kept[2])


def test_a_changed_rule_of_redaction_makes_new_facts_too(at: Home) -> None:
    at.profile()
    kept = at.read_index()
    at.change("redact/vendors.py", '"""', '"""Changed: ')
    at.profile()
    assert at.read_index()[0] != kept[0]


def test_every_module_that_decides_a_fact_is_in_the_digest(package: Path) -> None:
    """What the modules named import is named too, but for errors and the package itself."""
    lister = (
        "import sys, warmstart.facts.refresh, "
        "warmstart.app.redaction\n"
        "print(*(name for name in sys.modules if name.startswith('warmstart.')))"
    )
    loaded = run(package, "-c", lister).split()
    root = package / "warmstart"
    plain = {"warmstart._lazy", "warmstart._version", "warmstart.errors", "warmstart.home"}
    left = set()
    for name in sorted(set(loaded) - plain):
        path = name.removeprefix("warmstart.").replace(".", "/")
        is_inside = any(path == part or path.startswith(f"{part}/") for part in FACTS_CODE)
        if not is_inside:
            left.add(name)
    # Where a session is looked for decides which facts there are, not what they say.
    assert left <= {
        "warmstart.atomic",
        "warmstart.store",
        "warmstart.app",
        "warmstart.app.core",
    }
    assert all((root / part).is_dir() or (root / f"{part}.py").is_file()
               for part in (*FACTS_CODE, *PROFILE_CODE))  # fmt: skip


def test_the_digest_is_the_same_in_every_process_and_another_after_a_change(package: Path) -> None:
    first = run(package, "-c", PRINT)
    assert first == run(package, "-c", PRINT)
    path = package / "warmstart" / "outcome" / "judge.py"
    path.write_text(path.read_text() + "\n# another rule\n")
    assert run(package, "-c", PRINT) != first


def test_a_file_that_moved_from_one_part_to_another_changes_the_digest() -> None:
    assert digest_code("stats", "profile") != digest_code("profile", "stats")
    assert digest_code("stats") == digest_code("stats") != digest_code("none such")


def test_from_a_zip_file_the_digest_changes_with_its_contents(
    package: Path, tmp_path: Path
) -> None:
    def pack(name: str) -> Path:
        target = tmp_path / name
        with zipfile.ZipFile(target, "w") as archive:
            for path in sorted(package.rglob("*.py")):
                archive.write(path, path.relative_to(package))
        return target

    first = run(pack("one.zip"), "-c", PRINT)
    assert first == run(pack("two.zip"), "-c", PRINT)
    path = package / "warmstart" / "outcome" / "words.py"
    path.write_text(path.read_text() + "\n# another rule\n")
    assert run(pack("three.zip"), "-c", PRINT) != first


def test_without_sources_the_compiled_files_are_looked_at(package: Path) -> None:
    def compile_away() -> None:
        assert compileall.compile_dir(package, quiet=1, legacy=True, force=True)
        for path in package.rglob("*.py"):
            path.unlink()

    source = package / "warmstart" / "outcome" / "words.py"
    text = source.read_text()
    compile_away()
    first = run(package, "-c", PRINT)
    assert first == run(package, "-c", PRINT)
    source.write_text(text + "\nANOTHER_RULE = 1\n")
    compile_away()
    assert run(package, "-c", PRINT) != first
