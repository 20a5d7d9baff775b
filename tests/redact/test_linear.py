"""Texts made to be slow: twice the length is about twice the work, in steps of the same run."""

from __future__ import annotations

import time

import pytest

from warmstart.redact import redact
from warmstart.redact.injection import find_instructions

PIECES = [
    "A", "-", "\\", "%25", "password=", "token ", "://a:", "-eyJaaaa", "glpat-xxxx", "Cookie: a=",
    "-----BEGIN PRIVATE KEY-----", "a.b@c.", "/home/a", "+1 ", "mysql ", "<SECRET:", "ignore all ",
    "authorization", "\u200b", "1-", "Private-Lines: 1\n", "before you do ", "eyJaaaa", "eyJ",
    "1234567:AA", "AKIA", "AIza", "Q~", "sk-T3BlbkFJ", "SGSG.",
]  # fmt: skip
SIZE = 12_000
MAX_RATIO = 3.2
"""Linear is 2, quadratic 4; the rest is for a busy machine."""


def cost(text: str) -> float:
    best = float("inf")
    for _ in range(3):
        start = time.process_time()
        redact(text, pii=True)
        find_instructions(text)
        best = min(best, time.process_time() - start)
    return best


@pytest.mark.parametrize("piece", PIECES)
def test_no_text_is_slow_to_redact(piece: str) -> None:
    text = piece * (SIZE // len(piece))
    for _ in range(3):
        ratio = cost(text * 2) / max(cost(text), 0.002)
        if ratio <= MAX_RATIO:
            return
    pytest.fail(f"twice the text takes {ratio:.1f} times as long")
