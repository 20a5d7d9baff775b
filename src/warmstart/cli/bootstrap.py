"""``warmstart bootstrap``: a first template from tasks your agent has not done yet."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from warmstart import app
from warmstart.cli._output import JSON, QUIET, note, put_out, report_skips
from warmstart.cli.experiment import read_runner, runner_options
from warmstart.errors import UsageError
from warmstart.present import bootstrap_document, list_skips, show_progress


@click.command()
@click.argument("tasks_file", metavar="TASKS",
                type=click.Path(exists=True, dir_okay=False, path_type=Path))  # fmt: skip
@click.option("--name", required=True, metavar="NAME",
              help="Name of the template: a-z 0-9 . _ - only.")  # fmt: skip
@click.option("--runner", "asked", type=click.Choice(["endpoint", "command"]),
              help="Who does the tasks; else what --endpoint or --command says.")  # fmt: skip
@click.option("--count", type=click.IntRange(min=1), default=15, show_default=True, metavar="N",
              help="Most tasks to run; those that differ most.")  # fmt: skip
@click.option("--split", metavar="NAME",
              help="Only tasks of this split; else train, where there is one.")  # fmt: skip
@click.option("--trials", type=click.IntRange(min=1), default=1, show_default=True, metavar="N",
              help="Sessions of each task.")  # fmt: skip
@click.option("--jobs", "-j", type=click.IntRange(min=1), default=1, show_default=True,
              metavar="N", help="Sessions side by side.")  # fmt: skip
@runner_options
@JSON
@QUIET
def bootstrap(*, asked: str | None, jobs: int, as_json: bool, quiet: bool, **wanted: Any) -> None:
    """Let your agent do 10 to 20 different tasks, and make a template of what worked.

    TASKS has one task per line (docs/experiments.md). The template is saved as a draft: read it,
    approve it, and test it on other tasks. Interrupted, the same command goes on where it was.
    """
    from warmstart.app import (  # noqa: PLC0415 - only where it is needed
        ReadLog,
        RunOptions,
    )

    runner = read_runner({**wanted, "observed": None})
    if asked and asked != runner.kind.value:
        raise UsageError(
            f"--runner {asked} and what follows disagree", hint=f"--runner {runner.kind.value}"
        )
    names = ("name", "tasks_file", "count", "split", "trials")
    request = app.Bootstrap(runner=runner, **{name: wanted[name] for name in names})
    log = ReadLog()
    with show_progress("trials", quiet=quiet) as report:
        options = RunOptions(jobs=jobs, report=report)
        made = app.bootstrap_template(app.Workspace.open(), request, log, options)
    report_skips(log, quiet=quiet)
    put_out(bootstrap_document(made, request, list_skips(log)), as_json=as_json)
    if not made.left:
        words = "every task of the file was used: write others to test the template on"
        note(words, quiet=quiet or as_json)
