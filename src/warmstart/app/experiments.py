"""Experiments of the workspace: planned, kept, looked at.

    home/experiments/NAME/
        plan.toml         what was decided before the first trial
        tasks.jsonl       the tasks it was decided for
        plans/HASH.toml   every plan that trials were run under
        trials.jsonl      one line per trial
        deviations.jsonl  changes of the plan after the first trial

Running one is in ``experiment_runs``.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from warmstart.app.core import Workspace
from warmstart.app.experiment_arms import find_observed, find_template
from warmstart.app.redaction import open_redactor
from warmstart.errors import NotFoundError, UsageError
from warmstart.experiment import (
    ArmKind,
    Design,
    Plan,
    PlanError,
    Runner,
    RunnerKind,
    Task,
    TaskSet,
    Trial,
    check_plan,
    choose_tasks,
    compare_plans,
    format_plan,
    hash_plan,
    hash_tasks,
    parse_arm,
    parse_plan,
    parse_tasks,
)
from warmstart.export import format_csv
from warmstart.library import StoredTemplate
from warmstart.model import TemplateState
from warmstart.runners import (
    TrialRecord,
    builtin_tools,
    check_command,
    count_unreadable,
    format_trial,
    read_trials,
)
from warmstart.wire import encode_line

FOLDER = "experiments"
PLAN_FILE = "plan.toml"
TASKS_FILE = "tasks.jsonl"
DEVIATIONS_FILE = "deviations.jsonl"
PLANS_FOLDER = "plans"
CSV_COLUMNS = (
    "experiment", "task", "arm", "number", "order", "status", "success", "calls", "errors",
    "turns", "tokens", "seconds", "cost_usd", "warmup_tokens", "warmup_calls", "copied", "model",
    "setup", "plan", "session", "detail",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class NewExperiment:
    """What someone asks for."""

    name: str
    design: Design
    runner: Runner
    tasks_file: Path | None = None
    split: str = "test"
    only: frozenset[str] | None = None
    """Ids of the tasks to keep; None for all of the file."""
    unreviewed: bool = False
    """Also try drafts that nobody has approved."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Experiment:
    """An experiment as its folder has it."""

    folder: Path
    plan: Plan
    hash: str
    tasks: tuple[Task, ...]
    """Those that run, in the order of the file."""


class Deviation(NamedTuple):
    """A plan that was changed after the first trial."""

    at: float
    before: str
    after: str
    trials: int
    """How many there were by then."""
    changes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExperimentState:
    """How far an experiment is."""

    plan: Plan
    hash: str
    records: tuple[TrialRecord, ...]
    deviations: tuple[Deviation, ...]
    unreadable: int
    """Lines of the trial file that are not trials."""

    @property
    def done(self) -> int:
        """Trials recorded."""
        return len(self.records)

    @property
    def trials(self) -> list[Trial]:
        """In the order of the schedule, whatever the order they ended in."""
        return sorted((record.trial for record in self.records), key=lambda trial: trial.order)


def create_experiment(workspace: Workspace, wanted: NewExperiment) -> Experiment:
    """Write the plan of a new experiment, with everything it rests on pinned.

    Raises:
        UsageError: there is one of that name, or the plan cannot be run as asked.
        NotFoundError: a template or the task file is not there.
    """
    folder = workspace.home / FOLDER / wanted.name
    pinned = _pin_templates(workspace, wanted)
    tasks, text = _read_wanted(wanted)
    in_split = choose_tasks(tasks, split=wanted.split)
    excluded = tuple(sorted({task.id for task in in_split} & pinned.trained))
    chosen = choose_tasks(in_split, split=None, excluded=excluded)
    observed = wanted.runner.kind is RunnerKind.OBSERVED
    if not chosen and not observed:
        raise UsageError(
            f"no task is left to run: {len(tasks)} in the file, {len(in_split)} in the split"
            f" {wanted.split!r}, {len(excluded)} of these used to build a template",
            hint="--split all, or other tasks",
        )
    _check_tools(chosen)
    check_command(wanted.runner.command)
    plan = check_plan(
        Plan(
            name=wanted.name,
            design=wanted.design,
            tasks=TaskSet(
                count=len(chosen),
                sha256=hash_tasks(tasks),
                source=wanted.tasks_file.name if wanted.tasks_file else "",
                split=wanted.split,
                excluded=excluded,
            ),
            runner=wanted.runner,
            templates=pinned.ids,
            unreviewed=pinned.unreviewed,
            registered=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        )
    )
    if folder.exists():
        raise UsageError(
            f"there is an experiment {wanted.name!r} already", hint="choose another name"
        )
    workspace.write_file(folder / TASKS_FILE, [text.encode("utf-8", "surrogateescape")])
    workspace.write_file(folder / PLAN_FILE, [format_plan(plan).encode()])
    return load_experiment(workspace, wanted.name)


