"""What the lanes have in common: short ways from a format to facts, for what is plain in it."""

from __future__ import annotations

from warmstart.facts.verdicts import encode_verdict
from warmstart.model import Request
from warmstart.outcome import judge

__all__ = ["UNANSWERED", "Unusual"]

UNANSWERED = encode_verdict(judge(Request(tool=""), None))
"""The verdict on a call until its result is met."""


class Unusual(Exception):  # noqa: N818 - no error: the reader takes over
    """What was met is not for a lane: the reader, which is slower, knows everything."""
