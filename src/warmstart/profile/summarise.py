"""Facts to a summary, in one pass and in proportion to the calls."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from operator import attrgetter

import orjson

from warmstart.model import CallFact, SessionFacts, UserStyleCounts
from warmstart.profile import openings
from warmstart.profile.groups import LANDMARKS, POSITION_EDGES, Keys, SessionGroups, make_keys
from warmstart.profile.openings import OPENING_TURNS, list_bands
from warmstart.profile.rules import DEFAULT_RULES, ToolRules
from warmstart.profile.scan import Scan, find_recoveries, scan_calls
from warmstart.profile.scores import MAIN, TINY, add_scores, score_session
from warmstart.profile.strata import Rhythm, measure_rhythm, split_strata
from warmstart.profile.styles import find_feedback, find_style
from warmstart.profile.summary import (
    TOOL_COLUMNS,
    Summary,
    join_scores,
    keep_worst,
    limit_markers,
)
from warmstart.profile.sums import (
    CALLS,
    ERRORS,
    Sums,
    add_cluster,
    add_clusters,
    add_errors,
    zero,
)
from warmstart.profile.tool_types import classify_session, classify_tool

__all__ = ["LANDMARKS", "POSITION_EDGES", "summarise"]

DAY_SECONDS = 86_400
MAX_SESSION_MARKERS = 10
"""Of one session; the most used ones."""
TOTALS = (
    "sessions", "empty", "without_calls", "messages", "turns", "warmups", "trivial_calls",
    "compactions", "seconds", "cost_usd", "input", "output", "cache_read", "cache_write",
)  # fmt: skip
COLUMN = {name: place for place, name in enumerate(TOOL_COLUMNS)}
ASKED, MASKED, REPAIRED, REPAIRS, DETOURS, REPEATS, TRIVIAL = (
    COLUMN[name]
    for name in ("calls", "masked", "repaired", "repairs", "detours", "repeats", "trivial")
)
RHYTHM = [COLUMN[name] for name in Rhythm._fields]
_arguments_of = attrgetter("arguments_hash")


def summarise(sessions: Iterable[SessionFacts], rules: ToolRules = DEFAULT_RULES) -> Summary:
    """The summary of any number of sessions; what a warm-up put in is not in the facts' calls."""
    builder = _Builder(rules)
    for facts in sessions:
        builder.add(facts)
    return builder.finish()


