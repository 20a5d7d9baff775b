"""``warmstart experiment``: plan, run and judge comparisons of warm and cold sessions.

Commands only unpack their options; what they do is in ``_experiment*``, imported when a command
runs so that ``--help`` stays light.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from warmstart.cli._complete import complete_experiments
from warmstart.cli._experiment_options import METRICS, plan_options, runner_options

_JSON = click.option("--json", "as_json", is_flag=True, help="JSON instead of text.")
_QUIET = click.option("--quiet", "-q", is_flag=True, help="Say nothing on stderr but errors.")
_NAME = click.argument("name", shell_complete=complete_experiments)


@click.group()
def experiment() -> None:
    """Prove that a warm start helps, or find out that it does not.

    Plan an experiment (new), see how large it has to be (plan), run it (run; interrupt it and
    run it again as you like), and read the verdict (report).
    """


@experiment.command("new")
@_NAME
@plan_options
@click.option("--arms", required=True, metavar="LIST",
              help="cold,warm:TEMPLATE[,warm:OTHER,token-matched,placebo[:TEMPLATE]].")  # fmt: skip
@click.option("--control", metavar="ARM", help="What the others are compared with; else cold.")
@click.option("--rule", type=click.Choice(["fixed", "obf", "e-process", "hybrid"]),
              default="fixed", show_default=True, help="When it may be decided.")  # fmt: skip
@click.option("--looks", type=click.IntRange(2, 20), default=5, show_default=True, metavar="N",
              help="Planned looks of the rule obf.")  # fmt: skip
@click.option("--budget", type=click.IntRange(min=1), default=2000, show_default=True,
              metavar="TOKENS", help="Most tokens a warm-up may have.")  # fmt: skip
@click.option("--observed", metavar="live|FILE",
              help="Judge sessions already recorded: live starts, or labels.")  # fmt: skip
@runner_options
@_JSON
@_QUIET
def new_experiment(*, as_json: bool, quiet: bool, **wanted: Any) -> None:
    """Write the plan of an experiment: a small file to review before anything runs.

    Tasks a template was built from are left out. What is decided here is hashed, and a change
    after the first trial is reported with the result.
    """
    from warmstart.cli._experiment import create  # noqa: PLC0415 - keeps --help light

    create(wanted, as_json=as_json, quiet=quiet)


@experiment.command("ablate")
@_NAME
@click.option("--template", required=True, metavar="NAME", help="The template to take apart.")
@click.option("--without", default="guidance,examples,recoveries,markers", show_default=True,
              metavar="LIST", help="Parts to leave out, one arm each.")  # fmt: skip
@click.option("--examples", default="", metavar="LIST",
              help="Numbers of examples, as 1,2,4; else what fits the template.")  # fmt: skip
@click.option("--budgets", default="", metavar="LIST",
              help="Tokens, as 300,600; else a quarter and half of the full one.")  # fmt: skip
@click.option("--budget", type=click.IntRange(min=1), default=2000, show_default=True,
              metavar="TOKENS", help="Of the full warm-up.")  # fmt: skip
@click.option("--cold/--no-cold", default=True, show_default=True, help="Also try no warm-up.")
@plan_options
@runner_options
@_JSON
@_QUIET
def plan_ablation(*, as_json: bool, quiet: bool, **wanted: Any) -> None:
    """Plan how small a template may be: parts left out, fewer examples, smaller budgets.

    The full warm-up is the control. The report names the smallest arm that is not inferior to it
    by the margin. Run it and read it like any experiment.
    """
    from warmstart.cli._experiment_shorter import ablate  # noqa: PLC0415 - keeps --help light

    ablate(wanted, as_json=as_json, quiet=quiet)


@experiment.command("compaction")
@_NAME
@click.option("--template", default="", metavar="NAME", help="The template to shorten.")
@click.option("--session", default="", metavar="ID", help="Or one session, made into a template.")
@click.option("--strategies", default="head-tail,examples-only,guidance-only,short-results",
              show_default=True, metavar="LIST",
              help="One arm each; summary lets the model write one.")  # fmt: skip
@click.option("--budget", type=click.IntRange(min=1), default=8000, show_default=True,
              metavar="TOKENS", help="Of the whole warm-up.")  # fmt: skip
@click.option("--cold/--no-cold", default=True, show_default=True, help="Also try no warm-up.")
@plan_options
@runner_options
@_JSON
@_QUIET
def plan_compaction(*, as_json: bool, quiet: bool, **wanted: Any) -> None:
    """Plan a comparison of ways to shorten a template or a session.

    The whole of it is the control; every strategy has to show that it is not inferior by more
    than the margin. Run it and read it like any experiment.
    """
    from warmstart.cli._experiment_shorter import compact  # noqa: PLC0415 - keeps --help light

    compact(wanted, as_json=as_json, quiet=quiet)


@experiment.command("run")
@_NAME
@click.option("--jobs", "-j", type=click.IntRange(min=1), default=1, show_default=True,
              metavar="N", help="Trials side by side.")  # fmt: skip
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Stop after N trials.")
@_JSON
@_QUIET
def run_experiment(*, name: str, jobs: int, limit: int | None, as_json: bool, quiet: bool) -> None:
    """Run what is left of an experiment; interrupted or killed, it goes on where it was."""
    from warmstart.cli._experiment import run  # noqa: PLC0415 - keeps --help light

    run(name, jobs=jobs, limit=limit, as_json=as_json, quiet=quiet)


@experiment.command("status")
@_NAME
@_JSON
def show_status(*, name: str, as_json: bool) -> None:
    """How far an experiment is, arm by arm. Says nothing about the result."""
    from warmstart.cli._experiment import print_status  # noqa: PLC0415 - keeps --help light

    print_status(name, as_json=as_json)


@experiment.command("list")
@_JSON
def list_all(*, as_json: bool) -> None:
    """All experiments of this home."""
    from warmstart.cli._experiment import print_list  # noqa: PLC0415 - keeps --help light

    print_list(as_json=as_json)


@experiment.command("report")
@_NAME
@click.option("--markdown", metavar="FILE|-", help="Write it as Markdown; - for stdout.")
@click.option("--html", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
              help="Write one self-contained page with plots.")  # fmt: skip
@click.option("--force", is_flag=True, help="Replace FILE if it exists.")
@_JSON
def show_report(
    *, name: str, as_json: bool, markdown: str | None, html: Path | None, force: bool
) -> None:
    """The verdict, with everything it rests on, whichever way it went.

    Once it is decided it goes into the record of the templates it is about; see: warmstart
    template list
    """
    from warmstart.cli._experiment_report import print_report  # noqa: PLC0415 - keeps --help light

    print_report(name, as_json=as_json, markdown=markdown, html=html, force=force)


@experiment.command("export")
@_NAME
@click.option("--as", "target", type=click.Choice(["jsonl", "csv"]), default="jsonl",
              show_default=True, help="Format to write.")  # fmt: skip
@click.option("--output", "-o", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
              help="File to write, private to you; else stdout.")  # fmt: skip
@click.option("--force", is_flag=True, help="Replace FILE if it exists.")
def export_trials(*, name: str, target: str, output: Path | None, force: bool) -> None:
    """Every trial as one row, so that others can compute the verdict again."""
    from warmstart.cli._experiment import export  # noqa: PLC0415 - keeps --help light

    export(name, target, output, force=force)


@experiment.command("plan")
@click.option("--metric", type=click.Choice(METRICS), default="error_rate", show_default=True)
@click.option("--pilot", metavar="NAME", help="Take the figures from the cold trials of NAME.")
@click.option("--control", type=float, metavar="X", help="Value of the control arm.")
@click.option("--expected", type=float, metavar="X",
              help="Value hoped for; for costs the ratio, as 0.8.")  # fmt: skip
@click.option("--calls", type=click.FloatRange(0, min_open=True), metavar="N",
              help="Calls per session.")  # fmt: skip
@click.option("--rho", type=click.FloatRange(0, 1), metavar="X",
              help="How alike calls of one session are.")  # fmt: skip
@click.option("--tau", type=click.FloatRange(0), metavar="X",
              help="How much the effect differs between tasks.")  # fmt: skip
@click.option("--tasks", type=click.IntRange(min=2), metavar="N", help="What N tasks can see.")
@click.option("--sessions", type=click.IntRange(min=4), metavar="N",
              help="What N sessions in all can see.")  # fmt: skip
@click.option("--dollars", type=click.FloatRange(0, min_open=True), metavar="X",
              help="What that much money can see.")  # fmt: skip
@click.option("--trials", type=click.IntRange(min=1), metavar="N", help="Repetitions.")
@click.option("--arms", type=click.IntRange(min=2), default=2, show_default=True, metavar="N")
@click.option("--power", "target", type=click.FloatRange(0.5, 0.999), default=0.8,
              show_default=True, metavar="X", help="Wanted chance of seeing it.")  # fmt: skip
@click.option("--alpha", type=click.FloatRange(0, 1, min_open=True, max_open=True), default=0.05,
              show_default=True, metavar="X")  # fmt: skip
@click.option("--prices", metavar="IN,OUT", help="Dollars per million tokens: 3,15.")
@click.option("--tokens", metavar="IN,OUT", help="Tokens of one session: 20000,1500.")
@_JSON
def plan_size(*, as_json: bool, **given: Any) -> None:
    """How many tasks it takes to see an effect, and what that costs."""
    from warmstart.cli._experiment_plan import print_sizes  # noqa: PLC0415 - keeps --help light

    print_sizes(given, as_json=as_json)


@experiment.command("live")
@click.argument("action", type=click.Choice(["on", "off", "status"]))
@click.option("--share", type=click.FloatRange(0, 1, min_open=True), metavar="X",
              help="Share of sessions that stay cold; else 0.1.")  # fmt: skip
@_JSON
def set_live(*, action: str, share: float | None, as_json: bool) -> None:
    """Hold out a share of live sessions, so that ordinary work becomes the comparison.

    Judge them with: warmstart experiment new NAME --arms cold,warm:TEMPLATE --observed live
    """
    from warmstart.cli._experiment_plan import switch_live  # noqa: PLC0415 - keeps --help light

    switch_live(action, share, as_json=as_json)
