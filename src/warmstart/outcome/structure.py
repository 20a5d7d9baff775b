"""Rules on shapes that only a tool or its harness writes: result JSON, tags, exit-code markers."""

from __future__ import annotations

import json
import re
from typing import Any

import orjson

from warmstart.model import Certainty, ErrorClass, Outcome, Status
from warmstart.outcome.case import TAIL_CHARS, Case
from warmstart.outcome.explicit import judge_exit
from warmstart.outcome.markers import GIVING_UP_WORDS, NOT_RUN, TIMED_OUT, find_exit_code
from warmstart.outcome.phrases import contains_any
from warmstart.outcome.refusals import REFUSAL_WORDS, find_refusal
from warmstart.outcome.tools import ToolKind

_STRUCTURAL = Certainty.STRUCTURAL
_ERROR_TAGS = ("<tool_use_error>", "<error>", "<exception>")
_CLEARED = ("[Old tool result content cleared", "[Duplicate tool output", "[Tool result cleared")
_TAIL_FIELD = re.compile(
    r'(?<!\\)"(?P<key>exit_code|exitCode|returncode|error|exit_code_meaning)":\s*'
    r'(?P<value>null|true|false|-?\d+|"(?:[^"\\]|\\.){0,400})'
)
_HEAD_FIELD = re.compile(
    r'\A\{\s*"(?P<key>success|error|status|ok)":\s*(?P<value>true|false|null|"[^"]*)'
)
_PYTHON_FAILURE = re.compile(
    r"\{'(?:error|err)': (?!None|''|False|\{\}|\[\])|\{'(?:success|ok)': False|\{'status': 'error'"
)
_RUNNING = re.compile(r"^Process running with session ID", re.MULTILINE)
_FAILED_WORDS = frozenset({"error", "failed", "failure"})
_REASONS = frozenset({"message", "detail", "reason", "error_message", "description"})
_COMPLAINT_KEYS = ("error", *sorted(_REASONS))
_DECODER = json.JSONDecoder()
_END_CHARS = 500
_TAIL_KEYS = ('"exit', '"returncode"', '"error"')
_EXIT_KEYS = ("exit_code", "exitCode", "returncode")
_TELLING_KEYS = frozenset(
    {*_EXIT_KEYS, "metadata", "error", "success", "ok", "isError", "is_error"}
)
_TELLING_PARTS = (
    "\\", 'rror"', '"fail', '"success"', '"ok"', '"exit', '"returncode"', '"metadata"',
)  # fmt: skip
"""An object with a telling field, or a status that says failure, holds one of these."""


def cleared_result(case: Case) -> Outcome | None:
    """A compaction replaced the result; its text is gone."""
    if case.head.startswith(_CLEARED):
        return case.end(Status.UNKNOWN, "cleared_result", _STRUCTURAL)
    return None


def refusal_text(case: Case) -> Outcome | None:
    """The result is the harness saying that the call was not carried out."""
    if case.opening() not in REFUSAL_WORDS:
        return None
    refusal = find_refusal(case.head)
    if refusal is None or (case.kind is ToolKind.READER and len(case.result.text) > 2000):
        return None
    return case.end(refusal.status, refusal.name, _STRUCTURAL, reason=refusal.reason)


def error_tag(case: Case) -> Outcome | None:
    """The harness wrapped the result in an error tag."""
    if case.head.startswith(_ERROR_TAGS):
        code = find_exit_code(case) if case.kind is ToolKind.SHELL else None
        return case.fail("error_tag", _STRUCTURAL, exit_code=code)
    return None


def python_answer(case: Case) -> Outcome | None:
    """The result is the text of a Python dict whose first field says how it went."""
    if _PYTHON_FAILURE.match(case.head):
        return case.fail("python_answer", _STRUCTURAL)
    return None


def still_running(case: Case) -> Outcome | None:
    """The command was started and goes on; there is no exit code yet."""
    if case.head.startswith(("Chun", "Wall")) and _RUNNING.search(case.head[:300]):
        return case.end(Status.OK, "still_running", _STRUCTURAL, reason="still running")
    return None


