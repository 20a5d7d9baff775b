"""A strip of ticks, one for each thing that went well or badly, in the order it happened."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from warmstart.report.canvas import WIDE, Scale, draw_frame, write_text
from warmstart.report.page import Html, escape

__all__ = ["MAX_TICKS", "Tick", "draw_strip"]

MAX_TICKS = 2000
"""More than this and neighbours share a tick, whose height is their share of failures."""
BINS = 500
LEFT, RIGHT, TOP, BASE, HEIGHT = 14, 14, 10, 84, 112
GOOD_HEIGHT = 26
MAX_WIDTH = 14.0
MIN_BAD_WIDTH = 1.6
"""A failure among thousands stays visible."""


class Tick(NamedTuple):
    """One of them."""

    failed: bool
    title: str
    """What is shown on hover and read out."""


class _Bin(NamedTuple):
    start: int
    share: float
    """Failed of it."""
    title: str


def draw_strip(ticks: Sequence[Tick], label: str, noun: str) -> Html:
    """Ticks in order; failed ones are taller, coloured, and drawn over the others."""
    if not ticks:
        return draw_frame("", HEIGHT, label, WIDE)
    size = 1 if len(ticks) <= MAX_TICKS else -(-len(ticks) // BINS)
    x = Scale(low=0.0, high=float(len(ticks)), start=LEFT, end=WIDE - RIGHT)
    bins = [_join(ticks[at : at + size], at, noun) for at in range(0, len(ticks), size)]
    body = "".join(_draw(one, x, size) for one in sorted(bins, key=lambda one: one.share > 0))
    ends = write_text(LEFT, BASE + 18, f"{noun} 1", soft=True)
    if len(ticks) > 1:
        ends += write_text(WIDE - RIGHT, BASE + 18, f"{noun} {len(ticks):,}", "end", soft=True)
    return draw_frame(body + ends, HEIGHT, label, WIDE)


def _join(ticks: Sequence[Tick], start: int, noun: str) -> _Bin:
    failed = sum(tick.failed for tick in ticks)
    title = ticks[0].title
    if len(ticks) > 1:
        span = f"{start + 1:,} to {start + len(ticks):,}"
        title = f"{noun}s {span}: {failed:,} of {len(ticks):,} failed"
    return _Bin(start, failed / len(ticks), title)


def _draw(one: _Bin, x: Scale, size: int) -> str:
    left, right = x.at(one.start), x.at(one.start + size)
    height = GOOD_HEIGHT + one.share * (BASE - TOP - GOOD_HEIGHT)
    width = min(MAX_WIDTH, 0.8 * (right - left))
    if one.share:
        width = max(width, MIN_BAD_WIDTH)
    kind = "lost" if one.share else "faint"
    middle = (left + right) / 2
    return (
        f'<rect class="{kind}" x="{middle - width / 2:.1f}" y="{BASE - height:.1f}"'
        f' width="{width:.2f}" height="{height:.1f}"><title>{escape(one.title)}</title></rect>'
    )
