"""``warmstart doctor``: where sessions are, whether they can be read, what will be deleted soon."""

from __future__ import annotations

import click

from warmstart.cli._output import JSON, QUIET, put_out


@click.command()
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option("--formats", is_flag=True, help="List every format that can be read.")
@JSON
@QUIET
def doctor(*, paths: tuple[str, ...], formats: bool, as_json: bool, quiet: bool) -> None:
    """Find every session store on this machine, or look at the PATHs given.

    Says for each: what wrote it, how many sessions, how large, how new, whether it can be read,
    and what the agent itself will delete soon.
    """
    from warmstart.app import (  # noqa: PLC0415 - same
        Workspace,
        check_stores,
        list_formats,
    )
    from warmstart.present import (  # noqa: PLC0415 - same
        doctor_document,
        formats_document,
        show_progress,
    )

    if formats:
        put_out(formats_document(list_formats()), as_json=as_json)
        return
    with show_progress("looking at stores", quiet=quiet) as on_progress:
        result = check_stores(Workspace.open(), paths, on_progress=on_progress)
    put_out(doctor_document(result), as_json=as_json)
