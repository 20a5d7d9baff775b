"""How closely one text may be looked at: the bound that makes redaction linear on any text.

Finding candidates runs at the speed of C. What is done for one candidate (reading a name, a value,
a command) is slow, so it is paid for out of an allowance that grows with the text. Ordinary text
uses a small part of it. Where a text has more candidates than that, the stretch around each further
one is masked unread: it fails closed, and the time stays in step with the length.
"""

from __future__ import annotations

FREE_UNITS = 20_000
CHARACTERS_PER_UNIT = 28
"""A unit is about a microsecond. Sessions and source code use about one in 100 characters."""
CROWDED_UNITS = 8_000
"""For the second look at a text whose allowance was used up: less than any text may use, so what
is left of it fits the allowance of every later look, and two looks are enough."""
CROWDED = "crowded"
WINDOW = 1_000_000
"""How much is masked at once when the allowance is used up."""
RANK = 2


class Work:
    """The allowance of one text, and whether it was enough."""

    __slots__ = ("left", "spent")

    def __init__(self, units: int) -> None:
        self.left = units
        self.spent = 0

    @property
    def is_used_up(self) -> bool:
        """Whether something was masked unread."""
        return self.left < 0

    def spend(self, units: int = 1) -> bool:
        """Whether this may still be looked at."""
        self.left -= units
        self.spent += units
        return self.left >= 0


def allow(size: int) -> int:
    """The units that a text of this many characters may use."""
    return FREE_UNITS + size // CHARACTERS_PER_UNIT


def end_of_window(text: str, place: int) -> int:
    """Where the unread stretch that begins at a place ends."""
    return min(place + WINDOW, len(text))
