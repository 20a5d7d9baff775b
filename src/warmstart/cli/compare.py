"""``warmstart compare``: two sessions or two sets of sessions side by side."""

from __future__ import annotations

from typing import Any

import click

from warmstart.cli._profile_rules import rule_options, take_rules


@click.command()
@click.argument("first", metavar="A")
@click.argument("second", metavar="B")
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@rule_options
@click.option("--json", "as_json", is_flag=True, help="JSON instead of text.")
@click.option("--quiet", "-q", is_flag=True, help="Say nothing on stderr but errors.")
def compare(
    *,
    first: str,
    second: str,
    paths: tuple[str, ...],
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Compare two sessions, or two sets of sessions, and say when the data cannot tell.

    A and B are each a session's id (or a unique beginning of it), a PATH, or a filter: NAME=VALUE
    pairs joined by commas, with the names of the filters of "sessions list": source, agent, model,
    project, since, until, tool, min-messages, max-messages, and path.

    \b
      warmstart compare model=opus model=sonnet
      warmstart compare model=opus,until=2026-01-31 model=opus,since=2026-02-01

    PATHs after A and B are where both are looked for; without any, on the whole machine.
    """  # noqa: D301 - click keeps lines as they are after the character, not after its name
    from warmstart.app import Workspace  # noqa: PLC0415 - same
    from warmstart.cli._comparing import run_compare  # noqa: PLC0415 - keeps --help light

    rules = take_rules(Workspace.open(), options)
    run_compare((first, second), paths, rules, as_json=as_json, quiet=quiet)
