"""A summary turned into figures: what a corpus of sessions says about the agent."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import orjson

from warmstart.errors import UsageError
from warmstart.model.facts import Marker, MarkerKind
from warmstart.profile.learning import Learning, judge_learning
from warmstart.profile.styles import find_domains
from warmstart.profile.summarise import POSITION_EDGES
from warmstart.profile.summary import TOOL_COLUMNS, Summary, merge_all
from warmstart.profile.sums import CALLS, Contrast, Rate, Sums, add_sums, contrast, rate_of, zero
from warmstart.stats.special import t_quantile

__all__ = [
    "CorpusProfile",
    "Gain",
    "Group",
    "RecoveryCount",
    "ToolProfile",
    "corpus_profile",
    "parse_buckets",
]

LENGTH_EDGES = (0, 51, 101)
"""Buckets of messages: 0-50, 51-100, more than 100."""
MAX_MARKERS = 20
MAX_RECOVERIES = 20
EPOCH_MONDAY = datetime(1969, 12, 29, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """The error rate of some of the sessions, or of some of their calls."""

    label: str
    rate: Rate


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
class ToolProfile:
    """One tool over all sessions."""

    tool: str
    calls: int
    rate: Rate
    classes: Mapping[str, int]
    masked: int
    """Calls whose command hides its own exit code: their success is not certain."""
    repaired: int
    works_again: float | None
    """Beside ``repair_rate``: how often the tool works again as soon after a call that worked."""
    detours: int
    """Calls that worked between a failure and its repair."""
    usual_detours: float
    """As many lie between calls of the tool that work, where nothing has to be repaired."""
    repeats: int
    """Calls identical to an earlier one of their session."""
    unanswered: int
    rejected: int
    evidence: tuple[str, int] | None
    """Session with the most failures of this tool, and the position of the first there."""

    @property
    def waste(self) -> int:
        """What fixing the tool would save: failed calls and what detours go beyond the usual."""
        return self.rate.errors + round(max(0.0, self.detours - self.usual_detours))

    @property
    def repair_rate(self) -> float | None:
        """Failures repaired within the next calls; None without failures."""
        return self.repaired / self.rate.errors if self.rate.errors else None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecoveryCount:
    """How often one kind of failure was repaired in one way."""

    tool: str
    error_class: str
    how: str
    by: str
    count: int
    mean_calls: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusProfile:
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
    """What follows the first turns, by the kind of work these were."""
    tools: tuple[ToolProfile, ...]
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
        UsageError: they are no rising whole numbers.
    """
    try:
        ends = [int(part) for part in text.split(",")]
    except ValueError:
        ends = []
    if not ends or ends[0] < 0 or any(a >= b for a, b in pairwise(ends)):
        raise UsageError(
            f"{text!r} is no list of bucket ends", hint="for example --buckets 20,50,100"
        )
    return (0, *(end + 1 for end in ends))


def corpus_profile(
    summaries: Iterable[Summary], edges: Sequence[int] = LENGTH_EDGES
) -> CorpusProfile:
    """The profile of everything summarised; ``edges`` are where the length buckets begin."""
    summary = merge_all(summaries)
    clusters = summary.clusters
    sessions = summary.totals.get("sessions", 0)
    buckets = _bucket(clusters.get("messages", {}), edges)
    longest = _contrast_last(buckets)
    markers = _markers(summary)
    return CorpusProfile(
        totals=summary.totals,
        statuses=summary.statuses,
        rate=rate_of(clusters.get("all", {}).get("", zero())),
        empty_share=summary.totals.get("empty", 0) / sessions if sessions else None,
        by_length=tuple(Group(label=name, rate=rate_of(sums)) for name, sums in buckets),
        length_contrast=longest,
        learning=judge_learning(summary, look_better=longest is None or longest.estimate < 0.0),
        by_position=tuple(_positions(clusters.get("position", {}))),
        gain=_gain(summary.gain),
        openings=_groups(clusters.get("opening", {}), _by_calls),
        tools=_tools(summary),
        trivial={t: row[-1] for t, row in sorted(summary.tools.items()) if row[-1]},
        classes=_sorted(_total_classes(summary)),
        recoveries=_recoveries(summary),
        by_agent=_groups(clusters.get("agent", {}), _by_calls),
        by_model=_groups(clusters.get("model", {}), _by_calls),
        by_project=_groups(clusters.get("project", {}), _by_calls),
        by_week=_weeks(clusters.get("week", {})),
        by_task_type=_groups(clusters.get("task_type", {}), _by_calls),
        task_types=_sorted(summary.labels.get("task_type", {})),
        styles=_sorted(summary.labels.get("style", {})),
        feedback=_sorted(summary.labels.get("feedback", {})),
        markers=markers[:MAX_MARKERS],
        domains=dict(find_domains(markers)),
    )


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


def _tools(summary: Summary) -> tuple[ToolProfile, ...]:
    """Tools that count, the costliest first."""
    made = [
        _tool(summary, tool, dict(zip(TOOL_COLUMNS, row, strict=True)))
        for tool, row in summary.tools.items()
        if row[0] > row[-1]
    ]
    return tuple(sorted(made, key=lambda one: (-one.waste, -one.calls, one.tool)))


def _tool(summary: Summary, tool: str, row: Mapping[str, int]) -> ToolProfile:
    case = summary.evidence.get(tool)
    return ToolProfile(
        tool=tool,
        calls=row["calls"],
        rate=rate_of(summary.clusters.get("tool", {}).get(tool, zero())),
        classes=_sorted(summary.classes.get(tool, {})),
        masked=row["masked"],
        repaired=row["repaired"],
        works_again=row["again"] / row["worked"] if row["worked"] else None,
        detours=row["detours"],
        usual_detours=row["repairs"] * row["between"] / row["again"] if row["again"] else 0.0,
        repeats=row["repeats"],
        unanswered=row["unanswered"],
        rejected=row["rejected"],
        evidence=(str(case[1]), int(case[2])) if case else None,
    )


def _total_classes(summary: Summary) -> dict[str, int]:
    total: dict[str, int] = {}
    for classes in summary.classes.values():
        for name, number in classes.items():
            total[name] = total.get(name, 0) + number
    return total


def _recoveries(summary: Summary) -> tuple[RecoveryCount, ...]:
    made = []
    for key, (number, calls) in summary.recoveries.items():
        tool, error_class, how, by = orjson.loads(key)
        made.append(
            RecoveryCount(tool=tool, error_class=error_class, how=how, by=by, count=number,
                          mean_calls=calls / number)
        )  # fmt: skip
    made.sort(key=lambda one: (-one.count, one.tool, one.error_class, one.how, one.by))
    return tuple(made[:MAX_RECOVERIES])


def _markers(summary: Summary) -> tuple[Marker, ...]:
    """Most used first; of equals, the one in more sessions."""
    ranked = sorted(summary.markers.items(), key=lambda item: (-item[1][0], -item[1][1], item[0]))
    return tuple(
        Marker(MarkerKind(kind), value, numbers[0])
        for (kind, _, value), numbers in ((key.partition("\t"), n) for key, n in ranked)
    )


def _sorted(counts: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
