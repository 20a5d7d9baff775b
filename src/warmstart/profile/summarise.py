"""Facts to a summary, in one pass and in proportion to the calls.

Calls are counted as columns, sessions by group and number of calls; one by one go only the tools
of a session and its failures.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import compress, count
from operator import ne

import orjson

from warmstart.facts.columns import ERROR_CLASS, MESSAGE, SAME
from warmstart.facts.details import PackedMarkers
from warmstart.facts.verdicts import CLASSES
from warmstart.model import Status
from warmstart.model.facts import SessionFacts, Voice
from warmstart.profile import openings
from warmstart.profile.groups import LANDMARKS, POSITION_EDGES, Keys, SessionGroups, make_keys
from warmstart.profile.openings import OPENING_TURNS, list_bands
from warmstart.profile.rules import DEFAULT_RULES, Rules
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
STATUSES = tuple(map(str, Status))


def summarise(sessions: Iterable[SessionFacts], rules: Rules = DEFAULT_RULES) -> Summary:
    """The summary of any number of sessions; what a warm-up put in is not in the facts' calls."""
    builder = _Builder(rules)
    for facts in sessions:
        builder.add(facts)
    return builder.finish()


class _Builder:
    """A summary in the making, and what is collected and remembered on the way."""

    __slots__ = (
        "_groups", "_known", "_opening_calls", "_rules", "_summary", "_task_types", "_tool_calls",
        "_totals", "_types", "_voices",
    )  # fmt: skip

    def __init__(self, rules: Rules) -> None:
        self._summary = Summary(rules=rules.fingerprint)
        self._rules = rules
        self._known: dict[str, bool] = {}
        self._types: dict[str, str] = {}
        self._groups = SessionGroups()
        self._totals: list[tuple[float, ...]] = []
        """Of each session, the values of ``TOTALS``."""
        self._voices: list[Voice] = []
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
        if facts.voice.messages:
            self._voices.append(facts.voice)
        if not scan.names:
            return
        if len(self._types) < len(self._known):
            new = [tool for tool in scan.names if tool not in self._types]
            self._types.update((tool, classify_tool(tool, self._rules.types)) for tool in new)
        task_type = self._add_tools(scan)
        self._task_types.append(task_type)
        self._groups.add(_find_keys(facts, task_type), len(scan.numbers), scan.failed)
        if len(scan.numbers) > OPENING_TURNS:
            self._add_opening(scan)
        if scan.failed:
            self._add_failures(facts, scan)

    def finish(self) -> Summary:
        """Add up what was collected."""
        summary = self._summary
        sums = map(sum, zip(*self._totals, strict=True))
        summary.totals = {name: value for name, value in zip(TOTALS, sums, strict=False) if value}
        self._label("task_type", self._task_types)
        self._label("style", map(find_style, self._voices))
        self._label("feedback", map(find_feedback, self._voices))
        if self._voices:
            summary.voice = list(map(sum, zip(*self._voices, strict=True)))
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
        found = facts.markers
        rows = found.rows() if isinstance(found, PackedMarkers) else found
        for kind, value, uses in rows[:MAX_SESSION_MARKERS]:
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
        names, numbers = scan.names, scan.numbers
        counts = _count_tools(names, numbers)
        self._tool_calls += counts
        if len(scan.others) or len(scan.trivial):
            self._add_uncounted(scan)
        if 1 in scan.masked:
            self._add_numbers(MASKED, names, compress(numbers, scan.masked))
        sames = scan.whole.column(SAME)
        if len(set(sames)) < len(sames):
            self._add_repeats(scan, compress(sames, scan.mask))
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
        names, statuses = scan.names, self._summary.statuses
        for number, place in zip(scan.others.tools, scan.others.statuses, strict=True):
            status = STATUSES[place]
            statuses[status] = statuses.get(status, 0) + 1
            columns = self._column(names[number])
            columns[ASKED] += 1
            columns[COLUMN[status]] += 1
        if scan.trivial:
            tools = scan.whole.tools
            for number, tool in enumerate(names):
                if self._known[tool]:
                    columns, calls = self._column(tool), tools.count(number)
                    columns[ASKED] += calls
                    columns[TRIVIAL] += calls

    def _add_numbers(self, column: int, names: Sequence[str], numbers: Iterable[int]) -> None:
        """One more for each call, given by its tool's number."""
        calls = list(numbers)
        for number in dict.fromkeys(calls):
            self._column(names[number])[column] += calls.count(number)

    def _column(self, tool: str) -> list[int]:
        columns = self._summary.tools.get(tool)
        if columns is None:
            columns = self._summary.tools[tool] = [0] * len(TOOL_COLUMNS)
        return columns

    def _add_repeats(self, scan: Scan, sames: Iterable[int]) -> None:
        """Calls identical to an earlier one, of which all but the first count."""
        first: dict[int, int] = {}
        # For each call the place of the first that is like it, which is another for a repeat.
        earliest = map(first.setdefault, sames, count())
        repeats = compress(scan.numbers, map(ne, earliest, count()))
        self._add_numbers(REPEATS, scan.names, repeats)

    def _add_opening(self, scan: Scan) -> None:
        """What kind of work the first turns were, against the error rate of what follows."""
        cut = _find_cut(scan.column(MESSAGE))
        if cut is None:
            return
        types = self._count_types(_count_tools(scan.names, scan.numbers[:cut]))
        errors, calls = len(scan.failed) - bisect_left(scan.failed, cut), len(scan.numbers) - cut
        kind = str(classify_session(types, self._rules.dominance))
        add_cluster(self._sums("opening", kind), errors, calls)
        for band in list_bands(types):
            add_cluster(self._sums(openings.CLUSTERS, band), errors, calls)
        self._opening_calls.update(types)

    def _add_failures(self, facts: SessionFacts, scan: Scan) -> None:
        summary, places, numbers = self._summary, scan.places, scan.numbers
        strata = split_strata(numbers, scan.failed)
        scores = score_session(len(numbers), strata)
        add_scores(summary.trend, scores)
        if scores[MAIN][1] > TINY and summary.scores is not None:
            summary.scores = join_scores(summary.scores, [scores[MAIN][0]])
        kinds = scan.whole.column(ERROR_CLASS)
        for stratum in strata:
            tool, failed = scan.names[stratum.tool], stratum.failed
            classes = summary.classes.setdefault(tool, {})
            for index in failed:
                name = CLASSES[kinds[places[index]]] or "other"
                classes[name] = classes.get(name, 0) + 1
            add_errors(self._sums("tool", tool), len(failed), stratum.size)
            keep_worst(summary.evidence, tool, [len(failed), facts.id, places[failed[0]]])
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


def _count_tools(names: Sequence[str], numbers: Sequence[int]) -> list[tuple[str, int]]:
    """The tools of some calls, given by their numbers, and how many calls each had."""
    pairs = enumerate(names)
    return [(tool, calls) for number, tool in pairs if (calls := numbers.count(number))]


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
