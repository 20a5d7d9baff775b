"""``warmstart profile``: how reliable the agent is, where it fails, and whether it learns.

``profile`` alone profiles what is selected; ``profile compaction`` looks at compactions.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from warmstart.app import (
    CompactionRequest,
    Workspace,
    check_compaction,
    profile_session,
    share_profile,
)
from warmstart.app import profile as profile_sessions
from warmstart.cli._complete import complete_sessions
from warmstart.cli._filters import refuse_empty, rule_options, session_filters, take_rules
from warmstart.cli._output import (
    JSON,
    QUIET,
    Pages,
    note,
    page_options,
    put_out,
    report_skips,
    share,
    write_pages,
)
from warmstart.errors import UsageError
from warmstart.model import Selection
from warmstart.present import (
    compaction_document,
    profile_document,
    session_profile_document,
    show_progress,
)

DEFAULT = "show"


class DefaultGroup(click.Group):
    """A group whose first command need not be named."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put the default command's name in front of anything that names no command."""
        if not args or (args[0] not in self.commands and args[0] not in ctx.help_option_names):
            args = [DEFAULT, *args]
        return super().parse_args(ctx, args)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Show the default command's options in the group's own help."""
        self.commands[DEFAULT].format_options(ctx, formatter)
        self.format_commands(ctx, formatter)


@click.group(cls=DefaultGroup)
def profile() -> None:
    """How reliable your agent is, where it fails, and whether it really learns.

    warmstart profile [ID|PATH]... is short for warmstart profile show [ID|PATH]...: one session,
    or every session in files, folders and stores; without any, all that are on this machine.
    """


@profile.command(DEFAULT)
@click.argument("items", nargs=-1, metavar="[ID|PATH]...", shell_complete=complete_sessions)
@session_filters
@rule_options
@click.option("--buckets", metavar="N,N",
              help="Upper ends of the length buckets, in messages; else 50,100.")  # fmt: skip
@click.option("--details", is_flag=True, help="Also show how the figures are computed.")
@page_options
@JSON
@QUIET
def show(
    *,
    items: tuple[str, ...],
    buckets: str | None,
    details: bool,
    html: Path | None,
    markdown: Path | None,
    force: bool,
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Profile one session (ID), or all sessions selected.

    PATHs are files, folders or stores; without any, every store on this machine is read. Rates
    are errors among calls judged ok or error; intervals are 95 % and respect that the calls of a
    session go together.
    """
    refuse_empty(items)
    workspace = Workspace.open()
    rules = take_rules(workspace, options)
    pages = Pages(html, markdown, force)
    if items and not _is_path(items[0]):
        selection = Selection(paths=items[1:], **options)
        _refuse_filters(items[0], selection, buckets)
        one = profile_session(workspace, items[0], selection, rules=rules)
        write_pages(
            workspace,
            pages,
            lambda: session_profile_document(share_profile(workspace, one)),
            quiet=quiet,
        )
        put_out(session_profile_document(one), as_json=as_json, details=details)
        report_skips(one.log, quiet=quiet)
        return
    selection = Selection(paths=items, **options)
    with show_progress(quiet=quiet) as on_progress:
        result = profile_sessions(
            workspace,
            selection,
            rules=rules,
            buckets=buckets,
            figures_only=as_json and not pages,
            on_progress=on_progress,
        )
    write_pages(
        workspace,
        pages,
        lambda: profile_document(share_profile(workspace, result)),
        quiet=quiet,
    )
    put_out(profile_document(result), as_json=as_json, details=details)
    report_skips(result.log, quiet=quiet)
    if not result.profile.totals.get("sessions"):
        note("no sessions found; see: warmstart doctor, or try: warmstart demo", quiet=quiet)


def _refuse_filters(wanted: str, selection: Selection, buckets: str | None) -> None:
    """Refuse what chooses among many sessions where one is named.

    Raises:
        UsageError: there is such a filter.
    """
    places = replace(
        Selection(paths=selection.paths), format=selection.format, source=selection.source
    )
    if selection != places or buckets is not None:
        raise UsageError(
            f"filters and --buckets choose among many sessions, but {wanted!r} names one",
            hint="leave them out, or name a path instead of an id",
        )


def _is_path(item: str) -> bool:
    """Whether an argument is meant as a path, there or not; else it is a session's id."""
    return item.startswith(("/", "./", "../", "~")) or Path(item).exists()


@profile.command("compaction")
@click.argument("wanted", metavar="[ID]", required=False)
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option("--all", "everything", is_flag=True, help="Every compaction selected (default).")
@click.option("--margin", type=click.FloatRange(0.0, 100.0, min_open=True), default=2.0,
              show_default=True, metavar="POINTS",
              help="Percentage points more errors that still count as preserved.")  # fmt: skip
@click.option("--window", type=click.IntRange(min=5), default=20, show_default=True, metavar="N",
              help="Calls looked at on each side.")  # fmt: skip
@session_filters
@rule_options
@page_options
@JSON
@QUIET
def compaction(
    *,
    wanted: str | None,
    paths: tuple[str, ...],
    everything: bool,
    margin: float,
    window: int,
    html: Path | None,
    markdown: Path | None,
    force: bool,
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Compare the calls before each compaction with those after it.

    Answers preserved (or worse, but inside the margin), not preserved or inconclusive: a
    non-inferiority test on one difference per conversation, against a margin you fix before
    looking. Sessions that were never compacted show what happens at such places anyway.
    """
    refuse_empty((wanted, *paths))
    workspace = Workspace.open()
    rules = take_rules(workspace, options)
    if wanted is not None and (everything or _is_path(wanted)):
        paths, wanted = (wanted, *paths), None
    request = CompactionRequest(wanted=wanted, window=window, margin=margin / 100)
    selection = Selection(paths=paths, **options)
    with show_progress(quiet=quiet) as on_progress:
        result = check_compaction(
            workspace, request, selection, rules=rules, on_progress=on_progress
        )
    document = compaction_document(result)
    pages = Pages(html, markdown, force)
    write_pages(workspace, pages, lambda: share(workspace, document), quiet=quiet)
    put_out(document, as_json=as_json)
    report_skips(result.log, quiet=quiet)
