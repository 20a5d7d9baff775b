"""What most calls need instead of the rules: a few plain searches that find nothing wrong.

Each answer here is the one that the rules give, and whatever is not plain is left to them (None).
Only successes are answered: nine calls in ten are one, and running the rules on such a call costs
several times more. Nothing here may decide differently from the rules; a test holds both together.
"""

from __future__ import annotations

import re
from string import ascii_letters, digits
from typing import Any

import orjson

from warmstart.model import Certainty, Outcome, Request, Result, Status
from warmstart.outcome.case import FIRST_WORD, HEAD_CHARS, POWERSHELLS, TAIL_CHARS, read_output
from warmstart.outcome.complaints import MASKED_GROUPS, is_uncomplaining
from warmstart.outcome.lines import ends_plainly, opens_plainly, opens_with_error
from warmstart.outcome.markers import (
    GIVING_UP_WORDS,
    HEAD_MARKERS,
    MARKER_CHARS,
    NOT_RUN,
    TIMED_OUT,
    find_end_code,
    find_head_code,
)
from warmstart.outcome.output import HEADER_LETTERS
from warmstart.outcome.phrases import contains_any, contains_grouped, group_phrases
from warmstart.outcome.refusals import REFUSAL_WORDS, find_refusal
from warmstart.outcome.shell import is_masked, list_programs, may_search
from warmstart.outcome.signatures import sign_with
from warmstart.outcome.speakers import only_fetch
from warmstart.outcome.structure import fields_at_ends, says_nothing, unescape
from warmstart.outcome.tools import ToolKind, command_of
from warmstart.outcome.words import (
    CONTENT_OPENINGS,
    NOTHING_WRONG,
    OPENING_WORDS,
    SHORT_CHARS,
    reads_like_complaint,
)

__all__ = ["find_plain"]


def _ok(evidence: str, certainty: Certainty, **fields: Any) -> Outcome:
    return Outcome(status=Status.OK, certainty=certainty, evidence=evidence, **fields)


_STRUCTURAL = Certainty.STRUCTURAL
JSON_SUCCESS = _ok("json_success", _STRUCTURAL)
JSON_EXIT = _ok("json_exit_code", _STRUCTURAL, exit_code=0)
JSON_EXIT_MASKED = _ok("json_exit_code", _STRUCTURAL, exit_code=0, masked=True)
EXIT_ZERO = {
    evidence: _ok(evidence, _STRUCTURAL, exit_code=0)
    for evidence in ("exit_marker", "marker_left_out")
}
EXIT_ZERO_MASKED = {
    evidence: _ok(evidence, _STRUCTURAL, exit_code=0, masked=True) for evidence in EXIT_ZERO
}
"""The outcome of a command that exited zero, by the rule that found it out."""
EXIT_FIELD, EXIT_FIELD_MASKED = (
    {
        flag: _ok(
            "exit_field", Certainty.EXPLICIT, harness_error=flag, exit_code=0, masked=is_hidden
        )
        for flag in (None, False)
    }
    for is_hidden in (False, True)
)
"""The outcome of a zero in a field, by the flag that the harness set."""
FLAGGED_OK = _ok("harness_flags_success", Certainty.EXPLICIT, harness_error=False)
FLAGGED_OK_MASKED = _ok(
    "harness_flags_success", Certainty.EXPLICIT, harness_error=False, exit_code=0, masked=True
)
_SHELL, _CODE = ToolKind.SHELL, ToolKind.CODE

_TELLING = frozenset({
    "exit_code", "exitCode", "returncode", "metadata", "error", "success", "ok", "isError",
    "is_error", "status",
})  # fmt: skip
"""Fields of an answer that the rules look at."""
_LEFT_OUT = frozenset({
    "exit_code", "exitCode", "returncode", "metadata", "isError", "is_error",
})  # fmt: skip
"""Of these, what is left to the rules."""
_FAILED_WORDS = ("error", "failed", "failure")
_HEADS = ('{"success"', '{"error"', '{"status"', '{"ok"')
_HEAD_STATUS = '{"status": "'
_HEAD_SUCCESS = '{"success": true'
_HEAD_RAN = '{"status": "success"'
_TAIL_EXIT = '", "exit_code": 0, "error": null}'
_LISTS = ("[{", "[]", '"{', "[[{")
_LIST_OPENINGS = ("[", '"')
_BLANKS = (" ", "\t")
_END_CHARS = 500
"""How much of a long object's end the rules look at."""

