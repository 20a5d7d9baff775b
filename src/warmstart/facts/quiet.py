"""Whether what a program printed holds nothing that the judge would take for a complaint.

A few plain searches over the ends of the text answer for most outputs. Each says no as soon as a
rule of the judge might speak; what is said here is only ever that none of them would.
"""

from __future__ import annotations

import re

from warmstart.outcome.case import TAIL_CHARS
from warmstart.outcome.complaints import ERROR_OPENING
from warmstart.outcome.markers import GIVING_UP_WORDS, HEAD_MARKERS, MARKER_CHARS
from warmstart.outcome.output import HEADER_LETTERS
from warmstart.outcome.phrases import contains_any
from warmstart.outcome.refusals import REFUSAL_WORDS

_NEAR_CHARS = 400
_HEAD_CHARS = 500
_OPENING_CHARS = 200
"""More than any expression for the opening of a complaint can match."""
_NEAR_WORDS = (
    "rror", "fail", "Fail", "xit", "xception", "raceback", '  File "', "RROR",
    "AIL", "LIFECYCLE", "***", "no tests", "reformat", "Oh no", "issue", "hunk", "terminated",
    "CONFLICT", "merge", "apply", "Aborting", "rejected", "ignored", "\tpass\t",
    "\tpending\t",
)  # fmt: skip
"""What must stand near the end for any rule that looks for words."""
_SHELL_WORDS = ("sh:", "(eval)", "-c: line")
"""What a shell signs its complaints with."""
_DEATHS = (
    "Killed", "Segmentation fault", "Aborted", "Terminated", "Bus error", "Illegal instruction",
    "Trace/breakpoint trap", "Node.js v", "Bun v",
)  # fmt: skip
_EXCEPTION = re.compile(r"[\w.]*(?:Error|Exception|Exit|Interrupt|Warning)")
_NAMED = re.compile(r"[\w./+@-]+:(?:\d+:)* ")
_PLACE = re.compile(r"(?:vet: )?\S*\.[a-z]{1,4}:\d")
_FIRST_WORD = re.compile(r"\s*(?:<\w+>\s*)?[^\w{]{0,6}((?:[Tt]he )?[\w'.]+)")
_GIT_NAMES = ("fatal", "error")
"""What git signs with."""
_HARNESS_WORDS = REFUSAL_WORDS | GIVING_UP_WORDS


def is_quiet(text: str) -> bool:
    """Whether no complaint can be found at the ends of a text, whoever printed it."""
    tail = text[-TAIL_CHARS:].rstrip()
    # A harness may have put something around the output, or there are colours in it.
    if not tail or tail[-1] in ">]." or text[0] in HEADER_LETTERS:
        return False
    if "\x1b" in tail or "\x1b" in text[:_HEAD_CHARS]:
        return False
    if contains_any(tail[-_NEAR_CHARS:], _NEAR_WORDS) or contains_any(tail, _SHELL_WORDS):
        return False
    if not _ends_quietly(tail[tail.rfind("\n") + 1 :]):
        return False
    return len(text) > TAIL_CHARS or _opens_quietly(text)


def _ends_quietly(final: str) -> bool:
    """Whether the last line is no exception, no place in a file, no complaint and no death."""
    if final[0].isspace() or ": line " in final or final.startswith(_DEATHS):
        return False
    return not (_opens_badly(final) or _EXCEPTION.match(final) or _PLACE.match(final))


def _opens_badly(line: str) -> bool:
    """Whether a line is a complaint by its first words, or is signed by a program."""
    return bool(_NAMED.match(line) or ERROR_OPENING.match(line[:_OPENING_CHARS].lower()))


def _opens_quietly(text: str) -> bool:
    """The same for the first line of a short output."""
    start = text.lstrip("\r\n") if text[0] in "\r\n" else text
    first = start.partition("\n")[0]
    if _opens_badly(first):
        return False
    return not first[:_OPENING_CHARS].lower().startswith(("usage: ", "malformed"))


def is_unsigned(text: str, line: str) -> bool:
    """Whether no line at the ends of a text begins with the name of a program of the command."""
    if len(text) <= TAIL_CHARS:
        return not _has_signature(text, line)
    ends = text[:_HEAD_CHARS], text[-TAIL_CHARS:]
    return not _has_signature(ends[0], line) and not _has_signature(ends[1], line)


def _has_signature(text: str, line: str) -> bool:
    if ": " not in text:
        return False
    parts = text.split(": ")
    parts.pop()
    for part in parts:
        name = part[part.rfind("\n") + 1 :]
        if " " not in name and (name in line or name in _GIT_NAMES):
            return True
    return False


def is_output(text: str) -> bool:
    """Whether a shell's result is output and nothing else: no exit code, no word of the harness."""
    if text[:4] in HEAD_MARKERS or "xit" in text[-MARKER_CHARS:]:
        return False
    if text[:80].lstrip()[:1] in ("", "{", "<", "["):
        return False
    found = _FIRST_WORD.match(text, 0, 80)
    return found is None or found[1].lower() not in _HARNESS_WORDS
