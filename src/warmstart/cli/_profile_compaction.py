"""``profile compaction`` on the terminal.

JSON is one object: ``schema_version``, ``report`` and ``skipped``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from warmstart.app import Workspace
from warmstart.app.profiling import CompactionRequest, check_sessions
from warmstart.cli._output import list_skips, open_console, print_json, report_skips
from warmstart.cli._profile_progress import show_progress
from warmstart.cli._profile_text import (
    RATE_COLUMNS,
    heading,
    points_span,
    rate_cells,
    say,
    show_table,
)
from warmstart.cli._text import clean, count
from warmstart.model import Selection
from warmstart.profile.compaction import CompactionReport
from warmstart.profile.document import to_document
from warmstart.profile.rules import Rules
from warmstart.sources import ReadLog
from warmstart.stats.noninferiority import Preservation

if TYPE_CHECKING:
    from rich.console import Console

SCHEMA_VERSION = 1
MAX_EVENTS = 20
STYLES = {
    Preservation.PRESERVED: "bold green",
    Preservation.WORSE_INSIDE_MARGIN: "bold yellow",
    Preservation.DEGRADED: "bold red",
    Preservation.INCONCLUSIVE: "bold",
}
WORDS = {
    Preservation.PRESERVED: "preserved",
    Preservation.WORSE_INSIDE_MARGIN: "preserved (worse, inside the margin)",
    Preservation.DEGRADED: "not preserved",
    Preservation.INCONCLUSIVE: "inconclusive",
}


def run_compaction(
    request: CompactionRequest, selection: Selection, rules: Rules, *, as_json: bool, quiet: bool
) -> None:
    """Check, then print."""
    log = ReadLog()
    with show_progress(quiet=quiet) as on_progress:
        report = check_sessions(
            Workspace.open(), request, selection, log, rules=rules, on_progress=on_progress
        )
    if as_json:
        print_json(
            {
                "schema_version": SCHEMA_VERSION,
                "report": to_document(report),
                "skipped": list_skips(log),
            }
        )
    else:
        print_report(open_console(), report)
    report_skips(log, quiet=quiet)


def print_report(console: Console, report: CompactionReport) -> None:
    """The answer, the figures it rests on, then the events."""
    if not report.events:
        say(console, "no compactions found")
        return
    console.print(Text(WORDS[report.answer], style=STYLES[report.answer]))
    say(console, report.sentence)
    events = f"{count(len(report.events), 'event')}, up to {report.window} calls on each side"
    if report.conversations:
        _print_change(console, report, events)
        _print_placebo(console, report)
    else:
        say(console, f"{events}, margin {100 * report.margin:+.1f} points")
    _print_events(console, report)


def _print_change(console: Console, report: CompactionReport, events: str) -> None:
    say(
        console,
        f"mean change per conversation {100 * report.change:+.1f} points"
        f" {points_span(report.low, report.high)},"
        f" margin {100 * report.margin:+.1f};"
        f" {count(report.conversations, 'conversation')}, {events}, tools used on both",
    )
    show_table(
        console,
        ("", *RATE_COLUMNS),
        [["before", *rate_cells(report.before)], ["after", *rate_cells(report.after)]],
    )


def _print_placebo(console: Console, report: CompactionReport) -> None:
    placebo = report.placebo
    if placebo is None:
        say(console, "no uncompacted sessions reach such places: no placebo", "dim")
        return
    say(
        console,
        f"at the same places of {count(placebo.sessions, 'uncompacted session')}:"
        f" {100 * placebo.change:+.1f} points"
        f" {points_span(placebo.low, placebo.high)}; what is left for compaction:"
        f" {100 * placebo.net:+.1f} {points_span(placebo.net_low, placebo.net_high)}",
        "dim",
    )


def _print_events(console: Console, report: CompactionReport) -> None:
    heading(console, "Events", "errors / calls before and after")
    rows = []
    for event in report.events[:MAX_EVENTS]:
        change = "too few" if event.change is None else f"{100 * event.change:+.1f}"
        rows.append(
            [clean(event.child or event.session), str(event.mode), f"{event.position:,}",
             f"{event.before_errors}/{event.before_calls}",
             f"{event.after_errors}/{event.after_calls}", change]
        )  # fmt: skip
    names = ("SESSION", "HOW", "CALLS BEFORE", "BEFORE", "AFTER", "CHANGE")
    show_table(console, names, rows, texts=2)
    if len(report.events) > MAX_EVENTS:
        say(console, f"and {len(report.events) - MAX_EVENTS:,} more (--json)", "dim")