class _Builder:
    """A summary in the making, and what is collected and remembered on the way."""

    __slots__ = (
        "_groups", "_known", "_opening_calls", "_rules", "_summary", "_task_types", "_tool_calls",
        "_totals", "_types", "_user_styles",
    )  # fmt: skip

    def __init__(self, rules: ToolRules) -> None:
        self._summary = Summary(rules=rules.fingerprint)
        self._rules = rules
        self._known: dict[str, bool] = {}
        self._types: dict[str, str] = {}
        self._groups = SessionGroups()
        self._totals: list[tuple[float, ...]] = []
        """Of each session, the values of ``TOTALS``."""
        self._user_styles: list[UserStyleCounts] = []
        self._task_types: list[str | None] = []
        self._tool_calls: list[tuple[str, int]] = []
        """Of each session, its tools and their judged calls."""
        self._opening_calls: Counter[str] = Counter()
        """Of the first turns, by kind of work."""

    def add(self, facts: SessionFacts) -> None:
        """Add one session."""
        scan = scan_calls(facts, self._rules, self._known)
        self._totals.append(_find_totals(facts, scan))
        self._add_markers(facts)
        if facts.user_style.messages:
            self._user_styles.append(facts.user_style)
        if not scan.names:
            return
        if len(self._types) < len(self._known):
            new = [tool for tool in scan.names if tool not in self._types]
            self._types.update((tool, classify_tool(tool, self._rules.types)) for tool in new)
        task_type = self._add_tools(scan)
        self._task_types.append(task_type)
        self._groups.add(_find_keys(facts, task_type), len(scan.calls), scan.failed)
        if len(scan.calls) > OPENING_TURNS:
            self._add_opening(scan)
        if scan.failed:
            self._add_failures(facts, scan)

    def finish(self) -> Summary:
        """Add up what was collected."""
        summary = self._summary
        sums = map(sum, zip(*self._totals, strict=True))
        summary.totals = {name: value for name, value in zip(TOTALS, sums, strict=False) if value}
        self._label("task_type", self._task_types)
        self._label("style", map(find_style, self._user_styles))
        self._label("feedback", map(find_feedback, self._user_styles))
        if self._user_styles:
            summary.user_style = list(map(sum, zip(*self._user_styles, strict=True)))
        types: Counter[str] = Counter()
        for (tool, calls), times in Counter(self._tool_calls).items():
            add_clusters(self._sums("tool", tool), calls, times)
            self._column(tool)[ASKED] += times * calls
            types[self._types[tool]] += times * calls
        for name, counts in (("tool_type", types), (openings.CALLS, self._opening_calls)):
            if counts:
                summary.labels[name] = dict(counts)
        self._groups.add_up(summary.clusters, summary.gain)
        if self._totals:
            everything = summary.clusters.get("all", {}).get("", zero())
            errors, calls = int(everything[ERRORS]), int(everything[CALLS])
            summary.statuses = {"error": errors, "ok": calls - errors, **summary.statuses}
        return summary

    def _sums(self, dimension: str, key: str) -> Sums:
        return self._summary.clusters.setdefault(dimension, {}).setdefault(key, zero())

    def _label(self, name: str, values: Iterable[str | None]) -> None:
        counts = Counter([str(value) for value in values if value is not None])
        if counts:
            self._summary.labels[name] = dict(counts)

    def _add_markers(self, facts: SessionFacts) -> None:
        markers = self._summary.markers
        for kind, value, uses in facts.markers[:MAX_SESSION_MARKERS]:
            key = kind + "\t" + value
            numbers = markers.get(key)
            if numbers is None:
                markers[key] = [uses, 1]
            else:
                numbers[0] += uses
                numbers[1] += 1
        limit_markers(self._summary)

    def _add_tools(self, scan: Scan) -> str | None:
        """Calls, masked exits and repeats per tool; gives the session's task type."""
        counts = _count_tools(scan.names, scan.tools)
        self._tool_calls += counts
        if scan.others or scan.trivial:
            self._add_uncounted(scan)
        self._add_to(MASKED, (call.tool for call in scan.calls if call.masked))
        if len(set(map(_arguments_of, scan.calls))) < len(scan.calls):
            self._add_repeats(scan.calls)
        if not counts:
            return None
        return str(classify_session(self._count_types(counts), self._rules.dominance))

    def _count_types(self, counts: Iterable[tuple[str, int]]) -> dict[str, int]:
        """Calls by the kind of work they were, from how many there were of each tool."""
        types: dict[str, int] = {}
        for tool, calls in counts:
            kind = self._types[tool]
            types[kind] = types.get(kind, 0) + calls
        return types

    def _add_uncounted(self, scan: Scan) -> None:
        """Calls that are in no rate: not judged, or of a tool that is left out."""
        statuses = self._summary.statuses
        for call in scan.others:
            status = str(call.status)
            statuses[status] = statuses.get(status, 0) + 1
            columns = self._column(call.tool)
            columns[ASKED] += 1
            columns[COLUMN[status]] += 1
        for call in scan.trivial:
            columns = self._column(call.tool)
            columns[ASKED] += 1
            columns[TRIVIAL] += 1

    def _add_to(self, column: int, tools: Iterable[str]) -> None:
        """One more for each call, given by its tool."""
        for tool in tools:
            self._column(tool)[column] += 1

    def _column(self, tool: str) -> list[int]:
        columns = self._summary.tools.get(tool)
        if columns is None:
            columns = self._summary.tools[tool] = [0] * len(TOOL_COLUMNS)
        return columns

    def _add_repeats(self, calls: Iterable[CallFact]) -> None:
        """Calls identical to an earlier one, of which all but the first count."""
        met: set[int] = set()
        for call in calls:
            if call.arguments_hash in met:
                self._column(call.tool)[REPEATS] += 1
            met.add(call.arguments_hash)

    def _add_opening(self, scan: Scan) -> None:
        """What kind of work the first turns were, against the error rate of what follows."""
        cut = _find_cut(call.message for call in scan.calls)
        if cut is None:
            return
        types = self._count_types(_count_tools(scan.names, scan.tools[:cut]))
        errors, calls = len(scan.failed) - bisect_left(scan.failed, cut), len(scan.calls) - cut
        kind = str(classify_session(types, self._rules.dominance))
        add_cluster(self._sums("opening", kind), errors, calls)
        for band in list_bands(types):
            add_cluster(self._sums(openings.CLUSTERS, band), errors, calls)
        self._opening_calls.update(types)

    def _add_failures(self, facts: SessionFacts, scan: Scan) -> None:
        summary, calls = self._summary, scan.calls
        strata = split_strata(scan.tools, scan.failed)
        scores = score_session(len(calls), strata)
        add_scores(summary.trend, scores)
        if scores[MAIN][1] > TINY and summary.scores is not None:
            summary.scores = join_scores(summary.scores, [scores[MAIN][0]])
        for stratum in strata:
            tool, failed = stratum.tool, stratum.failed
            classes = summary.classes.setdefault(tool, {})
            for index in failed:
                name = calls[index].error_class or "other"
                classes[name] = classes.get(name, 0) + 1
            add_errors(self._sums("tool", tool), len(failed), stratum.size)
            keep_worst(summary.evidence, tool, [len(failed), facts.id, calls[failed[0]].position])
            columns = self._column(tool)
            for column, number in zip(RHYTHM, measure_rhythm(stratum), strict=True):
                columns[column] += number
        self._add_recoveries(scan)

    def _add_recoveries(self, scan: Scan) -> None:
        recoveries = self._summary.recoveries
        spent: dict[tuple[str, int], int] = {}
        for tool, error_class, failed, repaired, by, how in find_recoveries(scan, self._types):
            key = orjson.dumps((tool, error_class or "other", how, by)).decode()
            numbers = recoveries.get(key)
            if numbers is None:
                numbers = recoveries[key] = [0, 0]
            numbers[0] += 1
            numbers[1] += repaired - failed
            self._column(tool)[REPAIRED] += 1
            # Several failures ended by one success share its detour, counted from the first.
            spent.setdefault((tool, repaired), failed)
        for (tool, repaired), first in spent.items():
            self._column(tool)[REPAIRS] += 1
            if repaired - first > 1:
                errors = bisect_left(scan.failed, repaired) - bisect_right(scan.failed, first)
                self._column(tool)[DETOURS] += repaired - first - 1 - errors


