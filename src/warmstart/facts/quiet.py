"""Whether what a program printed holds nothing that the judge would take for a complaint.

A few plain searches over the ends of the text answer for most outputs; where one of them finds
something, the judge's own rules on complaints are asked. What is said here is only ever that none
of them would speak.
"""

from __future__ import annotations

from string import ascii_letters, digits

from warmstart.outcome.case import FIRST_WORD, HEAD_CHARS, TAIL_CHARS, read_output
from warmstart.outcome.complaints import is_uncomplaining
from warmstart.outcome.lines import ends_plainly, opens_plainly
from warmstart.outcome.markers import GIVING_UP_WORDS, HEAD_MARKERS, NOT_RUN, TIMED_OUT
from warmstart.outcome.phrases import contains_any, contains_grouped, group_phrases
from warmstart.outcome.refusals import REFUSAL_WORDS, find_refusal
from warmstart.outcome.signatures import sign_with
from warmstart.outcome.speakers import only_fetch

_NEAR_CHARS = 400
NEAR_WORDS = (
    "rror", "ail", "sh:", "issue", "no tests", "reformat", "terminated", "merge", "apply",
    "ignored", "xit", "xception", "raceback", "hunk", "Oh no", "RROR", "AIL", "LIFECYCLE",
    "CONFLICT", "Aborting", "rejected", "(eval)", '  File "', "***", "\tpass\t", "\tpending\t",
)  # fmt: skip
"""What must stand near the end for any rule that looks for words, but for ``_LINE``."""
_NEAR_GROUPS = group_phrases(NEAR_WORDS)
_CONTENT_GROUPS = group_phrases(("sh:", "(eval)", "\tfail\t", "\tpass\t", "\tpending\t"))
"""The same for the rules that speak even where all programs print content."""
_LINE = "line "
_SHELL_WORDS = ("sh:", "(eval)", "-c: line")
"""What a shell signs with in the lines for which the word above is enough."""
_WRAPPED_ENDS = (">", "]")
"""How something ends that a harness may have put below the output."""
_GIT_NAMES = ("fatal", "error")
"""What git signs with."""
_OTHER_BREAKS = ("\r", "\v", "\f", "\x1c", "\x1d", "\x1e")
"""What ends a line too, among the ASCII characters."""
_HARNESS_WORDS = REFUSAL_WORDS | GIVING_UP_WORDS
_HARNESS_LETTERS = {word[0] for word in _HARNESS_WORDS} | {mark[0].lower() for mark in HEAD_MARKERS}
_PRINTED_LETTERS = frozenset(digits) | {
    letter for letter in ascii_letters if letter.lower() not in _HARNESS_LETTERS
}
"""How no word of a harness begins."""
_WRAPPINGS = ("", "{", "<", "[")


def is_quiet(text: str, programs: tuple[str, ...] = ()) -> bool:
    """Whether no complaint can be found at the ends of a text; known programs may spare a look."""
    is_short = len(text) <= TAIL_CHARS
    tail = text.rstrip() if is_short else text[-TAIL_CHARS:].rstrip()
    # Colours may hide how a line begins.
    if not tail or "\x1b" in tail or "\x1b" in text[:HEAD_CHARS]:
        return False
    is_plain = tail[-1] not in _WRAPPED_ENDS and (
        not is_short or opens_plainly(tail.lstrip("\r\n").partition("\n")[0])
    )
    if is_plain and _closes_quietly(tail, programs):
        return True
    return is_uncomplaining(read_output(text))


def _closes_quietly(tail: str, programs: tuple[str, ...]) -> bool:
    near = tail[-_NEAR_CHARS:]
    if _LINE in near and _may_end_in_shell(tail):
        return False
    if programs and only_fetch(programs):
        return not contains_grouped(near, _CONTENT_GROUPS)
    if contains_grouped(near, _NEAR_GROUPS):
        return False
    return ends_plainly(tail[tail.rfind("\n") + 1 :])


def _may_end_in_shell(tail: str) -> bool:
    """Whether one of the last two lines may be signed by a shell."""
    final = tail.rfind("\n")
    start = tail.rfind("\n", 0, final) + 1 if final > 0 else 0
    if final > 0 and not tail[start:final].strip():
        return True  # a blank line between: the last two are not so easily told
    return contains_any(tail[start:].lower(), _SHELL_WORDS)


def is_unsigned(text: str, line: str, programs: tuple[str, ...]) -> bool:
    """Whether no line at the ends of a text begins with the name of a program of the command."""
    if len(text) > TAIL_CHARS:
        if not is_unsigned(text[:HEAD_CHARS], line, programs):
            return False
        text = text[-TAIL_CHARS:]
    if programs:
        return not contains_any(text, sign_with(programs))
    return not _has_signature(text, line)


def _has_signature(text: str, line: str) -> bool:
    parts = text.split(": ")
    if len(parts) == 1:
        return False
    if not text.isascii() or contains_any(text, _OTHER_BREAKS):
        parts = "\n".join(text.splitlines()).split(": ")
    parts.pop()
    for part in parts:
        name = part[part.rfind("\n") + 1 :]
        if " " not in name and (name in line or name in _GIT_NAMES):
            return True
    return False


def is_output(text: str) -> bool:
    """Whether a shell's result is output and nothing else: no header, no word of the harness."""
    opening = text[:1]
    if opening in _PRINTED_LETTERS:
        return True
    if opening.isspace():
        opening = text[:80].lstrip()[:1]
    if opening in _WRAPPINGS or text[:4] in HEAD_MARKERS:
        return False
    found = FIRST_WORD.match(text, 0, 80)
    if found is None or found[1].lower() not in _HARNESS_WORDS:
        return True
    start = text[:80]
    if TIMED_OUT.match(start) or NOT_RUN.match(start):
        return False
    return find_refusal(text if len(text) <= TAIL_CHARS else text[:HEAD_CHARS]) is None
