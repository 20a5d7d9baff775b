"""``warmstart experiment``: plan, run and judge comparisons of warm and cold sessions."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from warmstart.app import (
    DEFAULT_HOLDOUT,
    MARGINS,
    Ablation,
    AblationRequest,
    Arms,
    Design,
    Direction,
    ExperimentState,
    Metric,
    NewExperiment,
    Runner,
    RunnerKind,
    RunOptions,
    SizingRequest,
    StoppingRule,
    Workspace,
    create_experiment,
    export_trials,
    list_experiments,
    parse_arms,
    plan_ablation,
    plan_compaction,
    read_holdout,
    read_state,
    report_experiment,
    run_experiment,
    size_experiment,
    with_control,
    write_holdout,
)
from warmstart.cli._complete import complete_experiments, complete_templates
from warmstart.cli._output import JSON, QUIET, give_options, note, print_json, put_out, write_bytes
from warmstart.errors import UsageError
from warmstart.figures import count
from warmstart.present import (
    created_document,
    experiments_document,
    report_document,
    run_document,
    show_progress,
    sizes_document,
    state_document,
    write_document,
    write_html,
    write_json,
    write_markdown,
)

METRICS = [metric.value for metric in Metric]
STDOUT = "-"
RUNNER_OPTIONS = {
    "url": RunnerKind.ENDPOINT,
    "command": RunnerKind.COMMAND,
    "observed": RunnerKind.OBSERVED,
}
RUNNER_FIELDS = (
    "model", "api", "protocol", "key_variable", "temperature", "max_tokens", "max_turns",
    "request_timeout", "trial_timeout", "retries",
)  # fmt: skip
_Command = TypeVar("_Command", bound=Callable[..., Any])

_QUIET = click.option("--quiet", "-q", is_flag=True, help="Print the path of the plan alone.")
_NAME = click.argument("name", shell_complete=complete_experiments)
_PLAN = (
    click.option("--tasks", "tasks_file", type=click.Path(dir_okay=False, path_type=Path),
                  metavar="FILE", help="Tasks, one JSON object per line."),
    click.option("--split", default="test", show_default=True, metavar="NAME",
                  help="Only tasks of this split; all for every one."),
    click.option("--trials", type=click.IntRange(min=1), default=3, show_default=True, metavar="N",
                  help="Repetitions of each task in each arm."),
    click.option("--metric", type=click.Choice(METRICS), default="error_rate", show_default=True,
                  help="What the verdict is about."),
    click.option("--direction", type=click.Choice(["lower", "higher"]),
                  help="Which way is better; else what is usual for the metric."),
    click.option("--margin", type=click.FloatRange(min=0), metavar="X",
                  help="Smallest difference that matters: 0.02 is 2 points."),
    click.option("--alpha", type=click.FloatRange(0, 1, min_open=True, max_open=True), default=0.05,
                  show_default=True, metavar="X", help="Accepted risk of a false claim."),
    click.option("--seed", type=int, default=1, show_default=True, metavar="N",
                  help="Order of trials and sampling."),
    click.option("--unreviewed", is_flag=True, help="Also try drafts nobody has approved."),
)  # fmt: skip
_RUNNER = (
    click.option("--endpoint", "url", metavar="URL", help="Address of the model."),
    click.option("--model", default="", metavar="NAME", help="The model's name."),
    click.option("--api", type=click.Choice(["openai", "anthropic"]), default="openai",
                  show_default=True, help="What the endpoint speaks."),
    click.option("--protocol", type=click.Choice(["native", "json"]), default="native",
                  show_default=True, help="Tool calls, or JSON for small models."),
    click.option("--key-env", "key_variable", default="", metavar="VARIABLE",
                  help="Environment variable that holds the key; only its name is kept."),
    click.option("--temperature", type=float, metavar="X", help="Else the endpoint's own."),
    click.option("--max-tokens", type=click.IntRange(min=1), default=1024, show_default=True,
                  metavar="N", help="Of one answer."),
    click.option("--max-turns", type=click.IntRange(min=1), default=12, show_default=True,
                  metavar="N", help="Answers before a trial is given up."),
    click.option("--request-timeout", type=click.FloatRange(0, min_open=True), default=120.0,
                  show_default=True, metavar="SECONDS"),
    click.option("--trial-timeout", type=click.FloatRange(0, min_open=True), default=600.0,
                  show_default=True, metavar="SECONDS"),
    click.option("--retries", type=click.IntRange(min=0), default=5, show_default=True, metavar="N",
                  help="After 429, 5xx and lost connections."),
    click.option("--prices", metavar="IN,OUT", help="Dollars per million tokens: 3,15."),
    click.option("--command", metavar="LINE",
                  help="Run this agent: words with {prompt}, {workdir}, {start} ..."),
)  # fmt: skip


def plan_options(command: _Command) -> _Command:
    """Options on tasks, repetitions, metric and margin."""
    return give_options(command, _PLAN)


def runner_options(command: _Command) -> _Command:
    """Options on the endpoint or the command that carries out trials."""
    return give_options(command, _RUNNER)


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
@click.option("--rule", type=click.Choice([rule.value for rule in StoppingRule]),
              default="fixed", show_default=True, help="When it may be decided.")  # fmt: skip
@click.option("--budget", type=click.IntRange(min=1), default=2000, show_default=True,
              metavar="TOKENS", help="Most tokens a warm-up may have.")  # fmt: skip
@click.option("--observed", metavar="live|FILE",
              help="Judge sessions already recorded: live starts, or labels.")  # fmt: skip
@runner_options
@JSON
@_QUIET
def new_experiment(*, as_json: bool, **given: Any) -> None:
    """Write the plan of an experiment: a small file to review before anything runs.

    Tasks a template was built from are left out. What is decided here is hashed, and a change
    after the first trial is reported with the result.
    """
    _create(given, as_json=as_json)


@experiment.command("ablate")
@_NAME
@click.option("--template", required=True, metavar="NAME", shell_complete=complete_templates,
              help="The template to take apart.")  # fmt: skip
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
@JSON
@_QUIET
def ablate(*, as_json: bool, **given: Any) -> None:
    """Plan how small a template may be: parts left out, fewer examples, smaller budgets.

    The full warm-up is the control. The report names the smallest arm that is not inferior to it
    by the margin. Run it and read it like any experiment.
    """
    request = Ablation(
        template=given["template"],
        budget=given["budget"],
        budgets=_numbers(given["budgets"], "--budgets"),
        examples=_numbers(given["examples"], "--examples"),
        parts=_words(given["without"]),
        with_cold=given["cold"],
        unreviewed=given["unreviewed"],
    )
    _create_from_arms(given, plan_ablation(Workspace.open(), request), as_json=as_json)


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
@JSON
@_QUIET
def compact(*, as_json: bool, **given: Any) -> None:
    """Plan a comparison of ways to shorten a template or a session.

    The whole of it is the control; every strategy has to show that it is not inferior by more
    than the margin. Run it and read it like any experiment.
    """
    if bool(given["template"]) == bool(given["session"]):
        raise UsageError("name what to shorten", hint="--template NAME, or --session ID")
    request = AblationRequest(
        name=given["name"],
        budget=given["budget"],
        template=given["template"],
        session=given["session"],
        strategies=_words(given["strategies"]),
        with_cold=given["cold"],
        unreviewed=given["unreviewed"],
    )
    runner = read_runner({**given, "observed": None})
    arms = plan_compaction(Workspace.open(), request, runner)
    _create_from_arms(given, arms, as_json=as_json)


@experiment.command("run")
@_NAME
@click.option("--jobs", "-j", type=click.IntRange(min=1), default=1, show_default=True,
              metavar="N", help="Trials side by side.")  # fmt: skip
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Stop after N trials.")
@JSON
@QUIET
def run(*, name: str, jobs: int, limit: int | None, as_json: bool, quiet: bool) -> None:
    """Run what is left of an experiment; interrupted or killed, it goes on where it was."""
    with show_progress("trials", quiet=quiet) as report:
        options = RunOptions(jobs=jobs, limit=limit, report=report)
        done = run_experiment(Workspace.open(), name, options)
    put_out(run_document(done), as_json=as_json)


@experiment.command("status")
@_NAME
@JSON
def show_status(*, name: str, as_json: bool) -> None:
    """How far an experiment is, arm by arm, without a word about the result."""
    put_out(state_document(read_state(Workspace.open(), name)), as_json=as_json)


@experiment.command("list")
@JSON
def list_all(*, as_json: bool) -> None:
    """All experiments of this home."""
    found = list(list_experiments(Workspace.open()))
    for problem in found:
        if isinstance(problem, str):
            note(problem)
    states = [one for one in found if isinstance(one, ExperimentState)]
    put_out(experiments_document(states), as_json=as_json)


@experiment.command("report")
@_NAME
@click.option("--markdown", metavar="FILE|-", help="Write it as Markdown; - for stdout.")
@click.option("--html", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
              help="Write one self-contained page with plots.")  # fmt: skip
@click.option("--force", is_flag=True, help="Replace FILE if it exists.")
@click.option("--details", is_flag=True, help="Also tasks, looks, plan and limits.")
@JSON
def show_report(
    *, name: str, as_json: bool, markdown: str | None, html: Path | None, force: bool, details: bool
) -> None:
    """The verdict, with everything it rests on, whichever way it went.

    Once it is decided it goes into the record of the templates it is about; see: warmstart
    template list
    """
    workspace = Workspace.open()
    report = report_experiment(workspace, name)
    document = report_document(report)
    if html is not None:
        _write(workspace, html, write_html(document), force=force)
    if markdown is not None and markdown != STDOUT:
        _write(workspace, Path(markdown), write_markdown(document), force=force)
    if as_json:
        write_bytes(write_json(document))
    elif markdown == STDOUT:
        write_bytes(write_markdown(document).encode("utf-8", "replace"))
    elif html is None and markdown is None:
        write_document(document, details=details)
    if report.recorded:
        note(f"{count(report.recorded, 'verdict')} recorded: warmstart template list")


def _write(workspace: Workspace, path: Path, text: str, *, force: bool) -> None:
    workspace.write_file(path, [text.encode("utf-8", "replace")], overwrite=force)
    note(f"written: {path}")


@experiment.command("export")
@_NAME
@click.option("--as", "form", type=click.Choice(["jsonl", "csv"]), default="jsonl",
              show_default=True, help="Format to write.")  # fmt: skip
@click.option("--output", "-o", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
              help="File to write, private to you; else stdout.")  # fmt: skip
@click.option("--force", is_flag=True, help="Replace FILE if it exists.")
def export(*, name: str, form: str, output: Path | None, force: bool) -> None:
    """Every trial as one row, so that others can compute the verdict again."""
    workspace = Workspace.open()
    found = export_trials(workspace, name, form)
    if output is None:
        write_bytes(found.data)
        return
    workspace.write_file(output, [found.data], overwrite=force)
    note(f"{count(found.trials, 'trial')} written to {output}")


@experiment.command("plan")
@click.option("--metric", type=click.Choice(METRICS), default="error_rate", show_default=True)
@click.option("--pilot", metavar="NAME", help="Take the figures from the cold trials of NAME.")
@click.option("--control", type=float, metavar="X", help="Value of the control arm.")
@click.option("--expected", type=float, metavar="X",
              help="Value hoped for; for costs the ratio, as 0.8.")  # fmt: skip
@click.option("--calls", type=click.FloatRange(0, min_open=True), metavar="N",
              help="Calls per session.")  # fmt: skip
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
@JSON
def plan_size(*, as_json: bool, **given: Any) -> None:
    """How many tasks it takes to see an effect, and what that costs."""
    pairs: dict[str, Any] = {
        name: _pair(given.pop(name), f"--{name}") for name in ("prices", "tokens")
    }
    metric, pilot = Metric(given.pop("metric")), given.pop("pilot") or ""
    request = SizingRequest(metric=metric, pilot=pilot, **pairs, **given)
    put_out(sizes_document(size_experiment(Workspace.open(), request)), as_json=as_json)


@experiment.command("live")
@click.argument("action", type=click.Choice(["on", "off", "status"]))
@click.option("--share", type=click.FloatRange(0, 1, min_open=True), metavar="X",
              help="Share of sessions that stay cold; else 0.1.")  # fmt: skip
@JSON
def set_live(*, action: str, share: float | None, as_json: bool) -> None:
    """Hold out a share of live sessions, so that ordinary work becomes the comparison.

    Judge them with: warmstart experiment new NAME --arms cold,warm:TEMPLATE --observed live
    """
    workspace = Workspace.open()
    if action == "on":
        write_holdout(workspace, share if share is not None else DEFAULT_HOLDOUT)
    elif action == "off":
        write_holdout(workspace, 0.0)
    holdout = read_holdout(workspace)
    if as_json:
        print_json({"schema_version": 1, "holdout": holdout, "on": holdout > 0})
        return
    state = f"on: {100 * holdout:g} % of sessions stay cold" if holdout else "off"
    click.echo(f"live holdout {state}")
    if holdout and action == "on":
        note("judge them with: warmstart experiment new NAME --arms cold,warm:T --observed live")


# From options to requests.


def _create(given: dict[str, Any], *, as_json: bool, notes: tuple[str, ...] = ()) -> None:
    request = NewExperiment(
        name=given["name"],
        design=_read_design(given),
        runner=read_runner(given),
        tasks_file=given["tasks_file"],
        split=given["split"],
        unreviewed=given["unreviewed"],
    )
    made = create_experiment(Workspace.open(), request)
    if given["quiet"] and not as_json:
        click.echo(str(made.folder / "plan.toml"))
        return
    put_out(created_document(made, notes), as_json=as_json)


def _create_from_arms(given: dict[str, Any], arms: Arms, *, as_json: bool) -> None:
    """Not being inferior is asked once, at the end, so the rule is fixed."""
    left_out = tuple(f"no arm for {one.variant}: {one.reason}" for one in arms.skipped)
    chosen = {"arms": ",".join(arms.names), "control": arms.names[0], "rule": "fixed"}
    fields = {**given, **chosen, "observed": None}
    _create(fields, as_json=as_json, notes=(*left_out, *arms.notes))


def _read_design(given: dict[str, Any]) -> Design:
    metric = Metric(given["metric"])
    usual = Direction.HIGHER if metric is Metric.SUCCESS else Direction.LOWER
    design = Design(
        arms=parse_arms(given["arms"]),
        trials=given["trials"],
        metric=metric,
        direction=Direction(given["direction"]) if given["direction"] else usual,
        margin=MARGINS[metric] if given["margin"] is None else given["margin"],
        alpha=given["alpha"],
        rule=StoppingRule(given["rule"]),
        seed=given["seed"],
        budget=given["budget"],
        **({"control": given["control"]} if given["control"] else {}),
    )
    return design if given["control"] or not design.arms else with_control(design)


def read_runner(given: dict[str, Any]) -> Runner:
    """Who carries out trials, from the options of ``runner_options``."""
    chosen = [kind for name, kind in RUNNER_OPTIONS.items() if given[name]]
    if len(chosen) != 1:
        raise UsageError(
            "name one thing to run", hint="one of --endpoint URL, --command LINE, --observed live"
        )
    if chosen[0] is not RunnerKind.OBSERVED and given["tasks_file"] is None:
        raise UsageError("there are no tasks to run", hint="--tasks TASKS.jsonl")
    prices = _pair(given["prices"], "--prices") or (None, None)
    return Runner(
        kind=chosen[0],
        url=given["url"] or "",
        command=_split(given["command"] or ""),
        observed=_absolute(given["observed"] or ""),
        input_price=prices[0],
        output_price=prices[1],
        **{name: given[name] for name in RUNNER_FIELDS},
    )


def _absolute(observed: str) -> str:
    is_file = observed and not observed.startswith("live")
    return str(Path(observed).resolve()) if is_file else observed


def _split(line: str) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(line))
    except ValueError as error:
        raise UsageError(f"--command {line!r}: {error}", hint="check the quotes") from error


def _pair(text: str | None, option: str) -> tuple[float, float] | None:
    if not text:
        return None
    try:
        first, second = (float(part) for part in text.split(","))
    except ValueError as error:
        raise UsageError(f"{option} {text!r} must be two numbers", hint="3,15") from error
    if min(first, second) < 0:
        raise UsageError(f"{option} {text!r} is negative", hint="3,15")
    return first, second


def _numbers(text: str, option: str) -> tuple[int, ...]:
    try:
        numbers = tuple(int(part) for part in _words(text))
    except ValueError as error:
        raise UsageError(f"{option} {text!r} must be whole numbers", hint="300,600") from error
    if any(number < 1 for number in numbers):
        raise UsageError(f"{option} {text!r}: numbers begin at 1", hint="300,600")
    return numbers


def _words(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))
