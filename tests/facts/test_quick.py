from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from support.hermes_db import RESULTS
from warmstart.facts.quick import find_verdict
from warmstart.facts.verdicts import VERDICTS, encode_verdict
from warmstart.model import Request, Result
from warmstart.outcome import judge
from warmstart.outcome.tools import kind_of

TOOLS = ("terminal", "read_file", "execute_code", "web_search", "patch", "powershell")
LINES = (
    "", "ls", "grep -rn x src | head -5", "git commit -m x", "git status; echo $?", "make || true",
    "diff a b", "cat a.py", "cd x && pytest -q", "python -m build 2>&1 | tail -3",
)  # fmt: skip
WORDS = st.sampled_from((
    "total 4", "-rw-r--r-- 1 a a 10 x.py", "ok", "error", "Error: x", "fatal: bad", "cat: a.py: No such file",
    "bash: x: command not found", "src/a.py:12: undefined name x", "1 failed, 2 passed in 0.1s",
    "== 3 passed in 1.2s ==", "Traceback (most recent call last):", '  File "a.py", line 1',
    "ValueError: x", "Exit code: 1", "[exit code 2]", "exited with code 1", "pipeline build",
    "Killed", "  at foo (a.js:1:2)", "warning: x", "usage: x [-h]", "\tfail\t", "\tpass\t", "CONFLICT (content)",
    "! [rejected] main", "nothing to commit", "x.py::test_y PASSED", "Tool failed: x", "Command timed out",
    "the user rejected", "<output>", "</output>", "\x1b[31mred\x1b[0m", "node.js", "Node.js v20", "zsh:1: x",
    "make: *** [all] Error 2", "  ... 3 more", "a b c.", ">", "]", "permission denied", "exit status 3",
    "cannot open", "Killed: 9", "unable to x", "npm ERR! x", "a.c(1,2): error", "no tests ran in 0.1s",
))  # fmt: skip
TEXTS = st.builds(
    lambda parts, joint, pad, end: joint.join(parts) + pad + end,
    st.lists(WORDS, max_size=6),
    st.sampled_from(["\n", " ", "\n\n", ": "]),
    st.sampled_from(["", "\n" + "x y z\n" * 300, "q" * 1100, "\n" + "a: b\n" * 250]),
    st.sampled_from(["", "\n", " ", "\ndone", "\nError: late"]),
)
VALUES = st.one_of(
    TEXTS,
    st.sampled_from([None, 0, 1, True, False, "error", "success", "blocked", [], {"exit_code": 1}]),
)
KEYS = st.sampled_from((
    "output", "exit_code", "error", "success", "status", "ok", "content", "message", "metadata", "is_error",
    "returncode", "exit_code_meaning", "data",
))  # fmt: skip


def check(tool: str, arguments: dict[str, Any], text: str) -> None:
    quick = find_verdict(kind_of(tool), tool, arguments, text)
    if quick is not None:
        outcome = judge(Request(tool=tool, arguments=arguments), Result(text=text), "hermes")
        assert VERDICTS[quick] == VERDICTS[encode_verdict(outcome)], (tool, arguments, text)


@settings(max_examples=500)
@given(st.sampled_from(TOOLS), st.sampled_from(LINES), TEXTS)
@example("terminal", "ls", "src/a.py:12 undefined name x here\n")
def test_a_quick_verdict_on_output_is_the_judges(tool: str, line: str, text: str) -> None:
    check(tool, {"command": line}, text)


@settings(max_examples=500)
@given(
    st.sampled_from(TOOLS),
    st.sampled_from(LINES),
    st.dictionaries(KEYS, VALUES, max_size=4),
    st.sampled_from([(", ", ": "), (",", ":")]),
    st.sampled_from(["", "\n\n[Hint: read it again]", " "]),
)
def test_a_quick_verdict_on_an_object_is_the_judges(
    tool: str, line: str, data: dict[str, Any], separators: tuple[str, str], behind: str
) -> None:
    check(tool, {"command": line}, json.dumps(data, separators=separators) + behind)


@pytest.mark.parametrize("tool", TOOLS)
def test_common_results_agree(tool: str) -> None:
    for text in RESULTS:
        check(tool, {"command": "ls"}, text)


@pytest.mark.parametrize(
    ("tool", "text"),
    [
        ("terminal", '{"output": "a", "exit_code": 0, "error": null}'),
        ("terminal", "total 4\nsrc\n"),
        ("read_file", '{"content": "x", "total_lines": 1}'),
        ("execute_code", '{"status": "success", "output": "3"}'),
        ("patch", '{"success": true, "diff": "' + "x" * 2000 + '"}'),
    ],
)
def test_the_commonest_results_need_no_judge(tool: str, text: str) -> None:
    assert find_verdict(kind_of(tool), tool, {"command": "ls"}, text) is not None
