"""Complaints that a program signs with its own name: ``cat: x: No such file or directory``.

Such a line means a non-zero exit even where other output follows: ``ls``, ``cat``, ``rg`` and the
rest report what they could not do and go on.
"""

from __future__ import annotations

import re
from functools import lru_cache

from warmstart.outcome.case import Case

_HARMLESS = re.compile(
    r"warning|is a directory|binary file matches|skipping|note:|removing leading", re.IGNORECASE
)
_NOTHING_COMMITTED = ("nothing to commit", "no changes added", "nothing added to commit")
_COMMIT = "commit"
_NAME_CHARS = 60
"""A line that a program signs has its name within these."""
_UNNAMED = ("fatal", "error", "Q")
"""What may sign a line though the command line does not hold it: git, and what was quoted."""


def find_own_complaint(case: Case) -> bool:
    """Whether a program whose exit code counts complains in its own name."""
    if not case.line or (
        ": " not in case.tail and ": " not in case.head and _COMMIT not in case.tail
    ):
        return False
    output = case.output()
    signed = _find_signed(output.outer_lines(), case.line)
    if not signed:
        return False
    # Only when a line may be a complaint is it worth taking the command line apart.
    openings = _counted_openings(case)
    if case.command().sequence:
        signed = _find_signed(output.last_lines()[-3:], case.line)
    return any(line.startswith(openings) and not _HARMLESS.search(line) for line in signed)


def _find_signed(lines: list[str], command_line: str) -> list[str]:
    """The lines that a program of the command line may have signed with its name."""
    return [
        line
        for line in lines
        if (": " in line and _is_signed(line, command_line)) or _COMMIT in line
    ]


def _is_signed(line: str, command_line: str) -> bool:
    name, colon, _ = line[:_NAME_CHARS].partition(": ")
    return bool(colon) and (name in command_line or name in _UNNAMED)


def _counted_openings(case: Case) -> tuple[str, ...]:
    """How the programs whose exit code counts would begin a complaint."""
    command = case.command()
    stopped_early = command.chained and case.tail.count("\n") <= 2
    counted = {command.program}
    if stopped_early or not command.masked:
        counted.update(command.speakers)
    openings = sign_with(tuple(counted))
    return openings + (_NOTHING_COMMITTED if command.program == "git commit" else ())


@lru_cache(maxsize=1024)
def sign_with(programs: tuple[str, ...]) -> tuple[str, ...]:
    """How programs begin a complaint."""
    names = {name.partition(" ")[0] for name in programs if name}
    openings = tuple(f"{name}: " for name in names if name != "git")
    return (*openings, "fatal: ", "error: ") if "git" in names else openings
