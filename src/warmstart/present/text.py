"""Numbers, moments and foreign text as people read them; the one place each is worded.

Transcripts hold whatever a tool printed. Nothing of it may move the cursor, color the screen, set
a title or reverse the reading order: escape sequences are removed, and every other control or
bidirectional character is shown by its code. Importing this module loads nothing heavy.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from warmstart.figures import (
    NONE,
    amount,
    count,
    money,
    p_value,
    percent,
    plural,
    points,
    times,
)

__all__ = [
    "amount",
    "clean",
    "count",
    "cut",
    "interval",
    "iso_time",
    "local_time",
    "money",
    "one_line",
    "p_value",
    "p_words",
    "percent",
    "plural",
    "points",
    "points_span",
    "readable_duration",
    "readable_size",
    "replace_unseen",
    "short_path",
    "span",
    "sparkline",
    "times",
]

BLOCKS = "▁▂▃▄▅▆▇█"
_ESCAPES = re.compile(
    r"\x1b[\]PX^_][^\x07\x1b\n]{0,4096}(?:\x07|\x1b\\)"  # titles, links, clipboard, if they end
    r"|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?"  # CSI: colors, cursor
    r"|\x1b[ -/]*[0-~]?"  # everything else that starts with ESC
)
_CONTROLS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # bidirectional marks and overrides
    "\u2028\u2029\ud800-\udfff]"
)
_UNSEEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
    "\u2028\u2029\ud800-\udfff\ufffe\uffff]"
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


def replace_unseen(text: str) -> str:
    """Text for a page: control and direction characters become visible."""
    return _UNSEEN.sub("\N{REPLACEMENT CHARACTER}", text)


def one_line(text: str, limit: int = 200) -> str:
    """The beginning of a text as one clean line."""
    return cut(_SPACES.sub(" ", clean(text[: 4 * limit])).strip(), limit)


def cut(text: str, limit: int) -> str:
    """A text of at most ``limit`` characters; a longer one ends in an ellipsis."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def interval(low: float, high: float) -> str:
    """Both limits of a share, in percent without the sign."""
    return f"{100 * low:.1f}-{100 * high:.1f}"


def span(low: float, high: float, form: str = "+.2f") -> str:
    """Limits of a change; a side that the data do not bound is open."""
    if not (math.isfinite(low) or math.isfinite(high)):
        return "[too few to bound]"
    ends = (format(end, form) if math.isfinite(end) else "open" for end in (low, high))
    return f"[{', '.join(ends)}]"


def points_span(low: float, high: float) -> str:
    """Limits of a difference of two shares, in percentage points."""
    return span(100 * low, 100 * high, "+.1f")


def p_words(value: float) -> str:
    """A p value in a sentence."""
    return "p < 0.001" if value < 0.001 else f"p = {value:.3f}"


def sparkline(values: Sequence[float | None]) -> str:
    """Values as a row of blocks from zero to the largest; a dot where there is none."""
    top = max((value for value in values if value is not None), default=0.0)
    if top <= 0.0:
        return "".join("·" if value is None else BLOCKS[0] for value in values)
    last = len(BLOCKS) - 1
    return "".join("·" if v is None else BLOCKS[round(v / top * last)] for v in values)


def local_time(seconds: float | None, *, seconds_too: bool = False) -> str:
    """A moment in the user's own time zone; a dash where there is none."""
    moment = _moment(seconds)
    if moment is None:
        return NONE
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


def short_path(path: Path) -> str:
    """A path with the user's home folder as ``~``."""
    try:
        return str(Path("~") / path.relative_to(Path.home()))
    except (ValueError, RuntimeError):
        return str(path)
