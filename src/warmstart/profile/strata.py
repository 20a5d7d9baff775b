"""The calls of one tool in one session, where some of them failed: what comparisons are made in.

Made once for a session and used twice: for the trend inside sessions, and for how soon a tool that
worked works again, with which its repairs are compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import compress, count
from operator import sub
from typing import NamedTuple

from warmstart.profile.scan import REPAIR_WINDOW

__all__ = ["Rhythm", "Stratum", "measure_rhythm", "split_strata"]

_FAR = REPAIR_WINDOW + 1
_is_close = REPAIR_WINDOW.__ge__
"""Whether a call comes as soon after another as a repair must."""


class Stratum(NamedTuple):
    """A tool's calls in a session."""

    tool: str
    failed: list[int]
    """Which calls of the session failed."""
    mask: bytes
    """1 for each call of the session that is one of the tool's."""
    size: int
    ranks: list[int]
    """Which calls of the tool failed."""


class Rhythm(NamedTuple):
    """How calls of a tool that work follow each other."""

    worked: int
    again: int
    """Of those, followed by another as soon as a repair must come."""
    pairs: int
    """Of those, with no failure of the tool in between."""
    between: int
    """Calls between the latter."""


def split_strata(tools: Sequence[str], failed: Iterable[int]) -> list[Stratum]:
    """The tools of a session that failed, given the tool of each call and the failed ones."""
    groups: dict[str, list[int]] = {}
    for index in failed:
        groups.setdefault(tools[index], []).append(index)
    strata = []
    for tool, places in groups.items():
        mask = bytes(map(tool.__eq__, tools))
        strata.append(Stratum(tool, places, mask, mask.count(1), _rank(mask, places)))
    return strata


def _rank(mask: bytes, places: Sequence[int]) -> list[int]:
    """How many calls of the mask stand before each place."""
    ranks = []
    rank = before = 0
    for place in places:
        rank += mask.count(1, before, place)
        ranks.append(rank)
        before = place
    return ranks


def measure_rhythm(stratum: Stratum) -> Rhythm:
    """How soon the tool works again where it worked."""
    places = list(compress(count(), stratum.mask))
    gaps = list(map(sub, places[1:], places))
    last, spans, first, before = len(gaps), 0, 0, -2
    for rank in stratum.ranks:
        if rank > before + 1:
            spans += _is_spanned(places, first, before)
            first = rank
        before = rank
        if rank:
            gaps[rank - 1] = _FAR
        if rank < last:
            gaps[rank] = _FAR
    spans += _is_spanned(places, first, before)
    close = list(filter(_is_close, gaps))
    worked = stratum.size - len(stratum.ranks)
    return Rhythm(worked, len(close) + spans, len(close), sum(close) - len(close))


def _is_spanned(places: Sequence[int], first: int, last: int) -> bool:
    """Whether working calls stand closely before and behind a run of failures."""
    if not 0 < first <= last < len(places) - 1:
        return False
    return places[last + 1] - places[first - 1] <= REPAIR_WINDOW
