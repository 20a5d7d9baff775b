"""Plots as inline SVG, drawn for the width they are shown at; no script, readable without color.

Every function takes ``width``: ``WIDE`` for a page, ``NARROW`` for a phone, where labels stand
above their rows instead of beside them. Colors come from the page's style by class name, so light,
dark and print all work. Every mark carries its figures as a title, which browsers show on hover
and screen readers read out. An interval that goes on beyond the paper ends in an arrow.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

from warmstart.present.svg import (
    BOTTOM,
    HALF,
    HEIGHT,
    LEFT,
    MAX_LABEL_CHARS,
    NARROW,
    RIGHT,
    TOP,
    WIDE,
    Scale,
    Show,
    draw_columns_axis,
    draw_dot,
    draw_frame,
    draw_labels,
    draw_line,
    draw_rect,
    draw_rows_axis,
    draw_shape,
    draw_text,
    find_log_ticks,
    find_ratio_ticks,
    find_ticks,
    space_out,
    tick_percent,
)
from warmstart.present.text import cut

__all__ = [
    "NARROW",
    "WIDE",
    "PathPoint",
    "PlotMark",
    "TaskPair",
    "Tick",
    "draw_amounts",
    "draw_bars",
    "draw_evidence",
    "draw_forest",
    "draw_lines",
    "draw_pairs",
    "draw_path",
    "draw_strip",
]

ROW = 28
MAX_BANDS = 3
"""More bands than this hide each other."""
MAX_REACH = 8.0
"""A hopeless interval is cut here, in multiples of the largest estimate or margin."""
EDGE, BASE, GOOD_HEIGHT = 14, 84, 26
MAX_TICKS, BINS = 2000, 500
"""More ticks than this and neighbors share one, whose height is their share of failures."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlotMark:
    """A value with its interval; without a value it keeps its place and breaks a line."""

    label: str
    value: float | None
    low: float
    high: float
    note: str = ""
    """Printed small beside or below it."""
    tone: str = "dot"
    """``dot``, ``faint``, ``won`` or ``lost``."""
    margin: float = 0.0
    """Half the width of a band around no effect."""
    step: str = ""
    """Where it stands in a plot of lines; else its label says so."""

    @property
    def place(self) -> str:
        """What tells its place from others."""
        return self.step or self.label


class TaskPair(NamedTuple):
    """One task before and after."""

    name: str
    before: float
    after: float


class PathPoint(NamedTuple):
    """What was known after ``n`` tasks."""

    n: int
    value: float
    low: float
    high: float


class Tick(NamedTuple):
    """One of many things that went well or badly."""

    failed: bool
    title: str
    """What is shown on hover and read out."""


def _signed(value: float) -> str:
    return f"{value:+.3g}" if abs(value) >= 1e-9 else "0"


def _count_axis(x: Scale, noun: str) -> str:
    base = HEIGHT - BOTTOM
    whole = [tick for tick in find_ticks(x.low, x.high) if tick == int(tick)]
    ticks = "".join(draw_text(x.at(t), base + 17, f"{t:.0f}", "middle", soft=True) for t in whole)
    return ticks + draw_text((x.start + x.end) / 2, base + 35, noun, "middle", soft=True)


def _whisker(mark: PlotMark, scale: Scale, at: float, *, upright: bool) -> str:
    """An interval with a bar at each end, or an arrow where it goes on beyond the paper."""
    low, high = scale.at(mark.low), scale.at(mark.high)
    parts = [draw_line("whisker", *((at, at), (low, high)) if upright else ((low, high), (at, at)))]
    for beyond, place, edge in (
        (mark.low < scale.low, low, scale.start),
        (mark.high > scale.high, high, scale.end),
    ):
        inward = math.copysign(8, (scale.start + scale.end) / 2 - edge)
        if beyond:
            tip = [(place, at), (place + inward, at - 4), (place + inward, at + 4)]
            parts.append(
                draw_shape("polygon", "faint", [(y, x) for x, y in tip] if upright else tip)
            )
        elif upright:
            parts.append(draw_line("whisker", (at - 5, at + 5), (place, place)))
    return "".join(parts)


