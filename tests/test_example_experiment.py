"""The packaged experiment: its tasks are sound, and with a model at hand the loop runs."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from warmstart.experiment.tasks import parse_tasks

ROOT = Path(__file__).resolve().parents[1]
TASKS = ROOT / "examples" / "first-experiment" / "tasks.jsonl"
SCRIPTS = ROOT / "scripts"
sys.path.insert(0, str(SCRIPTS))

from example.loop import PROOF, TRAINING, Loop, choose_tasks  # noqa: E402 - scripts are no package
from example.server import find_model, find_python, serve  # noqa: E402 - same

from warmstart.app import Workspace  # noqa: E402 - same


def _call(task: dict[str, object], tool: str, folder: Path, **arguments: object) -> tuple[int, str]:
    definitions = task["tool_definitions"]
    assert isinstance(definitions, list)
    (command,) = (one["command"] for one in definitions if one["name"] == tool)
    done = subprocess.run(
        [sys.executable, *command[1:]], input=json.dumps(arguments), text=True, cwd=folder,
        capture_output=True, check=False, env={"PATH": os.environ["PATH"]},
    )  # fmt: skip
    return done.returncode, (done.stdout + done.stderr).strip()


def _task(name: str, folder: Path) -> dict[str, object]:
    lines = TASKS.read_text("utf-8").splitlines()
    (task,) = (one for one in map(json.loads, lines) if one["id"] == name)
    for path, text in task.get("files", {}).items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return task


def test_training_and_test_tasks_share_no_prompt_and_no_answer() -> None:
    tasks = parse_tasks(TASKS.read_text("utf-8").splitlines())
    train, test = (
        {part for task in tasks if task.split == split
         for part in (task.prompt, *map(str, task.checks))}
        for split in ("train", "test")
    )  # fmt: skip
    assert sum(task.split == "test" for task in tasks) >= 24
    assert not train & test


def test_the_tasks_are_what_the_script_writes() -> None:
    import make_example_tasks

    lines = [json.dumps(task) for task in make_example_tasks.list_tasks()]
    assert TASKS.read_text("utf-8") == "\n".join(lines) + "\n"


def test_a_note_is_read_under_its_vault_path_only(tmp_path: Path) -> None:
    task = _task("note-00", tmp_path)
    code, said = _call(task, "read_note", tmp_path, path="anna.txt")
    assert (code, said) == (1, "not a path; write it as vault://anna.txt")
    assert _call(task, "read_note", tmp_path, path="vault://anna.txt")[0] == 0


def test_an_amount_is_taken_in_cents_only(tmp_path: Path) -> None:
    task = _task("pay-00", tmp_path)
    code, said = _call(task, "pay", tmp_path, to="Bruno", amount=3.25)
    assert (code, said) == (1, "amount is in cents; 3.25 is written 325")
    assert _call(task, "pay", tmp_path, to="Bruno", amount=325)[0] == 0
    assert (tmp_path / "ledger.txt").read_text() == "bruno 325\n"


def test_a_sensor_wants_a_unit_that_its_schema_does_not_mention(tmp_path: Path) -> None:
    task = _task("sensor-00", tmp_path)
    assert "unit" not in json.dumps(task["tool_definitions"][2]["parameters"])  # type: ignore[index] # parsed JSON
    code, said = _call(task, "read_sensor", tmp_path, sensor="attic")
    assert (code, "with unit celsius" in said) == (1, True)
    assert _call(task, "read_sensor", tmp_path, sensor="attic", unit="celsius")[0] == 0


def test_the_loop_runs_with_the_model_that_is_here(tmp_path: Path) -> None:
    model, python = find_model(), find_python()
    if model is None or python is None:
        pytest.skip("no model here: make model fetches one, WARMSTART_MODEL names another place")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    tasks = choose_tasks(TASKS, tmp_path / "tasks.jsonl", training=2, test=2)
    loop = Loop(
        workspace=Workspace(tmp_path / "home"),
        url=f"http://127.0.0.1:{port}",
        tasks=tasks,
        controls=(),
        repeats=False,
    )
    with serve(model, python, port=port, threads=1, log=tmp_path / "server.log"):
        loop.run()
    assert loop.read(TRAINING)[0].done == 12
    standing, verdict = loop.read(PROOF)
    assert standing.done == 12
    assert [arm.sessions for arm in verdict.analysis.arms] == [6, 6]
    assert verdict.analysis.arms[1].seeded_calls > 0
