"""``warmstart demo``: the real commands, run on the sample sessions that ship with the package.

A story to be read top to bottom: a sentence, a command, what it prints. It needs no configuration,
fetches nothing and leaves nothing behind: everything happens in a home of its own. JSON is one
object: ``schema_version`` and ``steps``, each with its sentence, command and output.
"""

from __future__ import annotations

import io
import json
import os
import re
import shlex
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import click

from warmstart.cli._output import JSON, print_json, put_out
from warmstart.errors import InternalError
from warmstart.present import Block, Document, Excerpt, Heading, NextSteps, Text, find_width
from warmstart.samples import samples_path
from warmstart.testing import LearningModel, ScriptedEndpoint

SCHEMA_VERSION = 2
MESSAGE = "Add GET /orders/{id}/invoice that returns InvoiceOut. Same style, with a test."
SHOWN = "$ warmstart "
INDENT = 2
TRAINING_TASKS = 8
TEST_TASKS = 20
SAMPLES = "SAMPLES"
"""Stands for the samples' folder in what is shown."""


class Step(NamedTuple):
    """A command of the story."""

    sentence: str
    """What a reader should look at."""
    words: tuple[str, ...]
    """What is run after ``warmstart``."""
    max_lines: int = 0
    """Lines of its output that are shown; 0 for none."""


class StepResult(NamedTuple):
    """A command that was run."""

    step: Step
    output: str


@click.command()
@JSON
def demo(*, as_json: bool) -> None:
    """Show what warmstart does, by running its commands on sample sessions.

    Needs no configuration and no network, and leaves nothing behind.
    """
    samples = samples_path()
    with _own_home(), ScriptedEndpoint(LearningModel()) as endpoint:
        if as_json:
            done = list(_run_steps(samples, endpoint.url))
            print_json({"schema_version": SCHEMA_VERSION, "steps": [_make_fields(t) for t in done]})
            return
        put_out(Document(title="warmstart on sample sessions", blocks=[Text(INTRODUCTION)]))
        for one in _run_steps(samples, endpoint.url):
            put_out(Document(title="", blocks=list(_show(one))))
    put_out(Document(title="", blocks=[NextSteps(NEXT_COMMANDS)]))


INTRODUCTION = (
    f"{SAMPLES} below stands for a folder of small, made-up sessions of five agents that comes"
    " with the package. Every command works the same on your own sessions, without a folder."
)
NEXT_COMMANDS = (
    ("warmstart doctor", "find the sessions that your own agents keep on this machine"),
    ("warmstart profile", "how reliable they were, and where it would pay to fix"),
    ("warmstart sessions show ID --errors", "one of them, each failure with its evidence"),
)


def _list_steps(samples: Path, url: str, home: Path) -> Iterator[Step]:
    place, tasks, store = str(samples), str(home / "tasks.jsonl"), str(home / "store.db")
    yield Step("Find sessions: which agents keep some, and whether they can be read.",
               ("doctor", *(str(samples / name) for name in ("claude_code", "hermes", "codex"))),
               8)  # fmt: skip
    yield Step("How reliable is the agent, and what fails most?", ("profile", place), 20)
    yield Step("One session: every failure with the evidence it was judged by.",
               ("sessions", "show", "8f64b609", place, "--errors"), 24)  # fmt: skip
    yield Step("Learn from sessions that went well. The result is a draft that a person reads.",
               ("template", "build", str(samples / "claude_code"), "--name", "shop-api",
                "--min-messages", "20"), 18)  # fmt: skip
    yield Step("Approve it; nothing uses a template before.",
               ("template", "approve", "shop-api@1", "--yes"), 3)  # fmt: skip
    yield Step("What a new session would start with. The same bytes every time.",
               ("warm", MESSAGE, "--template", "shop-api", "--agent", "claude_code",
                "--budget", "700", "--cwd", place), 24)  # fmt: skip
    yield Step("Prove it. The model here is a script written to slip less often when it is shown"
               " examples: a demonstration, not a result. It runs cold on some tasks ...",
               ("experiment", "new", "training", "--arms", "cold,cold:again", "--trials", "1",
                "--tasks", tasks, "--split", "train", "--endpoint", url, "--model", "scripted"),
               )  # fmt: skip
    yield Step("", ("experiment", "run", "training", "--jobs", "2"))
    yield Step("... those sessions become a template ...",
               ("template", "build", store, "--name", "reading-notes", "--min-messages", "4",
                "--min-calls", "2", "--max-error-rate", "0.9"))  # fmt: skip
    yield Step("", ("template", "approve", "reading-notes@1", "--yes"))
    yield Step("... and other tasks are run cold and warm.",
               ("experiment", "new", "proof", "--arms", "cold,warm:reading-notes", "--trials", "2",
                "--tasks", tasks, "--endpoint", url, "--model", "scripted"))  # fmt: skip
    yield Step("", ("experiment", "run", "proof", "--jobs", "2"))
    yield Step("The verdict: the unit is the task, the cost stands beside the gain, and the answer"
               " is inconclusive whenever the data cannot tell.",
               ("experiment", "report", "proof"), 30)  # fmt: skip


