"""Plots as inline SVG: a line with its band, bars with intervals, a forest of effects.

Where an interval goes on beyond the paper, an arrow says so.

Colours come from the page's style by class name, so light, dark and print all work. Every mark
carries its figures as a title, which browsers show on hover and screen readers read out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from warmstart.report.canvas import WIDE, WIDTH, Scale, percent
from warmstart.report.canvas import cut as _cut
from warmstart.report.canvas import draw_frame as _frame
from warmstart.report.canvas import find_ticks as _ticks
from warmstart.report.canvas import write_text as _text
from warmstart.report.page import Html, escape

__all__ = ["Mark", "draw_bars", "draw_forest", "draw_line"]

HEIGHT = 250
LEFT, RIGHT, TOP, BOTTOM = 52, 14, 16, 46
ROW = 26


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A value with its interval; ``note`` is printed small beside it.

    Without a value it keeps its place and its label, and a line is broken there.
    """

    label: str
    value: float | None
    low: float
    high: float
    note: str = ""
    faint: bool = False


def _top(marks: Sequence[Mark]) -> float:
    """The axis ends above every value, and not far above for one hopeless interval.

    Where nothing failed the bounds are all there is to see, so it ends above each of them.
    """
    known = [mark for mark in marks if mark.value is not None]
    highest = max([mark.value or 0.0 for mark in known], default=0.0)
    near = 4 * highest + 0.02 if highest > 0.0 else math.inf
    top = max([highest, *(mark.high for mark in known if mark.high <= near)])
    return min(1.0, top * 1.08) or 0.05


def _title(mark: Mark, show: Callable[[float], str] = percent) -> Html:
    if mark.value is None:
        return escape(f"{mark.label}: no data {mark.note}")
    if not math.isfinite(mark.low + mark.high):
        return escape(f"{mark.label}: {show(mark.value)}, no interval, {mark.note}")
    span = f"{show(mark.low)} to {show(mark.high)}"
    return escape(f"{mark.label}: {show(mark.value)}, 95 % {span}, {mark.note}")


def _upright_axes(scale: Scale, width: int) -> str:
    parts = []
    for tick in _ticks(scale.low, scale.high):
        y = scale.at(tick)
        parts.append(f'<line class="grid" x1="{LEFT}" x2="{width - RIGHT}" y1="{y}" y2="{y}"/>')
        parts.append(_text(LEFT - 8, y + 4, percent(tick), "end", soft=True))
    return "".join(parts)


def _below(x: float, mark: Mark) -> str:
    base = HEIGHT - BOTTOM
    name = _text(x, base + 17, _cut(mark.label), "middle")
    return name + _text(x, base + 33, mark.note, "middle", soft=True)


def _places(count: int, width: int) -> list[float]:
    room = width - LEFT - RIGHT
    return [round(LEFT + room * (index + 0.5) / count, 1) for index in range(count)]


def draw_line(marks: Sequence[Mark], label: str, *, wide: bool = False) -> Html:
    """Values in order joined by a line, their intervals as a band; a missing value breaks both."""
    width = WIDE if wide else WIDTH
    if all(mark.value is None for mark in marks):
        return _frame("", HEIGHT, label, width)
    scale = Scale(low=0.0, high=_top(marks), start=HEIGHT - BOTTOM, end=TOP)
    points = list(zip(_places(len(marks), width), marks, strict=True))
    runs = "".join(_run(run, scale) for run in _split(points))
    dots = "".join(_dot(x, mark, scale) + _below(x, mark) for x, mark in points)
    return _frame(_upright_axes(scale, width) + runs + dots, HEIGHT, label, width)


def _split(points: Sequence[tuple[float, Mark]]) -> Iterator[list[tuple[float, Mark]]]:
    """Stretches without a missing value."""
    for is_known, run in groupby(points, key=lambda point: point[1].value is not None):
        if is_known:
            yield list(run)


def _run(points: Sequence[tuple[float, Mark]], scale: Scale) -> str:
    if len(points) == 1:
        x, mark = points[0]
        return _whisker(x, mark, scale)
    upper = [f"{x},{scale.at(mark.high)}" for x, mark in points]
    lower = [f"{x},{scale.at(mark.low)}" for x, mark in reversed(points)]
    line = " ".join(f"{x},{scale.at(mark.value or 0.0)}" for x, mark in points)
    return (
        f'<polygon class="band" points="{" ".join(upper + lower)}"/>'
        f'<polyline class="line" points="{line}"/>'
    )


def _dot(x: float, mark: Mark, scale: Scale) -> str:
    if mark.value is None:
        return ""
    return (
        f'<circle class="dot" cx="{x}" cy="{scale.at(mark.value or 0.0)}" r="3.6">'
        f"<title>{_title(mark)}</title></circle>"
    )


def draw_bars(marks: Sequence[Mark], label: str) -> Html:
    """Values as bars with whiskers."""
    if not marks:
        return _frame("", HEIGHT, label)
    scale = Scale(low=0.0, high=_top(marks), start=HEIGHT - BOTTOM, end=TOP)
    width = min(90.0, 0.55 * (WIDTH - LEFT - RIGHT) / len(marks))
    body = "".join(
        _bar(x, mark, scale, width) + _below(x, mark)
        for x, mark in zip(_places(len(marks), WIDTH), marks, strict=True)
    )
    return _frame(_upright_axes(scale, WIDTH) + body, HEIGHT, label)