def exit_marker(case: Case) -> Outcome | None:
    """The harness wrote the exit code into the text."""
    code = find_exit_code(case)
    return None if code is None else judge_exit(case, code, "exit_marker", _STRUCTURAL)


def harness_gave_up(case: Case) -> Outcome | None:
    """The harness stopped waiting for the tool, or could not start it."""
    if case.opening() not in GIVING_UP_WORDS:
        return None
    start = case.head[:80]
    if TIMED_OUT.match(start):
        return case.fail("harness_gave_up", _STRUCTURAL, error_class=ErrorClass.TIMEOUT)
    if case.kind is ToolKind.SHELL and NOT_RUN.match(start):
        return case.fail("harness_gave_up", _STRUCTURAL)
    return None


def marker_left_out(case: Case) -> Outcome | None:
    """Claude Code writes ``Exit code N`` above every failing command, so its absence is a zero."""
    if case.origin != "claude_code" or case.request.tool not in ("Bash", "PowerShell"):
        return None
    return judge_exit(case, 0, "marker_left_out", _STRUCTURAL)


def json_answer(case: Case) -> Outcome | None:
    """The result is a JSON object with fields that say how it went."""
    data = _load_answer(case)
    if data is None:
        return None
    code = _exit_code_in(data)
    if code is not None:
        return _judge_json_exit(case, data, code)
    if case.kind is ToolKind.SHELL:
        return None  # a command printed JSON; what that says is the command's business
    if _says_failure(data):
        refusal = find_refusal(str(data.get("error") or data.get("message") or ""))
        if refusal is not None:
            return case.end(refusal.status, refusal.name, _STRUCTURAL, reason=refusal.reason)
        return case.hear(complaint_in(data)).fail("json_error", _STRUCTURAL)
    if _says_success(case, data):
        return case.end(Status.OK, "json_success", _STRUCTURAL)
    return None


def _says_success(case: Case, data: dict[str, Any]) -> bool:
    """A program that ran says so by its status; elsewhere the word may be part of the content."""
    if "error" in data or data.get("success") is True or data.get("ok") is True:
        return True
    return case.kind is ToolKind.CODE and data.get("status") == "success"


def says_nothing(text: str) -> bool:
    """Whether a text is an object, of JSON or Python, none of whose fields would be looked at."""
    if text[1:2] == "'":
        return not _PYTHON_FAILURE.match(text)
    if len(text) > TAIL_CHARS:
        # Behind the closing brace a harness may have put words of its own.
        end = text[-_END_CHARS:] if text[-1] == "}" else text[-TAIL_CHARS:]
        return not (contains_any(end, _TAIL_KEYS) or _HEAD_FIELD.match(text))
    if not contains_any(text, _TELLING_PARTS):
        return True
    try:
        data = orjson.loads(text)
    except orjson.JSONDecodeError:
        return False
    if not isinstance(data, dict) or not _TELLING_KEYS.isdisjoint(data):
        return False
    status = data.get("status")
    return not isinstance(status, str) or status not in _FAILED_WORDS


def _judge_json_exit(case: Case, data: dict[str, Any], code: int) -> Outcome:
    meaning = str(data.get("exit_code_meaning") or "")
    if code and ("not an error" in meaning or "expected" in meaning):
        return case.end(Status.OK, "benign_exit", _STRUCTURAL, exit_code=code, reason=meaning[:200])
    error = data.get("error")
    if data.get("status") == "blocked" or find_refusal(str(error or "")):
        return case.end(
            Status.REJECTED, "policy_rejected", _STRUCTURAL, exit_code=code, reason="it was blocked"
        )
    if error and code == 0:
        return case.hear(complaint_in(data)).fail("json_error", _STRUCTURAL)
    return judge_exit(case.hear(printed_in(data)), code, "json_exit_code", _STRUCTURAL)


def printed_in(data: dict[str, Any]) -> str:
    """What the command printed, or the complaint that stands in its place."""
    printed = data.get("output")
    return printed if isinstance(printed, str) and printed else complaint_in(data)


