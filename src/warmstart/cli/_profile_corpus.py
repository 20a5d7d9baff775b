"""A corpus profile on the terminal, the most useful first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from rich.text import Text

from warmstart.cli._profile_text import (
    RATE_COLUMNS,
    heading,
    p_value,
    p_words,
    percent,
    points,
    points_span,
    rate_cells,
    rate_words,
    say,
    show_table,
    span,
    sparkline,
)
from warmstart.cli._text import clean, count, one_line, readable_duration
from warmstart.profile.corpus import CorpusProfile
from warmstart.profile.learning import LearningVerdict
from warmstart.profile.proficiency import PROFICIENCY_FORMULA
from warmstart.profile.scores import Trend
from warmstart.profile.sums import Group
from warmstart.profile.tool_types import TaskType

if TYPE_CHECKING:
    from rich.console import Console

MAX_ROWS = 12
TOOL_DROPS = ("MASKED", "REPEATS", "MOSTLY", "AGAIN", "REPAIRED", "95 % CI", "ERRORS")
"""What a narrow terminal does not show of tools, the least needed first."""
VERDICT_STYLES = {
    LearningVerdict.LEARNING: "bold green",
    LearningVerdict.WORSENING: "bold red",
    LearningVerdict.SELECTION: "bold yellow",
    LearningVerdict.BOTH: "bold yellow",
    LearningVerdict.INCONCLUSIVE: "bold",
}


def print_corpus(
    console: Console, profile: CorpusProfile, ids: Mapping[str, str] | None = None
) -> None:
    """Everything, in reading order; ``ids`` are short ones for sessions that are named."""
    if not profile.totals.get("sessions"):
        return
    _print_totals(console, profile)
    if not profile.rate.calls:
        return
    _print_length(console, profile)
    _print_learning(console, profile)
    _print_position(console, profile)
    _print_tools(console, profile, ids or {})
    _print_recoveries(console, profile)
    _print_openings(console, profile)
    for title, groups in (
        ("By agent", profile.by_agent),
        ("By model", profile.by_model),
        ("By project", profile.by_project),
        ("By task type", profile.by_task_type),
        ("By week (Monday)", profile.by_week[-MAX_ROWS:]),
    ):
        _print_groups(console, title, groups)
    _print_user(console, profile)


def _print_totals(console: Console, profile: CorpusProfile) -> None:
    totals = profile.totals
    sessions = int(totals.get("sessions", 0))
    silent = int(totals.get("without_calls", 0))
    share = f" ({percent(silent / sessions)})" if silent else ""
    say(
        console,
        f"{count(sessions, 'session')}, {count(int(totals.get('messages', 0)), 'message')};"
        f" {int(totals.get('empty', 0)):,} empty ({percent(profile.empty_share)}),"
        f" {silent:,} without calls{share}",
    )
    rate = profile.rate
    line = Text("error rate ", style="bold").append(rate_words(rate), style="bold")
    if rate.calls:
        judged, held = count(rate.calls, "judged call"), count(rate.sessions, "session")
        line.append(f"  {rate.errors:,} of {judged} in {held}")
    console.print(line, soft_wrap=True)
    statuses = sorted(profile.statuses.items(), key=lambda item: -item[1])
    others = ", ".join(f"{name} {number:,}" for name, number in statuses if number)
    left_out = int(totals.get("trivial_calls", 0))
    words = [f"calls: {others}"] if others else []
    words += [f"{left_out:,} of housekeeping tools left out"] if left_out else []
    if words:
        say(console, "; ".join(words), "dim")
    _print_worth(console, profile)


def _print_worth(console: Console, profile: CorpusProfile) -> None:
    rate = profile.rate
    if rate.errors:
        icc = "-" if rate.icc is None else f"{rate.icc:.2f}"
        say(
            console,
            f"calls of a session go together: ICC {icc}, design effect {rate.deff:.1f}, worth"
            f" {rate.n_eff:,.0f} independent calls",
            "dim",
        )
    if profile.proficiency is not None:
        say(console, f"proficiency {profile.proficiency:.2f} = {PROFICIENCY_FORMULA}", "dim")
    spent = ", ".join(_spent(profile.totals))
    if spent:
        say(console, spent, "dim")


def _spent(totals: Mapping[str, float]) -> Iterator[str]:
    """What the sessions took, as far as it is known: nobody spends no tokens and no time."""
    tokens = sum(int(totals.get(n, 0)) for n in ("input", "output", "cache_read", "cache_write"))
    if tokens:
        yield f"tokens {tokens:,}"
    if totals.get("seconds"):
        yield f"time {readable_duration(totals['seconds'])}"
    if totals.get("compactions"):
        yield count(int(totals["compactions"]), "compaction")
    if totals.get("warmups"):
        yield f"{count(int(totals['warmups']), 'warm-up message')} (never counted)"


def _print_length(console: Console, profile: CorpusProfile) -> None:
    heading(console, "By session length (messages)", "says nothing about why")
    rows = [[group.label, *rate_cells(group.rate)] for group in profile.by_length]
    show_table(console, ("LENGTH", *RATE_COLUMNS), rows)
    if profile.length_contrast is not None:
        found = profile.length_contrast
        compared = [group.rate for group in profile.by_length if group.rate.calls][-2:]
        held = count(sum(rate.sessions for rate in compared), "session")
        say(
            console,
            f"longest minus the one before: {points(found)}, {p_words(found.p)} ({held})",
            "dim",
        )


def _print_learning(console: Console, profile: CorpusProfile) -> None:
    learning = profile.learning
    heading(console, "Learning or selection?")
    console.print(Text(str(learning.verdict), style=VERDICT_STYLES[learning.verdict]))
    say(console, learning.sentence)
    _print_trends(console, learning.trends)
    if learning.first_calls:
        heading(console, "First 50 calls, by how long the session became")
        first = [[row.label, *rate_cells(row.rate)] for row in learning.first_calls]
        show_table(console, ("EVENTUAL LENGTH", *RATE_COLUMNS), first)


def _print_trends(console: Console, trends: Sequence[Trend]) -> None:
    if not any(trend.informative for trend in trends):
        return
    rows = [
        [trend.variant, f"{trend.informative:,}", f"{trend.errors:,}", f"{trend.log_odds:+.2f}",
         span(trend.low, trend.high), p_value(trend.p)]
        for trend in trends
    ]  # fmt: skip
    names = ("WITHIN SESSIONS", "INFORMATIVE", "ERRORS", "LOG ODDS", "95 % CI", "P")
    show_table(console, names, rows, drop=("ERRORS",))
    for trend in trends:
        if trend.p_sign_flip is not None:
            say(console, f"{trend.variant} by sign flips: {p_words(trend.p_sign_flip)}", "dim")


def _print_position(console: Console, profile: CorpusProfile) -> None:
    heading(
        console, "By position in the session (calls)", "all sessions pooled: mixes in selection"
    )
    groups = profile.by_position
    line = sparkline([group.rate.rate for group in groups])
    ends = [f"{group.label} {percent(group.rate.rate)}" for group in (groups[0], groups[-1])]
    say(console, f"{ends[0]}  {line}  {ends[1]}" if len(groups) > 1 else ends[0])
    gain = profile.gain
    if gain is not None:
        say(
            console,
            f"first fifth {percent(gain.early)}, last fifth {percent(gain.late)} (final call left"
            f" out); mean change per session {100 * gain.mean_change:+.1f} points"
            f" {points_span(gain.low, gain.high)},"
            f" {count(gain.sessions, 'session')}",
            "dim",
        )


def _print_tools(console: Console, profile: CorpusProfile, ids: Mapping[str, str]) -> None:
    heading(
        console,
        "Tools, by what it would pay to fix",
        "WASTE = failed calls + what repairs take beyond the usual",
    )
    rows = []
    for one in profile.tools[:MAX_ROWS]:
        classes = ", ".join(f"{name} {number}" for name, number in list(one.classes.items())[:2])
        case = _name_case(one.evidence, ids) if one.evidence else "-"
        rows.append(
            [one.tool, f"{one.waste:,}", *rate_cells(one.rate)[1:], percent(one.repair_rate),
             percent(one.works_again), f"{one.masked:,}", f"{one.repeats:,}", case, classes or "-"]
        )  # fmt: skip
    names = ("TOOL", "WASTE", "CALLS", "ERRORS", "RATE", "95 % CI", "REPAIRED", "AGAIN",
             "MASKED", "REPEATS", "EVIDENCE", "MOSTLY")  # fmt: skip
    show_table(console, names, rows, tail=1, drop=TOOL_DROPS)
    if len(profile.tools) > MAX_ROWS:
        say(console, f"and {count(len(profile.tools) - MAX_ROWS, 'more tool')} (--json)", "dim")
    if profile.rate.errors:
        words = (
            "REPAIRED: the tool, or soon another of its kind, works within 10 calls of a failure"
        )
        say(console, f"{words}; AGAIN: the tool does after a call that worked", "dim")


def _name_case(evidence: tuple[str, int], ids: Mapping[str, str]) -> str:
    session, position = evidence
    return f"{ids.get(session, session)} #{position}"


def _print_recoveries(console: Console, profile: CorpusProfile) -> None:
    if not profile.recoveries:
        return
    often = [one for one in profile.recoveries if one.count > 1]
    heading(console, "Repairs that happen again and again" if often else "Repairs, each seen once")
    rows = [
        [one.tool, one.error_class, one.how, one.by, f"{one.count:,}", f"{one.mean_calls:.1f}"]
        for one in (often or profile.recoveries)[:8]
    ]
    names = ("FAILED", "WITH", "REPAIRED BY", "TOOL", "TIMES", "CALLS LATER")
    show_table(console, names, rows, texts=4)


def _print_openings(console: Console, profile: CorpusProfile) -> None:
    if not profile.openings:
        return
    heading(
        console,
        "First 30 turns, and the error rate of what follows",
        "an association: sessions differ in more than how they begin",
    )
    rows = [
        [
            group.label if group.label == TaskType.MIXED else f"mostly {group.label}",
            *rate_cells(group.rate),
        ]
        for group in profile.openings
    ]
    for one in profile.opening_shares:
        rows += [
            [f"{one.kind}: {group.label}", *rate_cells(group.rate)]
            for group in one.bands
            if group.rate.sessions
        ]
    show_table(console, ("OPENING WAS", *RATE_COLUMNS), rows)
    shares = ", ".join(f"{one.kind} {percent(one.share)}" for one in profile.opening_shares)
    say(console, f"of the calls in these turns: {shares}", "dim")


def _print_groups(console: Console, title: str, groups: Sequence[Group]) -> None:
    if len(groups) < 2:
        return
    heading(console, title)
    shown = groups[:MAX_ROWS]
    rows = [[clean(group.label), *rate_cells(group.rate)] for group in shown]
    show_table(console, ("", *RATE_COLUMNS), rows)
    if len(groups) > len(shown):
        say(console, f"and {len(groups) - len(shown):,} more (--json)", "dim")


def _print_user(console: Console, profile: CorpusProfile) -> None:
    heading(console, "What the work was")
    for title, counts in (
        ("error classes", profile.classes),
        ("task types", profile.task_types),
        ("calls by kind of tool", profile.tool_types),
        ("request styles", profile.styles),
        ("feedback styles", profile.feedback),
        ("domains", dict(list(profile.domains.items())[:8])),
        ("markers", {marker.value: marker.uses for marker in profile.markers[:5]}),
    ):
        if counts:
            words = ", ".join(f"{one_line(name)} {number:,}" for name, number in counts.items())
            say(console, f"{title}: {words}")
