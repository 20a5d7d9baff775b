"""What ``warmstart sync`` prints.

JSON is one object: ``schema_version``, ``starts`` (one per start that was still open, oldest
first), ``totals`` by result, ``retired`` templates with the reason, and ``skipped``.
"""

from __future__ import annotations

from typing import Any

from rich.text import Text

from warmstart.app import ReadLog, Synced, SyncReport, SyncResult, Workspace, sync_starts
from warmstart.cli._output import (
    Column,
    list_skips,
    note,
    open_console,
    print_json,
    print_table,
    report_skips,
)
from warmstart.integrations import clear_leftovers
from warmstart.present import clean, count, iso_time, local_time, show_progress

SCHEMA_VERSION = 1
WORDS = {True: "yes", False: "no", None: "-"}


def print_sync(*, idle_seconds: float, as_json: bool, quiet: bool) -> None:
    """Settle what can be settled and say what was."""
    log = ReadLog()
    workspace = Workspace.open()
    clear_leftovers(workspace)
    with show_progress(quiet=quiet) as progress:
        report = sync_starts(workspace, log, idle_seconds=idle_seconds, on_progress=progress)
    if as_json:
        print_json(_to_json(report, log))
    elif report.rows:
        _print_rows(report)
    report_skips(log, quiet=quiet)
    for name, version, reason in report.retired:
        note(f"{name}@{version}: {reason}", quiet=quiet)
    note(_footer(report), quiet=quiet)


def _print_rows(report: SyncReport) -> None:
    columns = [Column(name="START", right=True), Column(name="WHEN"), Column(name="AGENT")]
    columns += [Column(name="ARM"), Column(name="TEMPLATE", max_width=30)]
    columns += [Column(name=name, right=True) for name in ("CALLS", "ERR")]
    columns += [Column(name="DONE"), Column(name="RESULT"), Column(name="SESSION")]
    print_table(open_console(), columns, [_cells(row) for row in report.rows])


def _cells(row: Synced) -> list[Text]:
    start = row.start
    template = f"{start.template}@{start.version}" if start.template else "-"
    numbers = ["-" if value is None else f"{value:,}" for value in (row.calls, row.errors)]
    cells = [str(start.id), local_time(start.started_at), start.agent, str(start.arm), template]
    cells += [*numbers, WORDS[row.success], str(row.result), row.session_id or "-"]
    return [Text(clean(cell)) for cell in cells]


def _footer(report: SyncReport) -> str:
    if not report.rows:
        return "no start is waiting to be settled; see: warmstart run"
    counts = [f"{report.count(result):,} {result}" for result in SyncResult if report.count(result)]
    return f"{count(len(report.rows), 'start')}: {', '.join(counts)}"


def _to_json(report: SyncReport, log: ReadLog) -> dict[str, Any]:
    return {
        "schema_version": SCHEMA_VERSION,
        "starts": [_row_json(row) for row in report.rows],
        "totals": {str(result): report.count(result) for result in SyncResult},
        "retired": [
            {"name": name, "version": version, "reason": reason}
            for name, version, reason in report.retired
        ],
        "skipped": list_skips(log),
    }


def _row_json(row: Synced) -> dict[str, Any]:
    start = row.start
    return {
        "start": start.id,
        "started_at": iso_time(start.started_at),
        "agent": start.agent,
        "model": start.model,
        "arm": str(start.arm),
        "template": start.template,
        "version": start.version,
        "form": start.form,
        "result": str(row.result),
        "session": row.session_id,
        "calls": row.calls,
        "errors": row.errors,
        "success": row.success,
    }