_OPENING = re.compile(r"(?![{<\s]|\[[A-Z])[^\w{]{0,6}((?:[Tt]he )?[\w']+)")
_FINE_OPENING = re.compile(
    r"No (?:files|matches) found|Found \d+ (?:file|line|result)|File created successfully"
    r"|User has answered|Exit code: 0\n"
)
"""Answers that begin with a suspect word and mean no harm."""
_HARNESS_WORDS = REFUSAL_WORDS | GIVING_UP_WORDS
_HARNESS_LETTERS = {word[0] for word in _HARNESS_WORDS}
_SUSPECT_WORDS = OPENING_WORDS | _HARNESS_WORDS
_PRINTED_LETTERS = frozenset(
    letter for letter in ascii_letters if letter.lower() not in _HARNESS_LETTERS
)
_PRINTED_OPENINGS = frozenset(" \t{/.0123456789-+=#*|") | _PRINTED_LETTERS
"""How output begins, and no sentence of a harness."""
_MARKER_LETTERS = {mark[0].lower() for mark in HEAD_MARKERS}
_OUTPUT_LETTERS = frozenset(digits) | {
    letter for letter in _PRINTED_LETTERS if letter.lower() not in _MARKER_LETTERS
}
"""How output begins that has neither a sentence of a harness nor an exit code above it."""
_WRAPPINGS = ("", "{", "<", "[")
_HEADED = ("<", "Chunk ")
_START_CHARS = 300

_NEAR_CHARS = 400
NEAR_WORDS = (
    "rror", "ail", "sh:", "issue", "no tests", "reformat", "terminated", "merge", "apply",
    "ignored", "xit", "xception", "raceback", "hunk", "Oh no", "RROR", "AIL", "LIFECYCLE",
    "CONFLICT", "Aborting", "rejected", "(eval)", '  File "', "***", "\tpass\t", "\tpending\t",
)  # fmt: skip
"""What must stand near the end for any rule on complaints that needs words, except ``_LINE``."""
_NEAR_GROUPS = group_phrases(NEAR_WORDS)
_CONTENT_GROUPS = group_phrases(("sh:", "(eval)", "\tfail\t", "\tpass\t", "\tpending\t"))
"""What the rules need that count even where all programs print content."""
_LINE = "line "
_SHELL_WORDS = ("sh:", "(eval)", "-c: line")
"""What a shell's own complaint holds in the lines for which the word above is enough."""
_WRAPPED_ENDS = (">", "]")
"""How something ends that a harness may have put below the output."""
_GIT_NAMES = ("fatal", "error")
"""What git's complaints begin with."""
_OTHER_BREAKS = ("\r", "\v", "\f", "\x1c", "\x1d", "\x1e")
"""What ends a line too, among the ASCII characters."""


def find_plain(kind: ToolKind, request: Request, result: Result, origin: str) -> Outcome | None:
    """The outcome of a call that plainly went well; None to run the rules."""
    if result.status is not None:
        return None
    if result.exit_code is not None:
        return _find_exit_field(kind, request, result)
    if result.is_error is not None:
        return None if result.is_error else _find_flagged(kind, request, result.text)
    if kind is _SHELL:
        return _find_for_shell(request, result.text, origin)
    return _find_for_others(kind, result.text)


def _find_exit_field(kind: ToolKind, request: Request, result: Result) -> Outcome | None:
    """A zero in the source's own field for exit codes."""
    if result.exit_code != 0 or result.is_error:
        return None
    line = command_of(request.arguments) if kind is _SHELL else ""
    if not is_masked(line) or request.tool in POWERSHELLS:
        return EXIT_FIELD[result.is_error]
    text = result.text
    if text[:1] in HEADER_LETTERS or not _hides_nothing(line, text):
        return None
    return EXIT_FIELD_MASKED[result.is_error]


