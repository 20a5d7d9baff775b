"""Running an experiment, and going on with one that was interrupted.

A trial is recorded in two places in a fixed order: its session with its row in the store (one
transaction), then a line in ``trials.jsonl``. Killed before the first, it is run again; killed
between the two, the line is written from the store when the run goes on.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
import uuid
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from warmstart.app.core import Workspace
from warmstart.app.experiment_arms import open_arms
from warmstart.app.experiment_verdicts import report_experiment
from warmstart.app.experiments import (
    Deviation,
    Experiment,
    list_known_plans,
    load_experiment,
    note_deviation,
)
from warmstart.app.observed_trials import collect_observed
from warmstart.errors import UsageError
from warmstart.experiment import (
    Plan,
    Question,
    Runner,
    RunnerKind,
    Slot,
    Trial,
    build_schedule,
    find_stop,
    question_of,
)
from warmstart.runners import (
    CommandWorker,
    Endpoint,
    EndpointWorker,
    FinishedTrial,
    Pool,
    RunLock,
    TrialFile,
    Work,
    find_trials,
    hash_setup,
    read_trials,
    store_trial,
)
from warmstart.store import SessionDB

if TYPE_CHECKING:
    from collections.abc import Iterator

WORK_FILE = "work.txt"
WORK_PREFIX = "warmstart-run-"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """How to run, as against what: none of it changes an answer."""

    jobs: int = 1
    limit: int | None = None
    """Stop after this many trials."""
    pause_seconds: float = 0.5
    """First pause before a request is sent again."""
    report: Callable[[int, int], None] | None = None
    """Called after every trial with how many of how many are done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """What a run did."""

    name: str
    hash: str
    ran: int
    recovered: int
    """Trials that an earlier run had stored and not yet listed."""
    done: int
    total: int
    stopped: str | None = None
    """Why no further trial is needed, where the rule said so."""
    deviation: Deviation | None = None
    unreviewed: tuple[str, ...] = ()
    """Templates of the plan that were drafts nobody had reviewed."""


def run_experiment(workspace: Workspace, name: str, options: RunOptions | None = None) -> RunResult:
    """Run what is left of an experiment; a decided verdict goes into its templates' records.

    Raises:
        UsageError: it cannot be run, or is being run.
        EndpointError: the model's endpoint is not there; what was done is kept.
    """
    options = options or RunOptions()
    experiment = load_experiment(workspace, name)
    with RunLock(experiment.folder):
        deviation = note_deviation(workspace, experiment)
        with (
            TrialFile(experiment.folder) as file,
            workspace.open_store(durability="full") as db,  # a trial must survive a power cut
        ):
            recovered = _recover(db, file, experiment)
            run = _ExperimentRun(workspace, experiment, file, db, options)
            ran = run.collect() if _is_observed(experiment.plan) else run.run()
            result = RunResult(
                name=name,
                hash=experiment.hash,
                ran=ran,
                recovered=recovered,
                done=len(file),
                total=max(experiment.plan.total, len(file)),
                stopped=run.stopped,
                deviation=deviation,
                unreviewed=experiment.plan.unreviewed,
            )
    report_experiment(workspace, name)
    return result


