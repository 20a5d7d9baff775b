"""How every command prints: data on stdout, everything else on stderr.

Colour follows the terminal and ``NO_COLOR``; rich is loaded for it when something is to be drawn.
A table never wraps: on a terminal its cells are cut to fit, into a pipe it is as wide as it needs
to be, unless ``COLUMNS`` says otherwise.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from warmstart.cli._text import clean
from warmstart.wire import encode_json

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from warmstart.sources import ReadLog

MIN_WIDTH = 8
MIN_LAST_WIDTH = 12
GAP = "  "
PATIENCE_SECONDS = 1.0
"""Progress appears only when there is something to wait for."""
_Item = TypeVar("_Item")


def open_console(*, stderr: bool = False) -> Console:
    """A console that never interprets what it prints."""
    from warmstart.cli._console import make_console  # noqa: PLC0415 - rich, only if needed

    return make_console(stderr=stderr)


class Column(NamedTuple):
    """A column of a table; the last one takes the room that is left.

    Only a column with a ``max_width`` is ever cut.
    """

    name: str
    max_width: int | None = None
    right: bool = False
    style: str = ""


def print_table(
    console: Console, columns: Sequence[Column], rows: Sequence[Sequence[Text]]
) -> list[int]:
    """Rows under a header, without rules; cells too long for their column end in an ellipsis.

    Returns the width each column got.
    """
    from rich.text import Text  # noqa: PLC0415 - rich, only if needed

    widths = [
        max([len(column.name), *(row[index].cell_len for row in rows)])
        for index, column in enumerate(columns)
    ]
    if console.is_terminal or "COLUMNS" in os.environ:
        widths = _squeeze(columns, widths, console.width)
    header = [Text(column.name, style="bold") for column in columns]
    for row in (header, *rows):
        line = Text(no_wrap=True, end="")
        for column, width, cell in zip(columns, widths, row, strict=True):
            line.append(GAP if line else "").append_text(_fit(cell, column, width))
        line.rstrip()
        console.print(line, soft_wrap=True)
    return widths


def _squeeze(columns: Sequence[Column], natural: Sequence[int], available: int) -> list[int]:
    """Widths that fit: where there is too little room, the widest columns give way to the last."""
    widths = [
        min(width, column.max_width or width)
        for width, column in zip(natural, columns, strict=True)
    ]
    room = available - sum(widths[:-1]) - len(GAP) * (len(widths) - 1)
    elastic = [index for index, column in enumerate(columns[:-1]) if column.max_width]
    while elastic and room < MIN_LAST_WIDTH:
        widest = max(elastic, key=widths.__getitem__)
        if widths[widest] <= MIN_WIDTH:
            break
        widths[widest] -= 1
        room += 1
    widths[-1] = min(widths[-1], max(room, MIN_LAST_WIDTH))
    return widths


def _fit(cell: Text, column: Column, width: int) -> Text:
    fitted = cell.copy()
    if column.style:
        fitted.stylize_before(column.style)
    if column.right:
        fitted.pad_left(width - fitted.cell_len)
    fitted.truncate(width, overflow="ellipsis", pad=True)
    return fitted


def print_json(value: Any) -> None:
    """One JSON document on stdout, indented for a person at a terminal."""
    indent = sys.stdout.isatty()
    write_bytes(encode_json(value, indent=indent) + b"\n")


def write_bytes(data: bytes) -> None:
    """Bytes on stdout as they are."""
    sys.stdout.buffer.write(data)


def note(text: str, *, quiet: bool = False) -> None:
    """A line for the person, on stderr."""
    if not quiet:
        sys.stderr.write(clean(text) + "\n")
        sys.stderr.flush()


def report_skips(log: ReadLog, *, quiet: bool = False) -> None:
    """Say on stderr what could not be read."""
    for sentence in log.sentences():
        note(sentence, quiet=quiet)


def list_skips(log: ReadLog) -> list[dict[str, Any]]:
    """The same for machines: reason, count, and the place of the first case."""
    return [
        {
            "reason": reason,
            "count": number,
            "path": str(log.examples[reason].path),
            "line": log.examples[reason].line,
        }
        for reason, number in log.counts.most_common()
    ]


def follow(items: Iterable[_Item], noun: str, *, quiet: bool = False) -> Iterator[_Item]:
    """Pass items on, counting them on a terminal's stderr once it takes longer than a second."""
    if quiet or not sys.stderr.isatty():
        yield from items
        return
    started = time.monotonic()
    status = open_console(stderr=True).status("")
    shown = False
    try:
        for number, item in enumerate(items, 1):
            yield item
            if not shown and time.monotonic() - started > PATIENCE_SECONDS:
                status.start()
                shown = True
            if shown:
                status.update(f"{number:,} {noun} read")
    finally:
        status.stop()
