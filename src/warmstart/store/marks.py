"""Marks on messages of the live store: what was put there by a warm start, how a tool ended.

They stand in ``effect_disposition``, a column that Hermes' schema has and its agent leaves empty.
Whoever writes a session and knows more than its text says so here, and the reader believes it.
"""

from __future__ import annotations

import re
from typing import NamedTuple

WARMUP_MARK = "warmup"
_ENDING = re.compile(r"(ok|error)(?: exit=(-?\d{1,9}))?")


class Mark(NamedTuple):
    """What a mark says; all empty where there is none, or one of another program."""

    is_warmup: bool = False
    is_error: bool | None = None
    exit_code: int | None = None


NO_MARK = Mark()


def mark_ending(*, is_error: bool, exit_code: int | None = None) -> str:
    """The mark of a tool result whose ending its harness knows."""
    word = "error" if is_error else "ok"
    return word if exit_code is None else f"{word} exit={exit_code}"


def read_mark(value: object) -> Mark:
    """The mark in a cell."""
    if not isinstance(value, str):
        return NO_MARK
    if value == WARMUP_MARK:
        return Mark(is_warmup=True)
    found = _ENDING.fullmatch(value)
    if found is None:
        return NO_MARK
    code = None if found[2] is None else int(found[2])
    return Mark(is_error=found[1] == "error", exit_code=code)
