"""Texts made to take the judge's time: what its rules look for, repeated.

``outcome_speed.py`` times them beside ordinary texts; ``tests/outcome/test_hostile.py`` judges all
of them at 1 MB with a limit on the CPU it may take.
"""

from __future__ import annotations

from collections.abc import Iterator

FRAGMENTS = (
    "Error: ", "error:error:", "Error", "E", "Ea", "aError", "A.", "a.b.",
    "Traceback (most recent", '  File "', '  File "a.py", line 1, in x\n', "exit code: ",
    "Exit code ", "[exit code: 1]", "Process exited with code ", "Chunk ID:", "Wall time",
    "Output:\n", "[", "]", "{", "}", '"', "\\", '\\"', "\\n", "$(", "$(a", "(", ")", "`", "'",
    '\'"', "|", "|x", "|&", ";", "x;", "&&", "||", "x&&", "&", " ", "\n", "\t", "\r\n", "x\n",
    "0", "1:", "1:1: ", "a: ", "x: x: ", ": ", "::", ":", "\x1b[31m", "\x1b[", "\x1b", '{"',
    '{"error":', '"error":', '"exit_code":', '\\"error\\":', "<<EOF\n", "<<A\nA\n", "<<A\n",
    "<< A ", "<", "<<", "<a>", "<output>", "</output>", "<error>", "<untrusted", "<returncode>",
    "<exception>", "a.py:1:", "a.py:1:1: ", "  at a:1", "  at a", "at ", "from ",
    "... 1 more\n", "line 1: ", "x: line 1: 1 ", "sh: ", "bash: line 1: ", "failed: ",
    "FAILED ", "fatal: ", "npm err! ", "Killed", "***", "a", "_", "-", "=", "a=", "a=b ",
    "sudo ", "env ", "timeout 1 ", "cd a && ", "command -v ", "xargs ", "echo a;", "#", " #",
    "a #b\n", "/", "a/", "./", "a/b.c:", "User ", "The user ", "tool call ",
    "permission to use ", "[Tool ", "CONFLICT ", "\tfail\t", "1 failed, ", "1 failed in ",
    "== 1 failed", "Tests: ", "--- FAIL: ", "1 tests, 1 failures", "usage: ", "option a ",
    "! [rejected]", "\u2028", "\x85", "\x1e", "\xe9", "\u0130",
)  # fmt: skip
ENDINGS = ("", "\nError: x", "x", "!", '", "exit_code": 1, "error": null}')
COMMAND_ENDINGS = ("", " | tail", "; echo", " && grep x")
ORDINARY = (
    "tests/test_cart.py::test_total PASSED [ 12%]\n",
    "    total = sum(item.price for item in cart.items)  # cents\n",
    "2026-03-01 12:00:01,224 INFO worker.pool: job 4711 done in 0.31s\n",
    '{"id": 17, "name": "cart", "status": "open", "total": 1200},\n',
    "E   AssertionError: assert 12 == 13\nFAILED tests/test_cart.py::test_total - Assertion\n",
)
ORDINARY_COMMANDS = (
    "cd /srv/shop && python -m pytest -q tests/test_cart.py 2>&1 | tail -20\n",
    'for f in src/*.py; do echo "$f"; grep -n \'def total\' "$f" || true; done\n',
    'git log --oneline -5 && git status --short; ls -la $(dirname "$0") | head\n',
)


def repeat(fragment: str, size: int) -> str:
    """The fragment over and over, cut to a size."""
    return (fragment * (size // len(fragment) + 1))[:size]


def list_results(size: int) -> Iterator[tuple[str, str]]:
    """Hostile results with a name for each."""
    for fragment in FRAGMENTS:
        for ending in ENDINGS:
            yield f"{fragment!r} … {ending!r}", repeat(fragment, size - len(ending)) + ending


def list_commands(size: int) -> Iterator[tuple[str, str]]:
    """Hostile command lines with a name for each."""
    for fragment in FRAGMENTS:
        for ending in COMMAND_ENDINGS:
            yield f"{fragment!r} … {ending!r}", repeat(fragment, size - len(ending)) + ending
