"""``warmstart profile``: how reliable the agent is, where it fails, and whether it learns.

``profile`` alone profiles what is selected; ``profile compaction`` looks at compactions. Commands
only unpack; printing is in ``_profile_*``, imported when a command runs.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from warmstart.cli._filters import session_filters
from warmstart.cli._profile_rules import rule_options, take_rules
from warmstart.errors import UsageError

if TYPE_CHECKING:
    from warmstart.model import Selection

_QUIET = click.option("--quiet", "-q", is_flag=True, help="Say nothing on stderr but errors.")
_JSON = click.option("--json", "as_json", is_flag=True, help="JSON instead of text.")
DEFAULT = "show"


class DefaultGroup(click.Group):
    """A group whose first command need not be named."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put the default command's name in front of anything that names no command."""
        if not args or (args[0] not in self.commands and args[0] not in ctx.help_option_names):
            args = [DEFAULT, *args]
        return super().parse_args(ctx, args)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The default command's options stand in the group's own help."""
        self.commands[DEFAULT].format_options(ctx, formatter)
        self.format_commands(ctx, formatter)


def _select(fields: dict[str, Any], paths: tuple[str, ...]) -> Selection:
    from warmstart.model import Selection  # noqa: PLC0415 - keeps --help light

    return Selection(paths=paths, **fields)


@click.group(cls=DefaultGroup)
def profile() -> None:
    """How reliable your agent is, where it fails, and whether it really learns.

    warmstart profile [ID|PATH]... is short for warmstart profile show [ID|PATH]...: one session,
    or every session in files, folders and stores; without any, all that are on this machine.
    """


@profile.command(DEFAULT)
@click.argument("items", nargs=-1, metavar="[ID|PATH]...")
@session_filters
@rule_options
@click.option("--buckets", metavar="N,N",
              help="Upper ends of the length buckets, in messages; else 50,100.")  # fmt: skip
@click.option("--html", "page", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
              help="Write one self-contained page to send or keep.")  # fmt: skip
@click.option("--force", is_flag=True, help="Replace FILE if it exists.")
@_JSON
@_QUIET
def show(
    *,
    items: tuple[str, ...],
    buckets: str | None,
    page: Path | None,
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
    from warmstart.app import Workspace  # noqa: PLC0415 - same
    from warmstart.cli._profile_run import Output, run_corpus, run_session  # noqa: PLC0415 - light

    _refuse_empty(items)
    workspace = Workspace.open()
    rules = take_rules(workspace, options)
    output = Output(as_json=as_json, quiet=quiet, page=page, force=force)
    if items and not _is_path(items[0]):
        selection = _select(options, items[1:])
        _refuse_filters(items[0], selection, buckets)
        run_session(workspace, items[0], selection, rules, output)
    else:
        run_corpus(workspace, _select(options, items), rules, buckets, output)


def _refuse_empty(items: Iterable[str | None]) -> None:
    """An empty text, as of a variable that is not set, is no place: it would mean this folder."""
    if any(item is not None and not item.strip() for item in items):
        raise UsageError("an argument is empty", hint="name an id or a path; . is this folder")


def _refuse_filters(wanted: str, selection: Selection, buckets: str | None) -> None:
    """Where to look for one session can be said; a choice among many would do nothing."""
    places = replace(_select({}, selection.paths), format=selection.format, source=selection.source)
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
@_JSON
@_QUIET
def compaction(
    *,
    wanted: str | None,
    paths: tuple[str, ...],
    everything: bool,
    margin: float,
    window: int,
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Compare the calls before each compaction with those after it.

    Answers preserved (or worse, but inside the margin), not preserved or inconclusive: a
    non-inferiority test on one difference per conversation, against a margin you fix before
    looking. Sessions that were never compacted show what happens at such places anyway.
    """
    from warmstart.app import Workspace  # noqa: PLC0415 - same
    from warmstart.app.profiling import CompactionRequest  # noqa: PLC0415 - same
    from warmstart.cli._profile_compaction import run_compaction  # noqa: PLC0415 - keeps light

    _refuse_empty((wanted, *paths))
    rules = take_rules(Workspace.open(), options)
    if wanted is not None and (everything or _is_path(wanted)):
        paths, wanted = (wanted, *paths), None
    request = CompactionRequest(wanted=wanted, window=window, margin=margin / 100)
    run_compaction(request, _select(options, paths), rules, as_json=as_json, quiet=quiet)
