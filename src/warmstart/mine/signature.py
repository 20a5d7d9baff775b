"""An error's text with everything that varies taken out, so that the same fault counts as one."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from warmstart.mine.trivial import is_outside_call, is_trivial
from warmstart.mine.volatile import IN_TEXT
from warmstart.model import ErrorClass, Request, Session

MAX_SIGNATURE = 120
MAX_MESSAGE = 100
MIN_VALUE = 3
SCANNED_CHARS = 4000
WORDS = {
    ErrorClass.NOT_FOUND: "not found",
    ErrorClass.PERMISSION: "permission denied",
    ErrorClass.TIMEOUT: "timed out",
    ErrorClass.SYNTAX: "syntax error",
    ErrorClass.BAD_ARGUMENTS: "arguments refused",
    ErrorClass.UNKNOWN_TOOL: "no such tool",
    ErrorClass.NONZERO_EXIT: "failing exit code",
    ErrorClass.NETWORK: "network failure",
    ErrorClass.RATE_LIMIT: "rate limit",
    ErrorClass.CONFLICT: "conflict with the present state",
    ErrorClass.TEST_FAILURE: "tests or checks failed",
    ErrorClass.CRASH: "crash or error output",
    ErrorClass.OTHER: "other failure",
}
"""Error classes as a sentence would name them."""
_GENERAL = frozenset({ErrorClass.TEST_FAILURE})
"""What such a failure printed is about the user's code, not about how the tool was called."""
_TAGS = re.compile(r"</?[a-z][\w-]*>")
_MARKER = re.compile(
    r"^(?:Exit code:? -?\d+|\[?exit code:? ?-?\d+\]?|Error:?|Chunk ID: \w+|Wall time: .*|Output:"
    r"|Original token count: \d+|Process exited with code -?\d+)$",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"\"[^\"\n]{1,200}\"|'[^'\n]{1,200}'|`[^`\n]{1,200}`")
_MASKED = re.compile(r"<SECRET:[a-z0-9_]{1,40}:\d{1,9}>")
_NUMBERS = re.compile(r"\b\d[\d.,]*\b")
_COMPLAINT = re.compile(
    r"error|fail|not found|no such|cannot|can't|denied|invalid|unknown|unexpected|does not|did not"
    r"|no match|missing|refused|exceed|timed? ?out|conflict|fatal|must |modified|already ",
    re.IGNORECASE,
)
_JSON_OUTPUT = re.compile(r"^\{\"(?:output|stdout|result)\"\s*:\s*\"((?:[^\"\\]|\\.){4,4000})")
_JSON_FIELD = re.compile(r"\"(?:error|message|stderr)\"\s*:\s*\"((?:[^\"\\]|\\.){4,400})")


def make_signature(request: Request, error_class: ErrorClass, text: str) -> str:
    """One line that is the same for the same fault; only the class where text is not ours."""
    if error_class in _GENERAL or is_outside_call(request.tool, request.arguments):
        return WORDS[error_class]
    line = complaint_line(text)
    line = _QUOTED.sub("<value>", _MASKED.sub("<secret>", line))
    line = IN_TEXT.sub(lambda match: f"<{match.lastgroup or 'path'}>", line)
    line = " ".join(_NUMBERS.sub("<n>", _hide_values(line, request)).split())
    return line[:MAX_SIGNATURE] or WORDS[error_class]


def _hide_values(line: str, request: Request) -> str:
    """What the call itself named is not part of the fault, quoted or not."""
    named = [value for value in request.arguments.values() if isinstance(value, str)]
    for value in sorted(named, key=len, reverse=True):
        if MIN_VALUE <= len(value) <= MAX_SIGNATURE:
            line = re.sub(rf"(?<![\w<]){re.escape(value)}(?![\w>])", "<value>", line)
    return line


def complaint_line(text: str) -> str:
    """The line of a result that says what went wrong, else its first one."""
    head = text[:SCANNED_CHARS]
    field = _JSON_FIELD.search(head) or _JSON_OUTPUT.search(head)
    if field:
        head = field[1].replace("\\n", "\n").replace('\\"', '"')
    lines = [_TAGS.sub("", line).strip() for line in head.splitlines()]
    lines = [line for line in lines if line and not _MARKER.match(line)]
    lines = [line for line in lines if not line.startswith(("$ ", "> ", "+ "))] or lines
    if not lines:
        return ""
    return next((line for line in lines[:12] if _COMPLAINT.search(line)), lines[0])


def common_messages(sessions: Iterable[Session]) -> dict[tuple[str, ErrorClass], tuple[str, int]]:
    """For each tool and class of error its commonest message, and how often it was seen."""
    counts: dict[tuple[str, ErrorClass], Counter[str]] = {}
    for session in sessions:
        for call in session.calls:
            kind = call.outcome.error_class
            if kind is not None and call.result is not None and not is_trivial(call.tool):
                text = make_signature(call.request, kind, call.result.text)
                if _COMPLAINT.search(text):
                    counts.setdefault((call.tool, kind), Counter())[_first_sentence(text)] += 1
    return {
        key: min(found.items(), key=lambda item: (-item[1], item[0]))
        for key, found in counts.items()
    }


def _first_sentence(text: str) -> str:
    head = text.partition(". ")[0]
    return head if len(head) <= MAX_MESSAGE else head[:MAX_MESSAGE].rpartition(" ")[0] + " …"
