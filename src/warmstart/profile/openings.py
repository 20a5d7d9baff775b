"""How sessions begin: how much of the first turns was code, file and research work.

Set against the error rate of everything after them. An association and no more: sessions differ in
more than how they begin.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from warmstart.profile.summary import Summary
from warmstart.profile.sums import Group, rate_of, zero
from warmstart.profile.tool_types import ToolType

__all__ = ["OPENING_TURNS", "OpeningShare", "list_bands", "list_opening_shares"]

OPENING_TURNS = 30
"""Turns of the agent (messages with calls) whose kind of work is set against what follows."""
KINDS = (ToolType.CODE, ToolType.FILE, ToolType.RESEARCH)
BANDS = ("none", "under half", "half or more")
CLUSTERS, CALLS = "opening_share", "opening_calls"
"""Where a summary keeps what follows, by kind and band, and the calls of the first turns."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpeningShare:
    """One kind of work in the first turns."""

    kind: str
    share: float
    """Of the calls of the first turns, all sessions together."""
    bands: tuple[Group, ...]
    """Error rate of what follows, by how much of a session's first turns was of this kind."""


def list_bands(types: Mapping[str, int]) -> Iterator[str]:
    """For each kind of work the band a session is in, given the calls of its first turns."""
    total = sum(types.values())
    for kind in KINDS:
        calls = types.get(kind, 0)
        yield f"{kind}: {BANDS[0 if not calls else 1 + (2 * calls >= total)]}"


def list_opening_shares(summary: Summary) -> tuple[OpeningShare, ...]:
    """Every kind, also those nobody begins with; nothing where no session is long enough."""
    calls, clusters = summary.labels.get(CALLS, {}), summary.clusters.get(CLUSTERS, {})
    total = sum(calls.values())
    if not total:
        return ()
    return tuple(
        OpeningShare(
            kind=str(kind),
            share=calls.get(kind, 0) / total,
            bands=tuple(
                Group(label=band, rate=rate_of(clusters.get(f"{kind}: {band}", zero())))
                for band in BANDS
            ),
        )
        for kind in KINDS
    )
