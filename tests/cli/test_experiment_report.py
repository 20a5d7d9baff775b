from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from support.experiments import save_template, write_tasks
from warmstart.testing import Answer, LearningModel, Prompt, Reply, ScriptedEndpoint

Run = Callable[..., Result]
ADVICE = "Here it is.\n- read_file: give a relative path\nfly: not a tool\nread_file: one at a time"


class SummingModel(LearningModel):
    """The learning model, which also writes summaries."""

    def __call__(self, prompt: Prompt) -> Reply:
        """Advice where it is asked for, else the next call."""
        return Reply(ADVICE) if "as advice" in prompt.system else super().__call__(prompt)


@pytest.fixture
def endpoint() -> Iterator[ScriptedEndpoint]:
    with ScriptedEndpoint(SummingModel()) as served:
        yield served


@pytest.fixture
def plan(run: Run, home: Path, endpoint: ScriptedEndpoint) -> Callable[..., Result]:
    save_template(home / "ws")
    tasks = write_tasks(home / "tasks.jsonl", 8)

    def make(command: str, name: str, *more: object) -> Result:
        given = ("--tasks", tasks, "--endpoint", endpoint.url, "--model", "scripted")
        return run("experiment", command, name, *given, "--trials", 1, *more)

    return make


@pytest.fixture
def done(run: Run, plan: Callable[..., Result]) -> str:
    plan("new", "first", "--arms", "cold,warm:reads")
    assert run("experiment", "run", "first").exit_code == 0
    return "first"


def _json(result: Result) -> Any:
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_the_page_and_the_markdown_are_private_files(run: Run, done: str, home: Path) -> None:
    page, text = home / "r.html", home / "r.md"
    written = run("experiment", "report", done, "--html", page, "--markdown", text)
    assert written.exit_code == 0
    assert written.stdout == ""
    assert page.read_text().startswith("<!doctype html>")
    assert text.read_text().startswith("# Experiment first")
    assert page.stat().st_mode & 0o077 == 0
    again = run("experiment", "report", done, "--html", page)
    assert again.exit_code == 2
    assert "--force" in again.stderr
    assert run("experiment", "report", done, "--html", page, "--force").exit_code == 0


def test_markdown_may_go_to_stdout(run: Run, done: str) -> None:
    assert run("experiment", "report", done, "--markdown", "-").stdout.startswith("# Experiment")


def test_json_has_the_verdict_and_whether_it_is_decided(run: Run, done: str) -> None:
    report = _json(run("experiment", "report", done, "--json"))
    assert report["decided"] is True
    assert report["smallest"] is None
    assert report["verdict"]["arms"][0]["arm"] == "warm:reads"


def test_the_verdict_is_in_the_templates_record_once(run: Run, done: str) -> None:
    assert run("experiment", "report", done).exit_code == 0
    run("experiment", "run", done)
    shown = _json(run("template", "show", "reads", "--json"))
    assert len(shown["verdicts"]) == 1
    numbers = shown["verdicts"][0]["numbers"]
    assert (numbers["experiment"], numbers["kind"], numbers["tasks"]) == ("first", "effect", 8)
    listed = _json(run("template", "list", "--json"))["templates"][0]
    assert listed["verdict"] == numbers["short"]
    assert numbers["short"].split()[0] in run("template", "list").stdout


def test_a_verdict_is_not_recorded_before_the_end(run: Run, plan: Callable[..., Result]) -> None:
    plan("new", "half", "--arms", "cold,warm:reads")
    run("experiment", "run", "half", "--limit", 6)
    assert "unfinished" in run("experiment", "report", "half").stdout
    assert _json(run("template", "list", "--json"))["templates"][0]["verdict"] is None


