"""Ids and clocks that look minted at random and are the same on every run."""

from __future__ import annotations

import random
import string
from datetime import UTC, datetime

ALPHABET = string.digits + string.ascii_letters


class Mint:
    """Gives out ids, pauses and token counts for one session, all from its key."""

    def __init__(self, key: str, started: float) -> None:
        self._random = random.Random(f"warmstart-samples:{key}")  # noqa: S311 - must repeat
        self.now = started

    def hex(self, digits: int) -> str:
        """Hexadecimal digits."""
        return f"{self._random.getrandbits(4 * digits):0{digits}x}"

    def uuid(self) -> str:
        """A UUID of version 4 by its looks."""
        text = self.hex(32)
        return f"{text[:8]}-{text[8:12]}-4{text[13:16]}-a{text[17:20]}-{text[20:]}"

    def time_uuid(self) -> str:
        """A UUID of version 7: it starts with the clock, as Codex names its threads."""
        stamp = f"{int(self.now * 1000):012x}"
        text = self.hex(20)
        return f"{stamp[:8]}-{stamp[8:]}-7{text[:3]}-b{text[3:6]}-{text[6:18]}"

    def token(self, prefix: str, length: int = 22) -> str:
        """A prefixed id as providers make them."""
        return prefix + "".join(self._random.choices(ALPHABET, k=length))

    def count(self, low: int, high: int) -> int:
        """Some number, for token counts and durations."""
        return self._random.randint(low, high)

    def wait(self, low: float, high: float) -> float:
        """Let time pass; the new time."""
        self.now = round(self.now + self._random.uniform(low, high), 3)
        return self.now


def iso(seconds: float) -> str:
    """A timestamp as the JSON formats write it."""
    stamp = datetime.fromtimestamp(seconds, UTC)
    return f"{stamp:%Y-%m-%dT%H:%M:%S}.{stamp.microsecond // 1000:03d}Z"