def _run_steps(samples: Path, url: str) -> Iterator[StepResult]:
    home = Path(os.environ["WARMSTART_HOME"])
    (home / "tasks.jsonl").write_text(_write_tasks(), "utf-8")
    for step in _list_steps(samples, url, home):
        yield StepResult(step, _hide(_run(step.words), url))


def _run(words: tuple[str, ...]) -> str:
    """What a command prints on stdout.

    Raises:
        InternalError: it failed, which says that the samples and the commands do not fit.
    """
    from warmstart.cli.main import cli  # noqa: PLC0415 - it is what runs this command

    captured, problems = io.BytesIO(), io.StringIO()
    printed = io.TextIOWrapper(captured, encoding="utf-8", errors="replace")
    streams, width = (sys.stdout, sys.stderr), str(find_width() - INDENT)
    sys.stdout, sys.stderr = printed, problems
    try:
        with _change_environ(COLUMNS=width, NO_COLOR="1"):
            code = cli.main(list(words), prog_name="warmstart", standalone_mode=False)
        printed.flush()
    finally:
        sys.stdout, sys.stderr = streams
    if code:
        raise InternalError(f"warmstart {' '.join(words)} failed: {problems.getvalue().strip()}")
    return captured.getvalue().decode("utf-8")


def _hide(text: str, url: str = "") -> str:
    """Text with the samples, the home and the endpoint under names that stay the same."""
    names = {str(samples_path()): SAMPLES, os.environ["WARMSTART_HOME"]: "HOME", url: "URL"}
    for value, name in names.items():
        text = text.replace(value, name) if value else text
    return text


def _name_command(done: StepResult) -> str:
    words = shlex.join(map(_hide, done.step.words))
    return re.sub(r"http://[\d.:]+", "URL", words)


def _show(done: StepResult) -> Iterator[Block]:
    if done.step.sentence:
        yield Heading(done.step.sentence)
    yield Text(f"{SHOWN}{_name_command(done)}", "code", hang=4)
    lines = done.output.splitlines()[: done.step.max_lines]
    rest = len(done.output.splitlines()) - len(lines)
    if lines and rest:
        lines.append(f"… {rest} more lines")
    if lines:
        yield Excerpt("\n".join(lines), "muted", indent=INDENT)


def _make_fields(done: StepResult) -> Mapping[str, object]:
    return {
        "sentence": done.step.sentence,
        "command": f"warmstart {_name_command(done)}",
        "output": done.output,
    }


@contextmanager
def _own_home() -> Iterator[None]:
    """A home of its own for the commands, gone afterwards."""
    with (
        TemporaryDirectory(prefix="warmstart-demo-") as folder,
        _change_environ(WARMSTART_HOME=folder, WARMSTART_STORE=""),
    ):
        yield


@contextmanager
def _change_environ(**changed: str) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in changed}
    os.environ.update(changed)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _write_tasks() -> str:
    """Tasks to read a few notes each; the first ones are for training."""
    lines = []
    for number in range(TRAINING_TASKS + TEST_TASKS):
        names = [f"notes/{word}-{number}.txt" for word in ("first", "second", "third", "fourth")]
        task = {
            "id": f"task-{number:02}",
            "prompt": f"Read {', '.join(names)} and say what they hold.",
            "files": {name: f"word {number} of {name}\n" for name in names},
            "tools": ["read_file"],
            "check": {"answer": f"word {number} of {names[-1]}"},
            "split": "train" if number < TRAINING_TASKS else "test",
        }
        lines.append(json.dumps(task))
    return "\n".join(lines) + "\n"
