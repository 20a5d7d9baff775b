"""Which sessions are worth fetching, from facts alone: contents are read only for these.

Two kinds are chosen. Exemplary sessions passed every rule, and examples come from them alone.
Repair sessions had a failed call that a later call of the same tool put right; what they teach is
recoveries, and where a tool fails. Both are picked greedily for what they add: tools weighted by
error rate times use, and shapes of arguments that were not covered yet.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, compress
from math import fsum
from operator import attrgetter, itemgetter

from msgspec.structs import replace

from warmstart.mine.rules import MiningRules, SessionTally, find_cap, find_reason, tally
from warmstart.mine.trivial import is_trivial
from warmstart.model import CallFact, Certainty, ErrorClass, Link, SessionFacts, Status

REPAIR_SHARE = 3
"""One fetched session in this many is fetched for its repairs."""
SHORTLIST = 4
"""The best sessions looked at for each one that is fetched."""
PRIOR_ERRORS, PRIOR_CALLS = 0.5, 10.0
"""A tool seen a few times is neither perfect nor hopeless."""
MAX_CALLS = 4000
"""Calls of all fetched sessions together: marathons teach little more, and cost more."""
FIXED_COST = 40
"""What fetching a session costs apart from its calls, in calls."""
_OK, _ERROR, _TEXTUAL = Status.OK, Status.ERROR, Certainty.TEXTUAL


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolStat:
    """How one tool did over every session looked at, good and bad."""

    tool: str
    judged: int
    errors: int
    classes: Mapping[ErrorClass, int] = field(default_factory=dict)

    @property
    def weight(self) -> float:
        """Where an example pays: how often the tool fails times how often it is used."""
        return self.judged * (self.errors + PRIOR_ERRORS) / (self.judged + PRIOR_CALLS)


@dataclass(frozen=True, slots=True, kw_only=True)
class MiningPlan:
    """What to fetch, and everything the facts say about the rest."""

    looked_at: int
    """Sessions the facts were about."""
    qualified: tuple[SessionFacts, ...]
    """Best first."""
    left_out: Mapping[str, int]
    exemplary: tuple[SessionFacts, ...]
    """Fetched for examples."""
    repairs: tuple[SessionFacts, ...]
    """Fetched for recoveries only; none of them is among the exemplary."""
    tools: Mapping[str, ToolStat]
    rules: tuple[str, ...]

    @property
    def fetched(self) -> tuple[SessionFacts, ...]:
        """Everything whose contents are wanted, in a fixed order."""
        return tuple(sorted((*self.exemplary, *self.repairs), key=lambda facts: facts.id))

    @property
    def unverified(self) -> int:
        """Successes of exemplary sessions that rest on words alone, or on an exit code hidden."""
        return sum(
            call.status is _OK and not is_verified(call) and not is_trivial(call.tool)
            for one in self.exemplary
            for call in one.calls
            if one.reward is None
        )


def plan_mining(
    facts: Iterable[SessionFacts], rules: MiningRules, *, max_sessions: int
) -> MiningPlan:
    """Judge every session by the rules and choose what to fetch; their order does not matter."""
    tallies = sorted([_tally(one, rules) for one in facts], key=attrgetter("facts.id"))
    cap = find_cap(tallies, rules)
    reasons = [find_reason(item, cap) for item in tallies]
    good = sorted(compress(tallies, [reason is None for reason in reasons]), key=_quality)
    left_out = Counter(filter(None, reasons))
    stats = count_tools(tallies)
    share = max(1, max_sessions // REPAIR_SHARE) if max_sessions > 1 else 0
    repairable = _rank_repairs(tallies, rules)
    wanted = max(max_sessions - min(share, len(repairable)), 1)
    exemplary = _cover([item.facts for item in good[: SHORTLIST * wanted]], wanted, stats)
    chosen = {one.id for one in exemplary}
    others = [one for one in repairable if one.id not in chosen]
    repairs = _cover_repairs(others[: SHORTLIST * max_sessions], max_sessions - len(exemplary))
    return MiningPlan(
        looked_at=len(tallies),
        qualified=tuple(item.facts for item in good),
        left_out=dict(sorted(left_out.items(), key=lambda pair: (-pair[1], pair[0]))),
        exemplary=tuple(exemplary),
        repairs=tuple(repairs),
        tools=stats,
        rules=rules.sentences(cap),
    )


def is_verified(call: CallFact, *, textual: bool = False) -> bool:
    """Whether a call's success rests on more than words; a hidden exit code proves nothing."""
    if call.status is not _OK or is_trivial(call.tool):
        return False
    return textual or (call.certainty is not _TEXTUAL and not call.masked)


