"""A first template from tasks: run a few that differ, mine what worked, save it as a draft.

The run is an experiment with one cold arm, so it can be interrupted and goes on where it was, and
its sessions are in the store like any others. Every task that was run stands in the template's
provenance: no experiment will test the template on them.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from warmstart.app.core import Workspace
from warmstart.app.experiment_runs import RunOptions, run_experiment
from warmstart.app.experiments import (
    Experiment,
    NewExperiment,
    create_experiment,
    load_experiment,
    read_state,
    read_tasks,
)
from warmstart.app.mining import BuildResult, build_template
from warmstart.errors import NotFoundError, UsageError
from warmstart.experiment import (
    BASELINE_ARM,
    Design,
    Runner,
    Task,
    Trial,
    TrialStatus,
    choose_diverse,
    choose_tasks,
)
from warmstart.library import Saved
from warmstart.mine import BuildRequest, MiningRules
from warmstart.model import Selection, Template
from warmstart.sources import ReadLog
from warmstart.template import check_name

__all__ = ["Bootstrap", "Bootstrapped", "bootstrap_template", "name_experiment"]

TRAIN_SPLIT = "train"
EVERY_SPLIT = "all"
MAX_NAME = 64
DEFAULT_COUNT = 15
LOOSE_RULES = MiningRules(min_messages=1, min_calls=1, max_error_rate=1.0)
"""The tasks' own checks show what worked; short sessions are fine here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bootstrap:
    """What someone asks for."""

    name: str
    """Of the template."""
    tasks_file: Path
    runner: Runner
    count: int = DEFAULT_COUNT
    split: str | None = None
    """None: ``train`` where the file has such tasks, else all."""
    trials: int = 1
    seed: int = 1


class Bootstrapped(NamedTuple):
    """What came of it."""

    experiment: str
    built: BuildResult
    tasks: tuple[str, ...]
    """Run, and so never to be tested on."""
    left: int
    """Tasks of the file that were not run."""
    done: int
    solved: int
    unchecked: int
    """Finished trials whose task has no check."""

    @property
    def template(self) -> Template:
        """As it was saved."""
        return self.built.template

    @property
    def saved(self) -> Saved:
        """Where it was saved."""
        if self.built.saved is None:
            raise ValueError("a bootstrap always saves")
        return self.built.saved


def name_experiment(template: str) -> str:
    """The experiment that a bootstrap runs."""
    return f"bootstrap-{template}"[:MAX_NAME]


def bootstrap_template(
    workspace: Workspace, wanted: Bootstrap, log: ReadLog, options: RunOptions | None = None
) -> Bootstrapped:
    """Run, mine and save; interrupted, the same call goes on.

    Raises:
        UsageError: no task was solved, or nothing in the sessions could be verified.
        NotFoundError: there is no task file.
    """
    check_name(wanted.name)
    experiment = _ensure_experiment(workspace, wanted)
    name = experiment.plan.name
    run_experiment(workspace, name, options)
    trials = read_state(workspace, name).trials
    good = [trial for trial in trials if _worked(trial)]
    if not good:
        raise UsageError(
            f"nothing to learn from: of {len(trials)} sessions none solved its task",
            hint=f"warmstart experiment export {name} says why each failed",
        )
    ran = tuple(sorted({trial.task for trial in trials}))
    built = _mine(workspace, wanted, good, ran, log)
    tasks, _ = read_tasks(wanted.tasks_file)
    return Bootstrapped(
        experiment=name,
        built=built,
        tasks=ran,
        left=len({task.id for task in tasks} - set(ran)),
        done=len(trials),
        solved=sum(trial.success is True for trial in trials),
        unchecked=sum(trial.success is None for trial in good),
    )


def _ensure_experiment(workspace: Workspace, wanted: Bootstrap) -> Experiment:
    """The one that was begun, or a new one."""
    name = name_experiment(wanted.name)
    try:
        found = load_experiment(workspace, name)
    except NotFoundError:
        return _create(workspace, wanted, name)
    if found.plan.design.arms != (BASELINE_ARM,):
        raise UsageError(f"there is another experiment {name!r}", hint="choose another --name")
    return found


def _create(workspace: Workspace, wanted: Bootstrap, name: str) -> Experiment:
    tasks, _ = read_tasks(wanted.tasks_file)
    chosen = choose_diverse(_in_split(tasks, wanted.split), wanted.count, wanted.seed)
    if not chosen:
        raise UsageError(
            f"there is no task of the split {wanted.split!r} in the file", hint="--split all"
        )
    design = Design(
        arms=(BASELINE_ARM,), control=BASELINE_ARM, trials=wanted.trials, seed=wanted.seed
    )
    request = NewExperiment(
        name=name,
        design=design,
        runner=wanted.runner,
        tasks_file=wanted.tasks_file,
        split=EVERY_SPLIT,
        only=frozenset(task.id for task in chosen),
    )
    return create_experiment(workspace, request)


def _in_split(tasks: list[Task], split: str | None) -> list[Task]:
    if split is None:
        split = TRAIN_SPLIT if any(task.split == TRAIN_SPLIT for task in tasks) else EVERY_SPLIT
    return choose_tasks(tasks, split=split)


def _worked(trial: Trial) -> bool:
    """Whether it came to its end and no check failed."""
    return (
        trial.status is TrialStatus.FINISHED
        and trial.success is not False
        and trial.session is not None
    )


def _mine(
    workspace: Workspace,
    wanted: Bootstrap,
    good: list[Trial],
    tasks: tuple[str, ...],
    log: ReadLog,
) -> BuildResult:
    ids = frozenset(trial.session for trial in good if trial.session)
    origins = {session.partition(":")[0] for session in ids}
    selection = Selection(source=origins.pop() if len(origins) == 1 else None)
    request = BuildRequest(name=wanted.name, rules=LOOSE_RULES)
    return build_template(
        workspace, request, selection, log, note="bootstrapped", tasks=tasks, only=ids
    )
