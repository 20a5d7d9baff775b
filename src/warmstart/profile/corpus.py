"""A summary turned into figures: what a corpus of sessions says about the agent."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise

from warmstart.errors import UsageError
from warmstart.model import Marker, MarkerKind
from warmstart.profile.learning import Learning, judge_learning
from warmstart.profile.openings import OpeningShare, list_opening_shares
from warmstart.profile.proficiency import score_proficiency
from warmstart.profile.styles import find_domains
from warmstart.profile.summarise import POSITION_EDGES
from warmstart.profile.summary import Summary, merge_all
from warmstart.profile.sums import (
    CALLS,
    Contrast,
    Group,
    Rate,
    Sums,
    add_sums,
    contrast,
    rate_of,
    zero,
)
from warmstart.profile.tool_profiles import (
    RecoveryCount,
    ToolProfile,
    list_recoveries,
    list_tools,
    sort_counts,
    total_classes,
)
from warmstart.stats import t_quantile

__all__ = [
    "Gain",
    "Profile",
    "corpus_profile",
    "parse_buckets",
]

LENGTH_EDGES = (0, 51, 101)
"""Buckets of messages: 0-50, 51-100, more than 100."""
MAX_MARKERS = 20
MAX_PREFERRED = 5
EPOCH_MONDAY = datetime(1969, 12, 29, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Gain:
    """Last fifth against first fifth of each session's calls, the final call left out."""

    early: float
    late: float
    """Pooled over sessions."""
    mean_change: float
    low: float
    high: float
    """Of the mean change per session, 95 %."""
    sessions: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """Everything at once; every list is sorted by what matters first."""

    totals: Mapping[str, float]
    statuses: Mapping[str, int]
    rate: Rate
    empty_share: float | None
    by_length: tuple[Group, ...]
    length_contrast: Contrast | None
    """Longest bucket minus the one before: what a naive reading would call learning."""
    learning: Learning
    by_position: tuple[Group, ...]
    gain: Gain | None
    openings: tuple[Group, ...]
    """What follows the first turns, by the kind of work these mostly were."""
    opening_shares: tuple[OpeningShare, ...]
    """The sessions by how much of them was code, file and research work."""
    proficiency: float | None
    """By ``PROFICIENCY_FORMULA`` over all sessions; None where no call was judged."""
    tools: tuple[ToolProfile, ...]
    preferred: tuple[str, ...]
    """The most used of the tools that ever worked."""
    tool_types: Mapping[str, int]
    """Judged calls by the kind of work their tool does."""
    trivial: Mapping[str, int]
    classes: Mapping[str, int]
    recoveries: tuple[RecoveryCount, ...]
    by_agent: tuple[Group, ...]
    by_model: tuple[Group, ...]
    by_project: tuple[Group, ...]
    by_week: tuple[Group, ...]
    by_task_type: tuple[Group, ...]
    task_types: Mapping[str, int]
    styles: Mapping[str, int]
    feedback: Mapping[str, int]
    markers: tuple[Marker, ...]
    domains: Mapping[str, int]


def parse_buckets(text: str) -> tuple[int, ...]:
    """Bucket edges from their upper ends: "50,100" is 0-50, 51-100, 101+.

    Raises:
        UsageError: they are not rising whole numbers.
    """
    try:
        ends = [int(part) for part in text.split(",")]
    except ValueError:
        ends = []
    if not ends or ends[0] < 0 or any(a >= b for a, b in pairwise(ends)):
        raise UsageError(
            f"{text!r} is not a list of bucket ends", hint="for example --buckets 20,50,100"
        )
    return (0, *(end + 1 for end in ends))


