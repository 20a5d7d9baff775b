"""A table of plain words, which needs rich only where somebody sees its colours.

Into a pipe the cells are padded and written as they are: nothing is coloured and nothing is cut
there, so the lines are the same that rich would write, for a hundredth of the work.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import NamedTuple

from warmstart.cli._output import GAP, Column, open_console, print_table

DRAWN = ("COLUMNS", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE")
"""With one of these in the environment, a pipe is treated as a terminal or cut to a width."""


class Cell(NamedTuple):
    """Text that is safe to print, and how it looks."""

    text: str
    style: str = ""


def print_cells(columns: Sequence[Column], rows: Sequence[Sequence[Cell]]) -> None:
    """Rows under a header on stdout, as ``print_table`` has them."""
    if not sys.stdout.isatty() and os.environ.keys().isdisjoint(DRAWN):
        _print_plain(columns, rows)
        return
    from rich.text import Text  # noqa: PLC0415 - only where it is seen

    styled = [[Text(cell.text, style=cell.style) for cell in row] for row in rows]
    print_table(open_console(), columns, styled)


def _print_plain(columns: Sequence[Column], rows: Sequence[Sequence[Cell]]) -> None:
    texts = [[column.name for column in columns], *([cell.text for cell in row] for row in rows)]
    widths = [max(map(_measure, words)) for words in zip(*texts, strict=True)]
    for row in texts:
        sys.stdout.write(GAP.join(map(_pad, columns, widths, row)).rstrip() + "\n")


def _measure(text: str) -> int:
    """How many columns of a terminal a text takes."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len  # noqa: PLC0415 - only for wide characters

    return cell_len(text)


def _pad(column: Column, width: int, text: str) -> str:
    space = " " * (width - _measure(text))
    return space + text if column.right else text + space
