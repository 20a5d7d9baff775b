"""Words and small drawings that all profile tables share."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from rich.text import Text

from warmstart.cli._output import Column, print_table
from warmstart.cli._text import clean, one_line
from warmstart.profile.sums import Contrast, Rate

if TYPE_CHECKING:
    from rich.console import Console

BLOCKS = "▁▂▃▄▅▆▇█"
RATE_COLUMNS = ("SESSIONS", "CALLS", "ERRORS", "RATE", "95 % CI")


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
    """A line above a table."""
    line = Text(f"\n{text}", style="bold")
    if detail:
        line.append(f"  {detail}", style="not bold dim")
    console.print(line, soft_wrap=True)


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
) -> None:
    """A table whose first and last columns are text and the rest numbers."""
    numbers = range(texts, len(names) - tail)
    columns = [
        Column(
            name=name,
            right=index in numbers,
            style="cyan" if index == 0 else "",
            max_width=None if index in numbers else 48,
        )
        for index, name in enumerate(names)
    ]
    cells = [[Text(one_line(cell, 160)) for cell in row] for row in rows]
    if cells:
        print_table(console, columns, cells)
