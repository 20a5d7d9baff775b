"""The loop with a real model: cold sessions, a template of them, and the proof on other tasks.

Every step goes through the product's own functions and is skipped where an earlier run has done
it, so the same command goes on after an interruption.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from warmstart.app import Workspace, build_template, open_library
from warmstart.app.experiment_arms import find_template
from warmstart.app.experiment_runs import RunOptions, run_experiment
from warmstart.app.experiment_verdicts import make_report
from warmstart.app.experiments import (
    ExperimentState,
    NewExperiment,
    create_experiment,
    find_folder,
    read_state,
)
from warmstart.errors import NotFoundError
from warmstart.experiment import Design, Direction, Metric, Runner, RunnerKind, Verdict
from warmstart.mine import BuildRequest, MiningRules
from warmstart.model import Selection, TemplateState
from warmstart.sources import ReadLog

TASKS = Path(__file__).resolve().parents[2] / "examples" / "first-experiment" / "tasks.jsonl"
TEMPLATE = "office"
TRAINING, PROOF, REPEAT, SAME = "training", "proof", "repeat", "same"
MODEL_NAME = "qwen2.5-coder-0.5b-instruct-q4_k_m"
TEMPERATURE = 0.5
SEED, OTHER_SEED = 1, 2
MAX_TURNS, MAX_TOKENS = 5, 64
RULES = MiningRules(min_messages=4, min_calls=1)
"""Sessions here have a handful of messages; which of them went well is told by their tasks."""
PREAMBLE = (
    "You are an office assistant. You cannot know the answer by yourself: first call the right"
    " tool. When it has answered, give the answer in one sentence."
)
CONTROLS = ("token-matched", "placebo")


@dataclass(frozen=True, slots=True, kw_only=True)
class Loop:
    """One run of the whole, in one home."""

    workspace: Workspace
    url: str
    tasks: Path = TASKS
    controls: tuple[str, ...] = CONTROLS
    repeats: bool = True
    """Also run the other seed, and the comparison of cold with cold."""
    trials: int = 1
    """Of a test task in each arm."""
    jobs: int = 1
    """Trials side by side; more than one only helps where the endpoint has more than one core."""
    say: Callable[[str], None] = print

    def run(self) -> None:
        """Every step that is left."""
        self._run(TRAINING, ("cold", "cold:again"), seed=SEED, split="train")
        self._learn()
        self._run(PROOF, ("cold", f"warm:{TEMPLATE}", *self.controls), seed=SEED)
        if self.repeats:
            self._run(REPEAT, ("cold", f"warm:{TEMPLATE}"), seed=OTHER_SEED)
            self._compare_cold()

    def read(self, name: str) -> tuple[ExperimentState, Verdict]:
        """Where an experiment stands, and its answer."""
        standing = read_state(self.workspace, name)
        return standing, make_report(standing).verdict

    def _run(self, name: str, arms: tuple[str, ...], *, seed: int, split: str = "test") -> None:
        design = Design(
            arms=arms,
            trials=1 if split == "train" else self.trials,
            seed=seed,
            preamble=PREAMBLE,
            metric=Metric.ERROR_RATE,
        )
        runner = Runner(
            url=self.url,
            model=MODEL_NAME,
            temperature=TEMPERATURE,
            max_turns=MAX_TURNS,
            max_tokens=MAX_TOKENS,
        )
        wanted = NewExperiment(
            name=name, design=design, runner=runner, tasks_file=self.tasks, split=split
        )
        self._ensure(wanted)
        run_experiment(self.workspace, name, RunOptions(jobs=self.jobs, report=self._report(name)))

    def _ensure(self, wanted: NewExperiment) -> None:
        try:
            find_folder(self.workspace, wanted.name)
        except NotFoundError:
            create_experiment(self.workspace, wanted)

    def _learn(self) -> None:
        """Mine what the cold sessions left, and approve it."""
        try:
            find_template(self.workspace, TEMPLATE)
        except NotFoundError:
            request = BuildRequest(name=TEMPLATE, rules=RULES)
            store = Selection(paths=(str(self.workspace.home / "store.db"),))
            mined = build_template(self.workspace, request, store, ReadLog(), save=False)
            with open_library(self.workspace) as library:
                library.save(mined.template, state=TemplateState.APPROVED)
            self.say(f"template {TEMPLATE}: {len(mined.template.examples)} examples,"
                     f" {len(mined.template.recoveries)} recoveries")  # fmt: skip

    def _compare_cold(self) -> None:
        """Cold with cold: the same tasks and the same arm, sampled with two seeds.

        Two cold arms of one experiment would be sent the same seeds and answer word for word the
        same, so the cold sessions of both experiments are compared as they were recorded.
        """
        labels = self.workspace.home / "same.jsonl"
        arms = {PROOF: "cold", REPEAT: "cold:again"}
        lines = [
            json.dumps({"session": trial.session, "arm": arm, "task": trial.task})
            for name, arm in arms.items()
            for trial in read_state(self.workspace, name).trials
            if trial.arm == "cold"
        ]
        self.workspace.write_file(labels, ["\n".join(lines).encode()], overwrite=True)
        design = Design(
            arms=("cold", "cold:again"), metric=Metric.ERROR_RATE, direction=Direction.LOWER
        )
        runner = Runner(kind=RunnerKind.OBSERVED, observed=str(labels))
        self._ensure(NewExperiment(name=SAME, design=design, runner=runner))
        run_experiment(self.workspace, SAME)

    def _report(self, name: str) -> Callable[[int, int], None]:
        return lambda done, total: self.say(f"{name} {done}/{total}")


def choose_tasks(source: Path, target: Path, *, training: int, test: int) -> Path:
    """A smaller file: the first tasks of each kind for training and for testing."""
    kept: dict[tuple[str, str], int] = {}
    most = {"train": training, "test": test}
    lines = []
    for line in source.read_text("utf-8").splitlines():
        task = json.loads(line)
        key = (task["split"], task["tags"][0])
        kept[key] = kept.get(key, 0) + 1
        if kept[key] <= most[task["split"]]:
            lines.append(line)
    target.write_text("\n".join(lines) + "\n", "utf-8")
    return target


__all__ = ["PROOF", "REPEAT", "SAME", "TRAINING", "Loop", "choose_tasks"]
