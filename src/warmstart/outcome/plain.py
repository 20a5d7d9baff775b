"""Calls that need no judging: most of them, recognised before anything is prepared for the rules.

Each function answers only what the rules would answer too, and says no when in doubt. They exist
for speed: a judgement that runs the rules costs several times more.
"""

from __future__ import annotations

import re
from string import ascii_letters

from warmstart.model import Certainty, Outcome, Status
from warmstart.outcome.complaints import MASKED_GROUPS
from warmstart.outcome.lines import opens_with_error
from warmstart.outcome.markers import GIVING_UP_WORDS
from warmstart.outcome.phrases import contains_any, contains_grouped, group_phrases
from warmstart.outcome.refusals import REFUSAL_WORDS
from warmstart.outcome.shell import may_search
from warmstart.outcome.structure import says_nothing
from warmstart.outcome.words import (
    CONTENT_OPENINGS,
    OPENING_WORDS,
    SHORT_CHARS,
    reads_like_complaint,
)


def _exit_zero(evidence: str, *, masked: bool) -> Outcome:
    return Outcome(
        status=Status.OK,
        certainty=Certainty.STRUCTURAL,
        evidence=evidence,
        exit_code=0,
        masked=masked,
    )


_EVIDENCE = ("exit_marker", "marker_left_out")
EXIT_ZERO = {evidence: _exit_zero(evidence, masked=False) for evidence in _EVIDENCE}
EXIT_ZERO_MASKED = {evidence: _exit_zero(evidence, masked=True) for evidence in _EVIDENCE}
"""What is said of a command that exited zero, by the rule that found it out."""
_OPENING = re.compile(r"(?![{<\s]|\[[A-Z])[^\w{]{0,6}((?:[Tt]he )?[\w']+)")
_BLANKS = (" ", "\t")
_LISTS = ("[{", "[]", '"{', "[[{")
_LIST_OPENINGS = ("[", '"')
_FINE_OPENING = re.compile(
    r"No (?:files|matches) found|Found \d+ (?:file|line|result)|File created successfully"
    r"|User has answered|Exit code: 0\n"
)
"""Answers that begin with a suspect word and mean no harm."""
_HARNESS_WORDS = REFUSAL_WORDS | GIVING_UP_WORDS
_HARNESS_LETTERS = {word[0] for word in _HARNESS_WORDS}
_PRINTED_OPENINGS = frozenset(" \t{/.0123456789-+=#*|") | {
    letter for letter in ascii_letters if letter.lower() not in _HARNESS_LETTERS
}
"""How output begins, and no sentence of a harness."""
_BLANK_OR_JSON = (" ", "\t", "{")
_HEADED = ("<", "Chunk ")
_START_CHARS = 300
_END_CHARS = 400
_BRIEF_CHARS = 600
_WRAPPED = ("<", "{")
_TELLING = (
    ": ", "rror", "fail", "Fail", "RROR", "AIL", "sh:", "not ", "no ", "No ", "annot", "n't", "xit",
    "nable", "nvalid", "nknown", "nexpected", "issing", "sage", "File ", "atal", "anic",
    "xception", "at ", "from ", "more", "(eval)", "lleg", "enied", "illed", "ault", "bort",
    "erminated", "Bus", "Trace", "***", "accepts", "onflict", "CONFLICT", "reject", "npm", ".js",
    "Bun", "nterrupt", "E:", "LIFECYCLE", "arning", "ould", "alformed", "Command", "OCI", "ser ",
    "equest", "lock", "ancel", "cleared", "issue", "hunk", "stopped", "commit", "line ",
    "Duplicate",
)  # fmt: skip
"""Every complaint, and every sentence of a harness, holds one of these."""
_TELLING_WORDS = (
    "rror", "fail", "Fail", "RROR", "AIL", "xception", "xit", "nterrupt", "arning", "illed", "bort",
    "ermin", "LIFECYCLE",
)  # fmt: skip
"""The same for a text without a space, where a complaint is a single word."""
_TELLING_GROUPS = group_phrases(_TELLING)
_SUSPECT_WORDS = OPENING_WORDS | _HARNESS_WORDS


def is_plain_answer(text: str) -> bool:
    """Whether an answer of a tool that is no shell neither opens nor reads like a complaint."""
    if not text:
        return True
    opening = text[0]
    if opening in CONTENT_OPENINGS:
        return says_nothing(text) if opening == "{" else _is_plain_content(text)
    if opening == "T" and text.startswith("The file ") and _reports_edit(text):
        return True
    if opening in _LIST_OPENINGS and text.startswith(_LISTS):
        return True
    return not _opens_like_complaint(text) and not reads_like_complaint(text)


def _is_plain_content(text: str) -> bool:
    """The same for an answer that begins as content does; behind blanks there may be an object."""
    if text[0] in _BLANKS and text[:80].lstrip()[:1] == "{":
        return False
    return len(text) > SHORT_CHARS or not reads_like_complaint(text)


def _opens_like_complaint(text: str) -> bool:
    """Whether a rule on openings may have something to say."""
    found = _OPENING.match(text, 0, 80)
    if found is None:
        return True
    is_suspect = text[0] == "E" or found[1].lower() in _SUSPECT_WORDS
    if is_suspect and not _FINE_OPENING.match(text):
        return True
    start = text if len(text) <= 120 else text[:120]
    return "ailed" in start or "Error" in start or "Exception" in start


def _reports_edit(text: str) -> bool:
    """Whether the first line says what has been done to a file."""
    start = text if len(text) <= 200 else text[:200]
    name, done, _ = start.partition(" has been ")
    if not done or "\n" in name:
        return False
    return "ailed" not in start or "ailed" not in start[:120]


def opens_like_harness(text: str) -> bool:
    """Whether a result may be the harness speaking: a refusal, a tag, a timeout."""
    if not text or text[0] in _PRINTED_OPENINGS:
        return False
    found = _OPENING.match(text, 0, 80)
    return found is None or found[1].lower() in _HARNESS_WORDS


def is_plain_output(text: str) -> bool:
    """Whether what a command printed holds no word that a complaint overruling a zero needs."""
    if contains_grouped(text[-_END_CHARS:], MASKED_GROUPS):
        return False
    start = 0
    if text.startswith(_HEADED):
        start = text.find("<output>" if text[0] == "<" else "Output:\n", 0, _START_CHARS) + 8
    return not opens_with_error(text[start : start + 80].lstrip().lower())


def may_show_exit(text: str) -> bool:
    """Whether an exit code, or the harness, may yet be found behind an opening that shows none."""
    return text[:1] in _BLANK_OR_JSON or "xit" in text[-_END_CHARS:]


def is_plain_brief(text: str, line: str = "") -> bool:
    """Whether a command without a known exit code printed a little that holds no telling word."""
    if not text:
        return not may_search(line)
    if len(text) > _BRIEF_CHARS or text[0] in _WRAPPED or text.isspace():
        return False
    if "diff" in line or "cmp" in line:
        return False
    if " " in text:
        return not contains_grouped(text, _TELLING_GROUPS)
    return not contains_any(text, _TELLING_WORDS)
