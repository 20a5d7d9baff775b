"""``warmstart facts``: the index that every profile and listing is computed from."""

from __future__ import annotations

import click

from warmstart.cli._output import JSON, QUIET, note, print_json, put_out, report_skips


@click.group()
def facts() -> None:
    """See or rebuild the index of facts.

    Commands keep it up to date by themselves, reading only what changed; everything in it can be
    rebuilt from your agents' own files.
    """


@facts.command("status")
@JSON
def show_status(*, as_json: bool) -> None:
    """Say where the index is and what it holds."""
    from warmstart.app import (  # noqa: PLC0415 - same
        Workspace,
        index_path,
        read_status,
    )
    from warmstart.present import facts_document  # noqa: PLC0415 - same

    workspace = Workspace.open()
    put_out(facts_document(index_path(workspace), read_status(workspace)), as_json=as_json)


@facts.command("rebuild")
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@JSON
@QUIET
def rebuild(*, paths: tuple[str, ...], as_json: bool, quiet: bool) -> None:
    """Throw the index away and read everything again.

    Without a PATH, that is every store found on this machine.
    """
    from warmstart.app import (  # noqa: PLC0415 - same
        ReadLog,
        Workspace,
        index_path,
        read_status,
        refresh_facts,
    )
    from warmstart.model import Selection  # noqa: PLC0415 - same
    from warmstart.present import (  # noqa: PLC0415 - same
        count,
        facts_fields,
        list_skips,
        show_progress,
    )

    workspace, log = Workspace.open(), ReadLog()
    with show_progress(quiet=quiet) as progress:
        sessions = refresh_facts(
            workspace, Selection(paths=paths), log, rebuild=True, on_progress=progress
        )
    if as_json:
        status = facts_fields(index_path(workspace), read_status(workspace))
        print_json({**status, "skipped": list_skips(log)})
    report_skips(log, quiet=quiet)
    note(f"the index was rebuilt: {count(sessions, 'session')}", quiet=quiet)
