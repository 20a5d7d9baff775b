from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from support.experiments import write_tasks
from warmstart.app import Workspace
from warmstart.app.bootstrap import Bootstrap, Bootstrapped, bootstrap_template
from warmstart.app.experiment_runs import RunOptions
from warmstart.app.experiments import NewExperiment, create_experiment, load_experiment
from warmstart.errors import UsageError
from warmstart.experiment.arms import BASELINE_ARM
from warmstart.experiment.plan import Runner, RunnerKind
from warmstart.model.template import TemplateState
from warmstart.sources import ReadLog
from warmstart.testing import LearningModel, Reply, ScriptedEndpoint

Make = Callable[..., Bootstrapped]


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("WARMSTART_STORE", raising=False)
    return Workspace.open(tmp_path / "ws")


@pytest.fixture
def endpoint() -> Iterator[ScriptedEndpoint]:
    with ScriptedEndpoint(LearningModel()) as served:
        yield served


@pytest.fixture
def make(workspace: Workspace, endpoint: ScriptedEndpoint, tmp_path: Path) -> Make:
    tasks = write_tasks(tmp_path / "tasks.jsonl", 12)

    def run(options: RunOptions | None = None, **more: Any) -> Bootstrapped:
        runner = Runner(url=endpoint.url, model="scripted")
        wanted = Bootstrap(**{"name": "reads", "tasks_file": tasks, "runner": runner, **more})
        return bootstrap_template(workspace, wanted, ReadLog(), options)

    return run


def test_a_template_is_mined_from_sessions_the_model_itself_produced(make: Make) -> None:
    made = make(count=8)
    assert (made.done, made.solved, made.left) == (8, 8, 4)
    assert made.saved.state is TemplateState.DRAFT
    assert {example.tool for example in made.template.examples} == {"read_file"}
    assert made.template.recoveries


def test_an_experiment_leaves_out_the_tasks_it_was_learned_from(
    make: Make, workspace: Workspace, tmp_path: Path
) -> None:
    made = make(count=8)
    assert made.template.provenance.tasks == made.tasks
    plan = load_experiment(workspace, made.experiment).plan
    wanted = NewExperiment(
        name="test",
        design=type(plan.design)(arms=("cold", "warm:reads")),
        runner=plan.runner,
        tasks_file=tmp_path / "tasks.jsonl",
        unreviewed=True,
    )
    tested = create_experiment(workspace, wanted).plan.tasks
    assert tested.excluded == made.tasks
    assert tested.count == 4


def test_an_interrupted_bootstrap_goes_on(make: Make, endpoint: ScriptedEndpoint) -> None:
    make(RunOptions(limit=5), count=8)
    asked = len(endpoint.requests)
    made = make(count=8)
    assert made.done == 8
    again = make(count=8)
    assert not again.saved.is_new
    assert again.template == made.template
    assert len(endpoint.requests) < 3 * asked


def test_training_tasks_are_taken_where_there_are_some(make: Make, tmp_path: Path) -> None:
    path = tmp_path / "tasks.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    rows = [{**row, "split": "train" if number < 3 else "test"} for number, row in enumerate(lines)]
    path.write_text("\n\n".join(map(json.dumps, rows)))
    assert make().tasks == ("t00", "t01", "t02")


def test_nothing_is_learned_where_nothing_was_solved(workspace: Workspace, tmp_path: Path) -> None:
    tasks = write_tasks(tmp_path / "tasks.jsonl", 3)
    with ScriptedEndpoint(lambda _: Reply("no idea")) as served:
        wanted = Bootstrap(
            name="x", tasks_file=tasks, runner=Runner(url=served.url, model="m")
        )  # fmt: skip
        with pytest.raises(UsageError, match="of 3 sessions none solved") as raised:
            bootstrap_template(workspace, wanted, ReadLog())
    assert "experiment export bootstrap-x" in str(raised.value.hint)


def test_a_split_that_is_not_there_is_said(make: Make) -> None:
    with pytest.raises(UsageError, match="no task of the split"):
        make(split="exam")


def test_another_experiment_of_that_name_is_left_alone(
    make: Make, workspace: Workspace, tmp_path: Path
) -> None:
    made = make(count=2)
    plan = load_experiment(workspace, made.experiment).plan
    assert plan.design.arms == (BASELINE_ARM,)
    design = type(plan.design)(arms=("cold", "cold:again"))
    request = NewExperiment(
        name="bootstrap-other", design=design, runner=plan.runner,
        tasks_file=tmp_path / "tasks.jsonl",
    )  # fmt: skip
    create_experiment(workspace, request)
    with pytest.raises(UsageError, match="another experiment"):
        make(name="other")


AGENT = """
import json, os, sys, uuid
from pathlib import Path

folder = Path(os.environ["HOME"]) / ".claude" / "projects" / "p"
folder.mkdir(parents=True, exist_ok=True)
session, prompt = str(uuid.uuid4()), sys.argv[1]
name = prompt.split()[1]
text = Path(name).read_text()
base = {"sessionId": session, "cwd": os.getcwd(), "version": "2.0.0", "isSidechain": False,
        "userType": "external", "gitBranch": ""}
call = {"type": "tool_use", "id": "toolu_1", "name": "Read", "input": {"file_path": name}}
rows = [
    ("user", {"role": "user", "content": prompt}),
    ("assistant", {"role": "assistant", "id": "m1", "model": "m", "content": [call]}),
    ("user", {"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": "toolu_1", "content": text}]}),
    ("assistant", {"role": "assistant", "id": "m2", "model": "m",
                   "content": [{"type": "text", "text": text}]}),
]
parent = None
with open(folder / f"{session}.jsonl", "w") as file:
    for number, (kind, message) in enumerate(rows):
        key = f"{session[:-2]}{number:02}"
        stamp = f"2026-01-31T10:20:{number:02}.000Z"
        row = {**base, "type": kind, "message": message, "uuid": key, "parentUuid": parent,
               "timestamp": stamp}
        file.write(json.dumps(row) + chr(10))
        parent = key
print(text)
"""


def test_a_command_teaches_by_the_sessions_its_agent_keeps(
    workspace: Workspace, tmp_path: Path
) -> None:
    tasks = write_tasks(tmp_path / "tasks.jsonl", 4, check={"answer": "a"})
    agent = tmp_path / "agent.py"
    agent.write_text(AGENT)
    command = (sys.executable, str(agent), "{prompt}")
    runner = Runner(kind=RunnerKind.COMMAND, command=command)
    wanted = Bootstrap(name="agent", tasks_file=tasks, runner=runner)
    made = bootstrap_template(workspace, wanted, ReadLog())
    assert (made.done, made.solved) == (4, 4)
    assert {example.tool for example in made.template.examples} == {"Read"}
    assert made.template.provenance.tasks == ("t00", "t01", "t02", "t03")
