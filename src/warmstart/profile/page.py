"""Profiles as one self-contained page: the answer first, then the plots, then the tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from warmstart.profile.corpus import CorpusProfile, Group, ToolProfile
from warmstart.profile.learning import LearningVerdict
from warmstart.profile.scores import Trend
from warmstart.profile.session import PROFICIENCY_FORMULA, PROFICIENCY_TERMS, SessionProfile
from warmstart.profile.sums import Rate
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
UUID_LENGTH = 36
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
FOOTER = (
    "Made by warmstart profile. Error rate: failed calls among calls judged ok or failed;"
    " rejected, cancelled, unanswered and undecidable calls count neither way, and so do"
    " housekeeping tools and messages a warm start put in. Intervals are 95 % and respect that the"
    " calls of one session go together."
)


def percent(value: float | None) -> str:
    """A rate with one digit."""
    return "-" if value is None else f"{100 * value:.1f} %"


def _cells(rate: Rate) -> tuple[str, ...]:
    if not rate.errors:
        bound = f"< {percent(rate.high)}" if rate.calls else "-"
        return (f"{rate.sessions:,}", f"{rate.calls:,}", "0", bound, "no error")
    span = f"{100 * rate.low:.1f}-{100 * rate.high:.1f}"
    return (
        f"{rate.sessions:,}", f"{rate.calls:,}", f"{rate.errors:,}", percent(rate.rate), span,
    )  # fmt: skip


def _mark(label: str, rate: Rate, note_text: str = "") -> Mark:
    return Mark(label=label, value=rate.rate, low=rate.low, high=rate.high, note=note_text)


def build_corpus_page(profile: CorpusProfile, title: str = "How reliable is the agent?") -> str:
    """The page of a corpus."""
    totals = profile.totals
    subtitle = (
        f"{int(totals.get('sessions', 0)):,} sessions, {int(totals.get('messages', 0)):,} messages,"
        f" {sum(profile.statuses.values()):,} calls"
    )
    parts = [cards(_corpus_cards(profile))]
    if profile.rate.calls:
        parts += [
            _learning_section(profile),
            _plots_section(profile),
            _tools_section(profile),
            _repairs_section(profile),
            _groups_section(profile),
        ]
    return build_page(title, subtitle, parts, FOOTER)


def _corpus_cards(profile: CorpusProfile) -> Iterable[tuple[str, str, str]]:
    rate, totals = profile.rate, profile.totals
    value = percent(rate.rate) if rate.errors else f"< {percent(rate.high)}"
    span = f"95 % CI {100 * rate.low:.1f}-{100 * rate.high:.1f} %, "
    yield value, "error rate", f"{span}{rate.errors:,} of {rate.calls:,} calls"
    repaired = sum(tool.repaired for tool in profile.tools)
    share = percent(repaired / rate.errors) if rate.errors else "-"
    yield share, "of failures repaired", "the same tool worked again within 10 calls"
    waste = sum(tool.waste for tool in profile.tools)
    part = percent(waste / rate.calls) if rate.calls else "-"
    yield f"{waste:,}", "calls lost to failures", f"failed calls and detours, {part} of all"
    yield (
        f"{rate.n_eff:,.0f}",
        "effective calls",
        f"what {rate.calls:,} calls are worth: design effect {rate.deff:.1f}",
    )
    silent = int(totals.get("without_calls", 0))
    yield percent(profile.empty_share), "empty sessions", f"{silent:,} sessions made no call"


def _learning_section(profile: CorpusProfile) -> Html:
    learning = profile.learning
    parts: list[object] = [
        callout(TONES[learning.verdict], str(learning.verdict), learning.sentence),
        figure(
            draw_forest(
                [_trend_mark(trend) for trend in learning.trends],
                "Change of the log odds of an error within sessions",
                zero=0.0,
                ends=("errors fall", "errors rise"),
            ),
            "Change of the log odds of an error as a session goes on, per step of"
            " log2(1 + position/10), within session and tool. The guard is how many last calls of"
            " each tool are left out, because how sessions end would bend the trend.",
        ),
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


def _trend_mark(trend: Trend) -> Mark:
    return Mark(
        label=trend.variant,
        value=trend.log_odds if trend.informative else None,
        low=trend.low,
        high=trend.high,
        note=f"{trend.informative:,} sessions, {trend.errors:,} errors",
        faint=trend.variant != "guard 1",
    )


def _plots_section(profile: CorpusProfile) -> Html:
    shown = [g for g in profile.by_position if g.rate.sessions >= MIN_POSITION_SESSIONS]
    marks = [_mark(g.label, g.rate, f"{g.rate.sessions:,}") for g in shown or profile.by_position]
    position = figure(
        draw_line(marks, "Error rate by position in the session", wide=True),
        "Error rate by position of the call in its session, with 95 % band; below, the number of"
        " sessions that got that far. Pooled over sessions, so it mixes learning and selection.",
    )
    bars = [_mark(g.label, g.rate, f"{g.rate.sessions:,} sessions") for g in profile.by_length]
    length = figure(
        draw_bars(bars, "Error rate by session length"),
        "Error rate by session length in messages, with 95 % intervals. Buckets alone never show"
        " learning.",
    )
    rows = [(group.label, *_cells(group.rate)) for group in profile.by_length]
    return section(
        "Where in a session do errors happen?",
        position,
        columns(length, table(("messages", *RATE_NAMES), rows)),
    )


def _tools_section(profile: CorpusProfile) -> Html:
    tools = [tool for tool in profile.tools if tool.rate.calls][:MAX_TOOLS]
    marks = [
        _mark(t.tool, t.rate, f"{t.rate.errors:,} of {t.rate.calls:,} failed")
        for t in tools
        if t.rate.calls >= MIN_PLOT_CALLS
    ]
    names = ("tool", "mostly", "evidence", "waste", "calls", "errors", "error rate", "95 % CI",
             "repaired", "masked", "repeats")  # fmt: skip
    more = len(profile.tools) - len(tools)
    return section(
        "Which tools would it pay to fix?",
        figure(
            draw_forest(marks, "Error rate per tool"),
            "Error rate per tool with 95 % intervals, sorted by calls lost: failed calls plus the"
            " calls made between a failure and its repair.",
        ),
        table(names, [_tool_row(tool) for tool in tools], text_columns=3),
        note(
            "Evidence: the session with most failures of the tool and the position of the first."
            " Masked: the command hides its own exit code, so its success is not certain."
            " Repeats: identical to an earlier call of the session."
            + (f" {more} more tools are not shown." if more > 0 else "")
        ),
    )


def _tool_row(tool: ToolProfile) -> tuple[str, ...]:
    classes = ", ".join(f"{name} {number}" for name, number in list(tool.classes.items())[:2])
    case = f"{_short(tool.evidence[0])} #{tool.evidence[1]}" if tool.evidence else "-"
    _, _, errors, rate, span = _cells(tool.rate)
    return (
        tool.tool, classes or "-", case, f"{tool.waste:,}", f"{tool.calls:,}", errors, rate, span,
        percent(tool.repair_rate), f"{tool.masked:,}", f"{tool.repeats:,}",
    )  # fmt: skip


def _short(session: str) -> str:
    """An id that still finds its session: of a UUID, the first eight digits do."""
    origin, _, native = session.partition(":")
    is_uuid = len(native) == UUID_LENGTH and native.count("-") == 4
    return f"{origin}:{native[:8]}" if is_uuid else session


def _repairs_section(profile: CorpusProfile) -> Html:
    if not profile.recoveries:
        return Html("")
    rows = [
        (one.tool, one.error_class, one.how, one.by, f"{one.count:,}", f"{one.mean_calls:.1f}")
        for one in profile.recoveries[:MAX_GROUPS]
    ]
    names = ("failed", "with", "repaired by", "tool", "times", "calls later")
    return section("Repairs that happen again and again", table(names, rows, text_columns=4))


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
        parts.append(_group_table("first 30 turns were", profile.openings))
        parts.append(
            note(
                "The last table is the error rate of what follows the first 30 turns, an"
                " association: sessions differ in more than how they begin."
            )
        )
    weeks = [_mark(g.label[5:], g.rate, f"{g.rate.sessions:,}") for g in profile.by_week[-10:]]
    if len(weeks) > 1:
        plot = draw_line(weeks, "Error rate by week", wide=True)
        parts.insert(0, figure(plot, "Error rate by week (Monday), with the number of sessions."))
    return section("Who, what and when", *parts) if parts else Html("")


def _group_table(title: str, groups: Sequence[Group]) -> Html:
    rows = [(group.label, *_cells(group.rate)) for group in groups[:MAX_GROUPS]]
    return table((title, *RATE_NAMES), rows)


def build_session_page(profile: SessionProfile) -> str:
    """The page of one session."""
    about = [profile.session_id, profile.agent, profile.model or "", profile.project or ""]
    parts = [cards(_session_cards(profile)), note(f"Proficiency: {PROFICIENCY_TERMS}.")]
    if profile.tools:
        marks = [
            Mark(label=t.tool, value=t.rate, low=t.low, high=t.high,
                 note=f"{t.errors:,} of {t.ok + t.errors:,}")
            for t in profile.tools[:MAX_TOOLS]
        ]  # fmt: skip
        caption = "Error rate per tool with Wilson 95 % intervals, the most used first."
        plot = figure(draw_forest(marks, "Error rate per tool"), caption)
        parts.append(section("Tools", plot))
    parts += [_session_repairs(profile), _session_context(profile)]
    title = profile.title or profile.session_id
    return build_page(title, ", ".join(part for part in about if part), parts, FOOTER)


def _session_repairs(profile: SessionProfile) -> Html:
    if not profile.recoveries:
        return Html("")
    rows = [
        (r.tool, r.error_class, r.how, r.repaired_by, f"#{r.position}", f"#{r.repaired_at}")
        for r in profile.recoveries
    ]
    names = ("failed", "with", "repaired by", "tool", "failed at", "worked at")
    return section("Repairs", table(names, rows, text_columns=4))


def _session_context(profile: SessionProfile) -> Html:
    if not profile.markers:
        return Html("")
    rows = [(marker.value, str(marker.kind), f"{marker.uses:,}") for marker in profile.markers]
    return section("Context", table(("marker", "kind", "uses"), rows, text_columns=2))


def _session_cards(profile: SessionProfile) -> Iterable[tuple[str, str, str]]:
    rate = profile.rate
    value = percent(rate.rate) if rate.errors or not rate.calls else f"< {percent(rate.high)}"
    span = f"95 % CI {100 * rate.low:.1f}-{100 * rate.high:.1f} %"
    yield value, "error rate", f"{rate.errors:,} of {rate.calls:,} judged calls, {span}"
    yield percent(profile.repair_rate), "of failures repaired", "within the next 10 calls"
    yield str(profile.task_type or "-"), "task type", f"{profile.calls:,} calls"
    early, late = percent(profile.early_rate), percent(profile.late_rate)
    yield late, "errors in the last fifth", f"{early} in the first; final call left out"
    if profile.proficiency is not None:
        yield f"{profile.proficiency:.2f}", "proficiency", PROFICIENCY_FORMULA
