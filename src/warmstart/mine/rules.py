"""Which sessions are good enough to learn from, decided from their facts alone.

A task's own reward beats every other rule: it is the only ground truth a transcript can carry.
Every session that is left out has exactly one reason, the first rule it failed, so the counts add
up to the sessions that were looked at.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from statistics import median
from typing import NamedTuple

from warmstart.mine.trivial import is_trivial
from warmstart.model import ErrorClass, Link, SessionFacts, Status

MEDIAN_NEEDS_SESSIONS = 8
"""Below this many sessions a median says nothing about the agent."""
FEW_SESSIONS_ERROR_RATE = 0.15
BAD_ENDS = ("error", "crash", "fail", "limit", "timeout", "abort", "kill", "exceeded", "overflow")
"""Words in a format's own end reason that mean the session did not come to its end."""
_OK, _ERROR = Status.OK, Status.ERROR


@dataclass(frozen=True, slots=True, kw_only=True)
class MiningRules:
    """What a session must be like; every number is printed with the result."""

    min_messages: int = 30
    min_calls: int = 8
    """Calls judged ok or error."""
    max_error_rate: float | None = None
    """None: the median of the sessions that pass every other rule, but at least the floor."""
    error_rate_floor: float = 0.05
    min_reward: float = 1.0
    max_trivial_share: float = 0.6
    allow_subagents: bool = False

    def sentences(self, cap: float) -> tuple[str, ...]:
        """The rules as they are printed and kept in a template; ``cap`` is what was applied."""
        origin = "as asked" if self.max_error_rate is not None else "the median, at least "
        origin += "" if self.max_error_rate is not None else f"{self.error_rate_floor:.0%}"
        lines = [
            f"a task reward of {self.min_reward:g} or more, where the format has one; that decides",
            f"at least {self.min_messages} messages and {self.min_calls} judged calls",
            f"error rate at most {cap:.1%} ({origin})",
            "did not end in an error, and the last call was answered",
            f"at most {self.max_trivial_share:.0%} of the calls are bookkeeping",
        ]
        if not self.allow_subagents:
            lines.append("no fragment of a subagent")
        return tuple(lines)


class Failure(NamedTuple):
    """What is counted of a failed call."""

    tool: str
    error_class: ErrorClass | None


class SessionTally(NamedTuple):
    """A session and the counts every rule about reliability needs."""

    facts: SessionFacts
    judged: int
    failed: list[Failure]
    tools: Mapping[str, int]
    """Judged calls by tool."""
    shortcoming: str | None = None
    """The first rule it fails, error rate apart."""

    @property
    def errors(self) -> int:
        """How many calls failed."""
        return len(self.failed)

    @property
    def rate(self) -> float:
        """Errors among the judged calls; 0 where there are none."""
        return self.errors / self.judged if self.judged else 0.0


_make_failure = lru_cache(maxsize=1024)(partial(tuple.__new__, Failure))
"""Failures repeat: one object for each kind."""
_make_tally = partial(tuple.__new__, SessionTally)
"""From a tuple of all fields; a named tuple's own constructor takes three times as long."""


def tally(facts: SessionFacts, rules: MiningRules) -> SessionTally:
    """Count what was judged, and ask every rule but the one about errors."""
    calls = facts.calls
    if not calls:
        return _make_tally((facts, 0, [], {}, _shortcoming(facts, 0, 0, rules)))
    used = Counter([call.tool for call in calls])
    failed = [_make_failure((call.tool, call.error_class)) for call in calls
              if call.status is _ERROR]  # fmt: skip
    unjudged = [call.tool for call in calls if call.status is not _OK and call.status is not _ERROR]
    judged = len(calls) - len(unjudged)
    shortcoming = _shortcoming(facts, len(calls), judged, rules)
    if shortcoming is None and facts.reward is None:
        shortcoming = _bad_ending(facts, calls[-1].status) or _too_trivial(used, len(calls), rules)
    if unjudged:
        used.subtract(unjudged)
    return _make_tally((facts, judged, failed, used, shortcoming))


def find_cap(tallies: Iterable[SessionTally], rules: MiningRules) -> float:
    """The error rate above which a session is left out."""
    if rules.max_error_rate is not None:
        return rules.max_error_rate
    rates = [item.rate for item in tallies if item.facts.reward is None and not item.shortcoming]
    if len(rates) < MEDIAN_NEEDS_SESSIONS:
        return max(FEW_SESSIONS_ERROR_RATE, rules.error_rate_floor)
    return max(median(rates), rules.error_rate_floor)


def find_reason(item: SessionTally, cap: float) -> str | None:
    """The first rule a session fails; None where it may teach."""
    if item.shortcoming is None and item.facts.reward is None and item.rate > cap:
        return "too many errors"
    return item.shortcoming


def _shortcoming(facts: SessionFacts, calls: int, judged: int, rules: MiningRules) -> str | None:
    """The first rule a session fails by what is known without looking at its calls."""
    if not calls:
        return "no calls"
    if not rules.allow_subagents and facts.parent and facts.parent.link is Link.SUBAGENT:
        return "fragment of a subagent"
    if facts.reward is not None:
        if not judged:
            return "no judged calls"
        return None if facts.reward >= rules.min_reward else "task not solved"
    if facts.messages < rules.min_messages:
        return "too few messages"
    if judged < rules.min_calls:
        return "too few judged calls"
    return None


def _bad_ending(facts: SessionFacts, last: Status) -> str | None:
    if facts.end_reason and _is_bad_end(facts.end_reason):
        return "ended in an error"
    if last in (Status.UNANSWERED, Status.CANCELLED):
        return "cut off in the middle of a call"
    return None


def _too_trivial(used: Mapping[str, int], calls: int, rules: MiningRules) -> str | None:
    trivial = sum([number for tool, number in used.items() if is_trivial(tool)])
    return "mostly bookkeeping" if trivial > rules.max_trivial_share * calls else None


@lru_cache(maxsize=1024)
def _is_bad_end(reason: str) -> bool:
    return any(word in reason.casefold() for word in BAD_ENDS)
