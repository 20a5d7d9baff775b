"""``warmstart demo``: the real commands, run on the sample sessions that ship with the package.

A story to be read top to bottom: a sentence, a command, what it prints. It needs no configuration,
fetches nothing and leaves nothing behind: everything happens in a home of its own. JSON is one
object: ``schema_version`` and ``steps``, each with its sentence, command and output.
"""

from __future__ import annotations

import io
import json
import os
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
INDENT = 2
TRAINING_TASKS = 8
TEST_TASKS = 20


class DemoStep(NamedTuple):
    """A command of the story; SAMPLES, HOME and URL in it stand for the places of this run."""

    sentence: str
    """What a reader should look at."""
    command: str
    max_lines: int = 0
    """Lines of its output that are shown; 0 for none."""


INTRODUCTION = (
    "SAMPLES below stands for a folder of small, made-up sessions of five agents that comes with"
    " the package. Every command works the same on your own sessions, without a folder."
)
STEPS = (
    DemoStep(
        "Find sessions: which agents keep some, and whether they can be read.",
        "doctor SAMPLES/claude_code SAMPLES/hermes SAMPLES/codex",
        6,
    ),
    DemoStep("How reliable is the agent, and what fails most?", "profile SAMPLES", 19),
    DemoStep(
        "One session: every failure with the evidence it was judged by.",
        "sessions show 8f64b609 SAMPLES --errors",
        24,
    ),
    DemoStep(
        "Learn from sessions that went well. The result is a draft that a person reads.",
        "template build SAMPLES/claude_code --name shop-api --min-messages 20",
        18,
    ),
    DemoStep("Approve it; nothing uses a template before.", "template approve shop-api@1 --yes", 3),
    DemoStep(
        "What a new session would start with. The same bytes every time.",
        "warm 'Add GET /orders/{id}/invoice that returns InvoiceOut. Same style, with a test.'"
        " --template shop-api --agent claude_code --budget 700 --cwd SAMPLES",
        24,
    ),
    DemoStep(
        "Prove it. The model here is a script written to slip less often when it is shown examples:"
        " a demonstration, not a result. It runs cold on some tasks ...",
        "experiment new training --arms cold,cold:again --trials 1 --tasks HOME/tasks.jsonl"
        " --split train --endpoint URL --model scripted",
    ),
    DemoStep("", "experiment run training --jobs 2"),
    DemoStep(
        "... those sessions become a template ...",
        "template build HOME/store.db --name reading-notes --min-messages 4 --min-calls 2"
        " --max-error-rate 0.9",
    ),
    DemoStep("", "template approve reading-notes@1 --yes"),
    DemoStep(
        "... and other tasks are run cold and warm.",
        "experiment new proof --arms cold,warm:reading-notes --trials 2 --tasks HOME/tasks.jsonl"
        " --endpoint URL --model scripted",
    ),
    DemoStep("", "experiment run proof --jobs 2"),
    DemoStep(
        "The verdict: the unit is the task, the cost stands beside the gain, and the answer is"
        " inconclusive whenever the data cannot tell.",
        "experiment report proof",
        30,
    ),
)
NEXT_COMMANDS = (
    ("warmstart doctor", "find the sessions that your own agents keep on this machine"),
    ("warmstart profile", "how reliable they were, and where it would pay to fix"),
    ("warmstart sessions show ID --errors", "one of them, each failure with its evidence"),
)


@click.command()
@JSON
def demo(*, as_json: bool) -> None:
    """Show what warmstart does, by running its commands on sample sessions.

    Needs no configuration and no network, and leaves nothing behind.
    """
    with (
        TemporaryDirectory(prefix="warmstart-demo-") as home,
        _change_environ(WARMSTART_HOME=home, WARMSTART_STORE=""),
        ScriptedEndpoint(LearningModel()) as endpoint,
    ):
        Path(home, "tasks.jsonl").write_bytes(_write_tasks().encode())
        places = {"SAMPLES": str(samples_path()), "HOME": home, "URL": endpoint.url}
        if as_json:
            steps = [
                {"sentence": step.sentence, "command": f"warmstart {step.command}",
                 "output": _run(step.command, places)}
                for step in STEPS
            ]  # fmt: skip
            print_json({"schema_version": SCHEMA_VERSION, "steps": steps})
            return
        put_out(Document(title="warmstart on sample sessions", blocks=[Text(INTRODUCTION)]))
        for step in STEPS:
            output = _run(step.command, places)
            put_out(Document(title="", blocks=list(_show(step, output.splitlines()))))
    put_out(Document(title="", blocks=[NextSteps(NEXT_COMMANDS)]))


def _show(step: DemoStep, lines: list[str]) -> Iterator[Block]:
    if step.sentence:
        yield Heading(step.sentence)
    yield Text(f"$ warmstart {step.command}", "code", hang=4)
    shown, rest = lines[: step.max_lines], len(lines) - step.max_lines
    if shown and rest > 0:
        shown.append(f"… {rest} more lines")
    if shown:
        yield Excerpt("\n".join(shown), "muted", indent=INDENT)


def _run(command: str, places: Mapping[str, str]) -> str:
    """What a command prints on stdout.

    Raises:
        InternalError: it failed, so the samples and the commands do not fit each other.
    """
    from warmstart.cli.main import cli  # noqa: PLC0415 - it is what runs this command

    words = shlex.split(command)
    for name, place in places.items():
        words = [word.replace(name, place) for word in words]
    captured, problems = io.BytesIO(), io.StringIO()
    printed = io.TextIOWrapper(captured, encoding="utf-8", errors="replace")
    streams, width = (sys.stdout, sys.stderr), str(find_width() - INDENT)
    sys.stdout, sys.stderr = printed, problems
    try:
        with _change_environ(COLUMNS=width, NO_COLOR="1"):
            code = cli.main(words, prog_name="warmstart", standalone_mode=False)
        printed.flush()
    finally:
        sys.stdout, sys.stderr = streams
    if code:
        raise InternalError(f"warmstart {command} failed: {problems.getvalue().strip()}")
    text = captured.getvalue().decode("utf-8")
    for name, place in places.items():
        text = text.replace(place, name)
    return text


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