def load_experiment(workspace: Workspace, name: str) -> Experiment:
    """An experiment by its name.

    Raises:
        NotFoundError: there is none.
        PlanError: its plan or its tasks are not what they were.
    """
    folder = find_folder(workspace, name)
    plan = parse_plan((folder / PLAN_FILE).read_text("utf-8", "replace"))
    if plan.name != name:
        raise PlanError(f"the plan of {name!r} calls itself {plan.name!r}", hint="restore the file")
    tasks, _ = read_tasks(folder / TASKS_FILE)
    if hash_tasks(tasks) != plan.tasks.sha256:
        raise PlanError(
            f"the tasks of {name!r} are not those of its plan",
            hint=f"restore {TASKS_FILE}, or make a new experiment",
        )
    chosen = choose_tasks(tasks, split=plan.tasks.split, excluded=plan.tasks.excluded)
    return Experiment(folder=folder, plan=plan, hash=hash_plan(plan), tasks=tuple(chosen))


def find_folder(workspace: Workspace, name: str) -> Path:
    """The folder of an experiment.

    Raises:
        NotFoundError: there is none of that name.
    """
    folder = workspace.home / FOLDER / name
    if "/" in name or "\\" in name or name.startswith(".") or not (folder / PLAN_FILE).is_file():
        raise NotFoundError(
            f"there is no experiment {name!r}", wanted=name, hint="warmstart experiment list"
        )
    return folder


def list_experiments(workspace: Workspace) -> Iterator[ExperimentState | str]:
    """Every experiment by name; where a plan cannot be read, the sentence that says so."""
    folder = workspace.home / FOLDER
    for path in sorted(folder.glob(f"*/{PLAN_FILE}")):
        try:
            yield read_state(workspace, path.parent.name)
        except UsageError as error:
            yield f"{path.parent.name}: {error.message}"


def read_state(workspace: Workspace, name: str) -> ExperimentState:
    """How far an experiment is; it may be running meanwhile."""
    experiment = load_experiment(workspace, name)
    return ExperimentState(
        plan=experiment.plan,
        hash=experiment.hash,
        records=tuple(read_trials(experiment.folder)),
        deviations=tuple(read_deviations(experiment.folder)),
        unreadable=count_unreadable(experiment.folder),
    )


def note_deviation(workspace: Workspace, experiment: Experiment) -> Deviation | None:
    """Register the plan trials are about to run under; the change, where it is one.

    A plan may be edited freely before the first trial.
    """
    records = read_trials(experiment.folder)
    plans = experiment.folder / PLANS_FOLDER
    own = plans / f"{experiment.hash}.toml"
    if not own.exists():
        workspace.write_file(own, [format_plan(experiment.plan).encode()])
    last = records[-1].plan if records else experiment.hash
    noted = list(read_deviations(experiment.folder))
    if last == experiment.hash or (noted and (last, experiment.hash) == noted[-1][1:3]):
        return None
    deviation = Deviation(
        time.time(), last, experiment.hash, len(records), _changes(plans, last, experiment.plan)
    )
    line = json.dumps(deviation._asdict()) + "\n"
    path = experiment.folder / DEVIATIONS_FILE
    earlier = path.read_bytes() if path.exists() else b""
    workspace.write_file(path, [earlier, line.encode()], overwrite=True)
    return deviation


def read_deviations(folder: Path) -> Iterator[Deviation]:
    """Changes of the plan after the first trial, oldest first."""
    path = folder / DEVIATIONS_FILE
    for line in path.read_text("utf-8").splitlines() if path.exists() else ():
        data: dict[str, Any] = json.loads(line)
        yield Deviation(**{**data, "changes": tuple(data["changes"])})