def _bar(x: float, mark: Mark, scale: Scale, width: float) -> str:
    if mark.value is None:
        return ""
    y, base = scale.at(mark.value), scale.at(0.0)
    kind = "faint" if mark.faint else "bar"
    return (
        f'<rect class="{kind}" x="{x - width / 2:.1f}" y="{y}" width="{width:.1f}"'
        f' height="{base - y:.1f}" rx="2"><title>{_title(mark)}</title></rect>'
        + _whisker(x, mark, scale)
    )


def _whisker(x: float, mark: Mark, scale: Scale) -> str:
    """An upright interval with a bar at each end, or an arrow where it goes on."""
    low, high = scale.at(mark.low), scale.at(mark.high)
    end = f'<line class="whisker" x1="{x - 5}" x2="{x + 5}" y1="{high}" y2="{high}"/>'
    if mark.high > scale.high:
        corners = f"{x},{high - 4} {x - 5},{high + 4} {x + 5},{high + 4}"
        end = f'<polygon class="faint" points="{corners}"/>'
    return (
        f'<line class="whisker" x1="{x}" x2="{x}" y1="{low}" y2="{high}"/>{end}'
        f'<line class="whisker" x1="{x - 5}" x2="{x + 5}" y1="{low}" y2="{low}"/>'
    )


def draw_forest(
    marks: Sequence[Mark],
    label: str,
    *,
    zero: float | None = None,
    margin: float | None = None,
    ends: tuple[str, str] = ("", ""),
) -> Html:
    """Effects or rates one under the other, each with its interval.

    ``zero`` draws the line of no effect, ``margin`` the strip between it and the margin, ``ends``
    says what left and right of it mean.
    """
    height = TOP + ROW * len(marks) + BOTTOM
    left, right = 260, 210
    scale = _forest_scale(marks, zero, margin, left, WIDE - right)
    base = height - BOTTOM
    parts = [_forest_axis(scale, base)]
    if zero is not None and margin is not None:
        x, wide = scale.at(zero), scale.at(zero + margin) - scale.at(zero)
        parts.append(f'<rect class="margin" x="{x}" y="{TOP}" width="{wide:.1f}"'
                     f' height="{base - TOP}"/>')  # fmt: skip
    if zero is not None:
        x = scale.at(zero)
        parts.append(f'<line class="zero" x1="{x}" x2="{x}" y1="{TOP}" y2="{base}"/>')
        for text, anchor, shift in ((ends[0], "end", -8), (ends[1], "start", 8)):
            parts.append(_text(x + shift, base + 34, text, anchor, soft=True))
    for index, mark in enumerate(marks):
        parts.append(_forest_row(mark, scale, TOP + ROW * (index + 0.5), left))
    return _frame("".join(parts), height, label, WIDE)


def _forest_scale(
    marks: Sequence[Mark], zero: float | None, margin: float | None, start: float, end: float
) -> Scale:
    known = [mark for mark in marks if mark.value is not None]
    finite = [v for m in known for v in (m.value or 0.0, m.low, m.high) if math.isfinite(v)]
    if zero is None:
        return Scale(low=0.0, high=_top(marks), start=start, end=end)
    reach = max([abs(v - zero) for v in finite] + [margin or 0.0, 1e-3]) * 1.1
    return Scale(low=zero - reach, high=zero + reach, start=start, end=end)


def _forest_axis(scale: Scale, base: float) -> str:
    parts = []
    for tick in _ticks(scale.low, scale.high):
        x = scale.at(tick)
        shown = percent(tick) if scale.low == 0.0 else _signed(tick)
        parts.append(f'<line class="grid" x1="{x}" x2="{x}" y1="{TOP}" y2="{base}"/>')
        parts.append(_text(x, base + 16, shown, "middle", soft=True))
    return "".join(parts)


def _signed(value: float) -> str:
    """An effect with its sign; no effect has none."""
    return f"{value:+.3g}" if abs(value) >= 1e-9 else "0"


def _forest_row(mark: Mark, scale: Scale, y: float, left: float) -> str:
    name = _text(left - 10, y + 4, _cut(mark.label), "end")
    name += _text(scale.end + 10, y + 4, mark.note, soft=True)
    if mark.value is None:
        return name
    low, high, x = scale.at(mark.low), scale.at(mark.high), scale.at(mark.value)
    kind = "faint" if mark.faint else "dot"
    title = _title(mark, percent if scale.low == 0.0 else _signed)
    return (
        f'{name}<line class="whisker" x1="{low}" x2="{high}" y1="{y}" y2="{y}"/>'
        f"{_arrows(mark, scale, y)}"
        f'<circle class="{kind}" cx="{x}" cy="{y}" r="4.5"><title>{title}</title></circle>'
    )


def _arrows(mark: Mark, scale: Scale, y: float) -> str:
    """Heads where a lying interval goes on beyond the paper."""
    ends = (
        (mark.low < scale.low, scale.start, 7),
        (mark.high > scale.high, scale.end, -7),
    )
    return "".join(
        f'<polygon class="faint" points="{x},{y} {x + way},{y - 4} {x + way},{y + 4}"/>'
        for goes_on, x, way in ends
        if goes_on
    )
