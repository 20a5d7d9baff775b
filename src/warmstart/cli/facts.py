"""``warmstart facts``: the index that every profile and listing is computed from."""

from __future__ import annotations

import click


@click.group()
def facts() -> None:
    """See or rebuild the index of facts.

    Commands keep it up to date by themselves, reading only what changed; it holds nothing that
    cannot be made again from your agents' own files.
    """


@facts.command("status")
@click.option("--json", "as_json", is_flag=True, help="JSON instead of text.")
def show_status(*, as_json: bool) -> None:
    """Say where the index is and what it holds."""
    from warmstart.cli._facts import print_status  # noqa: PLC0415 - keeps --help light

    print_status(as_json=as_json)


@facts.command("rebuild")
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option("--json", "as_json", is_flag=True, help="JSON instead of text.")
@click.option("--quiet", "-q", is_flag=True, help="Say nothing on stderr but errors.")
def rebuild(*, paths: tuple[str, ...], as_json: bool, quiet: bool) -> None:
    """Throw the index away and read everything again.

    Without a PATH, that is every store found on this machine.
    """
    from warmstart.cli._facts import print_rebuild  # noqa: PLC0415 - keeps --help light

    print_rebuild(paths, as_json=as_json, quiet=quiet)
