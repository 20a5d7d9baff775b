"""``warmstart sessions``: list, show and export the sessions that agents keep on disk."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from warmstart.cli._complete import complete_sessions
from warmstart.cli._filters import session_filters
from warmstart.cli._output import (
    JSON,
    QUIET,
    Pages,
    note,
    page_options,
    put_out,
    report_skips,
    share,
    write_bytes,
    write_pages,
)
from warmstart.cli.store import STORE_COMMANDS

if TYPE_CHECKING:
    from warmstart.present import Document


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
@JSON
@QUIET
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
    from warmstart.app import Workspace  # noqa: PLC0415 - store commands need none of these
    from warmstart.app import list_sessions as list_them  # noqa: PLC0415 - same
    from warmstart.model import Selection  # noqa: PLC0415 - same
    from warmstart.present import (  # noqa: PLC0415 - same
        describe_listing,
        list_document,
        show_progress,
    )

    selection = Selection(paths=paths, **filters)
    with show_progress(quiet=quiet) as on_progress:
        result = list_them(
            Workspace.open(),
            selection,
            limit=None if everything else limit,
            on_progress=on_progress,
        )
    put_out(list_document(result), as_json=as_json)
    report_skips(result.log, quiet=quiet)
    note(describe_listing(result), quiet=quiet)


@sessions.command("show")
@click.argument("wanted", metavar="ID", shell_complete=complete_sessions)
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option("--format", "format_name", metavar="NAME", help="Read PATHs as this format.")
@click.option("--full", is_flag=True, help="Whole results instead of a few lines.")
@click.option("--calls", "calls_only", is_flag=True, help="Only the calls, one line each.")
@click.option("--errors", "errors_only", is_flag=True, help="Only failed calls and what led there.")
@page_options
@JSON
@QUIET
def show_session(
    *,
    wanted: str,
    paths: tuple[str, ...],
    format_name: str | None,
    html: Path | None,
    markdown: Path | None,
    force: bool,
    as_json: bool,
    quiet: bool,
    **view: bool,
) -> None:
    """Show one session as a transcript, each call with its outcome and what that rests on.

    ID is a session's id or any prefix of it that is unique, with or without its source:
    claude_code:5b3691c0 or 5b3691c0. Secrets, home folders and names are taken out of pages,
    which are made to be sent; the terminal shows what was said.
    """
    from warmstart.app import Workspace  # noqa: PLC0415 - only where it is needed
    from warmstart.app import show_session as show_it  # noqa: PLC0415 - same
    from warmstart.model import Selection  # noqa: PLC0415 - same
    from warmstart.present import SessionView, session_document  # noqa: PLC0415 - same

    workspace = Workspace.open()
    result = show_it(workspace, wanted, Selection(paths=paths, format=format_name))

    def make() -> Document:
        whole = session_document(result, SessionView(**{**view, "full": True, "shared": True}))
        return share(workspace, whole)

    pages = Pages(html, markdown, force)
    write_pages(workspace, pages, make, quiet=quiet)
    if as_json or not pages:
        put_out(session_document(result, SessionView(**view)), as_json=as_json)
    report_skips(result.log, quiet=quiet)


@sessions.command("export")
@click.argument("items", nargs=-1, metavar="[PATH|ID]...")
@click.option("--as", "target", type=click.Choice(["openai", "anthropic", "warmstart"]),
              default="warmstart", show_default=True, help="Format to write.")  # fmt: skip
@click.option("--output", "-o", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
              help="File to write, private to you; else stdout.")  # fmt: skip
@click.option("--force", is_flag=True, help="Replace FILE if it exists.")
@session_filters
@QUIET
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
    from warmstart.app import Workspace  # noqa: PLC0415 - store commands need none of these
    from warmstart.app import export_sessions as export_them  # noqa: PLC0415 - same
    from warmstart.model import Selection  # noqa: PLC0415 - same
    from warmstart.present import count, follow  # noqa: PLC0415 - same

    workspace, written = Workspace.open(), 0
    found = export_them(workspace, items, Selection(**filters), target)

    def lines() -> Iterator[bytes]:
        nonlocal written
        for line in follow(found.lines, "sessions", quiet=quiet):
            written += 1
            yield line

    if output is not None:
        workspace.write_file(output, lines(), overwrite=force)
    else:
        for line in lines():
            write_bytes(line)
    report_skips(found.log, quiet=quiet)
    place = f" to {output}" if output else ""
    note(f"{count(written, 'session')} written{place}", quiet=quiet)


for _command in STORE_COMMANDS:
    sessions.add_command(_command)