def _find_flagged(kind: ToolKind, request: Request, text: str) -> Outcome | None:
    """A result that the harness flags as a success; only a shell may still show a failure."""
    if kind is not _SHELL:
        return FLAGGED_OK
    if text[:4] in HEAD_MARKERS or "xit" in text[-MARKER_CHARS:]:
        return None
    line = command_of(request.arguments)
    if not is_masked(line) or request.tool in POWERSHELLS:
        return FLAGGED_OK
    if text[:1] in HEADER_LETTERS or not _hides_nothing(line, text):
        return None
    return FLAGGED_OK_MASKED


def _find_for_shell(request: Request, text: str, origin: str) -> Outcome | None:
    line = command_of(request.arguments)
    if origin == "claude_code" and request.tool == "Bash":
        evidence = "exit_marker"
        code = find_head_code(text)
        if code is None and not _opens_like_harness(text):
            code, evidence = 0, "marker_left_out"
        return _find_zero(request.tool, line, text, evidence) if code == 0 else None
    if text[:2] == '{"':
        return _find_json_exit(request.tool, line, text)
    if find_head_code(text) == 0:
        return _find_zero(request.tool, line, text, "exit_marker")
    if origin == "claude_code" or request.tool in POWERSHELLS:
        return None
    return NOTHING_WRONG if _is_plain_print(line, text) else None


def _find_zero(tool: str, line: str, text: str, evidence: str) -> Outcome | None:
    """A command whose exit code is a zero in plain sight."""
    if not is_masked(line) or tool in POWERSHELLS:
        return EXIT_ZERO[evidence]
    return EXIT_ZERO_MASKED[evidence] if _hides_nothing(line, text) else None


def _find_json_exit(tool: str, line: str, text: str) -> Outcome | None:
    """A shell's answer with the exit code zero in a field, and no other marker at its end."""
    end = text[-MARKER_CHARS:]
    if tool in POWERSHELLS or "xit c" in end or "xit C" in end or "xited" in end:
        return None
    if len(text) <= TAIL_CHARS:
        data = _load_object(text)
        if data is None:
            return None
    elif text.endswith(_TAIL_EXIT) and not text.startswith(_HEADS):
        last = text[-_END_CHARS : -len(_TAIL_EXIT)]
        # A key there may be one that the rules read.
        data = {"exit_code": 0, "output": None if '":' in last else unescape(last)}
    else:
        data = fields_at_ends(text[:HEAD_CHARS], text[-TAIL_CHARS:])
    code = data.get("exit_code")
    if code.__class__ is not int or code or data.get("error") or data.get("status") == "blocked":
        return None
    if not is_masked(line):
        return JSON_EXIT
    printed = data.get("output")
    if not isinstance(printed, str) or not printed:
        return None
    # What harnesses put around an output shifts the windows that are looked at.
    if printed[0] in HEADER_LETTERS or printed[-1] in _WRAPPED_ENDS or "\x1b" in printed:
        return None
    plain = printed.lstrip("\r\n").rstrip()
    return JSON_EXIT_MASKED if _hides_nothing(line, plain) else None


def _hides_nothing(line: str, printed: str) -> bool:
    """Whether a command that hides its exit code printed no sign of a failure."""
    return "$?" not in line and "$LASTEXITCODE" not in line and _is_plain_output(printed)


def _load_object(text: str) -> dict[str, Any] | None:
    """The object that a text is, or begins with; a harness may have put words after it."""
    try:
        data = orjson.loads(text)
    except orjson.JSONDecodeError:
        if text[-1] == "}":
            return None
        try:
            data = orjson.loads(text[: text.rfind("}") + 1])
        except orjson.JSONDecodeError:
            return None
    return data if data.__class__ is dict else None


def _find_for_others(kind: ToolKind, text: str) -> Outcome | None:
    if text[:2] == '{"':
        found = _read_end_fields(text) if len(text) > TAIL_CHARS else _read_object(text)
        if found is not NOTHING_WRONG or kind is not _CODE:
            return found
        if '"status"' in text:
            return JSON_SUCCESS if text.startswith(_HEAD_RAN) else None
        # The rules read such an object as output.
        return found if "\n" not in text and _is_quiet(text) else None
    if not _is_plain_answer(text):
        return None
    return NOTHING_WRONG if kind is not _CODE or not text or _is_quiet(text) else None


