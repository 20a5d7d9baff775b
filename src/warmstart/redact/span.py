"""A stretch of text that must go, and how overlapping ones become one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class Span(NamedTuple):
    """Where something was found; ``rank`` is smaller for the surer rule."""

    start: int
    end: int
    kind: str
    value: str
    rank: int = 0


def merge_spans(spans: Iterable[Span]) -> list[Span]:
    """Spans in order of place, none touching another's characters.

    Overlapping spans become their union, named by the surest rule among them.
    """
    merged: list[Span] = []
    for span in sorted(spans, key=lambda s: (s.start, -s.end, s.rank)):
        if not merged or span.start >= merged[-1].end:
            merged.append(span)
            continue
        last = merged[-1]
        surer = min(last, span, key=lambda s: s.rank)
        longer = max(last, span, key=lambda s: len(s.value))
        merged[-1] = Span(last.start, max(last.end, span.end), surer.kind, longer.value, surer.rank)
    return merged
