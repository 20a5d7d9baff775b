"""Plots of an experiment: effects beside their margins, tasks before and after, paths over time.

Like ``svg``, all colours come from the page's style by class name, and every mark carries its
figures as a title.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from warmstart.report.canvas import WIDE, WIDTH, Scale, cut, draw_frame, find_ticks, write_text
from warmstart.report.page import Html, escape

__all__ = [
    "EffectMark",
    "Pair",
    "PathPoint",
    "draw_amounts",
    "draw_effects",
    "draw_evidence",
    "draw_pairs",
    "draw_path",
]

Show = Callable[[float], str]
"""Writes a value of an axis."""
TOP, BOTTOM, LEFT, RIGHT, ROW = 14, 44, 62, 14, 28
EFFECT_LEFT, EFFECT_RIGHT = 240, 220
HEIGHT = 270
RATIOS = (0.05, 0.1, 0.2, 0.33, 0.5, 0.67, 0.8, 0.9, 1.0, 1.1, 1.25, 1.5, 2.0, 3.0, 5.0, 10.0, 20.0)
TICK_ROOM = 40
"""Least distance between two labels of an axis."""
MAX_REACH = 8.0
"""A hopeless interval is cut here, in multiples of the largest estimate or margin."""


class EffectMark(NamedTuple):
    """An effect on the scale of its test, with the margin around no effect."""

    label: str
    value: float
    low: float
    high: float
    margin: float
    tone: str = "faint"
    """``won``, ``lost``, ``dot`` or ``faint``."""
    note: str = ""


class Pair(NamedTuple):
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


def ratio_ticks(scale: Scale) -> list[float]:
    """Round ratios, as logarithms; no difference first, then whatever has room beside it."""
    inside = [math.log(r) for r in RATIOS if scale.low <= math.log(r) <= scale.high]
    kept: list[float] = []
    for value in sorted(inside, key=abs):
        if all(abs(scale.at(value) - scale.at(other)) >= TICK_ROOM for other in kept):
            kept.append(value)
    return sorted(kept) or [0.0]


def draw_effects(
    marks: Sequence[EffectMark], label: str, show: Show, *, ends: tuple[str, str], ratio: bool
) -> Html:
    """Effects one under the other with interval, zero line, and a band of the margin each."""
    height = TOP + ROW * len(marks) + BOTTOM
    base = height - BOTTOM
    scale = _effect_scale(marks)
    ticks = ratio_ticks(scale) if ratio else find_ticks(scale.low, scale.high)
    parts = []
    for tick in ticks:
        x = scale.at(tick)
        parts.append(f'<line class="grid" x1="{x}" x2="{x}" y1="{TOP}" y2="{base}"/>')
        parts.append(write_text(x, base + 16, show(tick), "middle", soft=True))
    zero = scale.at(0.0)
    for index, mark in enumerate(marks):
        parts.append(_effect_row(mark, scale, TOP + ROW * (index + 0.5), show))
    parts.append(f'<line class="zero" x1="{zero}" x2="{zero}" y1="{TOP}" y2="{base}"/>')
    parts.append(write_text(zero - 8, base + 34, ends[0], "end", soft=True))
    parts.append(write_text(zero + 8, base + 34, ends[1], "start", soft=True))
    return draw_frame("".join(parts), height, label, WIDE)


def _effect_scale(marks: Sequence[EffectMark]) -> Scale:
    known = [max(abs(m.value), m.margin) for m in marks]
    limits = [abs(v) for m in marks for v in (m.low, m.high) if math.isfinite(v)]
    sure = max([1e-3, *known])
    reach = 1.08 * max(sure, min(max([0.0, *limits]), MAX_REACH * sure))
    return Scale(low=-reach, high=reach, start=EFFECT_LEFT, end=WIDE - EFFECT_RIGHT)


def _effect_row(mark: EffectMark, scale: Scale, y: float, show: Show) -> str:
    left, right = scale.at(-mark.margin), scale.at(mark.margin)
    low, high, x = scale.at(mark.low), scale.at(mark.high), scale.at(mark.value)
    title = f"{mark.label}: {show(mark.value)}, 95 % {show(mark.low)} to {show(mark.high)}"
    return (
        f'<rect class="margin" x="{left}" y="{y - ROW / 2 + 3}" width="{right - left:.1f}"'
        f' height="{ROW - 6}"/>'
        + write_text(EFFECT_LEFT - 12, y + 4, cut(mark.label), "end")
        + write_text(scale.end + 12, y + 4, mark.note, soft=True)
        + f'<line class="whisker" x1="{low}" x2="{high}" y1="{y}" y2="{y}"/>'
        + _arrow(mark, scale, y)
        + f'<circle class="{mark.tone}" cx="{x}" cy="{y}" r="5">'
        f"<title>{escape(title)}</title></circle>"
    )


def _arrow(mark: EffectMark, scale: Scale, y: float) -> str:
    """A head where an interval goes on beyond the paper."""
    parts = []
    for goes_on, x, way in (
        (mark.low < scale.low, scale.start, 6),
        (mark.high > scale.high, scale.end, -6),
    ):
        if goes_on:
            points = f"{x},{y} {x + way},{y - 4} {x + way},{y + 4}"
            parts.append(f'<polygon class="faint" points="{points}"/>')
    return "".join(parts)


def draw_pairs(
    pairs: Sequence[Pair], label: str, show: Show, *, lower_is_better: bool, ticks: str = "rate"
) -> Html:
    """Every task as a line from the control's value to the treatment's, in the order given."""
    values = [value for pair in pairs for value in (pair.before, pair.after)]
    low, high = _span(values, from_zero=ticks == "rate")
    scale = Scale(low=low, high=high, start=HEIGHT - BOTTOM, end=TOP)
    marks = ratio_free_ticks(scale) if ticks == "log" else find_ticks(low, high)
    parts = [_rule(scale, tick, show, WIDE) for tick in marks]
    room = WIDE - LEFT - RIGHT
    size = max(1.6, min(4.2, room / max(len(pairs), 1) / 4))
    for index, pair in enumerate(pairs):
        x = round(LEFT + room * (index + 0.5) / len(pairs), 1)
        parts.append(_pair(pair, x, scale, size, show, lower_is_better=lower_is_better))
    base = HEIGHT - BOTTOM
    parts.append(write_text(LEFT, base + 20, "gained most", soft=True))
    parts.append(write_text(WIDE - RIGHT, base + 20, "lost most", "end", soft=True))
    return draw_frame("".join(parts), HEIGHT, label, WIDE)


def ratio_free_ticks(scale: Scale) -> list[float]:
    """Round amounts, as logarithms: 1, 2, 5 of every power of ten."""
    first, last = math.floor(scale.low / math.log(10)), math.ceil(scale.high / math.log(10))
    found = [math.log(f * 10.0**e) for e in range(first, last + 1) for f in (1, 2, 5)]
    return [x for x in found if scale.low <= x <= scale.high]


def _span(values: Sequence[float], *, from_zero: bool) -> tuple[float, float]:
    low, high = min(values, default=0.0), max(values, default=1.0)
    if from_zero:
        low, high = 0.0, high or 0.05
    room = 0.06 * (high - low) or 0.5
    return (low if from_zero else low - room), high + room


def _pair(
    pair: Pair, x: float, scale: Scale, size: float, show: Show, *, lower_is_better: bool
) -> str:
    before, after = scale.at(pair.before), scale.at(pair.after)
    change = pair.after - pair.before
    kind = "same" if change == 0 else "gain" if (change < 0) == lower_is_better else "loss"
    title = escape(f"{pair.name}: {show(pair.before)} to {show(pair.after)}")
    return (
        f'<g><title>{title}</title><line class="{kind}" x1="{x}" x2="{x}" y1="{before}"'
        f' y2="{after}"/><circle class="hollow c0" cx="{x}" cy="{before}" r="{size:.1f}"/>'
        f'<circle class="fill c1" cx="{x}" cy="{after}" r="{size:.1f}"/></g>'
    )


def _rule(scale: Scale, tick: float, show: Show, width: int) -> str:
    y = scale.at(tick)
    line = f'<line class="grid" x1="{LEFT}" x2="{width - RIGHT}" y1="{y}" y2="{y}"/>'
    return line + write_text(LEFT - 8, y + 4, show(tick), "end", soft=True)


def draw_path(
    points: Sequence[PathPoint],
    label: str,
    show: Show,
    *,
    margin: float,
    planned: int,
    ratio: bool = False,
) -> Html:
    """The estimate after every task with an interval that holds at all times."""
    if not points:
        return draw_frame("", HEIGHT, label)
    x = Scale(low=0.0, high=float(max(planned, points[-1].n)), start=LEFT, end=WIDTH - RIGHT)
    y = _path_scale(points, margin)
    upper = [f"{x.at(p.n)},{y.at(p.high)}" for p in points]
    lower = [f"{x.at(p.n)},{y.at(p.low)}" for p in reversed(points)]
    line = " ".join(f"{x.at(p.n)},{y.at(p.value)}" for p in points)
    band = y.at(-margin) - y.at(margin)
    last = points[-1]
    ticks = ratio_ticks(y) if ratio else find_ticks(y.low, y.high)
    parts = [
        *(_rule(y, tick, show, WIDTH) for tick in ticks),
        (
            f'<rect class="margin" x="{LEFT}" width="{x.end - x.start}" y="{y.at(margin)}"'
            f' height="{band:.1f}"/>'
        ),
        f'<polygon class="band" points="{" ".join(upper + lower)}"/>',
        f'<line class="zero" x1="{LEFT}" x2="{x.end}" y1="{y.at(0.0)}" y2="{y.at(0.0)}"/>',
        f'<polyline class="line" points="{line}"/>',
        (
            f'<circle class="dot" cx="{x.at(last.n)}" cy="{y.at(last.value)}" r="3.6">'
            f"<title>{escape(f'after {last.n} tasks: {show(last.value)}')}</title></circle>"
        ),
        _count_axis(x),
    ]
    return draw_frame("".join(parts), HEIGHT, label)


def _path_scale(points: Sequence[PathPoint], margin: float) -> Scale:
    """Wide enough for the later two thirds; the first few tasks know nothing."""
    settled = points[len(points) // 3 :]
    finite = [v for p in settled for v in (p.value, p.low, p.high) if math.isfinite(v)]
    finite += [p.value for p in points] + [-1.3 * margin, 1.3 * margin, -1e-3, 1e-3]
    low, high = min(finite), max(finite)
    room = 0.05 * (high - low)
    return Scale(low=low - room, high=high + room, start=HEIGHT - BOTTOM, end=TOP)


def _count_axis(x: Scale) -> str:
    base = HEIGHT - BOTTOM
    whole = [tick for tick in find_ticks(x.low, x.high) if tick == int(tick)]
    ticks = "".join(write_text(x.at(t), base + 17, f"{t:.0f}", "middle", soft=True) for t in whole)
    return ticks + write_text((x.start + x.end) / 2, base + 35, "tasks done", "middle", soft=True)


def draw_evidence(values: Sequence[float], limit: float, label: str, *, planned: int) -> Html:
    """The running e-value on a log axis, with the line at which it may be claimed."""
    if not values:
        return draw_frame("", HEIGHT, label)
    logs = [math.log10(min(max(value, 1e-4), 1e12)) for value in values]
    bound = math.log10(limit)
    low, high = min(-1.0, *logs), max(bound + 0.4, *logs)
    x = Scale(low=0.0, high=float(max(planned, len(values))), start=LEFT, end=WIDTH - RIGHT)
    y = Scale(low=low, high=high + 0.05, start=HEIGHT - BOTTOM, end=TOP)
    line = " ".join(f"{x.at(n)},{y.at(v)}" for n, v in enumerate([0.0, *logs]))
    powers = range(math.ceil(low), math.floor(high) + 1, max(1, round((high - low) / 6)))
    at = y.at(bound)
    parts = [
        *(_rule(y, float(power), _power, WIDTH) for power in powers),
        f'<line class="limit" x1="{LEFT}" x2="{x.end}" y1="{at}" y2="{at}"/>',
        write_text(x.end, at - 5, f"claim at {limit:.3g}", "end", soft=True),
        f'<polyline class="line" points="{line}"/>',
        _count_axis(x),
    ]
    return draw_frame("".join(parts), HEIGHT, label)


def _power(value: float) -> str:
    return f"{10.0**value:,.6g}" if -4 <= value <= 4 else f"1e{value:.0f}"


def draw_amounts(rows: Sequence[tuple[str, float | None, str]], label: str) -> Html:
    """Amounts as bars lying down: name, value and the words beside the bar."""
    height = 12 + ROW * len(rows)
    top = max([value for _, value, _ in rows if value is not None], default=0.0) or 1.0
    scale = Scale(low=0.0, high=top, start=170, end=WIDTH - 90)
    parts = []
    for index, (name, value, words) in enumerate(rows):
        y = 6 + ROW * (index + 0.5)
        parts.append(write_text(160, y + 4, cut(name, 24), "end"))
        if value is not None:
            width = scale.at(value) - scale.start
            parts.append(
                f'<rect class="fill {"c0" if index == 0 else "c1"}" x="{scale.start}"'
                f' y="{y - 8}" width="{width:.1f}" height="16" rx="2"/>'
            )
        end = scale.at(value) if value is not None else scale.start
        parts.append(write_text(end + 6, y + 4, words, soft=True))
    return draw_frame("".join(parts), height, label)