def _read_object(text: str) -> Outcome | None:
    """What the fields of a short object say, unless they say failure or hold an exit code."""
    data = _load_object(text)
    if data is None:
        return None
    if _TELLING.isdisjoint(data):
        return NOTHING_WRONG
    if not _LEFT_OUT.isdisjoint(data):
        return None
    success, fine = data.get("success"), data.get("ok")
    if success is False or fine is False or data.get("error"):
        return None
    status = data.get("status")
    if status is not None and (status.__class__ is not str or status in _FAILED_WORDS):
        return None
    is_said = "error" in data or success is True or fine is True
    return JSON_SUCCESS if is_said else NOTHING_WRONG


def _read_end_fields(text: str) -> Outcome | None:
    """What the first field and the last ones of a long object say; it is not parsed."""
    # After the closing brace a harness may have put words of its own, which move the window.
    end = text[-_END_CHARS:] if text[-1] == "}" else text[-TAIL_CHARS:]
    if '"error"' in end or '"exit' in end or '"returncode"' in end:
        return None
    if not text.startswith(_HEADS) or text.startswith(_HEAD_STATUS):
        return NOTHING_WRONG
    return JSON_SUCCESS if text.startswith(_HEAD_SUCCESS) else None


def _is_plain_answer(text: str) -> bool:
    """Whether an answer of a tool that is not a shell neither opens nor reads like a complaint."""
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
    """Whether an answer that begins as content does is plain; an object may follow blanks."""
    if text[0] in _BLANKS and text[:80].lstrip()[:1] == "{":
        return False
    return len(text) > SHORT_CHARS or not reads_like_complaint(text)


def _opens_like_complaint(text: str) -> bool:
    """Whether a rule on openings may apply."""
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


def _opens_like_harness(text: str) -> bool:
    """Whether a result may be a sentence of the harness: a refusal, a tag, a timeout."""
    if not text or text[0] in _PRINTED_OPENINGS:
        return False
    found = _OPENING.match(text, 0, 80)
    return found is None or found[1].lower() in _HARNESS_WORDS


def _is_plain_output(text: str) -> bool:
    """Whether what a command printed holds no word that a complaint overruling a zero needs."""
    if contains_grouped(text[-_NEAR_CHARS:], MASKED_GROUPS):
        return False
    start = 0
    if text.startswith(_HEADED):
        start = text.find("<output>" if text[0] == "<" else "Output:\n", 0, _START_CHARS) + 8
    return not opens_with_error(text[start : start + 80].lstrip().lower())


def _is_plain_print(line: str, text: str) -> bool:
    """Whether a command without a known exit code printed nothing that a rule could find."""
    if not text:
        return not may_search(line)
    end = text[-MARKER_CHARS:]
    if "xit" in end and find_end_code(end, line) is not None:
        return False
    if "diff" in line or "cmp" in line or "commit" in line or not _is_output(text):
        return False
    programs = list_programs(line)
    return _is_unsigned(text, line, programs) and _is_quiet(text, programs)


def _is_output(text: str) -> bool:
    """Whether a shell's result is output and nothing else: no header, no sentence of a harness."""
    opening = text[:1]
    if opening in _OUTPUT_LETTERS:
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


def _is_unsigned(text: str, line: str, programs: tuple[str, ...]) -> bool:
    """Whether no line at the ends of a text begins with the name of a program of the command."""
    if len(text) > TAIL_CHARS:
        if not _is_unsigned(text[:HEAD_CHARS], line, programs):
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


def _is_quiet(text: str, programs: tuple[str, ...] = ()) -> bool:
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
    """Whether one of the last two lines may be a shell's own complaint."""
    final = tail.rfind("\n")
    start = tail.rfind("\n", 0, final) + 1 if final > 0 else 0
    if final > 0 and not tail[start:final].strip():
        return True  # a blank line between: the last two are harder to find
    return contains_any(tail[start:].lower(), _SHELL_WORDS)
