"""The profile of one session as a document."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from itertools import pairwise

from warmstart.app import JudgedCall, SessionResult
from warmstart.present.about import describe_period, name_show_command
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
from warmstart.present.plots import MAX_TICKS, PlotMark, Tick, draw_forest, draw_strip
from warmstart.present.profile import FOOTER, SCHEMA_VERSION
from warmstart.present.rates import REPAIR_MEANING, describe_rate, show_rate
from warmstart.present.text import (
    count,
    interval,
    one_line,
    percent,
    points,
    readable_duration,
    sparkline,
)
from warmstart.profile import PROFICIENCY_FORMULA, PROFICIENCY_TERMS, SessionProfile

__all__ = ["session_profile_document"]

MAX_ROWS = 12
SPARK_CELLS = 40


def session_profile_document(result: SessionResult) -> Document:
    """Everything about one session; its title is the session's own where it has one."""
    profile = result.profile
    name = profile.session_id if profile.title else ""
    who = [name, profile.agent, profile.model or "", profile.project or ""]
    return Document(
        title=one_line(profile.title or profile.session_id),
        about=[
            ", ".join(part for part in who if part),
            ", ".join(filter(None, (*_list_amounts(profile), describe_period(result.period)))),
        ],
        blocks=[
            Data(partial(_list_fields, result)),
            Figures(list(_list_figures(profile))),
            *([name_show_command(profile.session_id, result.paths)] if profile.rate.errors else []),
            *_show_strip(result),
            *_show_tools(profile),
            *_show_repairs(profile),
            *_show_repeats(profile),
            *_show_context(profile),
            Details(summary="How these figures are computed", blocks=list(_list_details(profile))),
        ],
        footer=f"{FOOTER}, over the calls of this session alone.",
    )


def _list_fields(result: SessionResult) -> Mapping[str, object]:
    return {
        "schema_version": SCHEMA_VERSION,
        "profile": to_json(result.profile),
        "skipped": list_skips(result.log),
    }


def _list_amounts(profile: SessionProfile) -> Iterator[str]:
    """How much there was of everything; what is not known is left out."""
    yield count(profile.messages, "message")
    yield f"{count(profile.turns, 'turn')} of the user"
    left_out = f" ({profile.trivial_calls:,} of housekeeping tools left out)"
    yield count(profile.calls, "call") + (left_out if profile.trivial_calls else "")
    if profile.seconds:
        yield readable_duration(profile.seconds)
    if profile.tokens.total:
        yield count(profile.tokens.total, "token")
    if profile.compactions:
        yield count(profile.compactions, "compaction")
    if profile.warmups:
        yield f"{count(profile.warmups, 'warm-up message')}, never counted"


def _list_figures(profile: SessionProfile) -> Iterator[Figure]:
    rate = profile.rate
    yield Figure(show_rate(rate), "error rate", describe_rate(rate))
    if rate.errors:
        yield Figure(percent(profile.repair_rate), "of failures repaired", REPAIR_MEANING)
    kind = f"most calls are of {profile.dominant_tool_type} tools"
    yield Figure(
        str(profile.task_type or "-"), "task type", kind if profile.dominant_tool_type else ""
    )
    if profile.gain is not None:
        early = f"{percent(profile.early_rate)} in the first, {points(profile.gain)}"
        label = "errors in the last fifth"
        yield Figure(percent(profile.late_rate), label, f"{early}; final call left out")


def _show_strip(result: SessionResult) -> Iterator[Block]:
    outcomes = result.profile.outcomes
    if not outcomes:
        return
    known = len(result.calls) == len(outcomes)
    named: list[JudgedCall | None] = list(result.calls) if known else [None] * len(outcomes)
    ticks = [
        Tick(letter == "x", _describe_tick(index, letter, call))
        for index, (letter, call) in enumerate(zip(outcomes, named, strict=True), 1)
    ]
    yield Heading("Where in the session did calls fail?")
    shared = " Neighbors share a tick, which is as tall as their share of failures."
    yield Plot(
        draw=partial(draw_strip, ticks, "Judged calls in order, failed ones taller", "judged call"),
        caption="Every judged call in order; failed ones are red and taller."
        + (shared if len(ticks) > MAX_TICKS else " Each names its tool when pointed at."),
        fallback=f"errors over the session  {_draw_spark(outcomes)}",
    )


def _describe_tick(index: int, letter: str, call: JudgedCall | None) -> str:
    word = "failed" if letter == "x" else "ok"
    if call is None:
        return f"judged call {index}: {word}"
    return f"#{call.position + 1} {call.tool}: {word}"