def _describe(mark: PlotMark, show: Show, name: str = "") -> str:
    label = f"{name}, {mark.label}" if name else mark.label
    if mark.value is None:
        return f"{label}: no data {mark.note}"
    if not math.isfinite(mark.low + mark.high):
        return f"{label}: {show(mark.value)}, no interval, {mark.note}"
    return f"{label}: {show(mark.value)}, 95 % {show(mark.low)} to {show(mark.high)}, {mark.note}"


def _top(marks: Sequence[PlotMark]) -> float:
    """Where an axis of rates ends: above every value, and not far above for one wide interval.

    With no failure at all it ends above every upper bound.
    """
    known = [mark for mark in marks if mark.value is not None]
    highest = max([mark.value or 0.0 for mark in known], default=0.0)
    near = 4 * highest + 0.02 if highest > 0.0 else math.inf
    top = max([highest, *(mark.high for mark in known if mark.high <= near)])
    return min(1.0, top * 1.08) or 0.05


# Rates over steps.


def draw_lines(
    series: Mapping[str, Sequence[PlotMark]], label: str, *, axis: str = "", width: int = WIDE
) -> str:
    """Rates over the same steps, one line per series with its interval as a band."""
    everything = [mark for marks in series.values() for mark in marks]
    if all(mark.value is None for mark in everything):
        return draw_frame([], width, HEIGHT, label)
    steps: dict[str, PlotMark] = {}
    for mark in everything:
        steps.setdefault(mark.place, mark)
    scale = Scale(low=0.0, high=_top(everything), start=HEIGHT - BOTTOM, end=TOP)
    room = (width - LEFT - RIGHT) / len(steps)
    places = {step: round(LEFT + room * (i + 0.5), 1) for i, step in enumerate(steps)}
    named = list(zip(places.values(), steps.values(), strict=True))
    parts = [
        draw_rows_axis(scale, find_ticks(scale.low, scale.high), tick_percent, width),
        _draw_names(named, HEIGHT - BOTTOM, room, axis),
    ]
    banded = len(series) <= MAX_BANDS
    for index, (name, marks) in enumerate(series.items()):
        shift = 5.0 * (index - (len(series) - 1) / 2)
        points = [(places[mark.place] + shift, mark) for mark in marks]
        color = (index + (len(series) == 1)) % 6
        parts.append(f'<g class="c{color}">{_draw_series(name, points, scale, banded=banded)}</g>')
    return draw_frame(parts, width, HEIGHT, label)


def _draw_names(
    named: Sequence[tuple[float, PlotMark]], base: float, room: float, axis: str = ""
) -> str:
    """Labels below the paper, and under them their notes or what the axis is."""
    names = draw_labels([(x, mark.label) for x, mark in named], base + 17, room, soft=False)
    if axis:
        middle = (named[0][0] + named[-1][0]) / 2
        return names + draw_text(middle, base + 35, axis, "middle", soft=True)
    return names + draw_labels([(x, mark.note) for x, mark in named], base + 33, room, soft=True)


def _draw_series(
    name: str, points: Sequence[tuple[float, PlotMark]], scale: Scale, *, banded: bool
) -> str:
    parts = []
    for is_known, stretch in groupby(points, key=lambda point: point[1].value is not None):
        if is_known:
            parts.append(_draw_stretch(list(stretch), scale, banded=banded))
    for x, mark in points:
        if mark.value is not None:
            title = _describe(mark, tick_percent, name)
            parts.append(draw_dot("fill", x, scale.at(mark.value), title, 3.6))
    return "".join(parts)


def _draw_stretch(points: Sequence[tuple[float, PlotMark]], scale: Scale, *, banded: bool) -> str:
    """Neighbors joined by a line, or one value alone."""
    if len(points) == 1:
        return _whisker(points[0][1], scale, points[0][0], upright=True) if banded else ""
    upper = [(x, scale.at(mark.high)) for x, mark in points]
    lower = [(x, scale.at(mark.low)) for x, mark in reversed(points)]
    line = [(x, scale.at(mark.value or 0.0)) for x, mark in points]
    band = draw_shape("polygon", "veil", upper + lower) if banded else ""
    return band + draw_shape("polyline", "stroke", line)


