"""``warmstart sync``: what became of the sessions that were started, warm or not."""

from __future__ import annotations

import click

from warmstart.cli._output import JSON, QUIET, note, put_out, report_skips


@click.command()
@click.option("--idle", type=click.FloatRange(min=0), default=10.0, show_default=True,
              metavar="MINUTES", help="A session that was quiet for so long is over.")  # fmt: skip
@JSON
@QUIET
def sync(*, idle: float, as_json: bool, quiet: bool) -> None:
    """Find the sessions that were started, judge them, and keep their templates' records.

    Each start is settled once, when its session is over. Success is the format's own reward, or
    the last test run; where there is neither, only calls and errors are counted. A template whose
    record says that it does harm is retired.
    """
    from warmstart.app import ReadLog, Workspace, sync_starts  # noqa: PLC0415 - keeps --help light
    from warmstart.integrations import clear_leftovers  # noqa: PLC0415 - same
    from warmstart.present import (  # noqa: PLC0415 - same
        describe_sync,
        list_skips,
        show_progress,
        sync_document,
    )

    log, workspace = ReadLog(), Workspace.open()
    clear_leftovers(workspace)
    with show_progress(quiet=quiet) as progress:
        report = sync_starts(workspace, log, idle_seconds=idle * 60, on_progress=progress)
    put_out(sync_document(report, list_skips(log)), as_json=as_json)
    report_skips(log, quiet=quiet)
    for line in describe_sync(report):
        note(line, quiet=quiet)
