"""Does compaction keep the agent as good as it was? Calls just before against calls just after.

In place (a summary takes the old messages' place) and rotating (a child session goes on) are both
events; subagents, branches and resets never are. Only tools used on both sides of an event are
compared, a window never reaches across another compaction, and the unit is the conversation: all
events of one chain of sessions give one difference.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from warmstart.model.facts import SessionFacts
from warmstart.model.session import Link
from warmstart.profile.placebo import Placebo, measure_placebo
from warmstart.profile.rules import DEFAULT_RULES, Rules
from warmstart.profile.scan import scan_calls
from warmstart.profile.sums import Rate, add_cluster, rate_of, zero
from warmstart.profile.windows import Calls, Window, compare_windows
from warmstart.stats.noninferiority import Preservation, three_way

__all__ = ["MARGIN", "WINDOW", "CompactionEvent", "CompactionReport", "Mode", "check_compactions"]

WINDOW = 20
"""Judged calls looked at on each side."""
MARGIN = 0.02
"""Fixed before looking: two percentage points more errors are the most that counts as kept."""


class Mode(StrEnum):
    """How the conversation went on."""

    IN_PLACE = "in place"
    ROTATING = "rotating"


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionEvent:
    """One compaction with the calls around it."""

    session: str
    """Where it happened; for a rotating one, the parent."""
    child: str | None
    mode: Mode
    position: int
    """Judged calls of the session before it."""
    before_errors: int
    before_calls: int
    after_errors: int
    after_calls: int
    """Calls of tools used on both sides."""
    change: float | None
    """After minus before; None where either side has too few calls to compare."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionReport:
    """All events, and what they say together."""

    window: int
    margin: float
    events: tuple[CompactionEvent, ...]
    before: Rate
    after: Rate
    conversations: int
    """Conversations with at least one event that could be compared."""
    answer: Preservation
    reason: str
    change: float
    low: float
    high: float
    """Mean change per conversation, skew-corrected 95 %; infinite below three conversations."""
    placebo: Placebo | None
    """The same windows at the same places of sessions that were never compacted."""

    @property
    def sentence(self) -> str:
        """The answer in words."""
        words = {
            Preservation.PRESERVED: "Compaction keeps the agent as reliable as it was",
            Preservation.DEGRADED: "Compaction does not preserve reliability",
            Preservation.WORSE_INSIDE_MARGIN: "Slightly worse after compaction, inside the margin",
            Preservation.INCONCLUSIVE: "These data cannot tell whether compaction matters",
        }
        return f"{words[self.answer]}: {self.reason}."


class Track(NamedTuple):
    """What is kept of a session: its judged calls and where it was compacted."""

    id: str
    calls: Calls
    cuts: tuple[int, ...]
    parent: str | None
    """Only where the session goes on after a rotating compaction."""


def follow_session(facts: SessionFacts, rules: Rules, known: dict[str, bool]) -> Track:
    """The track of one session."""
    scan = scan_calls(facts, rules, known)
    cuts = {bisect_left(scan.places, at) for at in facts.compactions}
    parent = None
    if facts.parent and facts.parent.link == Link.COMPACTION:
        parent = facts.parent.id
        # The summary such a session begins with is the parent's compaction, not one of its own.
        cuts.discard(0)
    failed = set(scan.failed)
    return Track(
        id=facts.id,
        calls=[(tool, place in failed) for place, tool in enumerate(scan.tools)],
        cuts=tuple(sorted(cuts)),
        parent=parent,
    )


def check_compactions(
    sessions: Iterable[SessionFacts],
    *,
    only: str | None = None,
    window: int = WINDOW,
    margin: float = MARGIN,
    rules: Rules = DEFAULT_RULES,
) -> CompactionReport:
    """Judge every compaction of the sessions; ``only`` keeps the events of one session.

    All other sessions still serve as what happens without compaction.
    """
    known: dict[str, bool] = {}
    tracks = {facts.id: follow_session(facts, rules, known) for facts in sessions}
    found = [pair for track in tracks.values() for pair in _find_events(track, tracks, window)]
    if only is not None:
        found = [pair for pair in found if only in (pair[0].session, pair[0].child)]
    return _report(found, tracks, window=window, margin=margin)


def _find_events(
    track: Track, tracks: Mapping[str, Track], window: int
) -> Iterable[tuple[CompactionEvent, Window]]:
    edges = (0, *track.cuts, len(track.calls))
    for number, cut in enumerate(track.cuts, 1):
        before = track.calls[max(edges[number - 1], cut - window) : cut]
        after = track.calls[cut : min(edges[number + 1], cut + window)]
        yield _event(track.id, None, cut, compare_windows(before, after))
    parent = tracks.get(track.parent) if track.parent else None
    if parent is not None:
        since = max((0, *parent.cuts))
        before = parent.calls[max(since, len(parent.calls) - window) :]
        after = track.calls[: min(window, edges[1])] if track.cuts else track.calls[:window]
        yield _event(parent.id, track.id, len(parent.calls), compare_windows(before, after))


def _event(
    session: str, child: str | None, position: int, seen: Window
) -> tuple[CompactionEvent, Window]:
    event = CompactionEvent(
        session=session,
        child=child,
        mode=Mode.ROTATING if child else Mode.IN_PLACE,
        position=position,
        before_errors=seen.before_errors,
        before_calls=seen.before_calls,
        after_errors=seen.after_errors,
        after_calls=seen.after_calls,
        change=seen.change,
    )
    return event, seen


def _root(session: str, tracks: Mapping[str, Track]) -> str:
    """The first session of a chain; a loop in broken data ends the search."""
    seen = {session}
    while (track := tracks.get(session)) and track.parent and track.parent not in seen:
        session = track.parent
        seen.add(session)
    return session


def _report(
    found: Sequence[tuple[CompactionEvent, Window]],
    tracks: Mapping[str, Track],
    *,
    window: int,
    margin: float,
) -> CompactionReport:
    changes: dict[str, list[float]] = {}
    before: dict[str, list[int]] = {}
    after: dict[str, list[int]] = {}
    for event, seen in found:
        if event.change is None:
            continue
        root = _root(event.session, tracks)
        changes.setdefault(root, []).append(event.change)
        for sides, errors, calls in (
            (before, seen.before_errors, seen.before_calls),
            (after, seen.after_errors, seen.after_calls),
        ):
            have = sides.setdefault(root, [0, 0])
            have[0] += errors
            have[1] += calls
    differences = [sum(each) / len(each) for each in changes.values()]
    result = three_way(differences, margin)
    return CompactionReport(
        window=window,
        margin=margin,
        events=tuple(event for event, _ in found),
        before=_pool(before),
        after=_pool(after),
        conversations=len(differences),
        answer=result.answer,
        reason=result.reason,
        change=result.estimate,
        low=result.interval.low,
        high=result.interval.high,
        placebo=_placebo(found, tracks, differences, window),
    )


def _pool(clusters: Mapping[str, Sequence[int]]) -> Rate:
    sums = zero()
    for errors, calls in clusters.values():
        add_cluster(sums, errors, calls)
    return rate_of(sums)


def _placebo(
    found: Sequence[tuple[CompactionEvent, Window]],
    tracks: Mapping[str, Track],
    differences: Sequence[float],
    window: int,
) -> Placebo | None:
    rotated = {track.parent for track in tracks.values() if track.parent}
    untouched = [
        track.calls
        for track in tracks.values()
        if not track.cuts and not track.parent and track.id not in rotated
    ]
    places = [event.position for event, _ in found if event.change is not None]
    return measure_placebo(untouched, places, differences, window)