def draw_bars(marks: Sequence[PlotMark], label: str, *, width: int = HALF) -> str:
    """Rates as bars with whiskers."""
    width = min(width, HALF)
    if not marks:
        return draw_frame([], width, HEIGHT, label)
    scale = Scale(low=0.0, high=_top(marks), start=HEIGHT - BOTTOM, end=TOP)
    room = (width - LEFT - RIGHT) / len(marks)
    bar, base = min(90.0, 0.55 * room), scale.at(0.0)
    places = [round(LEFT + room * (index + 0.5), 1) for index in range(len(marks))]
    named = list(zip(places, marks, strict=True))
    parts = [
        draw_rows_axis(scale, find_ticks(scale.low, scale.high), tick_percent, width),
        _draw_names(named, base, room),
    ]
    for x, mark in named:
        if mark.value is not None:
            y = scale.at(mark.value)
            kind = "bar" if mark.tone == "dot" else mark.tone
            title = _describe(mark, tick_percent)
            parts.append(draw_rect(kind, x - bar / 2, y, bar, base - y, title))
            parts.append(_whisker(mark, scale, x, upright=True))
    return draw_frame(parts, width, HEIGHT, label)


# Values one under the other.


def draw_forest(
    marks: Sequence[PlotMark],
    label: str,
    *,
    zero: bool = False,
    ratio: bool = False,
    show: Show | None = None,
    ends: tuple[str, str] = ("", ""),
    width: int = WIDE,
) -> str:
    """Rates or effects one under the other, each with its interval.

    ``zero`` centers the axis on no effect, with a band of each mark's margin around it; ``ends``
    says what left and right of it mean. ``ratio`` says that values are logarithms of ratios.
    """
    narrow = width <= HALF
    row = ROW + 16 if narrow else ROW
    height = TOP + row * len(marks) + BOTTOM
    base = height - BOTTOM
    scale = _forest_scale(marks, (12, width - 12) if narrow else (260, width - 210), zero=zero)
    show = show or (_signed if zero else tick_percent)
    ticks = find_ratio_ticks(scale) if ratio else find_ticks(scale.low, scale.high)
    parts = [draw_columns_axis(scale, space_out(ticks, scale), show, base)]
    for index, mark in enumerate(marks):
        top = TOP + row * index
        parts.append(_forest_row(mark, scale, top, show, narrow=narrow, zero=zero))
    if zero:
        x = scale.at(0.0)
        parts.append(draw_line("zero", (x, x), (TOP, base)))
        parts.append(draw_text(x - 8, base + 34, ends[0], "end", soft=True))
        parts.append(draw_text(x + 8, base + 34, ends[1], soft=True))
    return draw_frame(parts, width, height, label)


def _forest_scale(marks: Sequence[PlotMark], ends: tuple[float, float], *, zero: bool) -> Scale:
    if not zero:
        return Scale(low=0.0, high=_top(marks), start=ends[0], end=ends[1])
    known = [mark for mark in marks if mark.value is not None]
    sure = max([1e-3, *(max(abs(mark.value or 0.0), mark.margin) for mark in known)])
    limits = [abs(v) for mark in known for v in (mark.low, mark.high) if math.isfinite(v)]
    reach = 1.08 * max(sure, min(max([0.0, *limits]), MAX_REACH * sure))
    return Scale(low=-reach, high=reach, start=ends[0], end=ends[1])


def _forest_row(
    mark: PlotMark, scale: Scale, top: float, show: Show, *, narrow: bool, zero: bool
) -> str:
    y = top + (ROW + 8 if narrow else ROW / 2)
    if narrow:
        parts = [draw_text(scale.start, top + 18, cut(mark.label, 30)),
                 draw_text(scale.end, top + 18, mark.note, "end", soft=True)]  # fmt: skip
    else:
        parts = [draw_text(scale.start - 12, y + 4, cut(mark.label, MAX_LABEL_CHARS), "end"),
                 draw_text(scale.end + 12, y + 4, mark.note, soft=True)]  # fmt: skip
    if zero and mark.margin:
        left, right = scale.at(-mark.margin), scale.at(mark.margin)
        parts.insert(0, draw_rect("margin", left, y - 11, right - left, 22))
    if mark.value is not None:
        parts.append(_whisker(mark, scale, y, upright=False))
        parts.append(draw_dot(mark.tone, scale.at(mark.value), y, _describe(mark, show), 4.5))
    return "".join(parts)


