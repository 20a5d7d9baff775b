"""What the commands on experiments do: ask the workspace, print."""

from __future__ import annotations

import shlex
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    TextColumn,
    TimeRemainingColumn,
)
from rich.progress import (
    Progress as Bar,
)
from rich.text import Text

from warmstart.app import Workspace
from warmstart.app.experiment_runs import Progress, RunOptions, run_experiment
from warmstart.app.experiment_verdicts import read_report, record_verdicts
from warmstart.app.experiments import (
    Experiment,
    NewExperiment,
    Standing,
    create_experiment,
    list_experiments,
    load_experiment,
    read_standing,
    with_control,
)
from warmstart.app.redaction import open_redactor
from warmstart.cli._output import Column, note, open_console, print_json, print_table, write_bytes
from warmstart.cli._text import clean, count
from warmstart.errors import UsageError
from warmstart.experiment.arms import parse_arms
from warmstart.experiment.plan import (
    MARGINS,
    Design,
    Direction,
    Metric,
    Plan,
    Rule,
    Runner,
    RunnerKind,
    to_data,
)
from warmstart.experiment.trial import TrialStatus
from warmstart.export import format_csv
from warmstart.runners import format_trial
from warmstart.wire import encode_line

if TYPE_CHECKING:
    from warmstart.redact import Redactor

SCHEMA_VERSION = 1
COLUMNS = (
    "experiment", "task", "arm", "number", "order", "status", "success", "calls", "errors",
    "turns", "tokens", "seconds", "cost_usd", "warmup_tokens", "warmup_calls", "copied", "model",
    "setup", "plan", "session", "detail",
)  # fmt: skip
RUNNER_OPTIONS = {
    "url": RunnerKind.ENDPOINT,
    "command": RunnerKind.COMMAND,
    "observed": RunnerKind.OBSERVED,
}
RUNNER_FIELDS = (
    "model", "api", "protocol", "key_variable", "temperature", "max_tokens", "max_turns",
    "request_timeout", "trial_timeout", "retries",
)  # fmt: skip


def create(wanted: dict[str, Any], *, as_json: bool, quiet: bool) -> None:
    """Write a plan and show where it is."""
    request = NewExperiment(
        name=wanted["name"],
        design=_read_design(wanted),
        runner=read_runner(wanted),
        tasks_file=wanted["tasks_file"],
        split=wanted["split"],
        unreviewed=wanted["unreviewed"],
    )
    made = create_experiment(Workspace.open(), request)
    _say_unreviewed(made.plan)
    if as_json:
        print_json({"schema_version": SCHEMA_VERSION, **_describe(made)})
        return
    plan = made.plan
    console = open_console()
    console.print(Text(str(made.folder / "plan.toml")), soft_wrap=True)
    note(f"plan sha256:{made.hash[:16]}", quiet=quiet)
    note(
        f"{count(plan.tasks.count, 'task')} x {count(len(plan.design.arms), 'arm')} x"
        f" {count(plan.design.trials, 'trial')} = {plan.total:,} sessions",
        quiet=quiet,
    )
    if plan.tasks.excluded:
        note(
            f"{count(len(plan.tasks.excluded), 'task')} left out: a template was built from them",
            quiet=quiet,
        )
    note(f"review it, then: warmstart experiment run {plan.name}", quiet=quiet)


def _say_unreviewed(plan: Plan) -> None:
    for spec in plan.unreviewed:
        note(f"unreviewed: {spec} was a draft that nobody had reviewed when this was planned")


def _read_design(wanted: dict[str, Any]) -> Design:
    metric = Metric(wanted["metric"])
    usual = Direction.HIGHER if metric is Metric.SUCCESS else Direction.LOWER
    margin = MARGINS[metric] if wanted["margin"] is None else wanted["margin"]
    fields: dict[str, Any] = {"preamble": wanted["preamble"]} if wanted["preamble"] else {}
    if wanted["control"]:
        fields["control"] = wanted["control"]
    design = Design(
        arms=parse_arms(wanted["arms"]),
        trials=wanted["trials"],
        metric=metric,
        direction=Direction(wanted["direction"]) if wanted["direction"] else usual,
        margin=margin,
        alpha=wanted["alpha"],
        rule=Rule(wanted["rule"]),
        looks=wanted["looks"],
        seed=wanted["seed"],
        budget=wanted["budget"],
        **fields,
    )
    return design if wanted["control"] or not design.arms else with_control(design)


