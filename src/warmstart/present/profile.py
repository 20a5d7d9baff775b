"""The profile of many sessions as a document: what a first reader needs, then tables, then how.

Statistics that need explaining stand under "How these figures are computed".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from functools import partial

from warmstart.app import ProfileResult
from warmstart.present.about import (
    describe_filters,
    describe_period,
    name_call,
    name_show_command,
    shift_label,
    shorten_id,
    show_day,
)
from warmstart.present.document import (
    Block,
    Column,
    Data,
    Details,
    Document,
    Figure,
    Figures,
    Heading,
    Plot,
    Table,
    Text,
    list_more,
)
from warmstart.present.json import list_skips, to_json
from warmstart.present.learning import list_details, show_learning
from warmstart.present.plots import PlotMark, draw_bars, draw_forest, draw_lines
from warmstart.present.rates import (
    RATE_COLUMNS,
    REPAIR_MEANING,
    describe_rate,
    list_rate_cells,
    make_mark,
    make_rate_table,
    show_rate,
)
from warmstart.present.text import (
    count,
    one_line,
    percent,
    plural,
    readable_duration,
    sparkline,
)
from warmstart.profile import Group, Profile, TaskType, ToolProfile

__all__ = ["FOOTER", "SCHEMA_VERSION", "profile_document"]

SCHEMA_VERSION = 1
MAX_ROWS = 12
MAX_AGENTS = 6
MAX_REPAIRS = 8
WORST_TOOLS = 3
WEEK = timedelta(weeks=1)
MIN_POSITION_SESSIONS = 3
"""A stretch that fewer sessions reach is in the JSON but not in the plot."""
MIN_PLOT_CALLS = 10
"""A tool with fewer calls is in the table but not in the plot."""
TITLE = "How reliable is the agent?"
FOOTER = (
    "Error rate: failed calls among calls judged ok or failed; rejected, cancelled, unanswered and"
    " undecidable calls count neither way, nor do housekeeping tools and messages that a warm start"
    " put in. Intervals are 95 %"
)


def profile_document(result: ProfileResult) -> Document:
    """Everything, in reading order."""
    profile = result.profile
    blocks: list[Block] = [Data(partial(_list_fields, result))]
    if not profile.totals.get("sessions"):
        return Document(title="", blocks=[*blocks, Text(_explain_nothing(result))])
    if not profile.rate.calls:
        blocks.append(Text("No call of these sessions was judged ok or failed."))
    else:
        blocks += [
            Figures(list(_list_figures(profile))),
            *_list_next(result),
            *_show_tools(profile, result.ids),
            *_show_repairs(profile),
            *show_learning(profile.learning),
            *_show_places(profile),
            *_show_groups(profile),
            *_show_openings(profile),
            *_show_work(profile),
            Details(summary="How these figures are computed", blocks=list(list_details(profile))),
        ]
    return Document(
        title=TITLE,
        about=list(_list_about(result)),
        blocks=blocks,
        footer=f"{FOOTER} and respect that the calls of one session go together."
        f" Made by warmstart profile on {_today()}.",
    )


def _list_fields(result: ProfileResult) -> Mapping[str, object]:
    return {
        "schema_version": SCHEMA_VERSION,
        "profile": to_json(result.profile),
        "skipped": list_skips(result.log),
    }


def _today() -> str:
    return datetime.now(UTC).astimezone().date().isoformat()


def _list_about(result: ProfileResult) -> Iterator[str]:
    """Whose sessions, when, how many, and which of them."""
    profile = result.profile
    agents = [group.label for group in profile.by_agent[:MAX_AGENTS]]
    if len(profile.by_agent) > MAX_AGENTS:
        agents.append(f"{len(profile.by_agent) - MAX_AGENTS} more")
    who = "; ".join(filter(None, (", ".join(agents), describe_period(result.period))))
    if who:
        yield who
    totals = profile.totals
    yield ", ".join(
        [
            count(int(totals.get("sessions", 0)), "session"),
            count(int(totals.get("messages", 0)), "message"),
            count(sum(profile.statuses.values()), "call"),
            *_list_spent(totals),
        ]
    )
    filters = describe_filters(result.selection)
    if filters:
        yield f"filters: {', '.join(filters)}"


def _list_spent(totals: Mapping[str, float]) -> Iterator[str]:
    """What the sessions took, as far as it is known."""
    tokens = sum(int(totals.get(n, 0)) for n in ("input", "output", "cache_read", "cache_write"))
    if tokens:
        yield f"{tokens:,} tokens"
    if totals.get("seconds"):
        yield readable_duration(totals["seconds"])
    if totals.get("cost_usd"):
        yield f"${totals['cost_usd']:,.2f}"


def _explain_nothing(result: ProfileResult) -> str:
    if not result.at_hand:
        return "No sessions were found."
    newest = f", the newest of {show_day(result.newest)}" if result.newest else ""
    filters = ", ".join(describe_filters(result.selection))
    return f"{count(result.at_hand, 'session')} found{newest}; none matches: {filters}."


def _list_figures(profile: Profile) -> Iterator[Figure]:
    rate, totals = profile.rate, profile.totals
    yield Figure(show_rate(rate), "error rate", describe_rate(rate))
    worst = [tool for tool in profile.tools if tool.rate.errors][:WORST_TOOLS]
    if worst:
        yield _name_worst(worst)
        repaired = sum(tool.repaired for tool in profile.tools)
        yield Figure(percent(repaired / rate.errors), "of failures repaired", REPAIR_MEANING)
        waste = sum(tool.waste for tool in profile.tools)
        part = percent(waste / rate.calls)
        yield Figure(
            f"{waste:,}", "calls lost to failures", f"failed, or spent on repairs: {part} of all"
        )
    silent, empty = int(totals.get("without_calls", 0)), int(totals.get("empty", 0))
    if silent:
        words = f"{count(empty, 'session')} without a message" if empty else ""
        yield Figure(f"{silent:,}", f"{plural(silent, 'session')} without calls", words)


def _name_worst(tools: Sequence[ToolProfile]) -> Figure:
    first, *others = (f"{tool.rate.errors:,} of {tool.rate.calls:,}" for tool in tools)
    then = ", ".join(f"{tool.tool} {words}" for tool, words in zip(tools[1:], others, strict=True))
    return Figure(
        tools[0].tool, "fails most", f"{first} calls failed" + (f"; then {then}" if then else "")
    )


def _list_next(result: ProfileResult) -> Iterator[Block]:
    """The command that shows the worst case."""
    worst = next((tool for tool in result.profile.tools if tool.evidence), None)
    if worst is None or worst.evidence is None:
        return
    session = shorten_id(worst.evidence[0], result.ids)
    yield name_show_command(session, result.selection.paths)


def _show_tools(profile: Profile, ids: Mapping[str, str]) -> Iterator[Block]:
    tools = profile.tools[:MAX_ROWS]
    yield Heading("Tools, by what it would pay to fix")
    marks = [
        make_mark(t.tool, t.rate, f"{t.rate.errors:,} of {t.rate.calls:,} failed")
        for t in tools
        if t.rate.calls >= MIN_PLOT_CALLS
    ]
    if marks:
        caption = "Error rate per tool with 95 % intervals, sorted by calls lost."
        if len(marks) < len(tools):
            caption += f" Tools with fewer than {MIN_PLOT_CALLS} judged calls are in the table."
        yield Plot(draw=partial(draw_forest, marks, "Error rate per tool"), caption=caption)
    columns = (
        Column("tool", style="name"),
        Column("lost", right=True),
        *(
            column._replace(priority=drop)
            for column, drop in zip(RATE_COLUMNS[1:], (0, 1, 0, 2), strict=True)
        ),
        Column("repaired", right=True, priority=3),
        Column("usual", right=True, priority=4),
        Column("masked", right=True, priority=7),
        Column("repeats", right=True, priority=6),
        Column("evidence", right=True),
        Column("mostly", priority=5),
    )
    yield Table(
        columns=columns,
        rows=[_make_tool_row(tool, ids) for tool in tools],
        more=list_more(len(tools), len(profile.tools), "tool"),
        caption="lost: failed calls, and what repairs take beyond the usual."
        f" repaired: {REPAIR_MEANING}; usual: how often the tool does so after a call that worked."
        " evidence: the session with most failures of the tool, and the first of them."
        if profile.rate.errors
        else "",
    )


def _make_tool_row(tool: ToolProfile, ids: Mapping[str, str]) -> list[str]:
    classes = ", ".join(f"{name} {number}" for name, number in list(tool.classes.items())[:2])
    return [
        tool.tool,
        f"{tool.waste:,}",
        *list_rate_cells(tool.rate)[1:],
        percent(tool.repair_rate),
        percent(tool.works_again),
        f"{tool.masked:,}",
        f"{tool.repeats:,}",
        name_call(*tool.evidence, ids) if tool.evidence else "-",
        classes or "-",
    ]


def _show_repairs(profile: Profile) -> Iterator[Block]:
    if not profile.recoveries:
        return
    often = [one for one in profile.recoveries if one.count > 1]
    found = often or profile.recoveries
    yield Heading("Repairs that happen again and again" if often else "Repairs, each seen once")
    yield Table(
        columns=(Column("failed", style="name"), Column("with"), Column("repaired by"),
                 Column("tool"), Column("times", right=True), Column("calls later", right=True)),
        rows=[
            [one.tool, one.error_class, one.how, one.by, f"{one.count:,}", f"{one.mean_calls:.1f}"]
            for one in found[:MAX_REPAIRS]
        ],
        more=list_more(MAX_REPAIRS, len(found), "repair"),
    )  # fmt: skip


def _show_places(profile: Profile) -> Iterator[Block]:
    yield Heading("Where in a session do calls fail?", "all sessions pooled")
    groups = [Group(label=shift_label(g.label), rate=g.rate) for g in profile.by_position]
    shown = [g for g in groups if g.rate.sessions >= MIN_POSITION_SESSIONS] or groups
    marks = [make_mark(g.label, g.rate, f"{g.rate.sessions:,}") for g in shown]
    ends = [f"calls {group.label} {percent(group.rate.rate)}" for group in (groups[0], groups[-1])]
    line = sparkline([group.rate.rate for group in groups])
    yield Plot(
        draw=partial(draw_lines, {"": marks}, "Error rate by position in the session"),
        caption="Error rate by position of the call in its session, with 95 % band; below, the"
        " number of sessions that got that far. Late positions hold only sessions that got there.",
        fallback=f"{ends[0]}  {line}  {ends[1]}" if len(groups) > 1 else ends[0],
    )
    bars = [
        make_mark(g.label, g.rate, count(g.rate.sessions, "session")) for g in profile.by_length
    ]
    yield Heading("By session length", "lengths compare different sessions: never learning")
    yield Plot(
        draw=partial(draw_bars, bars, "Error rate by session length"),
        caption="Error rate by session length in messages, with 95 % intervals.",
    )
    yield make_rate_table("messages", profile.by_length)


def _show_groups(profile: Profile) -> Iterator[Block]:
    for title, groups in (
        ("agent", profile.by_agent),
        ("model", profile.by_model),
        ("project", profile.by_project),
        ("task type", profile.by_task_type),
    ):
        if len(groups) > 1:
            yield Heading(f"By {title}")
            yield make_rate_table(title, groups, limit=MAX_ROWS, noun=title)
    weeks = profile.by_week
    if len(weeks) > 1:
        yield Heading("By week", "weeks begin on Monday, UTC")
        yield from _plot_weeks(weeks)
        last = make_rate_table("week", weeks[-MAX_ROWS:])
        yield Table(
            columns=last.columns,
            rows=last.rows,
            more=list_more(MAX_ROWS, len(weeks), "earlier week"),
        )


def _plot_weeks(groups: Sequence[Group]) -> Iterator[Block]:
    """The last weeks with calls; the line is broken where weeks without calls lie between."""
    known = [(day, g) for g in groups if (day := _parse_day(g.label)) and g.rate.calls]
    weeks = known[-MAX_ROWS:]
    if len(weeks) < 2:
        return
    marks: list[PlotMark] = []
    last = weeks[0][0]
    for day, group in weeks:
        if day - last > WEEK:
            marks.append(PlotMark(label="…", value=None, low=0.0, high=0.0, step=f"before {day}"))
        marks.append(
            make_mark(group.label[5:], group.rate, f"{group.rate.sessions:,}", step=group.label)
        )
        last = day
    broken = " The line is broken where weeks have no calls." if len(marks) > len(weeks) else ""
    yield Plot(
        draw=partial(draw_lines, {"": marks}, "Error rate by week"),
        caption=f"Error rate by week, {weeks[0][1].label} to {weeks[-1][1].label}, with the number"
        f" of sessions.{broken}",
    )


def _parse_day(label: str) -> date | None:
    """The Monday of a week; None for sessions without a time."""
    try:
        return date.fromisoformat(label)
    except ValueError:
        return None


def _show_openings(profile: Profile) -> Iterator[Block]:
    if not profile.openings:
        return
    yield Heading(
        "First 30 turns, and the error rate of what follows",
        "an association: sessions differ in more than how they begin",
    )
    groups = [
        Group(label=g.label if g.label == TaskType.MIXED else f"mostly {g.label}", rate=g.rate)
        for g in profile.openings
    ]
    for one in profile.opening_shares:
        groups += [
            Group(label=f"{one.kind}: {group.label}", rate=group.rate)
            for group in one.bands
            if group.rate.sessions
        ]
    yield make_rate_table("first turns were", groups)
    shares = ", ".join(f"{one.kind} {percent(one.share)}" for one in profile.opening_shares)
    yield Text(f"of the calls in these turns: {shares}", "muted")


def _show_work(profile: Profile) -> Iterator[Block]:
    yield Heading("What the work was")
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
            yield Text(f"{title}: {words}")
