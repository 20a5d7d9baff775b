"""Rules on words, for results that carry no sign of success or failure. The last resort.

Errors are short, stand at the very start, and are written in a few recurring ways; content that a
tool fetched from somewhere is long and may say anything.
"""

from __future__ import annotations

import re

from warmstart.model import Certainty, Outcome, Status
from warmstart.outcome.case import Case
from warmstart.outcome.complaints import find_complaint, find_hidden_complaint
from warmstart.outcome.phrases import contains_grouped, group_phrases
from warmstart.outcome.shell import expects_output, may_search
from warmstart.outcome.signatures import find_own_complaint
from warmstart.outcome.tools import ToolKind

_TEXTUAL = Certainty.TEXTUAL
SHORT_CHARS = 600
"""Longer answers are content: an error message this long has not been seen."""

_ERROR_OPENING = re.compile(
    r"""(?:<\w+>\s*)?[^\w{]{0,6}(?:tool[ _](?:use_|call[ ]|execution[ ])?)?
        (?:error|fatal|exception|traceback|invalid[ ](?:input|argument|parameter|path)\w*)\b
    | mcp[ ]error | http[ ](?:error[ ])?[45]\d\d
    | [45]\d\d[ ](?:client|server)[ ]error
    | (?:failed|unable)[ ]to[ ] | (?:could[ ]not|cannot|can't|couldn't)[ ]
    | unknown[ ](?:tool|action|function|skill|command) | an[ ]error[ ]occurred
    | (?:the[ ])?(?:command|request|operation|execution|process)[ ](?:has[ ])?
        (?:failed|timed[ ]out|was[ ]aborted)
    | your[ ]proposed[ ]edit[ ]has[ ]introduced
    | timed[ ]out | -3\d{4}:[ ] | permission[ ]denied | access[ ]denied | unauthori[sz]ed
    | apply_patch[ ]verification[ ]failed | string[ ]to[ ]replace[ ]not[ ]found
    | found[ ]\d+[ ]matches[ ]of[ ]the[ ]string | no[ ]replacement[ ]was[ ]performed
    | file[ ]has[ ](?:not[ ]been[ ]read|been[ ]modified) | old_?string[ ](?:was[ ])?not[ ]found
    | (?:path|file)[ ]does[ ]not[ ]exist | file[ ]not[ ]found | agent[ ]type[ ]'[^']*'[ ]not[ ]found
    | tool[ ]'[^']*'[ ](?:does[ ]not[ ]exist|not[ ]found) | no[ ]\w+[ ]code[ ]was[ ]found""",
    re.VERBOSE,
)
"""Matched against lower-case text: that is twice as fast as ignoring case."""
OPENING_WORDS = frozenset({
    "tool", "tool_use_error", "tool_error", "error", "errors", "fatal", "exception", "traceback",
    "invalid", "mcp", "http", "failed", "unable", "could", "cannot", "can't", "couldn't",
    "unknown", "an", "command", "request", "operation", "execution", "process", "the command",
    "the request", "the operation", "the execution", "the process", "your",
    "timed", "permission", "access", "unauthorized", "unauthorised", "apply_patch", "string",
    "found", "no", "file", "path", "old_string", "oldstring", "agent",
    *(str(code) for code in range(400, 600)), *(str(code) for code in range(32000, 33000)),
})  # fmt: skip
"""First words of the openings above; any other first word spares the expression."""
_NAME_OPENING = re.compile(r"([\w.]*+)\s*+[:(]")
_ERRNO_OPENING = re.compile(r"E[A-Z]{4,}: ")
_CAPITAL = re.compile(r"[A-Z]")
_EXCEPTION_ENDS = ("Error", "Exception")
_FAILED = re.compile(r"[\w .'-]{1,60}\bfailed(?:: |\.|$| with| to )")
CONTENT_OPENINGS = frozenset(" \t{}|=*`/\\0123678")
"""How content begins: indentation, line numbers, JSON, Markdown, paths."""
_SHORT_COMPLAINTS = (
    "not exist", "doesn't exist", "don't exist", "didn't exist", "not found", "no such file",
    "no such tool", "no such directory",
    "no such key", "no such table", "no such column", "not a valid", "is not valid", "is invalid",
    "has not been read", "has been modified since", "no changes to make", "string to replace",
    "exceeds maximum", "is expected to be one of", "is required", "must be", "must match",
    "must provide", "must not", "must have", "not allowed", "not permitted", "permission denied",
    "timed out", "timeout", "temporarily unavailable", "no replacement was performed",
    "did not appear verbatim", "0 occurrences", "multiple matches", "multiple occurrences",
    "could not be found", "cannot be ", "can't be ", "unexpected argument",
    "unexpected keyword argument", "missing required", "required positional", "not available",
    "is disabled", "already exists", "already in use", "not supported", "not in the workspace",
    "outside the", "outside of the",
)  # fmt: skip
_SHORT_COMPLAINT_GROUPS = group_phrases(
    _SHORT_COMPLAINTS,
    ("not ", "n't ", "no such ", "must ", "x", "required", "occurrences", "already ", "outside "),
)
_COMMON_WORDS = frozenset({"is", "has", "be", "been", "modified", "0"})
TRIGGERS = frozenset(
    word + mark
    for phrase in _SHORT_COMPLAINTS
    for word in [next(w for w in phrase.split() if w not in _COMMON_WORDS)]
    for mark in ("", ".", ",", ":", ";", "!")
)
"""One telling word of each phrase, as it may stand in a text; without one, none can occur."""
_FINE = re.compile(
    r"""\W{0,4}(?:success|succeeded|done|ok\b|created|updated|wrote
    |the[ ]file[ ].{0,200}[ ]has[ ]been|no[ ](?:files|matches|results)[ ]found
    |found[ ]\d+[ ](?:files?|results?|lines?)
    |user[ ]has[ ]answered)""",
    re.VERBOSE,
)
_NOT_PROSE = frozenset('{[-#"')
_DIFFERENCE = re.compile(
    r"^(?:[<>+-] |@@ |\d+(?:,\d+)?[acd]\d+)|\bdiffer\b|^Only in ", re.MULTILINE
)
_QUOTED = re.compile(r'"[^"]*"')
_CITATION = re.compile(r"\S+:\d+[:-]|\s*\d+[\t:→|]")
"""A line of a file, as search tools and viewers print it."""


