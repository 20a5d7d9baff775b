from __future__ import annotations

import json
import os
import sys
import threading
import time
from pathlib import Path

import pytest

from support.planting import Planter, find_leaks
from warmstart.errors import UsageError
from warmstart.experiment.arms import COLD_START, ArmStart, start_warm
from warmstart.experiment.plan import Design, Plan, Runner, RunnerKind, TaskSet
from warmstart.experiment.schedule import Slot
from warmstart.experiment.tasks import Task, parse_task
from warmstart.experiment.trial import TrialStatus
from warmstart.model.template import Example, Template
from warmstart.runners import FinishedTrial
from warmstart.runners.command import CommandWorker, fill_command, find_session
from warmstart.sources.stores import Machine
from warmstart.warm import build_warmup

TASK = parse_task({
    "id": "t", "prompt": "Say {this}.", "files": {"a.txt": "hello"},
    "check": [{"file": "out.txt", "equals": "hello"}, {"answer": "done"}],
})  # fmt: skip
AGENT = """
import json, pathlib, sys
prompt, warmup = sys.argv[1:3]
pathlib.Path("out.txt").write_text(pathlib.Path("a.txt").read_text())
examples = json.loads(pathlib.Path(warmup).read_text())["messages"]
print("done:", prompt, len(examples))
"""
SESSION = """
import json, os, pathlib
folder = pathlib.Path(os.environ["CLAUDE_CONFIG_DIR"], "projects", "p")
folder.mkdir(parents=True, exist_ok=True)
name = "5b3691c0-0000-4000-8000-000000000001"
common = {"sessionId": name, "cwd": os.getcwd(), "version": "2", "isSidechain": False, "userType": "external"}
rows = [
    {"type": "user", "uuid": "u1", "parentUuid": None, "timestamp": "2026-01-01T00:00:00Z",
     "message": {"role": "user", "content": "Say it."}},
    {"type": "assistant", "uuid": "u2", "parentUuid": "u1", "timestamp": "2026-01-01T00:00:01Z",
     "message": {"id": "m1", "role": "assistant", "model": "c", "content": [
        {"type": "tool_use", "id": "toolu_1", "name": "Read", "input": {"file_path": "a.txt"}}],
        "usage": {"input_tokens": 7, "output_tokens": 2}}},
    {"type": "user", "uuid": "u3", "parentUuid": "u2", "timestamp": "2026-01-01T00:00:02Z",
     "message": {"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": "toolu_1", "content": "no such file", "is_error": True}]}},
    {"type": "assistant", "uuid": "u4", "parentUuid": "u3", "timestamp": "2026-01-01T00:00:03Z",
     "message": {"id": "m2", "role": "assistant", "model": "c", "content": [{"type": "text", "text": "I am done."}],
        "usage": {"input_tokens": 9, "output_tokens": 2}}},
]
(folder / f"{name}.jsonl").write_text("".join(json.dumps({**common, **row}) + chr(10) for row in rows))
"""


def _warm() -> ArmStart:
    example = Example(
        tool="Read",
        arguments={"file_path": "x"},
        result="x",
        intent="Read.",
        closing="FinishedTrial.",
    )
    return start_warm(
        build_warmup(Template(name="reads", examples=(example,)), template_id="0" * 64)
    )


