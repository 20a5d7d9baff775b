"""Calls that need no judging: most of them, recognised before anything is prepared for the rules.

Each function answers only what the rules would answer too, and says no when in doubt. They exist
for speed: a judgement that runs the rules costs several times more.
"""

from __future__ import annotations

import re

from warmstart.model import Certainty, Outcome, Status
from warmstart.outcome.case import HEAD_CHARS, TAIL_CHARS
from warmstart.outcome.complaints import ERROR_OPENING, MASKED_WORDS, speaks_of_failure
from warmstart.outcome.markers import GIVING_UP_WORDS, find_head_code
from warmstart.outcome.output import Output
from warmstart.outcome.phrases import contains_any
from warmstart.outcome.refusals import REFUSAL_WORDS
from warmstart.outcome.shell import is_masked, may_search
from warmstart.outcome.structure import says_nothing
from warmstart.outcome.words import (
    CONTENT_OPENINGS,
    NOTHING_WRONG,
    OPENING_WORDS,
    SHORT_CHARS,
    TRIGGERS,
)


def _exit_zero(evidence: str, *, masked: bool) -> Outcome:
    return Outcome(
        status=Status.OK,
        certainty=Certainty.STRUCTURAL,
        evidence=evidence,
        exit_code=0,
        masked=masked,
    )


_EXIT_ZERO = {
    (evidence, masked): _exit_zero(evidence, masked=masked)
    for evidence in ("exit_marker", "marker_left_out")
    for masked in (False, True)
}
_OPENING = re.compile(r"(?![{<\s]|\[[A-Z])[^\w{]{0,6}((?:[Tt]he )?[\w']+)")
_LISTS = ("", "[{", "[]")
_HARNESS_WORDS = REFUSAL_WORDS | GIVING_UP_WORDS
_PRINTED_OPENINGS = frozenset(" \t{/.0123456789-+=#*|")
"""How output begins, and no sentence of a harness."""
_START_CHARS = 300
_END_CHARS = 400
_BRIEF_CHARS = 200
_WRAPPED = ("<", "{")
_TELLING = (
    ": ", "rror", "ail", "RROR", "AIL", "sh:", "not ", "no ", "No ", "annot", "n't", "xit", "nable",
    "nvalid", "nknown", "nexpected", "issing", "sage", "File ", "atal", "anic", "xception", "at ",
    "from ", "more", "(eval)", "lleg", "enied", "illed", "ault", "bort", "ermin", "Bus", "Trace",
    "***", "accepts", "onflict", "CONFLICT", "reject", "npm", ".js", "Bun", "nterrupt", "E:",
    "LIFECYCLE", "ould", "alformed", "Command", "OCI", "ser ", "equest", "lock", "ancel", "cleared",
    "issue", "hunk", "stopped", "commit", "line ",
    "Duplicate",
)  # fmt: skip
"""Every complaint, and every sentence of a harness, holds one of these."""
_SUSPECT_WORDS = OPENING_WORDS | _HARNESS_WORDS


def is_plain_answer(text: str) -> bool:
    """Whether an answer of a tool that is no shell neither opens nor reads like a complaint."""
    opening = text[:1]
    if opening == "{":
        return says_nothing(text)
    if text[:2] in _LISTS:
        return True
    if opening in CONTENT_OPENINGS:
        return "{" not in text[:40] and _reads_plain(text)
    found = _OPENING.match(text, 0, 80)
    if found is None or found[1].lower() in _SUSPECT_WORDS or opening == "E":
        return False
    start = text[:120]
    if "ailed" in start or "Error" in start or "Exception" in start:
        return False
    return _reads_plain(text)


def _reads_plain(text: str) -> bool:
    """Whether a text is too long for a complaint, or its first line holds no telling word."""
    if len(text) > SHORT_CHARS:
        return True
    return TRIGGERS.isdisjoint(text[:300].lstrip().partition("\n")[0].lower().split())


def find_plain_outcome(tool: str, line: str, text: str, origin: str) -> Outcome | None:
    """The outcome of a shell call that exited zero, or said nothing telling, in plain sight."""
    code = find_head_code(text)
    evidence = "exit_marker"
    if code is None:
        if origin != "claude_code":
            return NOTHING_WRONG if is_plain_brief(text, line) else None
        if tool != "Bash" or _opens_like_harness(text):
            return None
        code, evidence = 0, "marker_left_out"
    if code != 0:
        return None
    masked = is_masked(line)
    if masked and ("$?" in line or not hides_nothing(text)):
        return None
    return _EXIT_ZERO[evidence, masked]


def _opens_like_harness(text: str) -> bool:
    """Whether a result may be the harness speaking: a refusal, a tag, a timeout."""
    if text[:1] in _PRINTED_OPENINGS:
        return False
    found = _OPENING.match(text, 0, 80)
    return bool(text) if found is None else found[1].lower() in _HARNESS_WORDS


def is_plain_output(text: str) -> bool:
    """Whether what a command printed holds no word that a complaint overruling a zero needs."""
    if contains_any(text[-_END_CHARS:], MASKED_WORDS):
        return False
    start = text.find("Output:\n", 0, _START_CHARS) + 8 if text[:6] == "Chunk " else 0
    if text[:1] == "<":
        start = text.find("<output>", 0, _START_CHARS) + 8
    return not ERROR_OPENING.match(text[start : start + 80].lstrip().lower())


def hides_nothing(text: str) -> bool:
    """Whether no rule that may overrule a zero speaks of what a command printed."""
    if is_plain_output(text):
        return True
    if len(text) <= TAIL_CHARS:
        return not speaks_of_failure(Output(text, text, is_short=True))
    return not speaks_of_failure(Output(text[:HEAD_CHARS], text[-TAIL_CHARS:], is_short=False))


def is_plain_brief(text: str, line: str = "") -> bool:
    """Whether a command without a known exit code printed a little that holds no telling word."""
    if not text:
        return not may_search(line)
    if len(text) > _BRIEF_CHARS or text[0] in _WRAPPED or text.isspace():
        return False
    return "diff" not in line and "cmp" not in line and not contains_any(text, _TELLING)
