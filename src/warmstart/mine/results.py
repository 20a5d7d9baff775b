"""How much of a result an example shows: its two ends, never its bulk.

Results of tools that reach outside are not shown at all.
"""

from __future__ import annotations

import re
from typing import Any

import orjson

from warmstart.mine.abstract import Abstraction
from warmstart.mine.trivial import is_outside_call
from warmstart.model import Request
from warmstart.outcome import ToolKind, kind_of

LEFT_OUT = "[result left out: text from outside]"
NOTHING = "[no output]"
MAX_RESULT = 480
SCANNED_CHARS, SCANNED_TAIL = 4000, 1000
MAX_DOCUMENT = 20_000
HEAD_LINES, TAIL_LINES = 4, 4
READER_LINES = 4
MAX_LINE = 140
_METERS = ("Chunk ID: ", "Wall time: ", "Original token count: ")
"""Lines a harness measures with; they say nothing about the call."""
_NOISE = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|<system-reminder>.*?(?:</system-reminder>|$)", re.DOTALL
)
"""Colours, and what a harness adds to results in nobody's name."""


def describe_result(
    request: Request, text: str, abstraction: Abstraction, *, keep_outside: bool = False
) -> str:
    """What is shown of a result, with the placeholders of its example.

    A tool that answers with a JSON document answers with data about someone: its structure is
    what can be learned, so its values are abstracted one by one.
    """
    shown = show_result(request, text, keep_outside=keep_outside)
    if shown in (LEFT_OUT, NOTHING):
        return shown
    document = _parse(text) if kind_of(request.tool) is ToolKind.OTHER else None
    if document is None:
        return abstraction.text(shown)
    plain = orjson.dumps(abstraction.data(document), default=str, option=orjson.OPT_NON_STR_KEYS)
    return _fit(plain.decode("utf-8", "replace"))


def _parse(text: str) -> Any:
    """The object or list a text is; None where it is none."""
    if len(text) > MAX_DOCUMENT or not text.lstrip().startswith(("{", "[")):
        return None
    try:
        return orjson.loads(text)
    except ValueError:
        return None


def show_result(request: Request, text: str, *, keep_outside: bool = False) -> str:
    """What is shown of a result; nothing of what strangers wrote, unless it was asked for."""
    if not keep_outside and is_outside_call(request.tool, request.arguments):
        return LEFT_OUT
    return _cut(request.tool, text)


def _cut(tool: str, text: str) -> str:
    """A reader's content only begins, a command's output also ends."""
    lines = [_cut_line(line) for line in _NOISE.sub("", text[:SCANNED_CHARS]).splitlines()]
    lines = [line for line in lines if line.strip() and not line.startswith(_METERS)]
    if not lines:
        return NOTHING
    if len(text) > SCANNED_CHARS:
        lines += [_cut_line(line) for line in _NOISE.sub("", text[-SCANNED_TAIL:]).splitlines()[1:]]
    if kind_of(tool) is ToolKind.READER:
        head, tail = READER_LINES, 0
    else:
        head, tail = HEAD_LINES, TAIL_LINES
    if len(lines) > head + tail + 1:
        ending = lines[len(lines) - tail :] if tail else []
        lines = [*lines[:head], f"[… {len(lines) - head - tail} more lines]", *ending]
    return _fit("\n".join(lines))


def _cut_line(line: str) -> str:
    return line if len(line) <= MAX_LINE else line[: MAX_LINE - 1] + "…"


def _fit(text: str) -> str:
    if len(text) <= MAX_RESULT:
        return text
    half = MAX_RESULT // 2
    return f"{text[:half].rstrip()}\n[…]\n{text[-half:].lstrip()}"
