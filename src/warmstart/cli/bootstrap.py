"""``warmstart bootstrap``: a first template from tasks your agent has not done yet.

JSON is one object: ``schema_version``, the experiment, sessions run and solved, the tasks used,
what is in the template, where it is saved, and the commands to run next.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from warmstart import app
from warmstart.cli._output import list_skips, note, open_console, print_json, report_skips
from warmstart.cli.experiment import read_runner, runner_options
from warmstart.errors import UsageError
from warmstart.present import clean, count, show_progress

if TYPE_CHECKING:
    from warmstart.app import Bootstrap, Bootstrapped

SCHEMA_VERSION = 1


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
@click.option("--json", "as_json", is_flag=True, help="JSON instead of text.")
@click.option("--quiet", "-q", is_flag=True, help="Say nothing on stderr but errors.")
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
    if as_json:
        print_json({**_to_json(made, request), "skipped": list_skips(log)})
        return
    _print(made, request)
    if not made.left:
        note("every task of the file was used: write others to test the template on", quiet=quiet)


def _to_json(made: Bootstrapped, request: Bootstrap) -> dict[str, Any]:
    template, saved = made.template, made.saved
    return {
        "schema_version": SCHEMA_VERSION,
        "name": template.name,
        "experiment": made.experiment,
        "sessions": made.done,
        "solved": made.solved,
        "unchecked": made.unchecked,
        "tasks": list(made.tasks),
        "tasks_left": made.left,
        "examples": len(template.examples),
        "recoveries": len(template.recoveries),
        "guidance": len(template.guidance),
        "flags": list(template.provenance.flags),
        "redactions": dict(template.provenance.redactions),
        "saved": {
            "version": saved.version, "id": saved.id, "path": str(saved.path),
            "state": str(saved.state), "is_new": saved.is_new,
        },
        "next": _list_next(made, request),
    }  # fmt: skip


def _print(made: Bootstrapped, request: Bootstrap) -> None:
    from warmstart.app import write_page  # noqa: PLC0415 - keeps --help light

    console, saved = open_console(), made.saved
    unchecked = f", {made.unchecked:,} without a check" if made.unchecked else ""
    sessions = count(made.done, "session")
    line = f"{saved.name}: learned from {made.solved:,} of {sessions} that solved their task"
    console.print(clean(line + unchecked), style="bold", soft_wrap=True)
    for section in write_page(made.template, full=False):
        console.print(clean(section.title), style="bold")
        for line in section.lines:
            console.print(clean(f"  {line}"), soft_wrap=True)
    state = "saved as" if saved.is_new else "is there already as"
    console.print(clean(f"{state} version {saved.version} ({saved.state})"), soft_wrap=True)
    for command in _list_next(made, request):
        console.print(clean(f"  next: {command}"), soft_wrap=True)


def _list_next(made: Bootstrapped, request: Bootstrap) -> list[str]:
    commands = made.saved.next_steps
    if made.left:
        commands.append(
            f"warmstart experiment new {made.saved.name}-test --tasks {request.tasks_file.name}"
            f" --split all --arms cold,warm:{made.saved.spec},token-matched …"
        )
    commands.append(f"warmstart experiment plan --pilot {made.experiment}")
    return commands
