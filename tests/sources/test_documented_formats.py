"""What docs/formats.md shows is what happens: logged conversations and readers of other packages."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from support.badinput import to_jsonl, write
from warmstart.model import Role, Status, Tokens
from warmstart.sources import READERS, ReadLog, read_sessions

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8")
STEPS = [
    {"acme_step": "call", "id": "1", "tool": "search", "with": {"q": "tea"}, "at": 1_700_000_000},
    {"acme_step": "answer", "id": "1", "text": "3 hits", "at": 1_700_000_001},
    {"acme_step": "song"},
]
BROKEN = {
    "not there": ("acme = acme_gone:Reader", "", "ModuleNotFoundError"),
    "fails when it is made": ("acme = acme_x:Reader", "class Reader:\n    title = 1 / 0", "Zero"),
    "another name": ("acme = acme_x:Reader", "class Reader:\n    name = 'ace'", "'ace'"),
    "half a reader": ("acme = acme_x:Reader", "class Reader:\n    name = 'acme'", "'title'"),
    "ours": ("codex = acme_x:Reader", "class Reader:\n    name = 'codex'", "of warmstart"),
}
FAILS_LATER = """
from warmstart.sources import FileReader
class Reader(FileReader):
    name, title = "acme", "Acme"
    def recognises(self, probe): raise KeyError(probe.path.name)
    def units(self, path, log): return iter(())
    def read(self, unit, log): return iter(())
"""


def find_block(language: str) -> str:
    found = re.search(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    assert found
    return found[1]


def install(folder: Path, entry: str, module: str, code: str) -> None:
    """Put a package where Python looks for installed ones."""
    write(folder, f"{module}.py", code.encode())
    info = folder / "acme_reader-1.0.dist-info"
    write(info, "METADATA", b"Metadata-Version: 2.1\nName: acme-reader\nVersion: 1.0\n")
    write(info, "entry_points.txt", f"[warmstart.readers]\n{entry}\n".encode())


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    paths = [str(folder), str(ROOT / "src")]
    environ = os.environ | {
        "PYTHONPATH": os.pathsep.join(paths),
        "WARMSTART_HOME": str(folder / "home"),
    }
    return subprocess.run(
        [sys.executable, "-m", "warmstart", *arguments],
        env=environ,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def test_the_conversation_on_the_page_is_read_as_the_page_says(tmp_path: Path) -> None:
    path = write(tmp_path, "log.jsonl", to_jsonl([json.loads(find_block("json"))]))
    (session,) = read_sessions(path, ReadLog())
    assert (session.origin, session.native_id) == ("openai_chat", "order-1042")
    assert (session.model, session.title) == ("gpt-5-mini", "Refund an order")
    assert (session.started_at, session.task, session.reward) == (1767225600.0, "refund", 1.0)
    assert session.tokens == Tokens(input=500, output=60, cache_read=400)
    assert [m.role for m in session.messages][:2] == [Role.SYSTEM, Role.USER]
    (call,) = session.calls
    assert (call.tool, call.request.arguments) == ("find_order", {"number": 1042})
    assert call.outcome.status is Status.ERROR


def test_the_reader_on_the_page_works_once_it_is_installed(tmp_path: Path) -> None:
    entry = find_block("toml").splitlines()[1].replace('"', "")
    install(tmp_path, entry, "acme_reader", find_block("python"))
    write(tmp_path / "logs", "one.jsonl", to_jsonl(STEPS))
    listed = run(tmp_path, "sessions", "list", str(tmp_path / "logs"), "--json")
    (session,) = json.loads(listed.stdout)["sessions"]
    assert (session["origin"], session["calls"]) == ("acme", 1)
    assert "step of an unknown kind" in listed.stderr
    assert "Acme agent" in run(tmp_path, "doctor", "--formats").stdout


@pytest.mark.parametrize(("entry", "code", "why"), BROKEN.values(), ids=BROKEN)
def test_a_broken_reader_is_reported_and_the_rest_is_read(
    tmp_path: Path, entry: str, code: str, why: str
) -> None:
    install(tmp_path, entry, "acme_x", code)
    write(tmp_path / "logs", "one.jsonl", to_jsonl([json.loads(find_block("json"))]))
    write(tmp_path / "logs", "two.jsonl", to_jsonl(STEPS))
    listed = run(tmp_path, "sessions", "list", str(tmp_path / "logs"), "--json")
    assert len(json.loads(listed.stdout)["sessions"]) == 1
    assert "'acme-reader' cannot be used" in listed.stderr
    assert why in listed.stderr


def test_a_reader_that_fails_later_is_left_out_from_then_on(tmp_path: Path) -> None:
    install(tmp_path, "acme = acme_x:Reader", "acme_x", FAILS_LATER)
    write(tmp_path / "logs", "one.jsonl", to_jsonl(STEPS))
    listed = run(tmp_path, "sessions", "list", str(tmp_path / "logs"), "--json")
    assert json.loads(listed.stdout)["sessions"] == []
    assert "KeyError: 'logs'" in listed.stderr


def test_every_reader_here_is_ours() -> None:
    assert not READERS.broken
    assert not READERS.packages
