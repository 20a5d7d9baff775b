"""``warmstart bootstrap``: a first template from tasks your agent has not done yet."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from warmstart.cli.experiment import runner_options


@click.command()
@click.argument("tasks_file", metavar="TASKS",
                type=click.Path(exists=True, dir_okay=False, path_type=Path))  # fmt: skip
@click.option("--name", required=True, metavar="NAME",
              help="Name of the template: a-z 0-9 . _ - only.")  # fmt: skip
@click.option("--runner", type=click.Choice(["endpoint", "command"]),
              help="Who does the tasks; told by --endpoint or --command.")  # fmt: skip
@click.option("--count", type=click.IntRange(min=1), default=15, show_default=True, metavar="N",
              help="Most tasks to run; those that differ most.")  # fmt: skip
@click.option("--split", metavar="NAME",
              help="Only tasks of this split; else train, where there is one.")  # fmt: skip
@click.option("--trials", type=click.IntRange(min=1), default=1, show_default=True, metavar="N",
              help="Sessions of each task.")  # fmt: skip
@click.option("--seed", type=int, default=1, show_default=True, metavar="N",
              help="Choice of tasks, order and sampling.")  # fmt: skip
@click.option("--preamble", default="", metavar="TEXT", help="System text of every session.")
@click.option("--jobs", "-j", type=click.IntRange(min=1), default=1, show_default=True,
              metavar="N", help="Sessions side by side.")  # fmt: skip
@runner_options
@click.option("--json", "as_json", is_flag=True, help="JSON instead of text.")
@click.option("--quiet", "-q", is_flag=True, help="Say nothing on stderr but errors.")
def bootstrap(*, as_json: bool, quiet: bool, **wanted: Any) -> None:
    """Let your agent do 10 to 20 different tasks, and make a template of what worked.

    TASKS has one task per line (docs/experiments.md). The template is saved as a draft: read it,
    approve it, and test it on other tasks. Interrupted, the same command goes on where it was.
    """
    from warmstart.cli._bootstrapping import run_bootstrap  # noqa: PLC0415 - keeps --help light

    run_bootstrap(wanted, as_json=as_json, quiet=quiet)
