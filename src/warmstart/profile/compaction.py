"""Does compaction keep the agent as good as it was? Calls just before against calls just after.

In place (a summary takes the old messages' place) and rotating (a child session goes on) are both
events; subagents, branches and resets never are. Only tools used on both sides of an event are
compared, a window never reaches across another compaction, and the unit is the conversation: all
events of one chain of sessions give one difference. Sessions of different files stay apart, also
where their ids are equal: two databases can number their sessions alike.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from warmstart.figures import count
from warmstart.model import Link, SessionFacts
from warmstart.profile.placebo import Placebo, measure_placebo
from warmstart.profile.rules import DEFAULT_RULES, ToolRules
from warmstart.profile.scan import scan_calls
from warmstart.profile.sums import Rate, add_cluster, rate_of, zero
from warmstart.profile.windows import MIN_SIDE, Calls, Window, compare_windows
from warmstart.stats import MIN_GROUPS, NonInferiority, Preservation, three_way

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


Key = tuple[str | None, str]
"""The file a session was read from, and its id."""


class Track(NamedTuple):
    """What is kept of a session: its judged calls and where it was compacted."""

    path: str | None
    id: str
    calls: Calls
    cuts: tuple[int, ...]
    parent: str | None
    """Only where the session goes on after a rotating compaction."""

    @property
    def key(self) -> Key:
        """What tells it from every other."""
        return self.path, self.id


class LocatedEvent(NamedTuple):
    """An event with its calls, and the session it happened in."""

    event: CompactionEvent
    seen: Window
    where: Key


class Tracks(NamedTuple):
    """All sessions, and which of them each goes on from."""

    by_key: Mapping[Key, Track]
    parents: Mapping[Key, Key]
    """Also to sessions that were not read, so that their children are known as one chain."""

    def find_root(self, key: Key) -> Key:
        """The first session of a chain; a loop in broken data ends the search."""
        seen = {key}
        while (parent := self.parents.get(key)) and parent not in seen:
            key = parent
            seen.add(key)
        return key


def follow_session(facts: SessionFacts, rules: ToolRules, known: dict[str, bool]) -> Track:
    """The track of one session."""
    scan = scan_calls(facts, rules, known)
    positions = [call.position for call in scan.calls]
    cuts = {bisect_left(positions, at) for at in facts.compactions}
    parent = None
    if facts.parent and facts.parent.link == Link.COMPACTION:
        parent = facts.parent.id
        # The summary such a session begins with is the parent's compaction, not one of its own.
        cuts.discard(0)
    failed = set(scan.failed)
    return Track(
        path=facts.path,
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
    rules: ToolRules = DEFAULT_RULES,
) -> CompactionReport:
    """Judge every compaction of the sessions; ``only`` keeps the events of one session.

    All other sessions still serve as what happens without compaction.
    """
    known: dict[str, bool] = {}
    tracks = _link_tracks(follow_session(facts, rules, known) for facts in sessions)
    found = [one for track in tracks.by_key.values() for one in _find_events(track, tracks, window)]
    if only is not None:
        found = [one for one in found if only in (one.event.session, one.event.child)]
    return _report(found, tracks, window=window, margin=margin)


def _link_tracks(tracks: Iterable[Track]) -> Tracks:
    """A parent is looked for in the file of its child, then in the others."""
    by_key = {track.key: track for track in tracks}
    by_id = {track.id: track.key for track in by_key.values()}
    parents = {}
    for key, track in by_key.items():
        if track.parent:
            own = (track.path, track.parent)
            parents[key] = own if own in by_key else by_id.get(track.parent, own)
    return Tracks(by_key, parents)


def _find_events(track: Track, tracks: Tracks, window: int) -> Iterator[LocatedEvent]:
    edges = (0, *track.cuts, len(track.calls))
    for number, cut in enumerate(track.cuts, 1):
        before = track.calls[max(edges[number - 1], cut - window) : cut]
        after = track.calls[cut : min(edges[number + 1], cut + window)]
        yield _event(track, None, cut, compare_windows(before, after))
    above = tracks.parents.get(track.key)
    parent = tracks.by_key.get(above) if above else None
    if parent is not None:
        since = max((0, *parent.cuts))
        before = parent.calls[max(since, len(parent.calls) - window) :]
        after = track.calls[: min(window, edges[1])] if track.cuts else track.calls[:window]
        yield _event(parent, track.id, len(parent.calls), compare_windows(before, after))


def _event(track: Track, child: str | None, position: int, seen: Window) -> LocatedEvent:
    event = CompactionEvent(
        session=track.id,
        child=child,
        mode=Mode.ROTATING if child else Mode.IN_PLACE,
        position=position,
        before_errors=seen.before_errors,
        before_calls=seen.before_calls,
        after_errors=seen.after_errors,
        after_calls=seen.after_calls,
        change=seen.change,
    )
    return LocatedEvent(event, seen, track.key)


def _report(
    found: Sequence[LocatedEvent],
    tracks: Tracks,
    *,
    window: int,
    margin: float,
) -> CompactionReport:
    changes: dict[Key, list[float]] = {}
    before: dict[Key, list[int]] = {}
    after: dict[Key, list[int]] = {}
    for event, seen, where in found:
        if event.change is None:
            continue
        root = tracks.find_root(where)
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
        events=tuple(one.event for one in found),
        before=_pool(before),
        after=_pool(after),
        conversations=len(differences),
        answer=result.answer,
        reason=_explain(result),
        change=result.estimate,
        low=result.interval.low,
        high=result.interval.high,
        placebo=_placebo(found, tracks, differences, window),
    )


def _explain(result: NonInferiority) -> str:
    """The reason in terms of conversations, where it is that there are too few of them."""
    if not result.n:
        return f"no event has enough calls of the same tools on both sides ({MIN_SIDE} each)"
    if result.answer is Preservation.INCONCLUSIVE and result.n < MIN_GROUPS:
        return f"{count(result.n, 'conversation')} could be compared, {MIN_GROUPS} are needed"
    return result.reason


def _pool(clusters: Mapping[Key, Sequence[int]]) -> Rate:
    sums = zero()
    for errors, calls in clusters.values():
        add_cluster(sums, errors, calls)
    return rate_of(sums)


def _placebo(
    found: Sequence[LocatedEvent], tracks: Tracks, differences: Sequence[float], window: int
) -> Placebo | None:
    rotated = set(tracks.parents.values())
    untouched = [
        track.calls
        for key, track in tracks.by_key.items()
        if not track.cuts and not track.parent and key not in rotated
    ]
    places = [one.event.position for one in found if one.event.change is not None]
    return measure_placebo(untouched, places, differences, window)
