"""``warmstart sync``: what became of the sessions that were started, warm or not."""

from __future__ import annotations

import click


@click.command()
@click.option("--idle", type=click.FloatRange(min=0), default=10.0, show_default=True,
              metavar="MINUTES", help="A session that was quiet for so long is over.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="JSON instead of text.")
@click.option("--quiet", "-q", is_flag=True, help="Say nothing on stderr but errors.")
def sync(*, idle: float, as_json: bool, quiet: bool) -> None:
    """Find the sessions that were started, judge them, and keep their templates' records.

    Each start is settled once, when its session is over. Success is the format's own reward, or
    the last test run; where there is neither, only calls and errors are counted. A template whose
    record says that it does harm is retired.
    """
    from warmstart.cli._syncing import print_sync  # noqa: PLC0415 - keeps --help light

    print_sync(idle_seconds=idle * 60, as_json=as_json, quiet=quiet)
