"""``warmstart sessions``: list, show and export the sessions that agents keep on disk.

Commands only unpack their options; what they do is in ``_listing``, ``_transcript`` and
``_exporting``, imported when a command runs so that ``--help`` stays light.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from warmstart.cli._filters import session_filters
from warmstart.cli.store import STORE_COMMANDS

if TYPE_CHECKING:
    from warmstart.model import Selection

_QUIET = click.option("--quiet", "-q", is_flag=True, help="Say nothing on stderr but errors.")
_JSON = click.option("--json", "as_json", is_flag=True, help="JSON instead of text.")


def _select(**fields: Any) -> Selection:
    from warmstart.model import Selection  # noqa: PLC0415 - keeps --help light

    return Selection(**fields)


@click.group()
def sessions() -> None:
    """List, show and export sessions; search and keep those of the live store.

    PATHs may be files, folders or an agent's store, also gzip or zstd; without any, every store
    found on this machine is read (see: warmstart doctor).
    """


@sessions.command("list")
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@session_filters
@click.option("--limit", type=click.IntRange(min=0), default=50, show_default=True, metavar="N",
              help="Show the N newest.")  # fmt: skip
@click.option("--all", "everything", is_flag=True, help="Show every session.")
@_JSON
@_QUIET
def list_sessions(
    *,
    paths: tuple[str, ...],
    limit: int,
    everything: bool,
    as_json: bool,
    quiet: bool,
    **filters: Any,
) -> None:
    """List sessions, newest first.

    ERR is the number of failed calls, RATE their share of the calls that were answered and could
    be judged: rejected, cancelled, unanswered and unknown calls count neither way.
    """
    from warmstart.cli._listing import print_list  # noqa: PLC0415 - keeps --help light

    selection = _select(paths=paths, **filters)
    print_list(selection, limit=None if everything else limit, as_json=as_json, quiet=quiet)


@sessions.command("show")
@click.argument("wanted", metavar="ID")
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option("--format", "format_name", metavar="NAME", help="Read PATHs as this format.")
@click.option("--full", is_flag=True, help="Whole results instead of their first lines.")
@click.option("--calls", "calls_only", is_flag=True, help="Only the calls, one line each.")
@click.option("--errors", "errors_only", is_flag=True, help="Only failed calls and what led there.")
@_JSON
@_QUIET
def show_session(
    *,
    wanted: str,
    paths: tuple[str, ...],
    format_name: str | None,
    as_json: bool,
    quiet: bool,
    **view: bool,
) -> None:
    """Show one session as a transcript, each call with its outcome and what that rests on.

    ID is a session's id or any prefix of it that is unique, with or without its source:
    claude_code:5b3691c0 or 5b3691c0.
    """
    from warmstart.cli._showing import print_session  # noqa: PLC0415 - keeps --help light
    from warmstart.cli._transcript import View  # noqa: PLC0415 - same

    selection = _select(paths=paths, format=format_name)
    print_session(wanted, selection, View(**view), as_json=as_json, quiet=quiet)


@sessions.command("export")
@click.argument("items", nargs=-1, metavar="[PATH|ID]...")
@click.option("--as", "target", type=click.Choice(["openai", "anthropic", "warmstart"]),
              default="warmstart", show_default=True, help="Format to write.")  # fmt: skip
@click.option("--output", "-o", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
              help="File to write, private to you; else stdout.")  # fmt: skip
@click.option("--force", is_flag=True, help="Replace FILE if it exists.")
@session_filters
@_QUIET
def export_sessions(
    *,
    items: tuple[str, ...],
    target: str,
    output: Path | None,
    force: bool,
    quiet: bool,
    **filters: Any,
) -> None:
    """Write sessions as JSONL, one per line.

    openai and anthropic are conversations those APIs accept: every call is followed by its
    result, and one that has none is answered "[no result recorded]". warmstart keeps everything
    and is read back by every command here.
    """
    from warmstart.cli._exporting import Export, run_export  # noqa: PLC0415 - keeps --help light

    request = Export(items=items, target=target, output=output, force=force)
    run_export(request, _select(**filters), quiet=quiet)


for _command in STORE_COMMANDS:
    sessions.add_command(_command)
