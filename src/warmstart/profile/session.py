"""The profile of one session.

from warmstart.profile import profile_messages

profile = profile_messages(messages, "my-session")
print(profile.rate.rate, profile.task_type, profile.recoveries)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from warmstart.facts import derive_facts
from warmstart.model import CallFact, Marker, Message, Session, SessionFacts, Status, Tokens
from warmstart.profile.messages import session_from_messages
from warmstart.profile.proficiency import score_proficiency
from warmstart.profile.rules import DEFAULT_RULES, ToolRules
from warmstart.profile.scan import Scan, find_recoveries, scan_calls
from warmstart.profile.styles import (
    FeedbackStyle,
    RequestStyle,
    find_domains,
    find_feedback,
    find_style,
)
from warmstart.profile.sums import Rate
from warmstart.profile.tool_types import TaskType, classify_session, classify_tool
from warmstart.stats import wilson

__all__ = [
    "Repair",
    "Repeat",
    "SessionProfile",
    "ToolUse",
    "profile_facts",
    "profile_messages",
    "profile_whole_session",
]

MAX_PREFERRED = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolUse:
    """One tool in one session."""

    tool: str
    type: str
    calls: int
    share: float
    """Of the calls that count."""
    ok: int
    errors: int
    rate: float | None
    low: float
    high: float
    """Wilson, 95 %."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Repair:
    """A failure and the call that put it right."""

    tool: str
    error_class: str
    position: int
    """Of the failed call in its session."""
    repaired_by: str
    repaired_at: int
    after: int
    """Calls later."""
    how: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeat:
    """A call made more than once with the same arguments."""

    tool: str
    times: int
    errors: int
    first: int
    """Position of the first of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionProfile:
    """What one session says. Rates are over judged calls (ok or error) of tools that count."""

    session_id: str
    agent: str
    model: str | None
    project: str | None
    title: str | None
    messages: int
    turns: int
    warmups: int
    calls: int
    """All of tools that count, judged or not."""
    trivial_calls: int
    statuses: Mapping[str, int]
    rate: Rate
    tools: tuple[ToolUse, ...]
    """Most used first: the tool distribution and success rates."""
    task_type: TaskType | None
    """None without calls."""
    dominant_tool_type: str | None
    tool_types: Mapping[str, int]
    early_rate: float | None
    late_rate: float | None
    """First and last fifth of the judged calls, the final call left out; None below five."""
    gain: float | None
    """Late minus early: negative is better."""
    error_classes: Mapping[str, int]
    masked: int
    recoveries: tuple[Repair, ...]
    repair_rate: float | None
    repeats: tuple[Repeat, ...]
    repeated_calls: int
    markers: tuple[Marker, ...]
    style: RequestStyle | None
    feedback: FeedbackStyle | None
    preferred_tools: tuple[str, ...]
    domains: tuple[str, ...]
    tokens: Tokens
    cost_usd: float | None
    seconds: float | None
    compactions: int
    proficiency: float | None
    """By ``PROFICIENCY_FORMULA``; None where no call was judged."""
    outcomes: str
    """One letter per judged call, in order: ``.`` ok, ``x`` error."""


def profile_messages(
    messages: Iterable[Message | Mapping[str, Any]],
    session_id: str = "",
    rules: ToolRules = DEFAULT_RULES,
) -> SessionProfile:
    """Profile a conversation held in memory.

    Messages are ours, or dicts as Hermes, OpenAI (chat messages, Responses items), Anthropic and
    Gemini write them.

    Raises:
        UsageError: ``messages`` is a text or a single object instead of a list of messages.
    """
    return profile_whole_session(session_from_messages(messages, session_id), rules)


def profile_whole_session(session: Session, rules: ToolRules = DEFAULT_RULES) -> SessionProfile:
    """Profile a session that was read."""
    return profile_facts(derive_facts(session), rules)


def profile_facts(facts: SessionFacts, rules: ToolRules = DEFAULT_RULES) -> SessionProfile:
    """Profile a session from its facts alone."""
    scan = scan_calls(facts, rules, {})
    calls, used = scan.calls, scan.tools
    types = {tool: classify_tool(tool, rules.types) for tool in scan.names}
    kinds = Counter(types[tool] for tool in used)
    early, late = _ends(scan)
    repairs = tuple(_repairs(scan, calls, types))
    repeats = _repeats(calls)
    repeated = sum(one.times - 1 for one in repeats)
    tools = _tools(scan, used, types)
    return SessionProfile(
        session_id=facts.id,
        agent=facts.agent,
        model=facts.model,
        project=facts.project,
        title=facts.title,
        messages=facts.messages,
        turns=facts.turns,
        warmups=facts.warmups,
        calls=len(calls) + len(scan.others),
        trivial_calls=len(scan.trivial),
        statuses=_statuses(scan),
        rate=_rate(scan),
        tools=tools,
        task_type=classify_session(kinds, rules.dominance) if kinds else None,
        dominant_tool_type=next(iter(dict(kinds.most_common(1))), None),
        tool_types=dict(kinds.most_common()),
        early_rate=early,
        late_rate=late,
        gain=_subtract(late, early),
        error_classes=_classes(calls[index] for index in scan.failed),
        masked=sum(call.masked for call in calls),
        recoveries=repairs,
        repair_rate=len(repairs) / len(scan.failed) if scan.failed else None,
        repeats=repeats,
        repeated_calls=repeated,
        markers=tuple(facts.markers),
        style=find_style(facts.user_style),
        feedback=find_feedback(facts.user_style),
        preferred_tools=_preferred(tools),
        domains=tuple(dict(find_domains(facts.markers))),
        tokens=facts.tokens,
        cost_usd=facts.cost_usd,
        seconds=_seconds(facts),
        compactions=len(facts.compactions),
        proficiency=_score(scan, len(repairs), repeated),
        outcomes=_outcomes(scan),
    )


def _rate(scan: Scan) -> Rate:
    """One session is one cluster, so its own interval is Wilson's over its calls."""
    errors, calls = len(scan.failed), len(scan.calls)
    low, high = wilson(errors, calls)
    return Rate(
        errors=errors,
        calls=calls,
        sessions=1,
        rate=errors / calls if calls else None,
        low=low,
        high=high,
        icc=None,
        deff=1.0,
        n_eff=float(calls),
    )