def read_runner(wanted: dict[str, Any]) -> Runner:
    """Who carries out trials, as the options say."""
    kind = _choose_kind(wanted)
    prices = parse_pair(wanted["prices"], "--prices") or (None, None)
    return Runner(
        kind=kind,
        url=wanted["url"] or "",
        command=_split(wanted["command"] or ""),
        observed=_absolute(wanted["observed"] or ""),
        input_price=prices[0],
        output_price=prices[1],
        **{name: wanted[name] for name in RUNNER_FIELDS},
    )


def _choose_kind(wanted: dict[str, Any]) -> RunnerKind:
    chosen = [kind for name, kind in RUNNER_OPTIONS.items() if wanted[name]]
    if len(chosen) != 1:
        raise UsageError(
            "say what is to be run", hint="one of --endpoint URL, --command LINE, --observed live"
        )
    if chosen[0] is not RunnerKind.OBSERVED and wanted["tasks_file"] is None:
        raise UsageError("there are no tasks to run", hint="--tasks TASKS.jsonl")
    return chosen[0]


def _split(line: str) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(line))
    except ValueError as error:
        raise UsageError(f"--command {line!r}: {error}", hint="check the quotes") from error


def _absolute(observed: str) -> str:
    is_file = observed and not observed.startswith("live")
    return str(Path(observed).resolve()) if is_file else observed


def parse_pair(text: str | None, option: str) -> tuple[float, float] | None:
    """Two numbers of an option, as ``3,15``."""
    if not text:
        return None
    try:
        first, second = (float(part) for part in text.split(","))
    except ValueError as error:
        raise UsageError(f"{option} {text!r}: two numbers are needed", hint="3,15") from error
    if min(first, second) < 0:
        raise UsageError(f"{option} {text!r}: negative", hint="3,15")
    return first, second


def run(name: str, *, jobs: int, limit: int | None, as_json: bool, quiet: bool) -> None:
    """Run what is left, with a bar on a terminal."""
    workspace = Workspace.open()
    _say_unreviewed(load_experiment(workspace, name).plan)
    with show_progress(quiet=quiet) as report:
        done = run_experiment(workspace, name, RunOptions(jobs=jobs, limit=limit, report=report))
    record_verdicts(workspace, read_report(workspace, name))
    if done.deviation is not None:
        note(f"the plan was changed after {done.deviation.trials} trials; this is recorded:")
        for change in done.deviation.changes:
            note(f"  {change}")
    if as_json:
        figures = {
            "schema_version": SCHEMA_VERSION, "name": name, "plan": done.hash, "ran": done.ran,
            "recovered": done.recovered, "done": done.done, "total": done.total,
            "stopped": done.stopped,
            "deviation": done.deviation._asdict() if done.deviation else None,
        }  # fmt: skip
        print_json(figures)
        return
    open_console().print(Text(f"{done.done:,} of {done.total:,} trials recorded"))
    if done.stopped:
        note(done.stopped, quiet=quiet)
    follow_up = "report" if done.done >= done.total or done.stopped else "run"
    note(f"next: warmstart experiment {follow_up} {name}", quiet=quiet)


@contextmanager
def show_progress(*, quiet: bool) -> Iterator[Any]:
    """A function to be told of progress; it draws on a terminal and else does nothing."""
    if quiet or not sys.stderr.isatty():
        yield lambda _: None
        return
    columns = (
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(),
    )  # fmt: skip
    with Bar(*columns, console=open_console(stderr=True), transient=True) as bar:
        line = bar.add_task("trials", total=None)

        def report(progress: Progress) -> None:
            bar.update(line, completed=progress.done, total=progress.total)

        yield report