class _ExperimentRun:
    """One run under the lock."""

    def __init__(
        self,
        workspace: Workspace,
        experiment: Experiment,
        file: TrialFile,
        db: SessionDB,
        options: RunOptions,
    ) -> None:
        self._workspace = workspace
        self._experiment = experiment
        self._file = file
        self._db = db
        self._options = options
        self._stop = threading.Event()
        self._rule = _Rule(experiment)
        self.stopped: str | None = None

    def run(self) -> int:
        """Carry out what is left; how many trials that were."""
        self.stopped = self._rule.ask()
        slots = [slot for slot in self._rule.slots if slot.key not in self._file]
        if self.stopped or not slots:
            return 0
        slots = slots[: self._options.limit]
        self._report()
        ran = 0
        with _work_folder(self._experiment.folder) as folder:
            pool = Pool(self._open_work(folder), self._options.jobs, self._stop)
            for done in pool.run(slots):
                self._record(done)
                ran += 1
                self.stopped = self.stopped or self._rule.add(done.trial)
                if self.stopped:
                    pool.halt()
        return ran

    def collect(self) -> int:
        """Take in sessions that were recorded with their arm."""
        found = collect_observed(self._workspace, self._db, self._experiment.plan)
        return sum(self._file.add(trial, self._experiment.hash) for trial in found)

    def _open_work(self, folder: Path) -> Work:
        plan = self._experiment.plan
        tasks = {task.id: task for task in self._experiment.tasks}
        prepare = open_arms(self._workspace, plan)
        setup = hash_setup(plan)
        if plan.runner.kind is RunnerKind.COMMAND:
            return CommandWorker(
                plan=plan, tasks=tasks, prepare=prepare, folder=folder, setup=setup,
                stop=self._stop, home=self._workspace.home,
            )  # fmt: skip
        endpoint = Endpoint(plan.runner, find_key(plan.runner), self._stop)
        endpoint.pause_seconds = self._options.pause_seconds
        return EndpointWorker(
            plan=plan, tasks=tasks, prepare=prepare, endpoint=endpoint, folder=folder, setup=setup
        )

    def _record(self, done: FinishedTrial) -> None:
        trial = done.trial
        if not done.is_elsewhere:
            trial = store_trial(self._db, trial, done.conversation, self._experiment.hash)
        self._file.add(trial, self._experiment.hash)
        self._report()

    def _report(self) -> None:
        if self._options.report is not None:
            self._options.report(len(self._file), self._experiment.plan.total)


class _Rule:
    """The stopping rule, asked whenever a task is complete."""

    def __init__(self, experiment: Experiment) -> None:
        design = experiment.plan.design
        ids = [task.id for task in experiment.tasks]
        self.slots: Sequence[Slot] = build_schedule(ids, design.arms, design.trials, design.seed)
        self._tasks = list(dict.fromkeys(slot.task for slot in self.slots))
        self._question: Question = question_of(experiment.plan)
        self._trials = [record.trial for record in read_trials(experiment.folder)]
        self._per_task = design.trials * len(design.arms)

    def ask(self) -> str | None:
        """Why no further trial is needed."""
        ordered = sorted(self._trials, key=lambda trial: trial.order)
        return find_stop(ordered, self._question, self._tasks)

    def add(self, trial: Trial) -> str | None:
        """Count one more trial; why no further one is needed, or None."""
        self._trials.append(trial)
        done = sum(other.task == trial.task for other in self._trials)
        return self.ask() if done >= self._per_task else None


def find_key(runner: Runner) -> str:
    """The key that a runner names, from the environment.

    Raises:
        UsageError: the variable is not set.
    """
    name = runner.key_variable
    if not name:
        return ""
    key = os.environ.get(name, "")
    if not key:
        raise UsageError(
            f"the environment variable {name} is not set", hint=f"export {name}=…, then run again"
        )
    return key


def _is_observed(plan: Plan) -> bool:
    return plan.runner.kind is RunnerKind.OBSERVED


def _recover(db: SessionDB, file: TrialFile, experiment: Experiment) -> int:
    """List trials that the store has and a kill kept out of the file."""
    plans = list_known_plans(experiment.folder)
    found = 0
    for trial, plan in find_trials(db, experiment.plan.name):
        if plan in plans and trial.key not in file:
            found += file.add(trial, plan)
    return found


@contextmanager
def _work_folder(folder: Path) -> Iterator[Path]:
    """A folder for sandboxes, outside the home: a task must not find its own answers.

    What a killed run left behind is removed by the next one.
    """
    note = folder / WORK_FILE
    if note.exists():
        left = Path(note.read_text("utf-8").strip())
        if left.name.startswith(WORK_PREFIX):
            shutil.rmtree(left, ignore_errors=True)
    # Named before it is made: a kill in between leaves a name without a folder, not the reverse.
    work = Path(tempfile.gettempdir(), f"{WORK_PREFIX}{uuid.uuid4().hex}")
    note.write_text(str(work), "utf-8", newline="")
    note.chmod(0o600)
    work.mkdir(mode=0o700)
    try:
        yield work
    finally:
        shutil.rmtree(work, ignore_errors=True)
        note.unlink(missing_ok=True)
