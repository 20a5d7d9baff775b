"""Comparisons as documents: two sides of sessions, and before and after compactions."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from functools import partial

from warmstart.app import CompactionResult, CompareResult
from warmstart.present.document import (
    Block,
    Callout,
    Column,
    Data,
    Document,
    Heading,
    Table,
    Text,
    Tone,
    list_more,
)
from warmstart.present.json import list_skips, to_json
from warmstart.present.rates import RATE_COLUMNS, describe_contrast, list_rate_cells
from warmstart.present.text import amount, count, p_words, percent, points, points_span
from warmstart.profile import CompactionReport, Comparison, ComparisonVerdict, Side
from warmstart.stats import Preservation

__all__ = ["compaction_document", "comparison_document", "comparison_fields"]

SCHEMA_VERSION = 1
MAX_EVENTS = 20
ANSWERS: Mapping[Preservation, tuple[str, Tone]] = {
    Preservation.PRESERVED: ("preserved", "good"),
    Preservation.WORSE_INSIDE_MARGIN: ("preserved (worse, inside the margin)", "warn"),
    Preservation.DEGRADED: ("not preserved", "bad"),
    Preservation.INCONCLUSIVE: ("inconclusive", "neutral"),
}


def comparison_document(result: CompareResult) -> Document:
    """Verdict, rates, then what else differs."""
    found = result.comparison
    decided = found.verdict is not ComparisonVerdict.INCONCLUSIVE
    label = f"{found.verdict} (pilot)" if found.pilot else str(found.verdict)
    units = f"{found.unit.partition(' ')[0]}s"
    return Document(
        title="Do A and B differ?",
        blocks=[
            Data(partial(_list_fields, result)),
            Callout(tone="good" if decided else "neutral", label=label, content=found.sentence),
            Text("; ".join(_list_basis(found)), "muted"),
            Table(
                columns=(Column("", style="name"), RATE_COLUMNS[0]._replace(name=units),
                         *RATE_COLUMNS[1:]),
                rows=[
                    [f"A {found.first.label}", *list_rate_cells(found.first_rate)],
                    [f"B {found.second.label}", *list_rate_cells(found.second_rate)],
                ],
            ),
            *_show_sides(found),
            *_show_tools(found),
        ],
    )  # fmt: skip


def _list_fields(result: CompareResult) -> Mapping[str, object]:
    return {
        "schema_version": SCHEMA_VERSION,
        "comparison": comparison_fields(result.comparison),
        "skipped": list_skips(result.log),
    }


def comparison_fields(found: Comparison) -> dict[str, object]:
    """A comparison as JSON, without the sums it was computed from."""
    fields: dict[str, object] = to_json(found)
    for side in ("first", "second"):
        held = fields[side]
        if isinstance(held, dict):
            held.pop("tool_sums")
    return fields


def _list_basis(found: Comparison) -> Iterator[str]:
    """The effect, what such data could show, and what it rests on."""
    d = found.difference
    if not math.isnan(d.estimate):
        exact = "" if found.p_sign_flip is None else f", sign-flip {p_words(found.p_sign_flip)}"
        yield f"B - A {describe_contrast(d)}, {p_words(d.p)}{exact}"
        yield f"MDE80 {100 * d.mde80:.1f} points"
    yield f"unit: {found.unit}, {found.units[0]:,} and {found.units[1]:,}"
    if any(found.unpaired):
        one, two = found.unpaired
        yield f"left out as unpaired: {one:,} tasks of A, {two:,} of B"


def _show_sides(found: Comparison) -> Iterator[Block]:
    detail = "all sessions of both sides; a template or model may change how many calls are made"
    yield Heading("Beside it", detail)
    rows = zip(_list_facts(found.first), _list_facts(found.second), strict=True)
    yield Table(
        columns=(Column(""), Column("A", right=True), Column("B", right=True)),
        rows=[[name, one, two] for (name, one), (_, two) in rows],
    )


def _list_facts(side: Side) -> list[tuple[str, str]]:
    profile = side.profile
    totals = profile.totals
    sessions = int(totals.get("sessions", 0))
    tokens = sum(totals.get(name, 0) for name in ("input", "output", "cache_read", "cache_write"))
    repaired = sum(tool.repaired for tool in profile.tools)
    errors = profile.rate.errors

    def each(value: float) -> str:
        return amount(value / sessions) if sessions else "-"

    return [
        ("sessions", f"{sessions:,}"),
        ("calls per session", each(profile.rate.calls)),
        ("errors per session", each(errors)),
        ("messages per session", each(totals.get("messages", 0))),
        ("tokens per session", each(tokens) if tokens else "-"),
        ("failures repaired", percent(repaired / errors) if errors else "-"),
        ("unanswered calls", f"{profile.statuses.get('unanswered', 0):,}"),
        ("rejected calls", f"{profile.statuses.get('rejected', 0):,}"),
    ]


def _show_tools(found: Comparison) -> Iterator[Block]:
    if not found.tools:
        return
    yield Heading("By tool", "all sessions; each on its own, not adjusted for how many there are")
    names = ("calls A", "err", "rate A", "calls B", "err", "rate B", "B - A")
    yield Table(
        columns=(Column("tool", style="name"), *(Column(name, right=True) for name in names)),
        rows=[
            [
                t.tool,
                *list_rate_cells(t.first)[1:4],
                *list_rate_cells(t.second)[1:4],
                "-" if math.isnan(t.difference.estimate) else describe_contrast(t.difference),
            ]
            for t in found.tools
        ],
    )


def compaction_document(result: CompactionResult) -> Document:
    """The answer, the figures it rests on, then the events."""
    report = result.report
    data = Data(
        lambda: {
            "schema_version": SCHEMA_VERSION,
            "report": to_json(report),
            "skipped": list_skips(result.log),
        }
    )
    if not report.events:
        return Document(title="", blocks=[data, Text("no compactions found")])
    label, tone = ANSWERS[report.answer]
    return Document(
        title="Are calls as reliable after a compaction as before it?",
        blocks=[
            data,
            Callout(tone=tone, label=label, content=report.sentence),
            *_show_change(report),
            *_show_events(report),
        ],
    )


def _show_change(report: CompactionReport) -> Iterator[Block]:
    events = f"{count(len(report.events), 'event')}, up to {report.window} calls on each side"
    if not report.conversations:
        yield Text(f"{events}, margin {points(report.margin)}")
        return
    yield Text(
        f"mean change per conversation {points(report.change)}"
        f" {points_span(report.low, report.high)}, margin {100 * report.margin:+.1f};"
        f" {count(report.conversations, 'conversation')}, {events}, tools used on both"
    )
    yield Table(
        columns=(Column(""), *RATE_COLUMNS),
        rows=[
            ["before", *list_rate_cells(report.before)],
            ["after", *list_rate_cells(report.after)],
        ],
    )
    placebo = report.placebo
    if placebo is None:
        yield Text("no uncompacted sessions reach such places: no placebo", "muted")
        return
    yield Text(
        f"at the same places of {count(placebo.sessions, 'uncompacted session')}:"
        f" {points(placebo.change)} {points_span(placebo.low, placebo.high)}; what is left for"
        f" compaction: {100 * placebo.net:+.1f} {points_span(placebo.net_low, placebo.net_high)}",
        "muted",
    )


def _show_events(report: CompactionReport) -> Iterator[Block]:
    yield Heading("Events", "errors / calls before and after")
    names = ("calls before", "before", "after", "change")
    yield Table(
        columns=(Column("session", style="name"), Column("how"),
                 *(Column(name, right=True) for name in names)),
        rows=[
            [event.child or event.session, str(event.mode), f"{event.position:,}",
             f"{event.before_errors}/{event.before_calls}",
             f"{event.after_errors}/{event.after_calls}",
             "too few" if event.change is None else f"{100 * event.change:+.1f}"]
            for event in report.events[:MAX_EVENTS]
        ],
        more=list_more(MAX_EVENTS, len(report.events)),
    )  # fmt: skip
