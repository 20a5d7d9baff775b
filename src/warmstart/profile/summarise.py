"""Facts to a summary, in one pass and in proportion to the calls.

Most calls of most sessions worked, so the work per call is a few list operations; what costs more
is done per session, per tool of a session, or per failure.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable
from operator import add

from warmstart.model.facts import SessionFacts
from warmstart.model.message import Tokens
from warmstart.profile.rules import DEFAULT_RULES, Rules
from warmstart.profile.scan import ERROR, Scan, find_recoveries, scan_calls
from warmstart.profile.scores import MAIN, TINY, add_scores, score_session
from warmstart.profile.styles import find_feedback, find_style
from warmstart.profile.summary import (
    TOOL_COLUMNS,
    Summary,
    join_scores,
    keep_worst,
    limit_markers,
)
from warmstart.profile.sums import Sums, add_cluster, zero
from warmstart.profile.tool_types import classify_session, classify_tool

__all__ = ["LANDMARKS", "OPENING_TURNS", "POSITION_EDGES", "summarise"]

DAY_SECONDS = 86_400
LANDMARKS = (5, 10, 20, 50)
"""The first so many calls of longer sessions, by how long those became."""
POSITION_EDGES = (0, 10, 20, 30, 40, 50, 75, 100, 150, 200, 300, 500, 1000)
"""Where the bins of error rate by position begin."""
OPENING_TURNS = 30
"""Turns of the agent (messages with calls) whose kind of work is set against what follows."""
MAX_MARKERS = 10
"""Of one session; the most used ones."""
COLUMN = {name: place for place, name in enumerate(TOOL_COLUMNS)}
REPAIRED, DETOURS = COLUMN["repaired"], COLUMN["detours"]


def summarise(sessions: Iterable[SessionFacts], rules: Rules = DEFAULT_RULES) -> Summary:
    """The summary of any number of sessions; what a warm-up put in is not in the facts' calls."""
    builder = _Builder(rules)
    for facts in sessions:
        builder.add(facts)
    return builder.summary


