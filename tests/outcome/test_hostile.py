"""No text keeps the judge busy: every shape of ``bench/outcome_hostile.py``, 1 MB of it, in a child.

The limit on the child's CPU is there to end a judge that hangs; speed is measured in ``bench/``.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).resolve().parents[2] / "bench"
CPU_SECONDS = 60
CHILD = """
import resource, sys
resource.setrlimit(resource.RLIMIT_CPU, (int(sys.argv[2]), int(sys.argv[2])))
sys.path.insert(0, sys.argv[1])
from outcome_hostile import list_commands, list_results
from warmstart.facts.markers import MarkerCounter
from warmstart.model import Request, Result
from warmstart.outcome import judge

SIZE = 1_000_000

def judge_results():
    for _, text in list_results(SIZE):
        for tool, line, origin in (("Bash", "a | tail", "claude_code"), ("terminal", "a; echo $?", "x"),
                                   ("execute_code", "", "hermes"), ("read_file", "", "hermes")):
            arguments = {"command": line}
            judge(Request(tool=tool, arguments=arguments), Result(text=text), origin)
            judge(Request(tool=tool, arguments=arguments), Result(text=text, exit_code=1), origin)
            judge(Request(tool=tool, arguments=arguments), Result(text=text, is_error=False), origin)

def judge_commands():
    for _, line in list_commands(SIZE):
        arguments = {"command": line}
        request = Request(tool="Bash", arguments=arguments)
        for result in (Result(text="x", exit_code=1), Result(text="boom: x\\n"), Result(text="")):
            judge(request, result, "codex")
            judge(request, result, "claude_code")
        judge(request, Result(text="x", is_error=False), "claude_code")
        counter = MarkerCounter()
        counter.add("Bash", arguments)
        counter.finish()

{"results": judge_results, "commands": judge_commands}[sys.argv[3]]()
print("done")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no limit on CPU time")
@pytest.mark.parametrize("what", ["results", "commands"])
def test_a_megabyte_of_any_shape_is_judged_in_time(what: str) -> None:
    command = [sys.executable, "-c", CHILD, str(BENCH), str(CPU_SECONDS), what]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout == "done\n", done.stderr[-500:]
