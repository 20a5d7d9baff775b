"""The app of docs/gateway.md: short, well typed, and run as it stands on the page."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from support.warming import make_template
from warmstart.app import Workspace
from warmstart.app.templates import open_library
from warmstart.model.template import TemplateState
from warmstart.store import SessionDB

PAGE = Path(__file__).resolve().parents[2] / "docs" / "gateway.md"
MAX_LINES = 60
TASK = "fix the failing tests of the cart"


@pytest.fixture
def app(tmp_path: Path) -> Path:
    block = re.search(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert block is not None
    path = tmp_path / "app.py"
    path.write_text(block[1])
    return path


def run(app: Path, home: Path, *lines: str, database: str = "") -> list[str]:
    (app.parent / "gateway.toml").write_text(f'database = "{database}"\n' if database else "")
    environ = {**os.environ, "WARMSTART_HOME": str(home), "WARMSTART_STORE": ""}
    environ["WARMSTART_WARM_HOLDOUT"] = "0"
    done = subprocess.run(
        [sys.executable, str(app), str(app.parent / "gateway.toml")],
        input="".join(f"{line}\n" for line in lines), env=environ,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout.splitlines()


def test_the_app_is_short_and_well_typed(app: Path) -> None:
    lines = [line for line in app.read_text().splitlines() if line.strip()]
    assert len(lines) <= MAX_LINES
    api = pytest.importorskip("mypy.api")
    problems, _, _ = api.run([str(app), "--strict", "--no-incremental", "--follow-imports=silent"])
    assert "error" not in problems, problems


def test_chats_are_kept_apart_and_go_on_after_a_restart(
    app: Path, tmp_path: Path, address: str
) -> None:
    home = tmp_path / "home"
    first = run(app, home, "mira: hello", "juan: hi", "mira: again", database=address)
    assert [line[:10] for line in first] == ["2 messages", "2 messages", "4 messages"]
    second = run(app, home, "mira: still there?", "mira: /new", "mira: hello", database=address)
    assert [line[:10] for line in second] == ["6 messages", "This is a ", "2 messages"]
    with SessionDB.open(address) as db:
        assert sorted(row["message_count"] for row in db.list_sessions()) == [2, 2, 6]


def test_a_session_starts_warm_and_keeps_its_warm_up_over_a_restart(
    app: Path, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    with open_library(Workspace(home)) as library:
        library.save(make_template(), state=TemplateState.APPROVED)
    (first,) = run(app, home, f"mira: {TASK}")
    (second,) = run(app, home, "mira: go on")
    sizes = [int(answer.split(" ", 1)[0]) for answer in (first, second)]
    assert sizes[0] > 2
    assert sizes[1] == sizes[0] + 2
    with SessionDB(home / "gateway" / "state.db", read_only=True) as db:
        (session,) = db.list_sessions()
        assert session["message_count"] == 4  # no example of the warm-up is in the transcript
    with SessionDB(home / "store.db", read_only=True) as db:
        (start,) = db.list_starts()
        assert (start.native_id, str(start.arm)) == (session["id"], "warm")
