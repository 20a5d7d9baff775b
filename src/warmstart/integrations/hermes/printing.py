"""How ``hermes warm`` prints: data on stdout, nothing of a transcript obeyed by the terminal."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from warmstart.wire import encode_json

if TYPE_CHECKING:
    from warmstart.profile.sums import Rate

SCHEMA_VERSION = 1
GAP = "  "
_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # marks that turn the direction of reading
    "\u2028\u2029\ud800-\udfff]"
)
_SPACES = re.compile(r"\s+")


def print_document(document: dict[str, Any]) -> None:
    """One JSON object with its version, in UTF-8 whatever the terminal knows."""
    indent = sys.stdout.isatty()
    data = encode_json({"schema_version": SCHEMA_VERSION, **document}, indent=indent)
    sys.stdout.buffer.write(data + b"\n")
    sys.stdout.flush()  # a reader that is gone is noticed here, not when Python ends


def print_lines(lines: Iterable[str]) -> None:
    """Text for people."""
    for line in lines:
        sys.stdout.write(_encodable(make_safe(line)) + "\n")
    sys.stdout.flush()


def print_notes(lines: Iterable[str]) -> None:
    """Words beside the data, on stderr."""
    for line in lines:
        sys.stderr.write(f"{make_safe(line)}\n")


@contextmanager
def show_progress() -> Iterator[Callable[[int, int], None] | None]:
    """How much has been read, on a terminal alone; nothing of it stays."""
    if not sys.stderr.isatty():
        yield None
        return

    def tell(done: int, total: int) -> None:
        sys.stderr.write(f"\r\x1b[K{done:,} of {total:,} read")
        sys.stderr.flush()

    try:
        yield tell
    finally:
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()


def make_safe(text: str) -> str:
    """Text with every control character shown by its code; line breaks and tabs stay."""
    if text.isascii() and text.isprintable():
        return text
    return _UNSAFE.sub(lambda found: f"\\x{ord(found.group()):02x}", text)


def shorten(text: str, limit: int = 120) -> str:
    """The beginning of a text on one line."""
    flat = _SPACES.sub(" ", text[: 4 * limit]).strip()
    return flat if len(flat) <= limit else flat[: limit - 1] + "…"


def make_table(names: Sequence[str], rows: Sequence[Sequence[str]], texts: int = 1) -> list[str]:
    """Rows under a header; the first columns are text, the others numbers."""
    cells = [names, *([shorten(make_safe(cell), 60) for cell in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = []
    for row in cells:
        parts = [
            cell.ljust(width) if at < texts else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append(f"  {GAP.join(parts)}".rstrip())
    return lines


def percent(value: float | None) -> str:
    """A rate with one digit; a dash where there is none."""
    return "-" if value is None else f"{100 * value:.1f} %"


def say_rate(rate: Rate) -> str:
    """A rate with its interval; without errors only an upper bound means anything."""
    if rate.rate is None:
        return "no judged calls"
    if not rate.errors:
        return f"no error in {rate.calls:,} calls, below {percent(rate.high)}"
    span = f"{100 * rate.low:.1f}-{100 * rate.high:.1f}"
    return f"{percent(rate.rate)} [{span}], {rate.errors:,} of {rate.calls:,} calls"


def say_points(value: float) -> str:
    """A difference of rates; unlimited where the data exclude nothing."""
    return f"{100 * value:+.1f}" if abs(value) < 1e9 else "unlimited"


def _encodable(text: str) -> str:
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    return text.encode(encoding, "replace").decode(encoding)


__all__ = [
    "make_safe",
    "make_table",
    "percent",
    "print_document",
    "print_lines",
    "print_notes",
    "say_points",
    "say_rate",
    "shorten",
    "show_progress",
]
