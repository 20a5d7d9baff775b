"""The parts every plot is drawn with: a scale, round ticks, text, and the frame around it all."""

from __future__ import annotations

import math
from dataclasses import dataclass

from warmstart.report.page import Html, escape

__all__ = [
    "MAX_LABEL_CHARS",
    "WIDE",
    "WIDTH",
    "Scale",
    "cut",
    "draw_frame",
    "find_ticks",
    "percent",
    "write_text",
]

WIDTH = 480
WIDE = 960
"""For plots that have the page's whole width to themselves."""
MAX_LABEL_CHARS = 36


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """From values to places on the paper."""

    low: float
    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        """Where a value is drawn; what lies outside is drawn at the edge."""
        inside = min(max(value, self.low), self.high)
        share = (inside - self.low) / (self.high - self.low)
        return round(self.start + share * (self.end - self.start), 1)


def find_ticks(low: float, high: float, wanted: int = 5) -> list[float]:
    """Round numbers that cover a range."""
    step = 10.0 ** math.floor(math.log10((high - low) / wanted))
    for factor in (1, 2, 5, 10):
        if (high - low) / (step * factor) <= wanted:
            step *= factor
            break
    first = math.ceil(low / step - 1e-9)
    return [number * step for number in range(first, math.floor(high / step + 1e-9) + 1)]


def percent(value: float) -> str:
    """A rate as a tick label."""
    return f"{100 * value:.3g} %"


def draw_frame(body: str, height: float, label: str, width: int = WIDTH) -> Html:
    """A whole plot; ``label`` is what is read out instead of it."""
    kind = ' class="wide"' if width > WIDTH else ""
    return Html(
        f'<svg{kind} viewBox="0 0 {width} {height}" role="img" aria-label="{escape(label)}"'
        f' xmlns="http://www.w3.org/2000/svg">{body}</svg>'
    )


def write_text(x: float, y: float, text: str, anchor: str = "start", *, soft: bool = False) -> str:
    """One line of text."""
    kind = ' class="soft"' if soft else ""
    return f'<text{kind} x="{x}" y="{y}" text-anchor="{anchor}">{escape(text)}</text>'


def cut(label: str, limit: int = MAX_LABEL_CHARS) -> str:
    """A label short enough to be drawn."""
    return label if len(label) <= limit else label[: limit - 1] + "…"
