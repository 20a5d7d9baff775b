"""Marks on messages of the live store: what was put there by a warm start, how a tool ended.

They are in ``effect_disposition``, a column that Hermes' schema has and its agent leaves empty.
A writer that knows more than the text of a message records it here, and the reader takes it over.
The ending of a tool is up to three words: ``ok`` or ``error`` (the harness's own flag),
``exit=3`` (the exit code it kept), and the status where that is neither success nor failure.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from warmstart.model import Status

WARMUP_MARK = "warmup"
_FLAGS = {"ok": False, "error": True}
_EXIT = re.compile(r"exit=(-?\d{1,9})")
_ENDINGS = {
    str(status): status for status in (Status.REJECTED, Status.CANCELLED, Status.UNANSWERED)
}


class Mark(NamedTuple):
    """A mark's contents; all empty if there is none, or one of another program."""

    is_warmup: bool = False
    is_error: bool | None = None
    exit_code: int | None = None
    status: Status | None = None
    """``unanswered`` marks a row in place of a result that never came."""


NO_MARK = Mark()


def mark_ending(
    *, is_error: bool | None, exit_code: int | None = None, status: Status | None = None
) -> str | None:
    """The mark of a tool result whose ending its harness knows; None if it knows nothing."""
    words = [] if is_error is None else ["error" if is_error else "ok"]
    if exit_code is not None and _EXIT.fullmatch(f"exit={exit_code}"):
        words.append(f"exit={exit_code}")
    if status in _ENDINGS.values():
        words.append(str(status))
    return " ".join(words) or None


def read_mark(value: object) -> Mark:
    """The mark in a cell."""
    if not isinstance(value, str) or not value:
        return NO_MARK
    if value == WARMUP_MARK:
        return Mark(is_warmup=True)
    mark = NO_MARK
    for word in value.split(" "):
        found = _EXIT.fullmatch(word)
        if word in _FLAGS:
            mark = mark._replace(is_error=_FLAGS[word])
        elif found is not None:
            mark = mark._replace(exit_code=int(found[1]))
        elif word in _ENDINGS:
            mark = mark._replace(status=_ENDINGS[word])
        else:
            return NO_MARK
    return mark