def draw_amounts(
    rows: Sequence[tuple[str, float | None, str]], label: str, *, width: int = HALF
) -> str:
    """Amounts as bars lying down: name, value, and the words beside the bar."""
    width = min(width, HALF)
    left = 170 if width == HALF else 120
    top = max([value for _, value, _ in rows if value is not None], default=0.0) or 1.0
    scale = Scale(low=0.0, high=top, start=left, end=width - 90)
    parts = []
    for index, (name, value, words) in enumerate(rows):
        y = 6 + ROW * (index + 0.5)
        end = scale.at(value) if value is not None else scale.start
        parts.append(draw_text(left - 10, y + 4, cut(name, 24 if width == HALF else 16), "end"))
        if value is not None:
            kind = "fill c0" if index == 0 else "fill c1"
            parts.append(draw_rect(kind, scale.start, y - 8, end - scale.start, 16))
        parts.append(draw_text(end + 6, y + 4, words, soft=True))
    return draw_frame(parts, width, 12 + ROW * len(rows), label)


# One session, and one experiment.


def draw_strip(ticks: Sequence[Tick], label: str, noun: str, *, width: int = WIDE) -> str:
    """Ticks in order; failed ones are taller, colored, and drawn over the others."""
    size = 1 if len(ticks) <= MAX_TICKS else -(-len(ticks) // BINS)
    x = Scale(low=0.0, high=float(max(len(ticks), 1)), start=EDGE, end=width - EDGE)
    parts: list[str] = []
    for failed in (False, True):
        for start in range(0, len(ticks), size):
            some = ticks[start : start + size]
            if any(tick.failed for tick in some) == failed:
                parts.append(_draw_tick(some, start, noun, (x.at(start), x.at(start + size))))
    if ticks:
        parts.append(draw_text(EDGE, BASE + 18, f"{noun} 1", soft=True))
        last = f"{noun} {len(ticks):,}"
        parts.append(draw_text(width - EDGE, BASE + 18, last, "end", soft=True))
    return draw_frame(parts, width, 112, label)


def _draw_tick(ticks: Sequence[Tick], start: int, noun: str, ends: tuple[float, float]) -> str:
    failed = sum(tick.failed for tick in ticks)
    share = failed / len(ticks)
    height = GOOD_HEIGHT + share * (BASE - 10 - GOOD_HEIGHT)
    width = max(min(14.0, 0.8 * (ends[1] - ends[0])), 1.6 if failed else 0.0)
    title = ticks[0].title
    if len(ticks) > 1:
        title = f"{noun}s {start + 1:,} to {start + len(ticks):,}: {failed:,} of {len(ticks):,}"
        title += " failed"
    place = (ends[0] + ends[1] - width) / 2
    return draw_rect("lost" if failed else "faint", place, BASE - height, width, height, title)


def draw_pairs(
    pairs: Sequence[TaskPair],
    label: str,
    show: Show,
    *,
    lower_is_better: bool,
    ticks: str = "rate",
    width: int = WIDE,
) -> str:
    """Every task as a line from the control's value to the treatment's, in the order given."""
    scale = _pair_scale(pairs, from_zero=ticks == "rate")
    marks = find_log_ticks(scale) if ticks == "log" else find_ticks(scale.low, scale.high)
    room = width - LEFT - RIGHT
    size = max(1.6, min(4.2, room / max(len(pairs), 1) / 4))
    parts = [draw_rows_axis(scale, marks, show, width)]
    for index, (name, before, after) in enumerate(pairs):
        x = round(LEFT + room * (index + 0.5) / len(pairs), 1)
        gained = (after < before) == lower_is_better
        kind = "same" if after == before else "gain" if gained else "loss"
        title = f"{name}: {show(before)} to {show(after)}"
        ends = scale.at(before), scale.at(after)
        parts.append(draw_line(kind, (x, x), ends))
        parts.append(draw_dot("hollow c0", x, ends[0], title, size))
        parts.append(draw_dot("fill c1", x, ends[1], title, size))
    base = HEIGHT - BOTTOM
    parts.append(draw_text(LEFT, base + 20, "gained most", soft=True))
    parts.append(draw_text(width - RIGHT, base + 20, "lost most", "end", soft=True))
    return draw_frame(parts, width, HEIGHT, label)


def _pair_scale(pairs: Sequence[TaskPair], *, from_zero: bool) -> Scale:
    values = [value for pair in pairs for value in (pair.before, pair.after)]
    low, high = min(values, default=0.0), max(values, default=1.0)
    if from_zero:
        low, high = 0.0, high or 0.05
    extra = 0.06 * (high - low) or 0.5
    start = low if from_zero else low - extra
    return Scale(low=start, high=high + extra, start=HEIGHT - BOTTOM, end=TOP)


def draw_path(
    points: Sequence[PathPoint],
    label: str,
    show: Show,
    *,
    margin: float,
    planned: int,
    ratio: bool = False,
    width: int = HALF,
) -> str:
    """The estimate after every task with an interval that holds at all times."""
    width = min(width, HALF)
    if not points:
        return draw_frame([], width, HEIGHT, label)
    x = Scale(low=0.0, high=float(max(planned, points[-1].n)), start=LEFT, end=width - RIGHT)
    y = _path_scale(points, margin)
    upper = [(x.at(p.n), y.at(p.high)) for p in points]
    lower = [(x.at(p.n), y.at(p.low)) for p in reversed(points)]
    last = points[-1]
    ticks = find_ratio_ticks(y) if ratio else find_ticks(y.low, y.high)
    title = f"after {last.n} tasks: {show(last.value)}"
    parts = [
        draw_rows_axis(y, ticks, show, width),
        draw_rect("margin", LEFT, y.at(margin), x.end - x.start, y.at(-margin) - y.at(margin)),
        draw_shape("polygon", "band", upper + lower),
        draw_line("zero", (LEFT, x.end), (y.at(0.0), y.at(0.0))),
        draw_shape("polyline", "line", [(x.at(p.n), y.at(p.value)) for p in points]),
        draw_dot("dot", x.at(last.n), y.at(last.value), title, 3.6),
        _count_axis(x, "tasks done"),
    ]
    return draw_frame(parts, width, HEIGHT, label)


def _path_scale(points: Sequence[PathPoint], margin: float) -> Scale:
    """Wide enough for the later two thirds, since the first few tasks say nothing."""
    settled = points[len(points) // 3 :]
    finite = [v for p in settled for v in (p.value, p.low, p.high) if math.isfinite(v)]
    finite += [p.value for p in points] + [-1.3 * margin, 1.3 * margin, -1e-3, 1e-3]
    low, high = min(finite), max(finite)
    room = 0.05 * (high - low)
    return Scale(low=low - room, high=high + room, start=HEIGHT - BOTTOM, end=TOP)


def draw_evidence(
    values: Sequence[float], limit: float, label: str, *, planned: int, width: int = HALF
) -> str:
    """The running e-value on a log axis, with the line from which a claim may be made."""
    width = min(width, HALF)
    if not values:
        return draw_frame([], width, HEIGHT, label)
    logs = [math.log10(min(max(value, 1e-4), 1e12)) for value in values]
    bound = math.log10(limit)
    low, high = min(-1.0, *logs), max(bound + 0.4, *logs)
    x = Scale(low=0.0, high=float(max(planned, len(values))), start=LEFT, end=width - RIGHT)
    y = Scale(low=low, high=high + 0.05, start=HEIGHT - BOTTOM, end=TOP)
    powers = range(math.ceil(low), math.floor(high) + 1, max(1, round((high - low) / 6)))
    at = y.at(bound)
    parts = [
        draw_rows_axis(y, list(map(float, powers)), _show_power, width),
        draw_line("limit", (LEFT, x.end), (at, at)),
        draw_text(x.end, at - 5, f"claim at {limit:.3g}", "end", soft=True),
        draw_shape("polyline", "line", [(x.at(n), y.at(v)) for n, v in enumerate([0.0, *logs])]),
        _count_axis(x, "tasks done"),
    ]
    return draw_frame(parts, width, HEIGHT, label)


def _show_power(value: float) -> str:
    return f"{10.0**value:,.6g}" if -4 <= value <= 4 else f"1e{value:.0f}"
