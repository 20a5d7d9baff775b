"""Several lines in one plot: the same quantity over the same steps, one line per series."""

from __future__ import annotations

from collections.abc import Sequence

from warmstart.report.canvas import WIDE, Scale, draw_frame, find_ticks, percent, write_text
from warmstart.report.page import Html, escape
from warmstart.report.svg import Mark

__all__ = ["draw_curves"]

LEFT, RIGHT, TOP, BOTTOM, HEIGHT = 62, 14, 14, 44, 270
MAX_BANDS = 3
"""More bands than this hide each other."""

Series = tuple[str, Sequence[Mark]]


def draw_curves(series: Sequence[Series], label: str) -> Html:
    """One line per series over the labels of its marks, in the order they first come."""
    steps = list(dict.fromkeys(mark.label for _, marks in series for mark in marks))
    if not steps:
        return draw_frame("", HEIGHT, label, WIDE)
    scale = Scale(low=0.0, high=_top(series), start=HEIGHT - BOTTOM, end=TOP)
    room = WIDE - LEFT - RIGHT
    places = {step: LEFT + room * (i + 0.5) / len(steps) for i, step in enumerate(steps)}
    parts = [_rule(scale, tick) for tick in find_ticks(scale.low, scale.high)]
    base = HEIGHT - BOTTOM
    parts += [write_text(round(x, 1), base + 17, step, "middle") for step, x in places.items()]
    parts.append(write_text(LEFT + room / 2, base + 36, "position of the call", "middle",
                            soft=True))  # fmt: skip
    for index, (name, marks) in enumerate(series):
        shift = 5.0 * (index - (len(series) - 1) / 2)
        known = [(round(places[m.label] + shift, 1), m) for m in marks if m.value is not None]
        parts.append(_draw_series(index, name, known, scale, banded=len(series) <= MAX_BANDS))
    return draw_frame("".join(parts), HEIGHT, label, WIDE)


def _draw_series(
    index: int, name: str, points: Sequence[tuple[float, Mark]], scale: Scale, *, banded: bool
) -> str:
    line = " ".join(f"{x},{scale.at(mark.value or 0.0)}" for x, mark in points)
    upper = [f"{x},{scale.at(mark.high)}" for x, mark in points]
    lower = [f"{x},{scale.at(mark.low)}" for x, mark in reversed(points)]
    band = f'<polygon class="veil" points="{" ".join(upper + lower)}"/>' if banded else ""
    dots = "".join(
        f'<circle class="fill" cx="{x}" cy="{scale.at(mark.value or 0.0)}" r="3.6"><title>'
        f"{escape(_title(name, mark))}</title></circle>"
        for x, mark in points
    )
    return f'<g class="c{index % 6}">{band}<polyline class="stroke" points="{line}"/>{dots}</g>'


def _title(name: str, mark: Mark) -> str:
    span = f"95 % {percent(mark.low)} to {percent(mark.high)}"
    return f"{name}, calls {mark.label}: {percent(mark.value or 0.0)}, {span}, {mark.note}"


def _top(series: Sequence[Series]) -> float:
    marks = [mark for _, found in series for mark in found if mark.value is not None]
    highest = max([mark.value or 0.0 for mark in marks], default=0.0)
    # Where nothing failed the bounds are all there is to see.
    near = 2.5 * highest if highest > 0.0 else 1.0
    limits = [mark.high for mark in marks if mark.high <= near]
    return min(1.0, 1.08 * max([highest, *limits])) or 0.05


def _rule(scale: Scale, tick: float) -> str:
    y = scale.at(tick)
    line = f'<line class="grid" x1="{LEFT}" x2="{WIDE - RIGHT}" y1="{y}" y2="{y}"/>'
    return line + write_text(LEFT - 8, y + 4, percent(tick), "end", soft=True)
