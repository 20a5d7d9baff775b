"""Calls that need no judging: most of them, recognised before anything is prepared for the rules.

Each function answers only what the rules would answer too, and says no when in doubt. They exist
for speed: a judgement that runs the rules costs several times more.
"""

from __future__ import annotations

import re

from warmstart.model import Certainty, Outcome, Status
from warmstart.outcome.case import TAIL_CHARS
from warmstart.outcome.classes import contains_any
from warmstart.outcome.complaints import ERROR_LINE, MASKED_WORDS
from warmstart.outcome.markers import GIVING_UP_WORDS, find_head_code
from warmstart.outcome.refusals import REFUSAL_WORDS
from warmstart.outcome.shell import is_masked
from warmstart.outcome.words import CONTENT_OPENINGS, OPENING_WORDS, SHORT_CHARS, TRIGGERS


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
_OPENING = re.compile(r"(?![{<\[\s])[^\w{]{0,6}((?:[Tt]he )?[\w']+)")
_HARNESS_WORDS = REFUSAL_WORDS | GIVING_UP_WORDS
_END_CHARS = 400
_SUSPECT_WORDS = OPENING_WORDS | _HARNESS_WORDS


def is_plain_answer(text: str) -> bool:
    """Whether an answer of a tool that is no shell neither opens nor reads like a complaint."""
    is_long = len(text) > SHORT_CHARS
    if text[:1] in CONTENT_OPENINGS and "{" not in text[:40]:
        return is_long or TRIGGERS.isdisjoint(text.lstrip().partition("\n")[0].lower().split())
    found = _OPENING.match(text, 0, 80)
    if found is None or found[1].lower() in _SUSPECT_WORDS:
        return False
    start = text[:120]
    if "ailed" in start or "Error" in start or "Exception" in start or start[:1] == "E":
        return False
    return is_long or TRIGGERS.isdisjoint(text[:300].partition("\n")[0].lower().split())


def find_plain_exit(text: str, line: str, *, left_out_is_zero: bool) -> Outcome | None:
    """The outcome of a shell call whose harness says zero, if nothing is hidden behind that."""
    code = find_head_code(text)
    evidence = "exit_marker"
    if code is None and left_out_is_zero and not _opens_like_harness(text):
        code, evidence = 0, "marker_left_out"
    if code != 0:
        return None
    masked = is_masked(line)
    if masked and ("$?" in line or not is_plain_output(text)):
        return None
    return _EXIT_ZERO[evidence, masked]


def _opens_like_harness(text: str) -> bool:
    """Whether a result may be the harness speaking: a refusal, a tag, a timeout."""
    found = _OPENING.match(text, 0, 80)
    return bool(text) if found is None else found[1].lower() in _HARNESS_WORDS


def is_plain_output(text: str) -> bool:
    """Whether what a command printed holds no word that a complaint overruling a zero needs."""
    if contains_any(text[-_END_CHARS:], MASKED_WORDS):
        return False
    return len(text) > TAIL_CHARS or not ERROR_LINE.search(text[:240].lower())