def _draw_spark(outcomes: str) -> str:
    """Share of errors in equal stretches of the session."""
    cells = min(SPARK_CELLS, len(outcomes))
    edges = [index * len(outcomes) // cells for index in range(cells + 1)]
    parts = [outcomes[a:b] for a, b in pairwise(edges)]
    return sparkline([part.count("x") / len(part) for part in parts])


def _show_tools(profile: SessionProfile) -> Iterator[Block]:
    tools = profile.tools[:MAX_ROWS]
    if not tools:
        return
    yield Heading("Tools")
    marks = [
        PlotMark(label=t.tool, value=t.rate, low=t.low, high=t.high,
             note=f"{t.errors:,} of {t.ok + t.errors:,}")
        for t in tools
        if t.rate is not None
    ]  # fmt: skip
    if marks:
        yield Plot(
            draw=partial(draw_forest, marks, "Error rate per tool"),
            caption="Error rate per tool with Wilson 95 % intervals, the most used first.",
        )
    yield Table(
        columns=(Column("tool", style="name"), Column("type", priority=2),
                 Column("calls", right=True), Column("share", right=True, priority=3),
                 Column("ok", right=True, priority=1), Column("errors", right=True),
                 Column("rate", right=True), Column("95 % CI", right=True, priority=1)),
        rows=[
            [one.tool, one.type, f"{one.calls:,}", percent(one.share), f"{one.ok:,}",
             f"{one.errors:,}", percent(one.rate), interval(one.low, one.high)]
            for one in tools
        ],
        more=list_more(len(tools), len(profile.tools), "tool"),
    )  # fmt: skip
    if profile.error_classes:
        words = ", ".join(f"{name} {number}" for name, number in profile.error_classes.items())
        yield Text(f"error classes: {words}", "muted")
    if profile.masked:
        yield Text(f"{count(profile.masked, 'call')} hid the exit code of the command", "muted")


def _show_repairs(profile: SessionProfile) -> Iterator[Block]:
    if not profile.recoveries:
        return
    yield Heading("Repairs", f"{percent(profile.repair_rate)} of the failures")
    names = ("failed at", "tool", "with", "repaired by", "tool used")
    yield Table(
        columns=(*map(Column, names), Column("worked at", right=True),
                 Column("calls later", right=True, priority=1)),
        rows=[
            [f"#{one.position + 1}", one.tool, one.error_class, one.how, one.repaired_by,
             f"#{one.repaired_at + 1}", f"{one.after}"]
            for one in profile.recoveries[:MAX_ROWS]
        ],
        more=list_more(MAX_ROWS, len(profile.recoveries), "repair"),
    )  # fmt: skip


def _show_repeats(profile: SessionProfile) -> Iterator[Block]:
    if not profile.repeats:
        return
    yield Heading("Identical calls", count(profile.repeated_calls, "repeat"))
    yield Table(
        columns=(Column("tool", style="name"), Column("times", right=True),
                 Column("errors", right=True), Column("first at", right=True)),
        rows=[
            [one.tool, f"{one.times}", f"{one.errors}", f"#{one.first + 1}"]
            for one in profile.repeats[:MAX_ROWS]
        ],
        more=list_more(MAX_ROWS, len(profile.repeats), "call"),
    )  # fmt: skip


def _show_context(profile: SessionProfile) -> Iterator[Block]:
    yield Heading("User and context")
    preferred = ", ".join(profile.preferred_tools) or "-"
    yield Text(
        f"request style {profile.style or '-'}, feedback style {profile.feedback or '-'},"
        f" preferred tools {preferred}"
    )
    if profile.domains:
        yield Text(f"domains: {', '.join(profile.domains[:8])}")
    if profile.markers:
        yield Table(
            columns=(Column("marker", style="name"), Column("kind"), Column("uses", right=True)),
            rows=[[m.value, str(m.kind), f"{m.uses}"] for m in profile.markers[:MAX_ROWS]],
            more=list_more(MAX_ROWS, len(profile.markers), "marker"),
        )


def _list_details(profile: SessionProfile) -> Iterator[Block]:
    others = ", ".join(f"{name} {number}" for name, number in profile.statuses.items() if number)
    yield Text(f"Calls: {others or 'none'}.")
    if profile.proficiency is not None:
        terms = f"{PROFICIENCY_FORMULA}; {PROFICIENCY_TERMS}"
        yield Text(f"Proficiency {profile.proficiency:.2f} = {terms}.")
