"""The prefilter answers only what the rules answer too."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from support.hermes_db import RESULTS
from warmstart.model import Request, Result, Status
from warmstart.outcome import complaints, shell
from warmstart.outcome.classes import _split_words
from warmstart.outcome.judge import apply_rules, judge
from warmstart.outcome.prefilter import NEAR_WORDS, find_plain
from warmstart.outcome.tools import kind_of
from warmstart.samples import samples_path
from warmstart.sources import ReadLog, read_sessions

ORIGINS = ("hermes", "claude_code", "")
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
FIELDS = [(None, None), (False, None), (None, 0), (False, 0)]
"""What a source may say in fields of its own: an error flag and an exit code."""


def check(tool: str, arguments: dict[str, Any], text: str) -> None:
    """Under every origin, with and without a flag, the rules agree with the prefilter."""
    request, kind = Request(tool=tool, arguments=arguments), kind_of(tool)
    for origin in ORIGINS:
        for flag, code in FIELDS:
            result = Result(text=text, is_error=flag, exit_code=code)
            plain = find_plain(kind, request, result, origin)
            if plain is not None:
                assert plain == apply_rules(kind, request, result, origin), (tool, arguments, text)


def count_calls(path: Path) -> int:
    """How many calls of the sessions at a path agree."""
    checked = 0
    for session in read_sessions(path, ReadLog()):
        for call in session.calls:
            if call.result is not None:
                check(call.tool, dict(call.request.arguments), call.result.text)
                checked += 1
    return checked


def test_the_rules_agree_on_every_sample_call() -> None:
    assert count_calls(samples_path()) > 700


@pytest.mark.corpus
@pytest.mark.parametrize("name", ["claude_code", "codex", "mini_swe_agent"])
def test_the_rules_agree_on_real_calls(corpus: Path, name: str) -> None:
    assert count_calls(corpus / name) > 100


@settings(max_examples=500)
@given(st.sampled_from(TOOLS), st.sampled_from(LINES), TEXTS)
@example("terminal", "ls", "src/a.py:12 undefined name x here\n")
def test_the_rules_agree_on_any_output(tool: str, line: str, text: str) -> None:
    check(tool, {"command": line}, text)


@settings(max_examples=500)
@given(
    st.sampled_from(TOOLS),
    st.sampled_from(LINES),
    st.dictionaries(KEYS, VALUES, max_size=4),
    st.sampled_from([(", ", ": "), (",", ":")]),
    st.sampled_from(["", "\n\n[Hint: read it again]", " "]),
)
def test_the_rules_agree_on_any_object(
    tool: str, line: str, data: dict[str, Any], separators: tuple[str, str], behind: str
) -> None:
    check(tool, {"command": line}, json.dumps(data, separators=separators) + behind)


@settings(max_examples=500)
@given(st.sampled_from(LINES), TEXTS, st.sampled_from([0, 0, 1, 2, 124]), st.sampled_from([0, 300]))
def test_the_rules_agree_on_any_exit_code(line: str, text: str, code: int, padding: int) -> None:
    printed = "x y\n" * padding + text
    check("terminal", {"command": line}, f"{printed}\n[exit code {code}]")
    check("bash", {"command": line}, f"<returncode>{code}</returncode>\n{printed}")
    data = {"output": printed, "exit_code": code, "error": None}
    check("terminal", {"command": line}, json.dumps(data))


def test_no_word_that_a_rule_needs_is_missed() -> None:
    needed = [word for rule in complaints._RULES[2:] for word in rule.words]
    assert [word for word in needed if not any(near in word for near in NEAR_WORDS)] == []


@pytest.mark.parametrize("tool", TOOLS)
def test_the_rules_agree_on_common_results(tool: str) -> None:
    for text in RESULTS:
        check(tool, {"command": "ls"}, text)


@pytest.mark.parametrize(
    ("tool", "line", "text"),
    [
        ("terminal", "ls", '{"output": "a", "exit_code": 0, "error": null}'),
        ("terminal", "ls", "total 4\nsrc\n"),
        ("terminal", "ls", "a\n0 failed\nb\n"),
        (
            "terminal",
            "make | tail",
            json.dumps({"output": "a\n" * 999, "exit_code": 0, "error": None}),
        ),
        ("read_file", "", '{"content": "x", "total_lines": 1}'),
        ("execute_code", "", '{"status": "success", "output": "3"}'),
        ("patch", "", '{"success": true, "diff": "' + "x" * 2000 + '"}'),
        ("bash", "make", "<returncode>0</returncode>\n<output>\nok</output>"),
    ],
)
def test_the_commonest_results_need_no_rules(tool: str, line: str, text: str) -> None:
    request = Request(tool=tool, arguments={"command": line})
    assert find_plain(kind_of(tool), request, Result(text=text), "hermes") is not None


@pytest.mark.parametrize(
    "answer",
    [
        "No files found",
        "Found 3 files\n/src/a.py",
        "File created successfully at: /src/a.py",
        "The file /src/not found.py has been updated. There is no need to read it again",
        "User has answered your questions: it must be done",
        "Exit code: 0\nWall time: 0 seconds\nOutput:\nSuccess.",
        '"{\\"error\\": 1}"',
        '[[{"error": "x"}]]',
        "     1\u2192import {\n     2\u2192  error,\n",
        '{"id": 1, "status": "open"}',
        '{"id": 1, "body": "' + "x" * 2000 + '"}',
        "{'id': 1}",
    ],
)
def test_harmless_answers_are_judged_as_the_rules_judge_them(answer: str) -> None:
    for tool in ("Edit", "Grep", "sql"):
        check(tool, {}, answer)
        assert judge(Request(tool=tool), Result(text=answer), "claude_code").status is Status.OK


@pytest.mark.parametrize("tool", ["Bash", "PowerShell"])
@pytest.mark.parametrize("text", ["", "ok\n", "make: *** [all] Error 2\n", "3 failed, 1 passed\n"])
@pytest.mark.parametrize(
    "marker", ["", "Exit code 0\n", "Exit code 1\n", "<returncode>0</returncode>\n"]
)
@pytest.mark.parametrize("line", ["grep x f", "make", "make | tail -3", "make; echo $?"])
def test_exit_codes_in_plain_sight_are_judged_as_the_rules_judge_them(
    tool: str, text: str, marker: str, line: str
) -> None:
    check(tool, {"command": line}, marker + text)


@given(st.text(alphabet="ab \"'\\`$()#|;\n", max_size=30))
def test_opaque_parts_are_blanked_as_the_expression_would(line: str) -> None:
    assert shell._blank_opaque(line) == shell._OPAQUE.sub("Q", line)


def test_every_filter_behind_a_pipe_hides_the_exit_code() -> None:
    words = [word for word in shell._FILTERS | shell._MATCHERS if " " not in word]
    assert [word for word in words if not shell.is_masked(f"make | {word}")] == []
    assert [word for word in words if shell.is_masked(f"make '| {word}'")] == []


@given(st.text(max_size=40))
def test_words_are_runs_of_ascii_letters_digits_and_quotes(text: str) -> None:
    assert [word.decode() for word in _split_words(text)] == re.findall(r"[a-z0-9_']+", text)
