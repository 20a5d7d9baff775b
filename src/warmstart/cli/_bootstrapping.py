"""What ``bootstrap`` does: run and mine through the workspace, then say what was learned.

JSON is one object: ``schema_version``, the experiment, sessions run and solved, the tasks used,
what is in the template, where it is, and the commands to go on with.
"""

from __future__ import annotations

from typing import Any

from rich.text import Text

from warmstart.app import Workspace
from warmstart.app.bootstrap import Bootstrap, Bootstrapped, bootstrap_template
from warmstart.app.experiment_runs import RunOptions
from warmstart.cli._output import list_skips, note, open_console, print_json, report_skips
from warmstart.cli.experiment import read_runner
from warmstart.errors import UsageError
from warmstart.present import clean, count, show_progress
from warmstart.sources import ReadLog
from warmstart.template.page import write_page

SCHEMA_VERSION = 1


def run_bootstrap(wanted: dict[str, Any], *, as_json: bool, quiet: bool) -> None:
    """Run what is left, mine, print."""
    asked, jobs = wanted.pop("runner"), wanted.pop("jobs")
    runner = read_runner({**wanted, "observed": None})
    if asked and asked != runner.kind.value:
        raise UsageError(
            f"--runner {asked} and what follows disagree", hint=f"--runner {runner.kind.value}"
        )
    names = ("name", "tasks_file", "count", "split", "trials", "seed", "preamble")
    request = Bootstrap(runner=runner, **{name: wanted[name] for name in names})
    log = ReadLog()
    with show_progress("trials", quiet=quiet) as report:
        made = bootstrap_template(
            Workspace.open(), request, log, RunOptions(jobs=jobs, report=report)
        )
    report_skips(log, quiet=quiet)
    if as_json:
        print_json({**_describe(made, request), "skipped": list_skips(log)})
        return
    _print(made, request)
    if not made.left:
        note("every task of the file was used: write others to test the template on", quiet=quiet)


def _describe(made: Bootstrapped, request: Bootstrap) -> dict[str, Any]:
    template = made.template
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
            "version": made.saved.version,
            "id": made.saved.id,
            "path": str(made.saved.path),
            "state": str(made.saved.state),
            "is_new": made.saved.is_new,
        },
        "next": _list_next(made, request),
    }


def _print(made: Bootstrapped, request: Bootstrap) -> None:
    console = open_console()
    unchecked = f", {made.unchecked:,} without a check" if made.unchecked else ""
    sessions = count(made.done, "session")
    line = (
        f"{made.template.name}: learned from {made.solved:,} of {sessions} that solved their task"
    )
    console.print(Text(clean(line + unchecked), style="bold"), soft_wrap=True)
    for section in write_page(made.template, full=False):
        console.print(Text(clean(section.title), style="bold"))
        for line in section.lines:
            console.print(Text(clean(f"  {line}")), soft_wrap=True)
    state = "saved as" if made.saved.is_new else "is there already as"
    console.print(
        Text(clean(f"{state} version {made.saved.version} ({made.saved.state})")), soft_wrap=True
    )
    for command in _list_next(made, request):
        console.print(Text(clean(f"  next: {command}")), soft_wrap=True)


def _list_next(made: Bootstrapped, request: Bootstrap) -> list[str]:
    name, commands = made.template.name, made.saved.next_steps
    if made.left:
        commands.append(
            f"warmstart experiment new {name}-test --tasks {request.tasks_file.name} --split all"
            f" --arms cold,warm:{made.saved.spec},token-matched …"
        )
    commands.append(f"warmstart experiment plan --pilot {made.experiment}")
    return commands
