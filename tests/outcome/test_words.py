"""Words decide only where nothing else does, and only where the tool speaks for itself."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.calls import judged, shell
from warmstart.model import Certainty, Status
from warmstart.outcome.words import opens_with_exception

FAILING = [
    ("ls missing", "ls: cannot access 'missing': No such file or directory", "own_complaint"),
    ("cat a.txt b.txt", "hello\ncat: b.txt: No such file or directory\nworld\n", "own_complaint"),
    ("git push", "To host:shop.git\nerror: failed to push some refs", "own_complaint"),
    ("sed -n 1p a && rg x missing", "rg: missing: No such file or directory (os error 2)", "own_complaint"),
    ("frob", "bash: frob: command not found", "shell_complains"),
    ("echo 'x", "bash: -c: line 1: unexpected EOF while looking for matching `''", "shell_refuses"),
    ("cat x | sort (", "zsh:1: parse error near `('", "shell_refuses"),
    ("python a.py", 'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\nKeyError: \'x\'', "ends_in_traceback"),
    ("python a.py", '  File "a.py", line 1\n    x = (\n        ^\nSyntaxError: \'(\' was never closed', "ends_in_traceback"),
    ("node a.js", "TypeError: x is not a function\n    at run (/home/dev/a.js:3:5)", "ends_in_stack"),
    ("node a.js", "throw new Error('x')\n\nNode.js v20.1.0", "closes_with_error"),
    ("pytest", "FAILED tests/test_a.py\n=== 1 failed, 3 passed in 0.1s ===", "summary_counts_failures"),
    ("cargo test", "test result: FAILED. 1 passed; 1 failed", "summary_counts_failures"),
    ("go build ./...", '# shop/cart\ncart/cart.go:14:2: "fmt" imported and not used', "closes_with_diagnostic"),
    ("make", "cc -c a.c\nmake: *** [Makefile:3: a.o] Error 1", "own_complaint"),
    ("npm test", "npm error code ELIFECYCLE", "closes_with_error"),
    ("frob --what", "error: unexpected argument '--what' found\n\nUsage: frob", "opens_with_error"),
    ("git merge topic", "Auto-merging a.py\nCONFLICT (content): Merge conflict in a.py\nAutomatic merge failed; fix", "version_control_refuses"),
    ("gh pr checks 3", "Lint\tpass\t30s\thttps://x\nTests\tfail\t3m\thttps://x", "checks_fail"),
    ("./run", "Segmentation fault (core dumped)", "closes_with_error"),
    ("npx jest", "Test Suites: 1 failed, 2 passed, 3 total\nTests:       4 passed, 4 total\nTime: 2 s", "summary_counts_failures"),
    ("dotnet build", "Build FAILED.\n    0 Warning(s)\n    1 Error(s)\n\nTime Elapsed 00:00:01.20", "summary_counts_failures"),
    ("javac A.java", "A.java:3: error: ';' expected\n    int a\n         ^\n1 error", "opens_with_error"),
    ("gcc a.c", "a.c:3:5: error: expected ';'\n    3 | int a\n      |      ^", "opens_with_error"),
    ("golangci-lint run", "a.go:1:2: unused (unused)\n1 issues:\n* unused: 1", "summary_counts_failures"),
    ("ninja", "FAILED: a.o\nninja: build stopped: subcommand failed.", "own_complaint"),
    ("mysql -e 'select'", "ERROR 1064 (42000) at line 1: You have an error in your SQL syntax", "closes_with_error"),
    ("kubectl get pod x", 'Error from server (NotFound): pods "x" not found', "closes_with_error"),
    ("perl a.pl", "cannot open: No such file or directory at a.pl line 3.", "ends_in_stack"),
    ("patch -p1 < a.diff", "patching file a.py\n1 out of 1 hunk FAILED -- saving rejects", "summary_counts_failures"),
    ("git commit -m x", "On branch main\nnothing to commit, working tree clean", "own_complaint"),
    ("vendor/bin/phpunit", "FAILURES!\nTests: 3, Assertions: 3, Failures: 1.", "summary_counts_failures"),
    ("npx prettier --check .", "[warn] a.js\n[warn] Code style issues found in 1 file.", "summary_counts_failures"),
]  # fmt: skip


@pytest.mark.parametrize(("command", "text", "evidence"), FAILING)
def test_a_command_s_own_complaint_is_an_error(command: str, text: str, evidence: str) -> None:
    outcome = shell(command, text)
    assert (outcome.status, outcome.evidence) == (Status.ERROR, evidence)
    assert outcome.certainty is Certainty.TEXTUAL


FINE = [
    ("cat app.log", "starting\nERROR: failed to connect\nTraceback (most recent call last):"),
    ("grep -rn Error src", "src/a.py:3: raise ValueError('x')"),
    ("git status", "On branch main\nnothing to commit, working tree clean"),
    ("git log -1", "commit 1\n\n    fix: error: could not compile"),
    ("ls", "error.py\nfailed.txt"),
    ('python -c "\ntry:\n    f()\nexcept Exception as e:\n    print(e)"', "Error: cannot do that"),
    ("python probe.py", 'Traceback (most recent call last):\n  File "p.py", line 1, in f\nKeyError: \'x\'\ncaught: \'x\''),
    ("pytest", "10 passed, 1 xfailed in 0.2s"),
    ("make", "gcc -Wall -Werror a.c\ndone"),
    ("echo 'error: none'", "error: none"),
    ("rg x src", "rg: src/data.bin: binary file matches\nsrc/a.py:1:x"),
    ("cat missing; ls", "cat: missing: No such file or directory\na.py\nb.py\nc.py\nd.py\ne.py"),
    ("true", ""),
]  # fmt: skip


@pytest.mark.parametrize(("command", "text"), FINE)
def test_other_people_s_words_are_no_failure(command: str, text: str) -> None:
    assert shell(command, text).status is Status.OK


def test_a_silent_search_found_nothing_and_is_ok() -> None:
    outcome = shell("pip list | grep -i numpy", "<output>\n</output>")
    assert (outcome.status, outcome.exit_code, outcome.reason) == (Status.OK, 1, "no match")


@pytest.mark.parametrize("command", ["grep -q x f", "grep x f > out.txt", "ls", "grep x f || true"])
def test_silence_of_other_commands_says_nothing(command: str) -> None:
    assert shell(command, "").exit_code != 1


def test_a_comparison_that_prints_differences_is_ok() -> None:
    outcome = shell("diff a b", "1c1\n< x\n---\n> y")
    assert (outcome.status, outcome.reason) == (Status.OK, "files differ")


@pytest.mark.parametrize(
    "text",
    [
        "Error: Reservation not found",
        "ValueError: File with ID '11' not found.",
        "MCP error -32603: Invalid regular expression",
        "Path does not exist",
        "String to replace not found in file.\nString: x",
        "Found 2 matches of the string to replace, but replace_all is false.",
        "File content (31441 tokens) exceeds maximum allowed tokens (25000).",
        "Agent type 'frob' not found. Available agents: a, b",
        "Tool 'frob' does not exist. Available tools: x",
        "apply_patch verification failed: Failed to find expected lines",
        "ENOENT: no such file or directory, open '/x'",
        "No replacement was performed, old_str did not appear verbatim in /x.",
        "javascript_tool failed: SyntaxError: x",
        "<system>ERROR: File not found</system>",
        "-32602: invalid params",
        "An error occurred while running the tool. Please try again.",
        "Speed test failed: No Connection.",
    ],
)
def test_an_answer_that_opens_like_an_error_is_one(text: str) -> None:
    assert judged("some_tool", text).status is Status.ERROR


@pytest.mark.parametrize(
    "text",
    [
        "The file /home/dev/shop/errors.py has been updated successfully.",
        "Task #3 created successfully: fix error handling",
        "No files found",
        "[]",
        "Transfer successful",
        "243.0",
        "src/setup.py:675:// errUnsupported is returned when the shell is not supported",
        "     1\tError: this is line one of a file\n     2\tmore",
        "- name: x\n  note: must be checked",
        'User has answered your questions: "is it invalid?"="yes".',
        "Error: result (170,041 characters) exceeds the limit. Output has been saved to /tmp/x.txt",
        "",
    ],
)
def test_an_answer_that_merely_mentions_errors_is_ok(text: str) -> None:
    assert judged("some_tool", text).status is Status.OK


def test_a_long_page_that_opens_with_error_is_content() -> None:
    assert judged("web_fetch", "Error handling in Go\n" + "text " * 400).status is Status.OK


def test_sql_errors_are_read_as_program_output() -> None:
    assert judged("sql", "Error executing query: Unknown column 'x'").status is Status.ERROR


def test_powershell_pipes_do_not_mask() -> None:
    outcome = judged("PowerShell", "1", "claude_code", command="npm test | Select-Object -Last 3")
    assert not outcome.masked


@given(st.lists(st.sampled_from(["Error", "Exception", "E", "a", "A", ".", ":", "(", " ", "É"])))
def test_an_exception_opens_a_text_as_one_expression_would_say(parts: list[str]) -> None:
    text = "".join(parts)
    plain = re.match(r"[\w.]*[A-Z]\w*(?:Error|Exception)\b\s*[:(]|E[A-Z]{4,}: ", text)
    assert opens_with_exception(text) is (plain is not None)