def silent_search(case: Case) -> Outcome | None:
    """A search that printed nothing found nothing, and exited 1 saying so."""
    if len(case.tail) > 200 or not may_search(case.line):
        return None
    if case.output().final or not expects_output(case.command()):
        return None
    reason = "not installed" if case.command().program == "which" else "no match"
    return case.end(Status.OK, "silent_search", _TEXTUAL, exit_code=1, reason=reason)


def speaking_diff(case: Case) -> Outcome | None:
    """A comparison that printed differences exited 1 saying so."""
    if not ("diff" in case.line or "cmp" in case.line):
        return None
    if case.command().program not in ("diff", "cmp", "colordiff"):
        return None
    if case.command().chained or not case.head or find_own_complaint(case) or find_complaint(case):
        return None
    if not _DIFFERENCE.search(case.output().tail):
        return None
    return case.end(Status.OK, "speaking_diff", _TEXTUAL, exit_code=1, reason="files differ")


def command_complains(case: Case) -> Outcome | None:
    """What a command or program printed ends in a complaint."""
    if find_own_complaint(case):
        return case.fail("own_complaint", _TEXTUAL)
    complaint = find_complaint(case)
    if complaint is None:
        return None
    masked = case.is_masked()
    if masked:
        complaint = find_hidden_complaint(case)
    if complaint is None:
        return None
    # A command that hides its failure exits with what hides it: zero. Unless the failing part
    # stood before an "&&", and what hides was never reached.
    stopped_early = complaint == "shell_complains" and case.command().chained
    hidden = masked and not stopped_early and complaint != "shell_refuses"
    return case.fail(complaint, _TEXTUAL, exit_code=0 if hidden else None)


def opens_like_error(case: Case) -> Outcome | None:
    """The answer begins as errors do."""
    head = case.head
    if head[:1] in CONTENT_OPENINGS:
        return None
    if case.kind is ToolKind.READER and len(case.result.text) > SHORT_CHARS:
        return None
    if _opens_with_failure(case) and "saved to" not in head[:300]:
        return case.fail("opens_like_error", _TEXTUAL)
    return None


def _opens_with_failure(case: Case) -> bool:
    word = case.opening()
    start = case.head[:120].lower()
    if word in OPENING_WORDS and _ERROR_OPENING.match(start):
        return True
    if "failed" in start and _FAILED.match(start):
        return True
    if word.endswith(("error", "exception")) or word[:1] == "e":
        return opens_with_exception(case.head)
    return False


def opens_with_exception(text: str) -> bool:
    """Whether a text begins with the name of an exception (``json.JSONDecodeError:``, ``ENOENT:``).

    In steps: one expression for all of it takes time that grows with the cube of a long word.
    """
    if _ERRNO_OPENING.match(text):
        return True
    found = _NAME_OPENING.match(text)
    name = found[1].rpartition(".")[2] if found else ""
    end = next((end for end in _EXCEPTION_ENDS if name.endswith(end)), "")
    return bool(end and _CAPITAL.search(name, 0, len(name) - len(end)))


def short_complaint(case: Case) -> Outcome | None:
    """A short answer that says what went wrong."""
    if reads_like_complaint(case.result.text):
        return case.fail("short_complaint", _TEXTUAL)
    return None


def reads_like_complaint(text: str) -> bool:
    """Whether a text is short and its first line says what went wrong."""
    if len(text) > SHORT_CHARS:
        return False
    first = text.lstrip().partition("\n")[0]
    first = (first if len(first) <= 200 else first[:200]).lower()
    if TRIGGERS.isdisjoint(first.split()) or first[0] in _NOT_PROSE:
        return False
    if _FINE.match(first) or _CITATION.match(first):
        return False
    return contains_grouped(_QUOTED.sub("", first), _SHORT_COMPLAINT_GROUPS)


NOTHING_WRONG = Outcome(status=Status.OK, certainty=_TEXTUAL, evidence="nothing_wrong")
"""The outcome where no rule found a sign of failure."""

RULES = (opens_like_error, short_complaint)
SHELL_RULES = (silent_search, speaking_diff, command_complains)
CODE_RULES = (command_complains, *RULES)