def _count_tools(names: Sequence[str], tools: Sequence[str]) -> list[tuple[str, int]]:
    """The tools of some calls, in the order of ``names``, and how many calls each had."""
    counts = Counter(tools)
    return [(tool, counts[tool]) for tool in names if tool in counts]


def _find_cut(messages: Iterable[int]) -> int | None:
    """Where the first turns end, given the message of each call; None where no more follow."""
    turns, before = 0, -1
    for place, message in enumerate(messages):
        if message != before:
            if turns == OPENING_TURNS:
                return place
            turns += 1
            before = message
    return None


def _find_totals(facts: SessionFacts, scan: Scan) -> tuple[float, ...]:
    """The session's share of each of ``TOTALS``."""
    tokens = facts.tokens
    seconds = 0.0
    if facts.started_at is not None and facts.ended_at is not None:
        seconds = max(0.0, facts.ended_at - facts.started_at)
    return (
        1, not facts.messages, not scan.names, facts.messages, facts.turns, facts.warmups,
        len(scan.trivial), len(facts.compactions), seconds, facts.cost_usd or 0.0,
        tokens.input, tokens.output, tokens.cache_read, tokens.cache_write,
    )  # fmt: skip


def _find_keys(facts: SessionFacts, task_type: str | None) -> Keys:
    """The groups a session is in."""
    when = facts.started_at if facts.started_at is not None else facts.ended_at
    week = -1 if when is None else (int(when // DAY_SECONDS) + 3) // 7
    return make_keys((
        "", facts.agent, facts.model or "", facts.project or "", facts.messages, week, task_type
    ))  # fmt: skip
