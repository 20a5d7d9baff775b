"""A run that is killed leaves no process behind, whatever a trial was at."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from support.experiments import save_template
from support.processes import list_left, needs_proc, wait_for
from warmstart.testing import Reply, Script, ScriptedEndpoint, ToolCall

BOMB = "(a+)+$"
BAIT = "a" * 60 + "b"


class Case(NamedTuple):
    """A trial that does not end, and the word by which its process is known."""

    word: str
    reply: Reply = Reply("done")
    task: dict[str, Any] = {}  # noqa: RUF012 - only read
    command: str = ""

    @property
    def count(self) -> int:
        """Its supervisor, a shell where it has one, and the process itself."""
        return 3 if "sleep" in self.word else 2


CASES = {
    "pattern": Case("searching.py", Reply(BAIT), {"check": {"answer": BOMB}}),
    "search": Case("searching.py", Reply(calls=(ToolCall("search_files", {"pattern": BOMB}),))),
    "tool": Case("sleep 600", Reply(calls=(ToolCall("terminal", {"command": "sleep 600; :"}),))),
    "check": Case("sleep 600", task={"check": {"command": "sleep 600; :"}}),
    "own tool": Case("sleep 600", Reply(calls=(ToolCall("nap", {}),)), {"tool_definitions": [
        {"name": "nap", "description": "Sleep.", "command": ["sh", "-c", "sleep 600; :"],
         "timeout": 300}]}),
    "command": Case("sleep 600", command="sh -c 'sleep 600 & wait'"),
}  # fmt: skip


def _warmstart(home: Path, *words: str) -> subprocess.Popen[bytes]:
    """The real command, with temporary folders below its home: that marks all it starts."""
    environ = {**os.environ, "WARMSTART_HOME": str(home / "ws"), "TMPDIR": str(home)}
    return subprocess.Popen([sys.executable, "-m", "warmstart", "experiment", *words], env=environ)


@needs_proc
@pytest.mark.parametrize("name", CASES)
def test_a_killed_run_leaves_no_process_behind(tmp_path: Path, name: str) -> None:
    case = CASES[name]
    save_template(tmp_path / "ws")
    tasks = tmp_path / "tasks.jsonl"
    row = {"id": "t", "prompt": "Go.", "files": {"a.txt": BAIT}, **case.task}
    tasks.write_text(json.dumps(row) + "\n")
    with ScriptedEndpoint(Script(*[case.reply] * 9)) as endpoint:
        who = ["--command", case.command] if case.command else ["--endpoint", endpoint.url]
        new = ("new", "e", "--tasks", str(tasks), "--arms", "cold,warm:reads", "--model", "m")
        assert _warmstart(tmp_path, *new, "--trials", "1", *who).wait() == 0
        with _warmstart(tmp_path, "run", "e", "--quiet") as run:
            at_work = wait_for(str(tmp_path), case.word, case.count)
            run.kill()
    assert at_work
    assert list_left(str(tmp_path)) == {}
