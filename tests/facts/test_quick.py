from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from support.hermes_db import RESULTS
from warmstart.facts.quick import SAID_OK_MASKED, find_verdict
from warmstart.facts.quiet import NEAR_WORDS
from warmstart.facts.verdicts import VERDICTS, encode_verdict
from warmstart.model import Request, Result
from warmstart.outcome import complaints, judge
from warmstart.outcome.tools import kind_of

TOOLS = ("terminal", "read_file", "execute_code", "web_search", "patch", "powershell")
LINES = (
    "", "ls", "grep -rn x src | head -5", "git commit -m x", "git status; echo $?", "make || true",
    "diff a b", "cat a.py", "cd x && pytest -q", "python -m build 2>&1 | tail -3", "git rebase main",
    "pytest -q", "git log --oneline | head -3", "cat a.py | sort", "gh pr checks", "make; echo $LASTEXITCODE",
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
    "Rebasing (1/2)\rerror: x", "Rebasing\rcat: a.py: gone", "see the detailed log", "Build stopped", "pipeline x",
    "BASH: unmatched", "bash: -c: line 1: syntax error", "perl died at a.pl line 3.", '"exit_code": 1', "fatal: x\n\n\n\n",
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


@settings(max_examples=500)
@given(st.sampled_from(LINES), TEXTS, st.sampled_from([0, 0, 1, 2, 124]), st.sampled_from([0, 300]))
def test_a_quick_verdict_on_an_exit_code_is_the_judges(
    line: str, text: str, code: int, padding: int
) -> None:
    printed = "x y\n" * padding + text
    check("terminal", {"command": line}, f"{printed}\n[exit code {code}]")
    data = {"output": printed, "exit_code": code, "error": None}
    check("terminal", {"command": line}, json.dumps(data))


def test_no_word_that_a_rule_needs_is_missed() -> None:
    needed = [word for rule in complaints._RULES[2:] for word in rule.words]
    assert [word for word in needed if not any(near in word for near in NEAR_WORDS)] == []


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
        ("terminal", "a\n0 failed\nb\n"),
        ("terminal", "make: *** [all] Error 2\n[exit code 2]"),
        ("terminal", '{"output": "boom", "exit_code": 2, "error": null}'),
        ("terminal", '{"output": "' + "x" * 2000 + '", "exit_code": 2, "error": null}'),
        ("read_file", '{"error": "File not found: x"}'),
        ("patch", '{"success": false, "error": "no match"}\n\n[Hint: read it again]'),
    ],
)
def test_the_commonest_results_need_no_judge(tool: str, text: str) -> None:
    assert find_verdict(kind_of(tool), tool, {"command": "ls"}, text) is not None


def test_a_long_output_behind_a_pipe_needs_no_judge() -> None:
    text = json.dumps({"output": "a b c\n" * 400 + "d", "exit_code": 0, "error": None})
    line = {"command": "make 2>&1 | tail -400"}
    assert find_verdict(kind_of("terminal"), "terminal", line, text) == SAID_OK_MASKED
