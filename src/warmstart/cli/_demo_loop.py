"""The second half of the demo: mine, warm and prove, all in a folder that is gone afterwards.

The verdict at its end is of a scripted model that was written to do better when it is shown
examples. It shows what an answer looks like and proves nothing about any agent; whoever prints it
says so.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from warmstart.app import Workspace
from warmstart.app.experiment_runs import RunOptions, run_experiment
from warmstart.app.experiments import (
    NewExperiment,
    create_experiment,
    reach_verdict,
    read_standing,
)
from warmstart.app.mining import BuildResult, build_template
from warmstart.app.start import StartRequest, WarmConfig, WarmStart, prepare_start
from warmstart.app.templates import open_library
from warmstart.experiment.plan import Design, Runner
from warmstart.experiment.verdict import Verdict
from warmstart.mine.request import BuildRequest
from warmstart.mine.rules import Rules
from warmstart.model.selection import Selection
from warmstart.model.template import Template, TemplateState
from warmstart.sources import ReadLog
from warmstart.testing import LearningModel, ScriptedEndpoint

MESSAGE = "Add GET /orders/{id}/invoice that returns InvoiceOut. Same style, with a test."
TOOLS = ("Bash", "Read", "Edit", "Write", "Grep", "Glob")
"""What a Claude Code session has, as far as the sample sessions use it."""
BUDGET = 700
TRAINING_TASKS = 8
TEST_TASKS = 20
TRIALS = 2
LESSON = "reading-notes"


@dataclass(frozen=True, slots=True, kw_only=True)
class Warmed:
    """A template of the sample sessions, and what a session about a message is sent."""

    mined: BuildResult
    prepared: WarmStart

    @property
    def template(self) -> Template:
        """The template itself."""
        return self.mined.template


@contextmanager
def open_demo() -> Iterator[Workspace]:
    """A workspace of its own, gone afterwards."""
    with TemporaryDirectory(prefix="warmstart-demo-") as folder:
        yield Workspace(Path(folder))


def mine_and_warm(workspace: Workspace, samples: Path, log: ReadLog) -> Warmed:
    """Mine the sample sessions of one agent and start a session from what came out."""
    request = BuildRequest(
        name="shop-api",
        description="Endpoints, migrations and tests of the shop",
        rules=Rules(min_messages=20),
    )
    selection = Selection(paths=(str(samples / "claude_code"),))
    mined = build_template(workspace, request, selection, log, save=False)
    _keep(workspace, mined.template)
    start = StartRequest(
        message=MESSAGE, agent="claude_code", tools=TOOLS, template=request.name, cwd=str(samples)
    )
    config = WarmConfig(budget=BUDGET)
    return Warmed(mined=mined, prepared=prepare_start(workspace, start, config, record=False))


def prove(workspace: Workspace) -> Verdict:
    """Run the whole loop with the scripted model: cold sessions, a template of them, the verdict.

    The template is mined from other tasks than it is tested on.
    """
    tasks = workspace.home / "tasks.jsonl"
    workspace.write_file(tasks, [_write_tasks().encode()])
    with ScriptedEndpoint(LearningModel()) as endpoint:
        runner = Runner(url=endpoint.url, model="scripted")
        training = Design(arms=("cold", "cold:again"), trials=1)
        _run(workspace, NewExperiment(name="training", design=training, runner=runner,
                                      tasks_file=tasks, split="train"))  # fmt: skip
        rules = Rules(min_messages=4, min_calls=2, max_error_rate=0.9)
        request = BuildRequest(name=LESSON, rules=rules)
        store = Selection(paths=(str(workspace.home / "store.db"),))
        _keep(workspace, build_template(workspace, request, store, ReadLog(), save=False).template)
        design = Design(arms=("cold", f"warm:{LESSON}"), trials=TRIALS)
        _run(workspace, NewExperiment(name="proof", design=design, runner=runner,
                                      tasks_file=tasks))  # fmt: skip
    return reach_verdict(read_standing(workspace, "proof"))


def _keep(workspace: Workspace, template: Template) -> None:
    with open_library(workspace) as library:
        library.save(template, state=TemplateState.APPROVED)


def _run(workspace: Workspace, wanted: NewExperiment) -> None:
    create_experiment(workspace, wanted)
    run_experiment(workspace, wanted.name, RunOptions(jobs=2))


def _write_tasks() -> str:
    """Tasks to read a few notes each; the first ones are for training."""
    lines = []
    for number in range(TRAINING_TASKS + TEST_TASKS):
        names = [f"notes/{word}-{number}.txt" for word in ("first", "second", "third", "fourth")]
        lines.append(
            json.dumps(
                {
                    "id": f"task-{number:02}",
                    "prompt": f"Read {', '.join(names)} and say what they hold.",
                    "files": {name: f"word {number} of {name}\n" for name in names},
                    "tools": ["read_file"],
                    "check": {"answer": f"word {number} of {names[-1]}"},
                    "split": "train" if number < TRAINING_TASKS else "test",
                }
            )
        )
    return "\n".join(lines) + "\n"
