"""A corpus profile as one self-contained page: the answer first, then the plots, then the tables.

The page of one session is in ``page_session``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, timedelta

from warmstart.profile.corpus import CorpusProfile
from warmstart.profile.learning import LearningVerdict
from warmstart.profile.page_parts import FOOTER, About, mark_rate, percent, shorten
from warmstart.profile.page_session import build_session_page
from warmstart.profile.scores import Trend
from warmstart.profile.sums import Group, Rate
from warmstart.profile.tool_profiles import ToolProfile
from warmstart.profile.wording import count
from warmstart.report.page import (
    Html,
    build_page,
    callout,
    cards,
    columns,
    figure,
    note,
    paragraph,
    section,
    table,
)
from warmstart.report.svg import Mark, draw_bars, draw_forest, draw_line

__all__ = ["build_corpus_page", "build_session_page"]

MAX_TOOLS = 14
MAX_GROUPS = 12
MAX_WEEKS = 12
MAX_AGENTS = 6
WEEK = timedelta(weeks=1)
MIN_POSITION_SESSIONS = 3
"""A bin with fewer sessions is in the JSON but not in the plot."""
MIN_PLOT_CALLS = 10
"""A tool with fewer calls is in the table but not in the plot."""
RATE_NAMES = ("sessions", "calls", "errors", "error rate", "95 % CI")
TONES = {
    LearningVerdict.LEARNING: "good",
    LearningVerdict.WORSENING: "bad",
    LearningVerdict.SELECTION: "open",
    LearningVerdict.BOTH: "open",
    LearningVerdict.INCONCLUSIVE: "open",
}


def _cells(rate: Rate) -> tuple[str, ...]:
    if not rate.calls:
        return (f"{rate.sessions:,}", "0", "0", "-", "-")
    if not rate.errors:
        return (f"{rate.sessions:,}", f"{rate.calls:,}", "0", f"< {percent(rate.high)}", "no error")
    span = f"{100 * rate.low:.1f}-{100 * rate.high:.1f}"
    return (
        f"{rate.sessions:,}", f"{rate.calls:,}", f"{rate.errors:,}", percent(rate.rate), span,
    )  # fmt: skip


def build_corpus_page(
    profile: CorpusProfile, about: About | None = None, title: str = "How reliable is the agent?"
) -> str:
    """The page of a corpus."""
    about = about or About()
    parts = [cards(_corpus_cards(profile))]
    if profile.rate.calls:
        parts += [
            _learning_section(profile),
            _plots_section(profile),
            _tools_section(profile, about.ids),
            _repairs_section(profile),
            _groups_section(profile),
        ]
    elif not profile.totals.get("sessions"):
        parts = [paragraph("No sessions were found.")]
    else:
        parts.append(paragraph("No call of these sessions was judged ok or failed."))
    footer = f"{FOOTER} and respect that the calls of one session go together."
    return build_page(title, _subtitle(profile, about), parts, footer)


def _subtitle(profile: CorpusProfile, about: About) -> list[str]:
    """Whose sessions, when, how many, which of them, and when this was made."""
    totals = profile.totals
    agents = [group.label for group in profile.by_agent[:MAX_AGENTS]]
    if len(profile.by_agent) > MAX_AGENTS:
        agents.append(f"{len(profile.by_agent) - MAX_AGENTS} more")
    who = [", ".join(agents), about.days]
    size = (
        f"{count(int(totals.get('sessions', 0)), 'session')},"
        f" {count(int(totals.get('messages', 0)), 'message')},"
        f" {count(sum(profile.statuses.values()), 'call')}"
    )
    first = "; ".join(part for part in who if part)
    return [*([first] if first else []), size, *about.lines]


def _corpus_cards(profile: CorpusProfile) -> Iterable[tuple[str, str, str]]:
    rate, totals = profile.rate, profile.totals
    silent = count(int(totals.get("without_calls", 0)), "session")
    if rate.calls:
        value = percent(rate.rate) if rate.errors else f"< {percent(rate.high)}"
        span = f"95 % CI {100 * rate.low:.1f}-{100 * rate.high:.1f} %, "
        yield value, "error rate", f"{span}{rate.errors:,} of {count(rate.calls, 'judged call')}"
        repaired = sum(tool.repaired for tool in profile.tools)
        share = percent(repaired / rate.errors) if rate.errors else "-"
        yield share, "of failures repaired", "the same tool worked again within 10 calls"
        waste = sum(tool.waste for tool in profile.tools)
        part = percent(waste / rate.calls)
        yield (
            f"{waste:,}",
            "calls lost to failures",
            f"failed calls and what repairs took, {part} of all",
        )
        yield (
            f"{rate.n_eff:,.0f}",
            "effective calls",
            f"what {count(rate.calls, 'call')} are worth: design effect {rate.deff:.1f}",
        )
    yield percent(profile.empty_share), "empty sessions", f"{silent} made no call"


def _learning_section(profile: CorpusProfile) -> Html:
    learning = profile.learning
    parts: list[object] = [
        callout(TONES[learning.verdict], str(learning.verdict), learning.sentence),
        _trend_figure(learning.trends),
    ]
    if learning.first_calls:
        rows = [(row.label, *_cells(row.rate)) for row in learning.first_calls]
        parts += [
            paragraph("Error rate in the first 50 calls, by how long the session became:"),
            table(("eventual length", *RATE_NAMES), rows),
            note(
                "All of these sessions had the same 50 calls to learn in, so a gap between the rows"
                " is not learning. Sessions of 50 calls or fewer are left out."
            ),
        ]
    return section("Does it learn, or do good sessions simply last longer?", *parts)


def _trend_figure(trends: Sequence[Trend]) -> Html:
    if not any(trend.informative for trend in trends):
        return note("No plot of the trend: no session has both failures and successes of one tool.")
    plot = draw_forest(
        [_trend_mark(trend) for trend in trends],
        "Change of the log odds of an error within sessions",
        zero=0.0,
        ends=("errors fall", "errors rise"),
    )
    return figure(
        plot,
        "Change of the log odds of an error as a session goes on, per step of"
        " log2(1 + position/10), within session and tool. The guard is how many last calls of"
        " each tool are left out, because how sessions end would bend the trend.",
    )


def _trend_mark(trend: Trend) -> Mark:
    return Mark(
        label=trend.variant,
        value=trend.log_odds if trend.informative else None,
        low=trend.low,
        high=trend.high,
        note=f"{count(trend.informative, 'session')}, {count(trend.errors, 'error')}",
        faint=trend.variant != "guard 1",
    )


def _position_figure(groups: Sequence[Group]) -> Html:
    shown = [g for g in groups if g.rate.sessions >= MIN_POSITION_SESSIONS] or groups
    if len(shown) < 2:
        return note(f"No plot over positions: only {shown[0].label} is reached by enough sessions.")
    marks = [mark_rate(g.label, g.rate, f"{g.rate.sessions:,}") for g in shown]
    return figure(
        draw_line(marks, "Error rate by position in the session", wide=True),
        "Error rate by position of the call in its session, with 95 % band; below, the number of"
        " sessions that got that far. Pooled over sessions, so it mixes learning and selection.",
    )


def _plots_section(profile: CorpusProfile) -> Html:
    bars = [
        mark_rate(g.label, g.rate, count(g.rate.sessions, "session")) for g in profile.by_length
    ]
    length = figure(
        draw_bars(bars, "Error rate by session length"),
        "Error rate by session length in messages, with 95 % intervals. Buckets alone never show"
        " learning.",
    )
    rows = [(group.label, *_cells(group.rate)) for group in profile.by_length]
    return section(
        "Where in a session do errors happen?",
        _position_figure(profile.by_position),
        columns(length, table(("messages", *RATE_NAMES), rows)),
    )


def _tools_section(profile: CorpusProfile, ids: Mapping[str, str]) -> Html:
    tools = [tool for tool in profile.tools if tool.rate.calls][:MAX_TOOLS]
    names = ("tool", "mostly", "evidence", "waste", "calls", "errors", "error rate", "95 % CI",
             "repaired (usual)", "masked", "repeats")  # fmt: skip
    more = len(profile.tools) - len(tools)
    return section(
        "Which tools would it pay to fix?",
        _tools_figure(tools),
        table(names, [_tool_row(tool, ids) for tool in tools], text_columns=3),
        note(
            "Calls: those judged ok or failed."
            " Evidence: the session with most failures of the tool and the position of the first."
            " Repaired: failures after which the tool worked within 10 calls, and in brackets how"
            " often it does so after calls that worked, which repairs are to be held against."
            " Masked: the command hides its own exit code, so its success is not certain."
            " Repeats: identical to an earlier call of the session."
            + (f" Not shown: {count(more, 'more tool')}." if more > 0 else "")
        ),
    )


def _tools_figure(tools: Sequence[ToolProfile]) -> Html:
    marks = [
        mark_rate(t.tool, t.rate, f"{t.rate.errors:,} of {t.rate.calls:,} failed")
        for t in tools
        if t.rate.calls >= MIN_PLOT_CALLS
    ]
    if not marks:
        return note(f"No plot: no tool has {MIN_PLOT_CALLS} judged calls.")
    caption = (
        "Error rate per tool with 95 % intervals, sorted by calls lost: failed calls, plus the"
        " calls made between a failure and its repair beyond those that lie between two calls of"
        " the tool that work."
    )
    if len(marks) < len(tools):
        caption += f" Tools with fewer than {MIN_PLOT_CALLS} judged calls are only in the table."
    return figure(draw_forest(marks, "Error rate per tool"), caption)


def _tool_row(tool: ToolProfile, ids: Mapping[str, str]) -> tuple[str, ...]:
    classes = ", ".join(f"{name} {number}" for name, number in list(tool.classes.items())[:2])
    case = (
        f"{shorten(tool.evidence[0], ids)}\N{NO-BREAK SPACE}#{tool.evidence[1]}"
        if tool.evidence
        else "-"
    )
    return (
        tool.tool, classes or "-", case, f"{tool.waste:,}", *_cells(tool.rate)[1:],
        _repairs_cell(tool), f"{tool.masked:,}", f"{tool.repeats:,}",
    )  # fmt: skip


def _repairs_cell(tool: ToolProfile) -> str:
    repaired = percent(tool.repair_rate)
    return repaired if tool.works_again is None else f"{repaired} ({percent(tool.works_again)})"


def _repairs_section(profile: CorpusProfile) -> Html:
    if not profile.recoveries:
        return Html("")
    often = [one for one in profile.recoveries if one.count > 1]
    rows = [
        (one.tool, one.error_class, one.how, one.by, f"{one.count:,}", f"{one.mean_calls:.1f}")
        for one in (often or profile.recoveries)[:MAX_GROUPS]
    ]
    names = ("failed", "with", "repaired by", "tool", "times", "calls later")
    title = "Repairs that happen again and again" if often else "Repairs, each seen once"
    return section(title, table(names, rows, text_columns=4))


def _groups_section(profile: CorpusProfile) -> Html:
    parts: list[object] = []
    for title, groups in (
        ("agent", profile.by_agent),
        ("model", profile.by_model),
        ("project", profile.by_project),
        ("task type", profile.by_task_type),
    ):
        if len(groups) > 1:
            parts.append(_group_table(title, groups))
    if profile.openings:
        parts += _opening_tables(profile)
    parts = [*_weeks_figure(profile.by_week), *parts]
    return section("Who, what and when", *parts) if parts else Html("")


def _opening_tables(profile: CorpusProfile) -> list[Html]:
    tables = [_group_table("first 30 turns were", profile.openings)]
    for one in profile.opening_shares:
        title = f"{one.kind} in the first 30 turns ({percent(one.share)} of their calls)"
        tables.append(_group_table(title, one.bands))
    words = (
        "These tables are the error rate of what follows the first 30 turns, an association:"
        " sessions differ in more than how they begin."
    )
    return [*tables, note(words)]


def _weeks_figure(groups: Sequence[Group]) -> list[Html]:
    """The last weeks with calls, or nothing where there are fewer than two."""
    weeks = [(day, g) for g in groups if (day := _parse_day(g.label)) and g.rate.calls]
    weeks = weeks[-MAX_WEEKS:]
    if len(weeks) < 2:
        return []
    marks: list[Mark] = []
    last = weeks[0][0]
    for day, group in weeks:
        if day - last > WEEK:
            marks.append(Mark(label="…", value=None, low=0.0, high=0.0))
        marks.append(mark_rate(group.label[5:], group.rate, f"{group.rate.sessions:,}"))
        last = day
    caption = (
        f"Error rate by week (Monday, UTC), {weeks[0][1].label} to {weeks[-1][1].label}, with the"
        " number of sessions."
    )
    if len(marks) > len(weeks):
        caption += " The line is broken where weeks without calls lie between (…)."
    return [figure(draw_line(marks, "Error rate by week", wide=True), caption)]


def _parse_day(label: str) -> date | None:
    """The Monday of a week; None for sessions without a time."""
    try:
        return date.fromisoformat(label)
    except ValueError:
        return None


def _group_table(title: str, groups: Sequence[Group]) -> Html:
    rows = [(group.label, *_cells(group.rate)) for group in groups[:MAX_GROUPS]]
    return table((title, *RATE_NAMES), rows)