def _statuses(scan: Scan) -> dict[str, int]:
    counts = Counter(str(call.status) for call in scan.others)
    counts[str(Status.ERROR)] = len(scan.failed)
    counts[str(Status.OK)] = len(scan.calls) - len(scan.failed)
    return {str(status): counts[str(status)] for status in Status}


def _tools(scan: Scan, used: Sequence[str], types: Mapping[str, str]) -> tuple[ToolUse, ...]:
    judged = Counter(used)
    failed = Counter(used[index] for index in scan.failed)
    asked = judged + Counter(call.tool for call in scan.others)
    total = asked.total()
    rows = []
    for tool, calls in sorted(asked.items(), key=lambda item: (-item[1], item[0])):
        errors, number = failed[tool], judged[tool]
        low, high = wilson(errors, number)
        rows.append(
            ToolUse(tool=tool, type=types[tool], calls=calls, share=calls / total,
                    ok=number - errors, errors=errors, rate=errors / number if number else None,
                    low=low, high=high)
        )  # fmt: skip
    return tuple(rows)


def _ends(scan: Scan) -> tuple[float | None, float | None]:
    calls = len(scan.calls)
    window = calls // 5
    if not window:
        return None, None
    early = sum(index < window for index in scan.failed)
    late = sum(calls - 1 - window <= index < calls - 1 for index in scan.failed)
    return early / window, late / window


def _subtract(late: float | None, early: float | None) -> float | None:
    return None if late is None or early is None else late - early


def _preferred(tools: Iterable[ToolUse]) -> tuple[str, ...]:
    """The most used tools among those that ever worked."""
    return tuple(one.tool for one in tools if one.ok)[:MAX_PREFERRED]


def _classes(failed: Iterable[CallFact]) -> dict[str, int]:
    names = (call.error_class or "other" for call in failed)
    return dict(Counter(str(name) for name in names).most_common())


def _repairs(scan: Scan, calls: Sequence[CallFact], types: dict[str, str]) -> Iterator[Repair]:
    for one in find_recoveries(scan, types):
        yield Repair(
            tool=one.tool,
            error_class=str(one.error_class or "other"),
            position=calls[one.failed].position,
            repaired_by=one.by,
            repaired_at=calls[one.repaired].position,
            after=one.distance,
            how=str(one.how),
        )


def _repeats(calls: Iterable[CallFact]) -> tuple[Repeat, ...]:
    """Identical calls, the most repeated first."""
    groups: dict[int, list[CallFact]] = {}
    for call in calls:
        groups.setdefault(call.arguments_hash, []).append(call)
    made = [
        Repeat(tool=same[0].tool, times=len(same), first=same[0].position,
               errors=sum(call.status == Status.ERROR for call in same))
        for same in groups.values()
        if len(same) > 1
    ]  # fmt: skip
    return tuple(sorted(made, key=lambda one: (-one.times, one.first)))


def _seconds(facts: SessionFacts) -> float | None:
    if facts.started_at is None or facts.ended_at is None:
        return None
    return max(0.0, facts.ended_at - facts.started_at)


def _score(scan: Scan, repaired: int, repeated: int) -> float | None:
    calls, errors = len(scan.calls), len(scan.failed)
    if not calls:
        return None
    surely_ok = 1.0 - wilson(errors, calls).high
    repair = repaired / errors if errors else 1.0
    return score_proficiency(surely_ok, repair, repeated / calls)


def _outcomes(scan: Scan) -> str:
    failed = set(scan.failed)
    return "".join("x" if index in failed else "." for index in range(len(scan.calls)))