def list_known_plans(folder: Path) -> frozenset[str]:
    """Hashes of every plan that trials were run under."""
    return frozenset(path.stem for path in (folder / PLANS_FOLDER).glob("*.toml"))


def _changes(plans: Path, before: str, after: Plan) -> tuple[str, ...]:
    path = plans / f"{before}.toml"
    if not path.exists():
        return ("the earlier plan is gone",)
    return tuple(compare_plans(parse_plan(path.read_text("utf-8")), after))


def _read_wanted(wanted: NewExperiment) -> tuple[list[Task], str]:
    if wanted.tasks_file is None:
        return [], ""
    tasks, text = read_tasks(wanted.tasks_file)
    if wanted.only is None:
        return tasks, text
    lines = (line for line in text.split("\n") if line.strip())
    kept = [(task, line) for task, line in zip(tasks, lines, strict=True) if task.id in wanted.only]
    return [task for task, _ in kept], "".join(f"{line}\n" for _, line in kept)


def read_tasks(path: Path) -> tuple[list[Task], str]:
    """The tasks of a file, and its text.

    Raises:
        NotFoundError: there is no such file.
        TaskError: a line of it is not a task.
    """
    if not path.is_file():
        raise NotFoundError(f"there is no task file {str(path)!r}", wanted=str(path))
    text = path.read_bytes().decode("utf-8", "surrogateescape")
    return parse_tasks(text.split("\n")), text


def _check_tools(tasks: list[Task]) -> None:
    known = {tool.name for tool in builtin_tools()}
    for task in tasks:
        own = {tool.name for tool in task.tool_definitions}
        unknown = sorted(set(task.tools or ()) - known - own)
        if unknown:
            raise UsageError(
                f"the task {task.id!r} names an unknown tool: {unknown[0]!r}",
                hint=f"built in: {', '.join(sorted(known))}",
            )


class _Pinned(NamedTuple):
    """The templates of the arms."""

    ids: dict[str, str]
    trained: frozenset[str]
    """Every task that one of them was built from."""
    unreviewed: tuple[str, ...]


def _pin_templates(workspace: Workspace, wanted: NewExperiment) -> _Pinned:
    observed = wanted.runner.kind is RunnerKind.OBSERVED
    pinned: dict[str, StoredTemplate] = {}
    for arm in wanted.design.arms:
        spec = parse_arm(arm)
        if spec.template and spec.kind in (ArmKind.WARM, ArmKind.PLACEBO):
            pinned[spec.template] = (
                find_observed(workspace, spec.template)
                if observed
                else find_template(workspace, spec.template, unreviewed=wanted.unreviewed)
            )
    drafts = [name for name, one in pinned.items() if one.state is not TemplateState.APPROVED]
    return _Pinned(
        ids={name: one.id for name, one in pinned.items()},
        trained=frozenset(
            task for one in pinned.values() for task in one.template.provenance.tasks
        ),
        unreviewed=() if observed else tuple(sorted(drafts)),
    )


def with_control(design: Design) -> Design:
    """The design with ``cold`` as control, or its first arm where there is none."""
    return design if design.control in design.arms else replace(design, control=design.arms[0])


def export_trials(workspace: Workspace, name: str, form: str) -> TrialsExport:
    """Every trial as a row of ``jsonl`` or ``csv``, redacted, so that others can recompute."""
    state = read_state(workspace, name)
    records = sorted(state.records, key=lambda record: record.trial.order)
    redactor = open_redactor(workspace, pii=True)
    rows = []
    for record in records:
        row = format_trial(record.trial, record.plan)
        foreign = {key: redactor.value(row[key]) for key in ("task", "detail", "model", "calls")}
        rows.append({**row, **foreign})
    if form == "jsonl":
        return TrialsExport(len(rows), b"".join(map(encode_line, rows)))
    counted = [
        {**row, "calls": len(row["calls"]), "errors": sum(call[1] for call in row["calls"])}
        for row in rows
    ]
    return TrialsExport(len(rows), format_csv(CSV_COLUMNS, counted))


class TrialsExport(NamedTuple):
    """Trials for others, as bytes to write."""

    trials: int
    data: bytes