def print_status(name: str, *, as_json: bool) -> None:
    """Counts only: whoever looks before the end must not see who is ahead."""
    standing = read_standing(Workspace.open(), name)
    if as_json:
        print_json({"schema_version": SCHEMA_VERSION, **_summarise(standing)})
        return
    console = open_console()
    total = max(standing.plan.total, standing.done)
    console.print(Text(f"{name}: {standing.done:,} of {total:,} trials", style="bold"))
    console.print(Text(f"plan sha256:{standing.hash[:16]}  {standing.plan.registered}"))
    columns = [
        Column(name="ARM"), Column(name="DONE", right=True), Column(name="CRASHED", right=True),
        Column(name="TIMEOUT", right=True),
    ]  # fmt: skip
    rows = [
        [Text(clean(arm)), Text(str(row["done"])), Text(str(row["crashed"])),
         Text(str(row["timeout"]))]
        for arm, row in _count_arms(standing).items()
    ]  # fmt: skip
    print_table(console, columns, rows)
    for deviation in standing.deviations:
        note(f"plan changed after {deviation.trials} trials: {'; '.join(deviation.changes)}")
    if standing.unreadable:
        note(f"{count(standing.unreadable, 'line')} of the trial file cannot be read")


def print_list(*, as_json: bool) -> None:
    """One line per experiment."""
    found = list(list_experiments(Workspace.open()))
    standings = [one for one in found if isinstance(one, Standing)]
    for problem in found:
        if isinstance(problem, str):
            note(problem)
    if as_json:
        rows = [_summarise(standing) for standing in standings]
        print_json({"schema_version": SCHEMA_VERSION, "experiments": rows})
        return
    columns = [
        Column(name="NAME"), Column(name="TRIALS", right=True), Column(name="METRIC"),
        Column(name="REGISTERED"), Column(name="ARMS", max_width=60),
    ]  # fmt: skip
    table = [
        [Text(one.plan.name), Text(f"{one.done}/{max(one.plan.total, one.done)}"),
         Text(one.plan.design.metric.value), Text(one.plan.registered),
         Text(clean(", ".join(one.plan.design.arms)))]
        for one in standings
    ]  # fmt: skip
    if table:
        print_table(open_console(), columns, table)
    else:
        note("no experiments yet; begin with: warmstart experiment new --help")


def export(name: str, target: str, output: Path | None, *, force: bool) -> None:
    """Trials as rows."""
    workspace = Workspace.open()
    standing = read_standing(workspace, name)
    records = sorted(standing.records, key=lambda record: record.trial.order)
    redactor = open_redactor(workspace, pii=True)
    rows = [_for_others(format_trial(r.trial, r.plan), redactor) for r in records]
    data = b"".join(map(encode_line, rows)) if target == "jsonl" else _write_csv(rows)
    if output is None:
        write_bytes(data)
        return
    workspace.write_file(output, [data], overwrite=force)
    note(f"{count(len(rows), 'trial')} written to {output}")


def _for_others(row: dict[str, Any], redactor: Redactor) -> dict[str, Any]:
    """A row to share: what an agent or a server said in it is redacted."""
    said = {name: redactor.value(row[name]) for name in ("task", "detail", "model", "calls")}
    return {**row, **said}


def _write_csv(rows: list[dict[str, Any]]) -> bytes:
    counted = [
        {**row, "calls": len(row["calls"]), "errors": sum(call[1] for call in row["calls"])}
        for row in rows
    ]
    return format_csv(COLUMNS, counted)


def _describe(made: Experiment) -> dict[str, Any]:
    return {
        "path": str(made.folder / "plan.toml"),
        "hash": made.hash,
        "total": made.plan.total,
        "plan": to_data(made.plan),
    }


def _summarise(standing: Standing) -> dict[str, Any]:
    plan = standing.plan
    return {
        "name": plan.name,
        "hash": standing.hash,
        "registered": plan.registered,
        "metric": plan.design.metric.value,
        "rule": plan.design.rule.value,
        "done": standing.done,
        "total": max(plan.total, standing.done),
        "excluded_tasks": len(plan.tasks.excluded),
        "arms": _count_arms(standing),
        "deviations": [deviation._asdict() for deviation in standing.deviations],
        "unreadable_lines": standing.unreadable,
    }


def _count_arms(standing: Standing) -> dict[str, dict[str, int]]:
    seen = Counter((record.trial.arm, record.trial.status) for record in standing.records)
    return {
        arm: {
            "done": sum(seen[arm, status] for status in TrialStatus),
            "crashed": seen[arm, TrialStatus.CRASHED],
            "timeout": seen[arm, TrialStatus.TIMEOUT],
        }
        for arm in standing.plan.design.arms
    }