def test_an_ablation_is_an_ordinary_experiment(run: Run, plan: Callable[..., Result]) -> None:
    planned = plan("ablate", "small", "--template", "reads", "--budgets", "100,1")
    assert "no arm for no-guidance: it is the same as the full one" in planned.stdout
    assert "no arm for budget-1: nothing is left" in planned.stdout
    assert run("experiment", "run", "small").exit_code == 0
    report = _json(run("experiment", "report", "small", "--json"))
    smallest = report["smallest"]
    assert smallest["control"] == "warm:reads"
    assert smallest["chosen"] is None
    assert next(row["arm"] for row in smallest["arms"]) == "cold"
    text = run("experiment", "report", "small").stdout
    assert "That takes at least 20 tasks; there are 8." in " ".join(text.split())
    verdicts = _json(run("template", "show", "reads", "--json"))["verdicts"]
    assert [verdict["numbers"]["kind"] for verdict in verdicts] == ["smallest"]
    assert _json(run("template", "list", "--json"))["templates"][0]["verdict"] is None


def test_a_compaction_compares_strategies_and_a_summary(
    run: Run, plan: Callable[..., Result], home: Path
) -> None:
    strategies = "head-tail,examples-only,guidance-only,summary"
    planned = plan(
        "compaction", "short", "--template", "reads", "--unreviewed", "--strategies", strategies
    )
    assert planned.exit_code == 0, planned.output
    text = (home / "ws/experiments/short/plan.toml").read_text()
    assert 'control = "warm:reads/whole"' in text
    assert "warm:short-summary" in text
    shown = _json(run("template", "show", "short-summary", "--json"))
    assert shown["state"] == "draft"
    advice = [line["text"] for line in shown["template"]["guidance"]]
    assert advice == ["give a relative path", "one at a time"]
    assert run("experiment", "run", "short").exit_code == 0
    assert "warm:short-summary" in run("experiment", "report", "short").stdout
    again = plan("compaction", "short", "--template", "reads")
    assert (again.exit_code, "already" in again.stderr) == (2, True)


def test_a_session_can_be_shortened(run: Run, done: str, plan: Callable[..., Result]) -> None:
    trial = json.loads(run("experiment", "export", done).stdout.splitlines()[0])
    planned = plan("compaction", "sess", "--session", trial["session"], "--no-cold", "--unreviewed")
    assert planned.exit_code == 0, planned.output
    assert "1 task left out" in planned.stdout
    assert _json(run("template", "list", "--json"))["templates"][1]["name"] == "sess-session"


@pytest.mark.parametrize(
    ("command", "more", "word"),
    [
        ("ablate", ("--template", "none"), "there is no template"),
        ("ablate", ("--template", "reads", "--without", "hats"), "no such part"),
        ("ablate", ("--template", "reads", "--budgets", "few"), "whole numbers"),
        ("ablate", ("--template", "reads", "--examples", "0"), "begin at 1"),
        ("compaction", (), "name what to shorten"),
        ("compaction", ("--template", "reads", "--strategies", "fold"), "no such strategy"),
        ("compaction", ("--session", "nobody", "--unreviewed"), "no session has the id"),
        ("compaction", ("--session", "nobody"), "nobody can have reviewed it"),
    ],
)
def test_what_cannot_be_planned_is_said(
    plan: Callable[..., Result], command: str, more: tuple[str, ...], word: str
) -> None:
    refused = plan(command, "x", *more)
    assert refused.exit_code != 0
    assert word in refused.stderr


def test_a_form_cannot_be_named_to_a_command(run: Run, home: Path) -> None:
    save_template(home / "ws")
    tasks = write_tasks(home / "tasks.jsonl", 8)
    refused = run(
        "experiment", "new", "x", "--arms", "cold,warm:reads/examples-1", "--tasks", tasks,
        "--command", "warmstart run {start} -- agent",
    )  # fmt: skip
    assert refused.exit_code == 2
    assert "{system_file}" in refused.stderr


def test_a_summary_that_is_none_is_refused(run: Run, home: Path) -> None:
    def silent(_: Prompt) -> Answer:
        return Reply("I would rather not.")

    save_template(home / "ws")
    tasks = write_tasks(home / "tasks.jsonl", 3)
    with ScriptedEndpoint(silent) as served:
        refused = run(
            "experiment", "compaction", "x", "--template", "reads", "--strategies", "summary",
            "--unreviewed", "--tasks", tasks, "--endpoint", served.url, "--model", "m",
        )  # fmt: skip
    assert refused.exit_code == 2
    assert "no line of the form" in refused.stderr
