"""The parts every plot is drawn with: scales, round ticks, axes, text and shapes as SVG markup."""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from warmstart.present.text import cut, replace_unseen

__all__ = [
    "BOTTOM",
    "HALF",
    "HEIGHT",
    "LEFT",
    "NARROW",
    "RIGHT",
    "TOP",
    "WIDE",
    "Scale",
    "Show",
    "draw_columns_axis",
    "draw_dot",
    "draw_frame",
    "draw_labels",
    "draw_line",
    "draw_rect",
    "draw_rows_axis",
    "draw_shape",
    "draw_text",
    "escape",
    "find_log_ticks",
    "find_ratio_ticks",
    "find_ticks",
    "space_out",
    "tick_percent",
]

WIDE, HALF, NARROW = 960, 480, 400
"""A page's whole width, half of it, and a phone."""
HEIGHT, TOP, BOTTOM, LEFT, RIGHT = 270, 16, 46, 56, 14
MAX_LABEL_CHARS = 36
CHAR_WIDTH = 6.5
"""Of a label, on average."""
RATIOS = (0.05, 0.1, 0.2, 0.33, 0.5, 0.67, 0.8, 0.9, 1.0, 1.1, 1.25, 1.5, 2.0, 3.0, 5.0, 10.0, 20.0)
TICK_ROOM = 40
"""Least distance between two labels of an axis."""
Show = Callable[[float], str]
"""Writes a value of an axis."""


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


def escape(text: object) -> str:
    """Text as markup: special characters escaped, controls and direction marks made visible."""
    return html.escape(replace_unseen(str(text)), quote=True)


def tick_percent(value: float) -> str:
    """A share on an axis."""
    return f"{100 * value:.3g} %"


def find_ticks(low: float, high: float, wanted: int = 5) -> list[float]:
    """Round numbers that cover a range."""
    step = 10.0 ** math.floor(math.log10((high - low) / wanted))
    for factor in (1, 2, 5, 10):
        if (high - low) / (step * factor) <= wanted:
            step *= factor
            break
    first = math.ceil(low / step - 1e-9)
    return [number * step for number in range(first, math.floor(high / step + 1e-9) + 1)]


def find_ratio_ticks(scale: Scale) -> list[float]:
    """Round ratios as logarithms; no difference first, then whatever has room beside it."""
    inside = [math.log(r) for r in RATIOS if scale.low <= math.log(r) <= scale.high]
    return space_out(sorted(inside, key=abs), scale) or [0.0]


def space_out(values: Sequence[float], scale: Scale) -> list[float]:
    """The values whose labels do not meet, the first given first."""
    kept: list[float] = []
    for value in values:
        if all(abs(scale.at(value) - scale.at(other)) >= TICK_ROOM for other in kept):
            kept.append(value)
    return sorted(kept)


def find_log_ticks(scale: Scale) -> list[float]:
    """Round amounts as logarithms: 1, 2, 5 of every power of ten."""
    first, last = math.floor(scale.low / math.log(10)), math.ceil(scale.high / math.log(10))
    found = [math.log(f * 10.0**e) for e in range(first, last + 1) for f in (1, 2, 5)]
    return [x for x in found if scale.low <= x <= scale.high]


def draw_frame(parts: Sequence[str], width: float, height: float, label: str) -> str:
    """A whole plot; ``label`` is read out instead of it."""
    kind = ' class="wide"' if width > HALF else ""
    return (
        f'<svg{kind} viewBox="0 0 {width:.0f} {height:g}" role="img" aria-label="{escape(label)}"'
        f' xmlns="http://www.w3.org/2000/svg">{"".join(parts)}</svg>'
    )


def draw_text(x: float, y: float, text: str, anchor: str = "start", *, soft: bool = False) -> str:
    """One line of text."""
    kind = ' class="soft"' if soft else ""
    return f'<text{kind} x="{x:g}" y="{y:g}" text-anchor="{anchor}">{escape(text)}</text>'


def draw_line(kind: str, x: tuple[float, float], y: tuple[float, float]) -> str:
    """A straight line between two places."""
    return f'<line class="{kind}" x1="{x[0]:g}" x2="{x[1]:g}" y1="{y[0]:g}" y2="{y[1]:g}"/>'


def draw_dot(kind: str, x: float, y: float, title: str, size: float = 4) -> str:
    """A point that says its figures."""
    return (
        f'<circle class="{kind}" cx="{x:g}" cy="{y:g}" r="{size:g}">'
        f"<title>{escape(title)}</title></circle>"
    )


def draw_shape(tag: str, kind: str, points: Sequence[tuple[float, float]]) -> str:
    """A line or an area through points: ``polyline`` or ``polygon``."""
    return f'<{tag} class="{kind}" points="{" ".join(f"{x:g},{y:g}" for x, y in points)}"/>'


def draw_rect(kind: str, x: float, y: float, width: float, height: float, title: str = "") -> str:
    """A rectangle, with its figures where they are given."""
    inside = f"<title>{escape(title)}</title>" if title else ""
    return (
        f'<rect class="{kind}" x="{x:.1f}" y="{y:.1f}" width="{width:.2f}" height="{height:.1f}"'
        f">{inside}</rect>"
    )


def draw_rows_axis(scale: Scale, ticks: Sequence[float], show: Show, width: float) -> str:
    """Lines across the paper with the values of the upright axis."""
    return "".join(
        draw_line("grid", (LEFT, width - RIGHT), (scale.at(tick),) * 2)
        + draw_text(LEFT - 8, scale.at(tick) + 4, show(tick), "end", soft=True)
        for tick in ticks
    )


def draw_columns_axis(scale: Scale, ticks: Sequence[float], show: Show, base: float) -> str:
    """Lines down the paper with the values of the lying axis."""
    return "".join(
        draw_line("grid", (scale.at(tick),) * 2, (TOP, base))
        + draw_text(scale.at(tick), base + 16, show(tick), "middle", soft=True)
        for tick in ticks
    )


def draw_labels(names: Sequence[tuple[float, str]], y: float, room: float, *, soft: bool) -> str:
    """Labels below the paper; where they would meet, only every second, third and so on."""
    longest = max((len(cut(name, MAX_LABEL_CHARS)) for _, name in names), default=0)
    step = max(1, math.ceil((longest * CHAR_WIDTH + 6) / max(room, 1)))
    return "".join(
        draw_text(x, y, cut(name, MAX_LABEL_CHARS), "middle", soft=soft)
        for x, name in names[::step]
        if name
    )
