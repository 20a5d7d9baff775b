"""``warmstart experiment``: plan, run and judge comparisons of warm and cold sessions.

Commands only unpack their options; what they do is in ``_experiment*``, imported when a command
runs so that ``--help`` stays light.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

_JSON = click.option("--json", "as_json", is_flag=True, help="JSON instead of text.")
_QUIET = click.option("--quiet", "-q", is_flag=True, help="Say nothing on stderr but errors.")
_NAME = click.argument("name")
METRICS = ["error_rate", "success", "turns", "tokens", "seconds"]


@click.group()
def experiment() -> None:
    """Prove that a warm start helps, or find out that it does not.

    Plan an experiment (new), see how large it has to be (plan), run it (run; interrupt it and
    run it again as you like), and read the verdict (report).
    """


@experiment.command("new")
@_NAME
@click.option("--tasks", "tasks_file", type=click.Path(dir_okay=False, path_type=Path),
              metavar="FILE", help="Tasks, one JSON object per line.")  # fmt: skip
@click.option("--split", default="test", show_default=True, metavar="NAME",
              help="Only tasks of this split; all for every one.")  # fmt: skip
@click.option("--arms", required=True, metavar="LIST",
              help="cold,warm:TEMPLATE[,warm:OTHER,token-matched,placebo[:TEMPLATE]].")  # fmt: skip
@click.option("--trials", type=click.IntRange(min=1), default=3, show_default=True, metavar="N",
              help="Repetitions of each task in each arm.")  # fmt: skip
@click.option("--metric", type=click.Choice(METRICS), default="error_rate", show_default=True,
              help="What the verdict is about.")  # fmt: skip
@click.option("--direction", type=click.Choice(["lower", "higher"]),
              help="Which way is better; else what is usual for the metric.")  # fmt: skip
@click.option("--margin", type=click.FloatRange(min=0), metavar="X",
              help="Smallest difference that matters: 0.02 is 2 points.")  # fmt: skip
@click.option("--control", metavar="ARM", help="What the others are compared with; else cold.")
@click.option("--rule", type=click.Choice(["fixed", "obf", "e-process", "hybrid"]),
              default="fixed", show_default=True, help="When it may be decided.")  # fmt: skip
@click.option("--looks", type=click.IntRange(2, 20), default=5, show_default=True, metavar="N",
              help="Planned looks of the rule obf.")  # fmt: skip
@click.option("--alpha", type=click.FloatRange(0, 1, min_open=True, max_open=True), default=0.05,
              show_default=True, metavar="X", help="Accepted risk of a false claim.")  # fmt: skip
@click.option("--seed", type=int, default=1, show_default=True, metavar="N",
              help="Order of trials and sampling.")  # fmt: skip
@click.option("--budget", type=click.IntRange(min=1), default=2000, show_default=True,
              metavar="TOKENS", help="Most tokens a warm-up may have.")  # fmt: skip
@click.option("--preamble", metavar="TEXT", help="System text that all arms share.")
@click.option("--endpoint", "url", metavar="URL", help="Address of the model.")
@click.option("--model", default="", metavar="NAME", help="The model's name.")
@click.option("--api", type=click.Choice(["openai", "anthropic"]), default="openai",
              show_default=True, help="What the endpoint speaks.")  # fmt: skip
@click.option("--protocol", type=click.Choice(["native", "json"]), default="native",
              show_default=True, help="Tool calls, or JSON for small models.")  # fmt: skip
@click.option("--key-env", "key_variable", default="", metavar="VARIABLE",
              help="Environment variable that holds the key; only its name is kept.")  # fmt: skip
@click.option("--temperature", type=float, metavar="X", help="Else the endpoint's own.")
@click.option("--max-tokens", type=click.IntRange(min=1), default=1024, show_default=True,
              metavar="N", help="Of one answer.")  # fmt: skip
@click.option("--max-turns", type=click.IntRange(min=1), default=12, show_default=True,
              metavar="N", help="Answers before a trial is given up.")  # fmt: skip
@click.option("--request-timeout", type=click.FloatRange(0, min_open=True), default=120.0,
              show_default=True, metavar="SECONDS")  # fmt: skip
@click.option("--trial-timeout", type=click.FloatRange(0, min_open=True), default=600.0,
              show_default=True, metavar="SECONDS")  # fmt: skip
@click.option("--retries", type=click.IntRange(min=0), default=5, show_default=True, metavar="N",
              help="After 429, 5xx and lost connections.")  # fmt: skip
@click.option("--prices", metavar="IN,OUT", help="Dollars per million tokens: 3,15.")
@click.option("--command", metavar="LINE",
              help="Run this agent: words with {prompt}, {workdir}, {start} ...")  # fmt: skip
@click.option("--observed", metavar="live|FILE",
              help="Judge sessions already recorded: live starts, or labels.")  # fmt: skip
@_JSON
@_QUIET
def new_experiment(*, as_json: bool, quiet: bool, **wanted: Any) -> None:
    """Write the plan of an experiment: a small file to review before anything runs.

    Tasks a template was built from are left out. What is decided here is hashed, and a change
    after the first trial is reported with the result.
    """
    from warmstart.cli._experiment import create  # noqa: PLC0415 - keeps --help light

    create(wanted, as_json=as_json, quiet=quiet)


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
@_JSON
def show_report(*, name: str, as_json: bool) -> None:
    """The verdict, with everything it rests on."""
    from warmstart.cli._experiment_report import print_report  # noqa: PLC0415 - keeps --help light

    print_report(name, as_json=as_json)


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
