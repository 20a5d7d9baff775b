"""Everything a corpus profile is computed from, as sums: of one session or of a million.

A summary holds counts only, merges exactly (``merge``), and is small JSON (``encode_summary``), so
that it can be kept beside the facts of a file or a shard and added up later in any order. Two
things are bounded on purpose: context markers beyond the most used, and the per-session trend
scores, which are kept only as long as an exact sign test is worth its time.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from operator import add, itemgetter
from typing import Any

import orjson

from warmstart.errors import UsageError
from warmstart.profile.sums import Sums

__all__ = ["Summary", "decode_summary", "encode_summary", "merge", "merge_all"]

MAX_MARKERS = 150
"""Beyond twice this many, the least used are dropped."""
MAX_SCORES = 200
"""Up to this many informative sessions the sign-flip test is run on the scores themselves."""
INT_KEYS = frozenset({"messages", "week", "position", "first5", "first10", "first20", "first50"})
"""Dimensions of ``clusters`` whose keys are numbers."""


@dataclass(slots=True, kw_only=True)
class Summary:
    """Sums over sessions. Built in place by ``summarise``; a value from then on."""

    rules: str = ""
    """Fingerprint of the rules it was made under."""
    totals: dict[str, float] = field(default_factory=dict)
    """Sessions, messages, tokens and the like."""
    statuses: dict[str, int] = field(default_factory=dict)
    """Calls by status, trivial tools left out."""
    clusters: dict[str, dict[Any, Sums]] = field(default_factory=dict)
    """Error rates by dimension and value (see ``sums``)."""
    tools: dict[str, list[int]] = field(default_factory=dict)
    """Per tool: the columns of ``TOOL_COLUMNS``."""
    classes: dict[str, dict[str, int]] = field(default_factory=dict)
    """Per tool: failed calls by error class."""
    recoveries: dict[str, list[int]] = field(default_factory=dict)
    """``[tool, class, how, by]`` as JSON: how often, and calls it took in all."""
    gain: list[float] = field(default_factory=lambda: [0.0] * 7)
    """Sessions, sum and square sum of late minus early, then errors and calls, early and late."""
    trend: dict[str, list[float]] = field(default_factory=dict)
    """Per variant: sessions, sums of U, UU, V, UV, VV, calls and errors."""
    scores: list[float] | None = field(default_factory=list)
    """U of each informative session; None once there were too many."""
    user_style: list[int] = field(default_factory=lambda: [0] * 8)
    labels: dict[str, dict[str, int]] = field(default_factory=dict)
    """Sessions by task type, request style and feedback style; calls by the type of their tool."""
    markers: dict[str, list[int]] = field(default_factory=dict)
    """``kind, value`` joined by a tab: uses and sessions."""
    evidence: dict[str, list[Any]] = field(default_factory=dict)
    """Per tool: errors, session and position of its worst session."""


TOOL_COLUMNS = (
    "calls", "masked", "repaired", "repairs", "detours", "worked", "again", "pairs", "between",
    "repeats", "rejected", "cancelled", "unanswered", "unknown", "trivial",
)  # fmt: skip
"""``worked`` to ``between`` are of sessions where the tool failed: its calls that worked, how many
of them were followed by another as soon as a repair must come, how many of those with no failure
of the tool in between, and the calls between the latter."""


def merge(one: Summary, two: Summary) -> Summary:
    """Both as one; neither is changed.

    Raises:
        UsageError: they were made under different rules.
    """
    return merge_all((one, two))


def merge_all(parts: Iterable[Summary]) -> Summary:
    """Any number of summaries as one; nothing gives the empty summary."""
    total = Summary()
    for part in parts:
        _absorb(total, part)
    return total


def _absorb(total: Summary, part: Summary) -> None:
    if total.rules and part.rules and total.rules != part.rules:
        raise UsageError("summaries made under different rules cannot be added up")
    total.rules = total.rules or part.rules
    _add_tables(total, part)
    total.gain = list(map(add, total.gain, part.gain))
    total.user_style = list(map(add, total.user_style, part.user_style))
    total.scores = join_scores(total.scores, part.scores)
    for tool, case in part.evidence.items():
        keep_worst(total.evidence, tool, case)
    limit_markers(total)


def _add_tables(total: Summary, part: Summary) -> None:
    for name in ("totals", "statuses"):
        _add_numbers(getattr(total, name), getattr(part, name))
    for name in ("tools", "recoveries", "trend", "markers"):
        _add_lists(getattr(total, name), getattr(part, name))
    for dimension, groups in part.clusters.items():
        _add_lists(total.clusters.setdefault(dimension, {}), groups)
    for name in ("classes", "labels"):
        for key, numbers in getattr(part, name).items():
            _add_numbers(getattr(total, name).setdefault(key, {}), numbers)


def _add_numbers(into: dict[str, Any], more: dict[str, Any]) -> None:
    for key, number in more.items():
        into[key] = into.get(key, 0) + number


def _add_lists(into: dict[Any, Any], more: dict[Any, Any]) -> None:
    for key, numbers in more.items():
        have = into.get(key)
        into[key] = list(numbers) if have is None else list(map(add, have, numbers))


def join_scores(one: list[float] | None, two: list[float] | None) -> list[float] | None:
    """Both lists, in an order that does not depend on which came first; None when too long."""
    if one is None or two is None or len(one) + len(two) > MAX_SCORES:
        return None
    return sorted(one + two)


def keep_worst(evidence: dict[str, list[Any]], tool: str, case: list[Any]) -> None:
    """Keep the session with the most errors of a tool; of equals, the first id."""
    have = evidence.get(tool)
    if have is None or (-case[0], case[1]) < (-have[0], have[1]):
        evidence[tool] = case


def limit_markers(summary: Summary) -> None:
    """Drop the least used markers when there are far too many."""
    if len(summary.markers) > 2 * MAX_MARKERS:
        ranked = sorted(summary.markers.items(), key=itemgetter(1, 0), reverse=True)
        summary.markers = dict(ranked[:MAX_MARKERS])


def encode_summary(summary: Summary) -> bytes:
    """A summary as compact JSON."""
    return orjson.dumps(
        {one.name: getattr(summary, one.name) for one in fields(Summary)},
        option=orjson.OPT_NON_STR_KEYS,
    )


def decode_summary(data: bytes) -> Summary:
    """A summary from its JSON.

    Raises:
        UsageError: it is none.
    """
    try:
        summary = Summary(**orjson.loads(data))
        for dimension in INT_KEYS.intersection(summary.clusters):
            groups = summary.clusters[dimension]
            summary.clusters[dimension] = {int(key): sums for key, sums in groups.items()}
    except (orjson.JSONDecodeError, TypeError, ValueError, AttributeError) as error:
        raise UsageError("this is not a stored summary", hint="rebuild the facts") from error
    return summary