class _Builder:
    """A summary in the making, and what is remembered about tools on the way."""

    __slots__ = ("_known", "_rules", "_types", "summary")

    def __init__(self, rules: Rules) -> None:
        self.summary = Summary(rules=rules.fingerprint)
        self._rules = rules
        self._known: dict[str, bool] = {}
        self._types: dict[str, str] = {}

    def add(self, facts: SessionFacts) -> None:
        """Add one session."""
        scan = scan_calls(facts, self._rules, self._known)
        self._add_totals(facts, scan)
        self._add_words(facts)
        if not facts.calls:
            return
        for tool in self._known.keys() - self._types.keys():
            self._types[tool] = classify_tool(tool, self._rules.types)
        calls, errors = len(scan.calls), len(scan.failed)
        self._add_groups(facts, errors, calls)
        self._add_positions(scan, calls)
        self._add_tools(scan)
        if calls > 1:
            self._add_gain(scan.failed, calls)
            self._add_opening(scan)
        if errors:
            self._add_failures(facts, scan)

    def _sums(self, dimension: str, key: object) -> Sums:
        groups = self.summary.clusters.get(dimension)
        if groups is None:
            groups = self.summary.clusters[dimension] = defaultdict(zero)
        return groups[key]

    def _add_totals(self, facts: SessionFacts, scan: Scan) -> None:
        tokens: Tokens = facts.tokens
        seconds = 0.0
        if facts.started_at is not None and facts.ended_at is not None:
            seconds = max(0.0, facts.ended_at - facts.started_at)
        totals = self.summary.totals
        for name, value in (
            ("sessions", 1),
            ("empty", not facts.messages),
            ("without_calls", not facts.calls),
            ("messages", facts.messages),
            ("turns", facts.turns),
            ("warmups", facts.warmups),
            ("trivial_calls", len(scan.trivial)),
            ("compactions", len(facts.compactions)),
            ("seconds", seconds),
            ("cost_usd", facts.cost_usd or 0.0),
            ("input", tokens.input),
            ("output", tokens.output),
            ("cache_read", tokens.cache_read),
            ("cache_write", tokens.cache_write),
        ):
            if value:
                totals[name] = totals.get(name, 0) + value
        statuses = self.summary.statuses
        statuses["error"] = statuses.get("error", 0) + len(scan.failed)
        statuses["ok"] = statuses.get("ok", 0) + len(scan.calls) - len(scan.failed)
        for call in scan.others:
            statuses[call[4]] = statuses.get(call[4], 0) + 1

    def _add_words(self, facts: SessionFacts) -> None:
        summary = self.summary
        voice = facts.voice
        if voice.messages:
            summary.voice = list(map(add, summary.voice, voice))
            self._label("style", find_style(voice))
            self._label("feedback", find_feedback(voice))
        markers = summary.markers
        for kind, value, uses in facts.markers[:MAX_MARKERS]:
            key = kind + "\t" + value
            numbers = markers.get(key)
            if numbers is None:
                markers[key] = [uses, 1]
            else:
                numbers[0] += uses
                numbers[1] += 1
        limit_markers(summary)

    def _label(self, name: str, value: str | None) -> None:
        if value is not None:
            labels = self.summary.labels.setdefault(name, {})
            labels[str(value)] = labels.get(str(value), 0) + 1

    def _add_groups(self, facts: SessionFacts, errors: int, calls: int) -> None:
        when = facts.started_at if facts.started_at is not None else facts.ended_at
        for dimension, key in (
            ("all", ""),
            ("agent", facts.agent),
            ("model", facts.model or ""),
            ("project", facts.project or ""),
            ("messages", facts.messages),
            ("week", -1 if when is None else (int(when // DAY_SECONDS) + 3) // 7),
        ):
            add_cluster(self._sums(dimension, key), errors, calls)

    def _add_positions(self, scan: Scan, calls: int) -> None:
        failed = scan.failed
        before = 0
        for start, end in zip(POSITION_EDGES, (*POSITION_EDGES[1:], calls), strict=True):
            if start >= calls:
                break
            stop = min(end, calls) if end > start else calls
            until = bisect_left(failed, stop)
            add_cluster(self._sums("position", start), until - before, stop - start)
            before = until
        for landmark in LANDMARKS:
            if calls > landmark:
                errors = bisect_left(failed, landmark)
                add_cluster(self._sums(f"first{landmark}", calls), errors, landmark)

    def _add_tools(self, scan: Scan) -> None:
        """Calls, masked exits and repeats per tool, and the session's task type."""
        counts = Counter(scan.tools)
        failed = Counter([scan.tools[index] for index in scan.failed])
        types: dict[str, int] = {}
        for tool, number in counts.items():
            add_cluster(self._sums("tool", tool), failed[tool], number)
            self._column(tool)[0] += number
            kind = self._types[tool]
            types[kind] = types.get(kind, 0) + number
        self._add_uncounted(scan)
        for tool in [call[3] for call in scan.calls if call[7]]:
            self._column(tool)[1] += 1
        if types:
            task_type = classify_session(types, self._rules.dominance)
            self._label("task_type", task_type)
            add_cluster(self._sums("task_type", task_type.value), len(scan.failed), len(scan.calls))
        if len({call[8] for call in scan.calls}) < len(scan.calls):
            self._add_repeats(scan)

    def _add_uncounted(self, scan: Scan) -> None:
        """Calls that are in no rate: not judged, or of a tool that is left out."""
        for call in scan.others:
            columns = self._column(call[3])
            columns[0] += 1
            columns[COLUMN[call[4]]] += 1
        for call in scan.trivial:
            columns = self._column(call[3])
            columns[0] += 1
            columns[COLUMN["trivial"]] += 1

    def _column(self, tool: str) -> list[int]:
        columns = self.summary.tools.get(tool)
        if columns is None:
            columns = self.summary.tools[tool] = [0] * len(TOOL_COLUMNS)
        return columns

    def _add_repeats(self, scan: Scan) -> None:
        seen: set[int] = set()
        for call in scan.calls:
            if call[8] in seen:
                self._column(call[3])[COLUMN["repeats"]] += 1
            else:
                seen.add(call[8])

    def _add_gain(self, failed: list[int], calls: int) -> None:
        """Late minus early: the first fifth against the last fifth before the final call."""
        window = calls // 5
        if not window:
            return
        early = bisect_left(failed, window)
        late = bisect_left(failed, calls - 1) - bisect_left(failed, calls - 1 - window)
        change = (late - early) / window
        gain = self.summary.gain
        for place, value in enumerate((1, change, change * change, early, window, late, window)):
            gain[place] += value

    def _add_opening(self, scan: Scan) -> None:
        """What kind of work the first turns were, against the error rate of what follows."""
        calls = scan.calls
        if len(calls) <= OPENING_TURNS:
            return
        asked = sorted({call[1] for call in calls})
        if len(asked) <= OPENING_TURNS:
            return
        cut = bisect_left(calls, asked[OPENING_TURNS], key=lambda call: call[1])
        kinds = Counter([self._types[tool] for tool in scan.tools[:cut]])
        opening = classify_session(kinds, self._rules.dominance)
        errors = len(scan.failed) - bisect_left(scan.failed, cut)
        add_cluster(self._sums("opening", opening.value), errors, len(calls) - cut)

    def _add_failures(self, facts: SessionFacts, scan: Scan) -> None:
        summary = self.summary
        scores = score_session(scan.tools, scan.failed)
        add_scores(summary.trend, scores)
        if scores[MAIN][1] > TINY and summary.scores is not None:
            summary.scores = join_scores(summary.scores, [scores[MAIN][0]])
        worst: dict[str, list[int]] = {}
        for index in scan.failed:
            call = scan.calls[index]
            worst.setdefault(call[3], [0, call[0]])[0] += 1
            classes = summary.classes.setdefault(call[3], {})
            name = call[6] or "other"
            classes[name] = classes.get(name, 0) + 1
        for tool, (errors, position) in worst.items():
            keep_worst(summary.evidence, tool, [errors, facts.id, position])
        self._add_recoveries(scan)

    def _add_recoveries(self, scan: Scan) -> None:
        calls, recoveries = scan.calls, self.summary.recoveries
        spent: dict[tuple[str, int], int] = {}
        for tool, error_class, failed, repaired, by, how in find_recoveries(scan, self._types):
            key = "\t".join((tool, error_class or "other", how, by))
            numbers = recoveries.get(key)
            if numbers is None:
                numbers = recoveries[key] = [0, 0]
            numbers[0] += 1
            numbers[1] += repaired - failed
            self._column(tool)[REPAIRED] += 1
            # Several failures ended by one success share its detour, counted from the first.
            spent.setdefault((tool, repaired), failed)
        for (tool, repaired), first in spent.items():
            if repaired - first > 1:
                between = [call[4] for call in calls[first + 1 : repaired]]
                self._column(tool)[DETOURS] += len(between) - between.count(ERROR)