def complaint_in(data: dict[str, Any]) -> str:
    """What an answer says went wrong, without the names of its fields."""
    for key in _COMPLAINT_KEYS:
        value = data.get(key)
        if value:
            return value if isinstance(value, str) else str(value)[:1000]
    return ""


def _exit_code_in(data: dict[str, Any]) -> int | None:
    metadata = data.get("metadata")
    for holder in (data, metadata if isinstance(metadata, dict) else {}):
        for key in _EXIT_KEYS:
            value = holder.get(key)
            if isinstance(value, int) and not isinstance(value, bool):
                return value
    return None


def _says_failure(data: dict[str, Any]) -> bool:
    if data.get("error") or data.get("success") is False or data.get("ok") is False:
        return True
    if data.get("isError") is True or data.get("is_error") is True:
        return True
    status = data.get("status")
    return isinstance(status, str) and status in _FAILED_WORDS and not _REASONS.isdisjoint(data)


def _load_answer(case: Case) -> dict[str, Any] | None:
    """The result as an object: parsed where it is short, else the fields at its two ends."""
    head = case.head
    start_at = _skip_envelope(head)
    if start_at < 0:
        return None
    if case.kind is ToolKind.SHELL and not contains_any(case.tail, _EXIT_KEYS):
        return None  # a command printed JSON; only a harness adds the exit code
    if case.short:
        return _parse_object(head[start_at:])
    return fields_at_ends(head[start_at:], case.tail)


def _skip_envelope(head: str) -> int:
    """Where the JSON begins: behind white space and an ``<untrusted…>`` tag with its preamble."""
    start = head.find("{")
    before = head[:start] if start >= 0 else ""
    is_envelope = not before.strip() or before.startswith("<untrusted")
    is_json = start >= 0 and head[start + 1 : start + 2] != "'"  # a Python dict is none
    return start if is_json and is_envelope else -1


def _parse_object(text: str) -> dict[str, Any] | None:
    try:
        data = orjson.loads(text)
    except orjson.JSONDecodeError:
        try:  # a harness may append a warning behind the object
            data, _ = _DECODER.raw_decode(text)
        except (ValueError, RecursionError):
            return None
    return data if isinstance(data, dict) else None


def fields_at_ends(head: str, tail: str) -> dict[str, Any]:
    """The first field and the last ones of a long object.

    Quotes inside strings are escaped, so a bare ``"error":`` is a key, and only one with nothing
    but the outer brace behind it belongs to the object itself.
    """
    data: dict[str, Any] = {}
    first = _HEAD_FIELD.match(head)
    if first:
        data[first["key"]] = _plain_value(first["value"])
    tail = tail[: tail.rfind("}") + 1]  # a harness may append a warning behind the object
    tail = tail[-_END_CHARS:]
    places = [place for place in map(tail.find, _TAIL_KEYS) if place >= 0]
    if not places:
        return data
    # Trying the expression at every character before would take most of the time.
    for found in _TAIL_FIELD.finditer(tail, min(places)):
        data.setdefault("output", unescape(tail[: found.start()]))
        key, behind = found["key"], tail[found.end() :]
        depth = 2 if key in _EXIT_KEYS else 1  # Codex nests it: {"output", "metadata": {…}}
        if "]" not in behind and behind.count("}") <= depth:
            data[key] = _plain_value(found["value"])
    return data


def unescape(text: str) -> str:
    """The end of a JSON string that began somewhere before, as it reads."""
    text = text.rstrip(', "')
    return text.replace("\\n", "\n").replace("\\t", "\t").replace('\\"', '"')


def _plain_value(text: str) -> Any:
    if text.startswith('"'):
        return text[1:]
    return orjson.loads(text)


ANY_OPENING = ""
RULES_BY_OPENING = {
    "{": (json_answer, python_answer),
    "<": (json_answer, refusal_text, error_tag),
    "[": (refusal_text, cleared_result, harness_gave_up),
    ANY_OPENING: (refusal_text, harness_gave_up),
}
"""Which shapes are worth looking for, by the first character of the result."""
SHELL_RULES = (exit_marker, still_running)
SHELL_LAST_RULES = (marker_left_out,)
