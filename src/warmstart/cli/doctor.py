"""``warmstart doctor``: where sessions are, whether they can be read, what will be deleted soon."""

from __future__ import annotations

from typing import Any

import click


@click.command()
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option("--formats", is_flag=True, help="List every format that can be read.")
@click.option("--json", "as_json", is_flag=True, help="JSON instead of text.")
@click.option("--quiet", "-q", is_flag=True, help="Say nothing on stderr but errors.")
def doctor(**options: Any) -> None:
    """Find every session store on this machine, or look at the PATHs given.

    Says for each: what wrote it, how many sessions, how large, how new, whether it can be read,
    and what the agent itself will delete soon.
    """
    from warmstart.cli import _checkup  # noqa: PLC0415 - keeps --help light

    if options.pop("formats"):
        _checkup.print_formats(as_json=options["as_json"])
    else:
        _checkup.print_checkup(**options)