@pytest.fixture(autouse=True)
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """A machine with no agents."""
    for name in ("CODEX_HOME", "COPILOT_HOME", "GEMINI_CLI_HOME", "HERMES_HOME", "OPENCODE_DB"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    return Machine(environ=os.environ, user_home=tmp_path / "home", warmstart_home=tmp_path / "ws")


def _run(
    tmp_path: Path,
    command: tuple[str, ...],
    start: ArmStart,
    seconds: float = 60,
    task: Task = TASK,
) -> FinishedTrial:
    runner = Runner(kind=RunnerKind.COMMAND, command=command, trial_timeout=seconds)
    plan = Plan(
        name="e", design=Design(arms=("cold", "warm:reads")), runner=runner,
        tasks=TaskSet(count=1, sha256=""),
    )  # fmt: skip

    def prepare(task: Task, arm: str) -> ArmStart:
        del task, arm
        return start

    worker = CommandWorker(
        plan=plan, tasks={"t": task}, prepare=prepare, folder=tmp_path, home=tmp_path / "ws",
        stop=threading.Event(),
    )  # fmt: skip
    return worker(Slot(0, "t", "cold", 0))


def test_a_command_is_run_in_the_folder_of_its_task_and_checked(tmp_path: Path) -> None:
    command = (sys.executable, "-c", AGENT, "{prompt}", "{warmup_file}")
    done = _run(tmp_path, command, _warm())
    assert done.trial.success
    assert "done: Say {this}. 4" in done.conversation.answer
    assert not done.is_elsewhere
    assert list(tmp_path.glob("warmstart-trial-*")) == []


def test_a_command_that_fails_is_a_crash_and_one_out_of_time_a_timeout(tmp_path: Path) -> None:
    done = _run(tmp_path, ("sh", "-c", "echo broken; exit 4"), COLD_START)
    assert (done.trial.status, done.trial.success) == (TrialStatus.CRASHED, False)
    assert "exited 4: broken" in done.trial.detail
    slow = _run(tmp_path, ("sleep", "60"), COLD_START, 0.3)
    assert slow.trial.status is TrialStatus.TIMEOUT


def test_the_session_an_agent_kept_is_found_and_judged(tmp_path: Path, machine: Machine) -> None:
    done = _run(tmp_path, (sys.executable, "-c", SESSION), COLD_START)
    assert done.is_elsewhere
    assert done.trial.session == "claude_code:5b3691c0-0000-4000-8000-000000000001"
    assert [(call.tool, call.error) for call in done.trial.calls] == [("Read", True)]
    assert (done.trial.turns, done.trial.tokens, done.trial.model) == (2, 20, "c")
    assert find_session(machine, tmp_path, time.time()) is None


def test_placeholders_are_filled_in_words_and_not_in_what_they_bring() -> None:
    values = {"prompt": "a {workdir}", "workdir": "/w", "template": ""}
    words = ["run", "{start}", "--in={workdir}", "{prompt}", "{other}", "{workdir}: {prompt}"]
    assert fill_command(words, values, COLD_START) == [
        "run", "--cold", "--in=/w", "a {workdir}", "{other}", "/w: a {workdir}",
    ]  # fmt: skip
    assert fill_command(["{start}"], values, _warm()) == ["--template", "reads"]


def test_a_stored_plan_that_would_run_the_prompt_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="reads as code"):
        _run(tmp_path, ("sh", "-c", "echo {prompt}"), COLD_START)
    with pytest.raises(UsageError, match="several words"):
        _run(tmp_path, ("agent", "--options={start}"), COLD_START)


HOSTILE = ["$(touch ran)", "`touch ran`", '"; touch ran; "', "'; touch ran; '", "x\ntouch ran",
           "-c 'touch ran'", "{workdir} {prompt}", "$1 $(touch ran)"]  # fmt: skip


@pytest.mark.parametrize("prompt", HOSTILE)
def test_a_prompt_is_never_run(tmp_path: Path, prompt: str) -> None:
    task = parse_task({"id": "t", "prompt": prompt})
    for command in (("printf", "%s", "{prompt}"), ("sh", "-c", 'printf %s "$1"', "-", "{prompt}"),
                    ("sh", "-c", 'cat "$1"; ls ran 2>/dev/null; :', "-", "{prompt_file}")):  # fmt: skip
        assert _run(tmp_path, command, COLD_START, task=task).conversation.answer == prompt


def test_the_agent_is_told_the_shared_preamble(tmp_path: Path) -> None:
    done = _run(tmp_path, ("cat", "{system_file}", "{prompt_file}"), COLD_START)
    assert done.conversation.answer.startswith(Design(arms=()).preamble)
    assert json.dumps(done.conversation.answer).endswith('Say {this}."')


@pytest.mark.parametrize("back", [3996, 3990, 3980, 3970, 120])
def test_a_crash_tells_no_secret_and_no_piece_of_one(tmp_path: Path, back: int) -> None:
    plant = Planter(back)
    secret = plant.self_telling("last line", "github_pat")
    command = f"printf '%s' 'begin {secret}{' y' * (back // 2)}'; exit 3"
    done = _run(tmp_path, ("sh", "-c", command), COLD_START)
    assert "exited 3: " in done.trial.detail
    assert not find_leaks(plant.planted, done.trial.detail)
