"""Exit codes as harnesses write them into the text of a result.

Each marker stands where only its harness writes: at the very start, in a header above the output,
or at the very end. A look-alike inside the output is not read. The opening words decide which
expression is worth trying, so a result without a marker costs next to nothing.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from warmstart.outcome.case import Case


class Marker(NamedTuple):
    """One harness's way to write an exit code."""

    openings: tuple[str, ...]
    """How a result with this marker begins (head) or what its end must hold (tail)."""
    pattern: re.Pattern[str]


HEAD_MARKERS = (
    Marker(("Exit code", "Error: Exit code"), re.compile(r"(?:Error: )?Exit code:? (-?\d+)\b")),
    # Codex puts a header above the output
    Marker(
        ("Chunk ID:", "Wall time", "Process exited"),
        re.compile(r"(?:[^\n]*\n){0,4}?Process exited with code (-?\d+)\n"),
    ),
    # mini-swe-agent
    Marker(
        ("<returncode>", "<exception>"),
        re.compile(
            r"\s*(?:<exception>.*</exception>\s*)?<returncode>(-?\d+)</returncode>", re.DOTALL
        ),
    ),
    # Hermes leaves one line of a result that it compacted
    Marker(("[",), re.compile(r"\[\w+\] ran `.*` -> exit (-?\d+)\b")),
    Marker(
        ("Command ",),
        re.compile(r"Command (?:failed|exited|completed) with (?:exit )?(?:code|status):? (-?\d+)"),
    ),
)
TAIL_MARKERS = (
    # Copilot CLI
    Marker(
        ("exit code ",),
        re.compile(r"<(?:shellId: \S+ completed|exited) with exit code (-?\d+)>\s*\Z"),
    ),
    # OpenHands
    Marker(
        ("exit code ",),
        re.compile(r"\[(?:The )?[Cc]ommand (?:completed|finished|exited) with exit code (-?\d+)\b"),
    ),
    # Gemini CLI
    Marker(("Exit Code: ",), re.compile(r"^Exit Code: (-?\d+)$", re.MULTILINE)),
    Marker(
        ("exited with code",),
        re.compile(r"^(?:Command|Process) exited with code (-?\d+)\.?\s*\Z", re.MULTILINE),
    ),
    Marker(("xit code",), re.compile(r"^\W{0,3}[Ee]xit code:? (-?\d+)\W{0,3}\Z", re.MULTILINE)),
)
_TAIL_CHARS = 300
NOT_RUN = re.compile(r"\W{0,3}(?:OCI runtime exec failed|Error response from daemon)")
TIMED_OUT = re.compile(
    r"\W{0,3}(?:Error: )?(?:Command|Process|Tool|Execution|The command) (?:has )?timed out",
    re.IGNORECASE,
)


def find_exit_code(case: Case) -> int | None:
    """The exit code the harness wrote into a shell result, or None."""
    head = case.head
    for openings, pattern in HEAD_MARKERS:
        if head.startswith(openings) and (found := pattern.match(head)):
            return int(found[1][:12])
    tail = case.tail[-_TAIL_CHARS:]
    if "xit" not in tail and "Exit" not in tail:
        return None
    if "$?" in case.line:  # what looks like a marker is the command's own echo
        return None
    for openings, pattern in TAIL_MARKERS:
        if openings[0] in tail and (found := pattern.search(tail)):
            return int(found[1][:12])
    return None