def count_tools(tallies: Sequence[SessionTally]) -> dict[str, ToolStat]:
    """Judged calls, errors and their classes per tool; bookkeeping is left out."""
    errors: dict[str, int] = {}
    classes: dict[str, dict[ErrorClass, int]] = {}
    kinds = Counter(chain.from_iterable(item.failed for item in tallies))
    for (tool, error_class), number in kinds.items():
        errors[tool] = errors.get(tool, 0) + number
        found = classes.setdefault(tool, {})
        name = error_class or ErrorClass.OTHER
        found[name] = found.get(name, 0) + number
    judged: dict[str, int] = {}
    for item in tallies:
        for tool, number in item.tools.items():
            judged[tool] = judged.get(tool, 0) + number
    return {
        tool: ToolStat(
            tool=tool,
            judged=judged[tool],
            errors=errors.get(tool, 0),
            classes=classes.get(tool, {}),
        )
        for tool in sorted(judged)
        if judged[tool] and not is_trivial(tool)
    }


def _tally(facts: SessionFacts, rules: MiningRules) -> SessionTally:
    """The counts of a session, which keeps its calls only where it may be chosen."""
    item = tally(facts, rules)
    if item.shortcoming is None or _may_repair(item, rules):
        return item
    return item._replace(facts=replace(facts, calls=()))


def _may_repair(item: SessionTally, rules: MiningRules) -> bool:
    """Whether a session has failed calls, and enough others, to learn a repair from."""
    if not item.errors or item.judged < rules.min_calls:
        return False
    parent = item.facts.parent
    return parent is None or parent.link is not Link.SUBAGENT


def _quality(item: SessionTally) -> tuple[float, float, int, str]:
    """Solved tasks first, then few errors for the number of calls, then long ones."""
    reward = item.facts.reward
    shrunk = (item.errors + PRIOR_ERRORS) / (item.judged + PRIOR_CALLS)
    return (-reward if reward is not None else 0.0, shrunk, -item.judged, item.facts.id)


def _cover(
    shortlist: list[SessionFacts], wanted: int, stats: Mapping[str, ToolStat]
) -> list[SessionFacts]:
    """Greedy cover of (tool, argument shape), each worth its tool's weight, for its cost."""
    weights = {tool: stat.weight for tool, stat in stats.items()}
    shapes = {
        one.id: {(call.tool, call.signature_hash) for call in one.calls if is_verified(call)}
        for one in shortlist
    }
    seen: set[tuple[str, int]] = set()

    def gain(one: SessionFacts) -> float:
        # Exact, because the order of a set is another in every process.
        return fsum(weights.get(key[0], 0.0) for key in shapes[one.id] - seen)

    def take(one: SessionFacts) -> None:
        seen.update(shapes[one.id])

    return _take_best(shortlist, wanted, gain, take)


def _take_best(
    shortlist: Iterable[SessionFacts],
    wanted: int,
    gain: Callable[[SessionFacts], float],
    take: Callable[[SessionFacts], None],
) -> list[SessionFacts]:
    """The best for its cost, again and again, while the calls together stay within bounds.

    Of equals the first wins, so the order of the shortlist is the second criterion.
    """
    left = list(shortlist)
    room = MAX_CALLS
    chosen: list[SessionFacts] = []
    while left and len(chosen) < wanted:
        best = max(left, key=lambda one: gain(one) / (FIXED_COST + len(one.calls)))
        left.remove(best)
        if chosen and len(best.calls) > room:
            continue
        room -= len(best.calls)
        take(best)
        chosen.append(best)
    return chosen


def _rank_repairs(tallies: Iterable[SessionTally], rules: MiningRules) -> list[SessionFacts]:
    """Sessions with failed calls, those with the most kinds of failure for their length first."""
    ranked = []
    for item in tallies:
        if _may_repair(item, rules):
            kinds = len(set(item.failed))
            dearness = (FIXED_COST + len(item.facts.calls)) / kinds
            ranked.append((dearness, item.rate, item.facts.id, item.facts))
    return [entry[3] for entry in sorted(ranked, key=itemgetter(0, 1, 2))]


def _cover_repairs(shortlist: list[SessionFacts], wanted: int) -> list[SessionFacts]:
    """Sessions by how many repaired kinds of error they add; each kind is wanted a few times."""
    pairs = {one.id: _repair_kinds(one) for one in shortlist}
    counts: Counter[tuple[str, ErrorClass | None]] = Counter()

    def gain(one: SessionFacts) -> float:
        return sum(number / (1 + counts[kind]) for kind, number in pairs[one.id].items())

    def take(one: SessionFacts) -> None:
        counts.update(pairs[one.id])

    return _take_best((one for one in shortlist if pairs[one.id]), wanted, gain, take)


def _repair_kinds(facts: SessionFacts) -> Counter[tuple[str, ErrorClass | None]]:
    """Failed calls that a later success of the same tool put right, by tool and class."""
    # The last success of each tool: every failure before it was put right.
    worked = {call.tool: place for place, call in enumerate(facts.calls) if call.status is _OK}
    return Counter(
        (call.tool, call.error_class)
        for place, call in enumerate(facts.calls)
        if call.status is _ERROR and place < worked.get(call.tool, -1) and not is_trivial(call.tool)
    )
