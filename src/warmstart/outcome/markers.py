"""Exit codes as harnesses write them into the text of a result.

Each marker stands where only its harness writes: at the very start, in a header above the output,
or at the very end. A look-alike inside the output is not read. The opening words decide which
expression is worth trying, so a result without a marker costs next to nothing.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from warmstart.outcome.case import Case

_CODEX = re.compile(r"(?:[^\n]*\n){0,4}?Process exited with code (-?\d+)\n")
_MINI = re.compile(
    r"\s*(?:<exception>.*</exception>\s*)?<returncode>(-?\d+)</returncode>", re.DOTALL
)
_MINI_ZERO = "<returncode>0</returncode>"
_CODEX_ZERO = "\nProcess exited with code 0\n"
_HEADER_CHARS = 90
"""The lines above Codex's marker are shorter than these."""
HEAD_MARKERS: dict[str, re.Pattern[str]] = {
    "Exit": re.compile(r"Exit code:? (-?\d+)\b"),  # Claude Code, newer Codex, Cursor
    "Erro": re.compile(r"Error: Exit code:? (-?\d+)\b"),
    "Chun": _CODEX,  # "Chunk ID: …" opens the header above the output
    "Wall": _CODEX,
    "Proc": _CODEX,
    "<ret": _MINI,
    "<exc": _MINI,
    "Comm": re.compile(
        r"Command (?:failed|exited|completed) with (?:exit )?(?:code|status):? (-?\d+)"
    ),
    "[ter": re.compile(r"\[\w+\] ran `.*` -> exit (-?\d+)\b"),  # Hermes, after compaction
}
"""By the first four characters of a result."""
_MARKER_LETTERS = frozenset(opening[0] for opening in HEAD_MARKERS)


class EndMarker(NamedTuple):
    """A marker at the end of a result, and the words that must stand there."""

    words: str
    pattern: re.Pattern[str]


TAIL_MARKERS = (
    # Copilot CLI
    EndMarker(
        " with exit code ",
        re.compile(r"<(?:shellId: \S+ completed|exited) with exit code (-?\d+)>\s*\Z"),
    ),
    # OpenHands
    EndMarker(
        " with exit code ",
        re.compile(r"\[(?:The )?[Cc]ommand (?:completed|finished|exited) with exit code (-?\d+)\b"),
    ),
    # Gemini CLI
    EndMarker("Exit Code: ", re.compile(r"^Exit Code: (-?\d+)$", re.MULTILINE)),
    EndMarker(
        "exited with code",
        re.compile(r"^(?:Command|Process) exited with code (-?\d+)\.?\s*\Z", re.MULTILINE),
    ),
    EndMarker("xit code", re.compile(r"^\W{0,3}[Ee]xit code:? (-?\d+)\W{0,3}\Z", re.MULTILINE)),
)
_HEAD_CHARS = 500
MARKER_CHARS = 300
"""How much of the end an exit code is looked for in."""
NOT_RUN = re.compile(r"\W{0,3}(?:OCI runtime exec failed|Error response from daemon)")
TIMED_OUT = re.compile(
    r"\W{0,3}(?:Error: )?(?:Command|Process|Tool|Execution|The command) (?:has )?timed out",
    re.IGNORECASE,
)


GIVING_UP_WORDS = frozenset({
    "command", "process", "tool", "execution", "the command", "error", "oci",
})  # fmt: skip
"""First words of the two above."""


def find_head_code(text: str) -> int | None:
    """The exit code at the beginning of a shell result, or None."""
    if not text or text[0] not in _MARKER_LETTERS:
        return None
    # What nearly all results say needs no expression.
    if text.startswith(_MINI_ZERO):
        return 0
    pattern = HEAD_MARKERS.get(text[:4])
    if pattern is None:
        return None
    if pattern is _CODEX and text.find(_CODEX_ZERO, 0, _HEADER_CHARS) > 0:
        return 0
    found = pattern.match(text, 0, _HEAD_CHARS)
    return int(found[1][:12]) if found else None


def find_exit_code(case: Case) -> int | None:
    """The exit code the harness wrote into a shell result, or None."""
    code = find_head_code(case.result.text)
    if code is not None:
        return code
    return find_end_code(case.tail[-MARKER_CHARS:], case.line)


def find_end_code(tail: str, line: str) -> int | None:
    """The exit code at the end of a shell result, or None; ``line`` is the command."""
    if "xit" not in tail or "$?" in line:  # the command may echo a marker of its own
        return None
    for words, pattern in TAIL_MARKERS:
        if words in tail and (found := pattern.search(tail)):
            return int(found[1][:12])
    return None
