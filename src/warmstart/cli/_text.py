"""Foreign text made safe and short for a terminal, and numbers made readable.

Transcripts hold whatever a tool printed. Nothing of it may move the cursor, colour the screen, set
a title or reverse the reading order here: escape sequences are removed, every other control or
bidirectional character is shown by its code.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime

_ESCAPES = re.compile(
    r"\x1b[\]PX^_][^\x07\x1b\n]{0,4096}(?:\x07|\x1b\\)"  # titles, links, clipboard, if they end
    r"|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?"  # CSI: colours, cursor
    r"|\x1b[ -/]*[0-~]?"  # everything else that starts with ESC
)
_CONTROLS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # bidirectional marks and overrides
    "\u2028\u2029\ud800-\udfff]"
)
_LINE_ENDS = re.compile(r"\r+\n|\r")
_SPACES = re.compile(r"\s+")


def clean(text: str) -> str:
    """Text without anything a terminal would obey; line breaks and tabs stay."""
    if text.isascii() and text.isprintable():
        return text
    text = _ESCAPES.sub("", _LINE_ENDS.sub("\n", text))
    return _CONTROLS.sub(_show_code, text)


def _show_code(match: re.Match[str]) -> str:
    code = ord(match.group())
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def one_line(text: str, limit: int = 200) -> str:
    """The beginning of a text as one clean line."""
    flat = _SPACES.sub(" ", clean(text[: 4 * limit])).strip()
    return flat if len(flat) <= limit else flat[: limit - 1] + "…"


def local_time(seconds: float | None, *, seconds_too: bool = False) -> str:
    """A moment in the user's own time zone; a dash where there is none."""
    moment = _moment(seconds)
    if moment is None:
        return "-"
    return moment.astimezone().strftime("%Y-%m-%d %H:%M:%S" if seconds_too else "%Y-%m-%d %H:%M")


def iso_time(seconds: float | None) -> str | None:
    """A moment for machines: ISO 8601, UTC."""
    moment = _moment(seconds)
    return None if moment is None else moment.isoformat().replace("+00:00", "Z")


def _moment(seconds: float | None) -> datetime | None:
    if seconds is None:
        return None
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, ValueError, OSError):
        return None


def readable_size(size: int) -> str:
    """Bytes with a unit, three digits at most."""
    number = float(size)
    for unit in ("B", "kB", "MB", "GB"):
        if number < 1000:
            return f"{number:.0f} {unit}" if unit == "B" or number >= 10 else f"{number:.1f} {unit}"
        number /= 1000
    return f"{number:.1f} TB"


def readable_duration(seconds: float) -> str:
    """A span of time in its two largest units."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours >= 48:
        return f"{hours // 24} d {hours % 24} h"
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def count(number: int, noun: str) -> str:
    """A number with its noun in the right form."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
