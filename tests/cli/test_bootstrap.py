from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from click.testing import Result

from support.experiments import write_tasks
from warmstart.testing import LearningModel, ScriptedEndpoint

Run = Callable[..., Result]


def test_it_says_what_was_learned_and_what_to_do_next(run: Run, home: Path) -> None:
    tasks = write_tasks(home / "tasks.jsonl", 10)
    with ScriptedEndpoint(LearningModel()) as served:
        given = ("--endpoint", served.url, "--model", "scripted", "--runner", "endpoint")
        made = run("bootstrap", tasks, "--name", "reads", "--count", 6, *given)
        again = run("bootstrap", tasks, "--name", "reads", *given, "--json")
    assert made.exit_code == 0, made.output
    for words in (
        "reads: learned from 6 of 6 sessions", "read_file", "saved as version 1 (draft)",
        "warmstart template approve reads@1", "experiment new reads-test",
    ):  # fmt: skip
        assert words in made.stdout
    data = json.loads(again.stdout)
    assert (data["sessions"], data["tasks_left"], data["saved"]["is_new"]) == (6, 4, False)
    assert data["schema_version"] == 1


def test_a_file_used_up_is_said(run: Run, home: Path) -> None:
    tasks = write_tasks(home / "tasks.jsonl", 3)
    with ScriptedEndpoint(LearningModel()) as served:
        made = run("bootstrap", tasks, "--name", "r", "--endpoint", served.url, "--model", "m")
    assert "every task of the file was used" in made.stderr
    assert "experiment new" not in made.stdout


def test_runners_that_disagree_are_refused(run: Run, home: Path) -> None:
    tasks = write_tasks(home / "tasks.jsonl", 3)
    refused = run("bootstrap", tasks, "--name", "r", "--runner", "command", "--endpoint",
                  "http://127.0.0.1:9", "--model", "m")  # fmt: skip
    assert refused.exit_code == 2
    assert "disagree" in refused.stderr
    nothing = run("bootstrap", tasks, "--name", "r")
    assert "name one thing to run" in nothing.stderr