def corpus_profile(summaries: Iterable[Summary], edges: Sequence[int] = LENGTH_EDGES) -> Profile:
    """The profile of everything summarised; ``edges`` are where the length buckets begin."""
    summary = merge_all(summaries)
    clusters = summary.clusters
    sessions = summary.totals.get("sessions", 0)
    buckets = _bucket(clusters.get("messages", {}), edges)
    longest = _contrast_last(buckets)
    markers = _markers(summary)
    rate = rate_of(clusters.get("all", {}).get("", zero()))
    tools = list_tools(summary)
    return Profile(
        totals=summary.totals,
        statuses=summary.statuses,
        rate=rate,
        empty_share=summary.totals.get("empty", 0) / sessions if sessions else None,
        by_length=tuple(Group(label=name, rate=rate_of(sums)) for name, sums in buckets),
        length_contrast=longest,
        learning=judge_learning(summary, look_better=longest is None or longest.estimate < 0.0),
        by_position=tuple(_positions(clusters.get("position", {}))),
        gain=_gain(summary.gain),
        openings=_groups(clusters.get("opening", {}), _by_calls),
        opening_shares=list_opening_shares(summary),
        proficiency=_score(rate, tools),
        tools=tools,
        preferred=_prefer(tools),
        tool_types=sort_counts(summary.labels.get("tool_type", {})),
        trivial={t: row[-1] for t, row in sorted(summary.tools.items()) if row[-1]},
        classes=sort_counts(total_classes(summary)),
        recoveries=list_recoveries(summary),
        by_agent=_groups(clusters.get("agent", {}), _by_calls),
        by_model=_groups(clusters.get("model", {}), _by_calls),
        by_project=_groups(clusters.get("project", {}), _by_calls),
        by_week=_weeks(clusters.get("week", {})),
        by_task_type=_groups(clusters.get("task_type", {}), _by_calls),
        task_types=sort_counts(summary.labels.get("task_type", {})),
        styles=sort_counts(summary.labels.get("style", {})),
        feedback=sort_counts(summary.labels.get("feedback", {})),
        markers=markers[:MAX_MARKERS],
        domains=dict(find_domains(markers)),
    )


def _score(rate: Rate, tools: Sequence[ToolProfile]) -> float | None:
    if not rate.calls:
        return None
    repair = sum(one.repaired for one in tools) / rate.errors if rate.errors else 1.0
    repeats = sum(one.repeats for one in tools) / rate.calls
    return score_proficiency(1.0 - rate.high, repair, repeats)


def _prefer(tools: Iterable[ToolProfile]) -> tuple[str, ...]:
    worked = [one for one in tools if one.rate.calls > one.rate.errors]
    worked.sort(key=lambda one: (-one.rate.calls, one.tool))
    return tuple(one.tool for one in worked[:MAX_PREFERRED])


def _bucket(groups: Mapping[int, Sums], edges: Sequence[int]) -> list[tuple[str, Sums]]:
    buckets = []
    for start, end in zip(edges, (*edges[1:], None), strict=True):
        chosen = [s for n, s in groups.items() if n >= start and (end is None or n < end)]
        label = f"{start}-{end - 1}" if end else f"{start}+"
        buckets.append((label, add_sums(chosen)))
    return buckets


def _contrast_last(buckets: Sequence[tuple[str, Sums]]) -> Contrast | None:
    filled = [sums for _, sums in buckets if sums[CALLS]]
    return contrast(filled[-2], filled[-1]) if len(filled) > 1 else None


def _positions(groups: Mapping[int, Sums]) -> Iterable[Group]:
    ends = dict(pairwise(POSITION_EDGES))
    for start in sorted(groups):
        label = f"{start}-{ends[start] - 1}" if start in ends else f"{start}+"
        yield Group(label=label, rate=rate_of(groups[start]))


def _by_calls(group: Group) -> tuple[float, str]:
    return (-group.rate.calls, group.label)


def _groups(
    groups: Mapping[str, Sums], key: Callable[[Group], tuple[float, str]]
) -> tuple[Group, ...]:
    made = [Group(label=name or "(not known)", rate=rate_of(s)) for name, s in groups.items()]
    return tuple(sorted(made, key=key))


def _weeks(groups: Mapping[int, Sums]) -> tuple[Group, ...]:
    def label(week: int) -> str:
        if not 0 <= week < 400_000:
            return "(not known)"
        return (EPOCH_MONDAY + timedelta(weeks=week)).date().isoformat()

    return tuple(Group(label=label(w), rate=rate_of(groups[w])) for w in sorted(groups))


def _gain(sums: Sequence[float]) -> Gain | None:
    sessions, total, squares, early, early_calls, late, late_calls = sums
    if not sessions:
        return None
    mean = total / sessions
    half = math.inf
    if sessions > 1:
        variance = max(0.0, squares - sessions * mean * mean) / (sessions - 1)
        half = t_quantile(0.975, sessions - 1.0) * math.sqrt(variance / sessions)
    return Gain(
        early=early / early_calls,
        late=late / late_calls,
        mean_change=mean,
        low=mean - half,
        high=mean + half,
        sessions=int(sessions),
    )


def _markers(summary: Summary) -> tuple[Marker, ...]:
    """Most used first; of equals, the one in more sessions."""
    ranked = sorted(summary.markers.items(), key=lambda item: (-item[1][0], -item[1][1], item[0]))
    return tuple(
        Marker(MarkerKind(kind), value, numbers[0])
        for (kind, _, value), numbers in ((key.partition("\t"), n) for key, n in ranked)
    )
