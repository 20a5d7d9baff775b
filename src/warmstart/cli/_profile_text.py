"""Words and small drawings that all profile tables share."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from rich.text import Text

from warmstart.cli._output import GAP, MIN_WIDTH, Column, print_table
from warmstart.cli._text import clean, one_line
from warmstart.profile.sums import Contrast, Rate

if TYPE_CHECKING:
    from rich.console import Console

BLOCKS = "▁▂▃▄▅▆▇█"
RATE_COLUMNS = ("SESSIONS", "CALLS", "ERRORS", "RATE", "95 % CI")
LEAST_TEXT_WIDTH = 12
"""A column goes before the texts of the others are cut below this."""


def percent(value: float | None) -> str:
    """A rate with one digit; a dash where there is none."""
    return "-" if value is None else f"{100 * value:.1f} %"


def interval(low: float, high: float) -> str:
    """Limits in percent."""
    return f"{100 * low:.1f}-{100 * high:.1f}"


def rate_words(rate: Rate) -> str:
    """A rate with its interval; without errors only an upper bound means anything."""
    if rate.rate is None:
        return "no judged calls"
    if not rate.errors:
        return f"no error, below {percent(rate.high)}"
    return f"{percent(rate.rate)} [{interval(rate.low, rate.high)}]"


def rate_cells(rate: Rate) -> list[str]:
    """The cells of ``RATE_COLUMNS``."""
    if rate.rate is None:
        return [f"{rate.sessions:,}", "0", "0", "-", "-"]
    shown = percent(rate.rate) if rate.errors else f"<{percent(rate.high)}"
    bounds = interval(rate.low, rate.high) if rate.errors else "no error"
    return [f"{rate.sessions:,}", f"{rate.calls:,}", f"{rate.errors:,}", shown, bounds]


def points(found: Contrast) -> str:
    """A difference in percentage points, with its interval."""
    return f"{100 * found.estimate:+.1f} points {points_span(found.low, found.high)}"


def p_value(value: float) -> str:
    """A p with three digits, never "0.000"."""
    return "<0.001" if value < 0.001 else f"{value:.3f}"


def p_words(value: float) -> str:
    """The same in a sentence."""
    return "p < 0.001" if value < 0.001 else f"p = {value:.3f}"


def span(low: float, high: float, form: str = "+.2f") -> str:
    """Limits of a change; a side that the data do not bound is said to be open."""
    if not (math.isfinite(low) or math.isfinite(high)):
        return "[too few to bound]"
    ends = (format(end, form) if math.isfinite(end) else "open" for end in (low, high))
    return f"[{', '.join(ends)}]"


def points_span(low: float, high: float) -> str:
    """The same for shares, in percentage points."""
    return span(100 * low, 100 * high, "+.1f")


def sparkline(values: Sequence[float | None]) -> str:
    """Values as a row of blocks from zero to the largest; a dot where there is none."""
    top = max((value for value in values if value is not None), default=0.0)
    if top <= 0.0:
        return "".join("·" if value is None else BLOCKS[0] for value in values)
    last = len(BLOCKS) - 1
    return "".join("·" if v is None else BLOCKS[round(v / top * last)] for v in values)


def heading(console: Console, text: str, detail: str = "") -> None:
    """A line above a table; a detail that has no room beside it stands below."""
    line = Text(f"\n{text}", style="bold")
    if detail and len(text) + len(GAP) + len(detail) <= console.width:
        line.append(f"{GAP}{detail}", style="not bold dim")
        detail = ""
    console.print(line, soft_wrap=True)
    if detail:
        say(console, detail, "dim")


def say(console: Console, text: str, style: str = "") -> None:
    """A sentence."""
    console.print(Text(clean(text), style=style))


def show_table(
    console: Console,
    names: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    texts: int = 1,
    tail: int = 0,
    drop: Sequence[str] = (),
) -> None:
    """A table whose first and last columns are text and the rest numbers.

    Where it is too wide for the terminal, the columns of ``drop`` go, the first of them first, and
    then texts are cut. Numbers are not.
    """
    table = [list(map(Text, names)), *map(_write_cells, rows)]
    if len(table) == 1:
        return
    is_text = [True] * texts + [False] * (len(names) - texts - tail) + [True] * tail
    kept = list(range(len(names)))
    if console.is_terminal or "COLUMNS" in os.environ:
        kept = _fit_table(table, is_text, list(map(names.index, drop)), console.width)
    columns = [
        Column(name=table[0][i].plain, right=not is_text[i], style="" if i else "cyan")
        for i in kept
    ]
    print_table(console, columns, [[row[i] for i in kept] for row in table[1:]])


def _write_cells(row: Sequence[str]) -> list[Text]:
    return [Text(one_line(cell, 160)) for cell in row]


def _fit_table(
    table: Sequence[Sequence[Text]], is_text: Sequence[bool], drop: Sequence[int], available: int
) -> list[int]:
    """Cut the cells of a table where there is too little room; returns the columns to show."""
    widths = [max(cell.cell_len for cell in column) for column in zip(*table, strict=True)]
    kept = _choose_columns(widths, is_text, drop, available)
    _cut_texts(widths, [i for i in kept if is_text[i]], available - _measure(widths, kept))
    for row in table:
        for cell, width in zip(row, widths, strict=True):
            cell.truncate(width, overflow="ellipsis")
    return kept


def _measure(widths: Sequence[int], kept: Sequence[int]) -> int:
    """How wide a table of some columns is."""
    return sum(widths[i] for i in kept) + len(GAP) * (len(kept) - 1)


def _choose_columns(
    widths: Sequence[int], is_text: Sequence[bool], drop: Sequence[int], available: int
) -> list[int]:
    """The columns there is room for, if texts are cut as far as they may be."""
    least = [min(w, LEAST_TEXT_WIDTH) if t else w for w, t in zip(widths, is_text, strict=True)]
    kept = list(range(len(widths)))
    for index in drop:
        if _measure(least, kept) <= available:
            break
        kept.remove(index)
    return kept


def _cut_texts(widths: list[int], texts: Sequence[int], room: int) -> None:
    """Make texts narrower, the widest first, until what was missing of the room is there."""
    while room < 0 and texts:
        widest = max(texts, key=widths.__getitem__)
        if widths[widest] <= MIN_WIDTH:
            break
        widths[widest] -= 1
        room += 1
