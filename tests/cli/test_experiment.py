from __future__ import annotations

import csv
import io
import json
import os
import random
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from support.experiments import save_template, write_tasks
from support.planting import Planter, find_leaks
from warmstart.app import Workspace
from warmstart.app.experiment_verdicts import make_report
from warmstart.app.experiments import read_state
from warmstart.model.template import TemplateState
from warmstart.runners import FinishedTrial, Pool
from warmstart.store import SessionDB
from warmstart.testing import Fault, LearningModel, Script, ScriptedEndpoint

Run = Callable[..., Result]
New = Callable[..., Result]


@pytest.fixture
def endpoint() -> Iterator[ScriptedEndpoint]:
    with ScriptedEndpoint(LearningModel()) as served:
        yield served


@pytest.fixture
def new(run: Run, home: Path, endpoint: ScriptedEndpoint) -> New:
    """Plan an experiment against the scripted model."""
    save_template(home / "ws")
    tasks = write_tasks(home / "tasks.jsonl", 6)

    def make(*more: object, name: str = "first", arms: str = "cold,warm:reads") -> Result:
        return run(
            "experiment", "new", name, "--tasks", tasks, "--arms", arms, "--endpoint",
            endpoint.url, "--model", "scripted", "--trials", 1, *more,
        )  # fmt: skip

    return make


def _json(result: Result) -> Any:
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def _plan(home: Path, name: str = "first") -> Path:
    return home / "ws" / "experiments" / name / "plan.toml"


def test_an_experiment_goes_from_plan_to_verdict(run: Run, new: New, home: Path) -> None:
    made = new("--trials", 2, arms="cold,warm:reads,token-matched,placebo")
    assert str(_plan(home)) in made.stdout.splitlines()
    assert "6 tasks x 4 arms x 2 trials = 48 sessions" in made.stdout
    assert _plan(home).stat().st_mode & 0o077 == 0
    ran = _json(run("experiment", "run", "first", "--jobs", 3, "--json"))
    assert (ran["ran"], ran["done"], ran["total"]) == (48, 48, 48)
    status = _json(run("experiment", "status", "first", "--json"))
    assert status["arms"]["warm:reads"] == {"done": 12, "crashed": 0, "timeout": 0}
    report = _json(run("experiment", "report", "first", "--json"))
    effect = report["verdict"]["analysis"]["comparisons"][0]["effects"][0]
    assert effect["treatment_value"] < effect["control_value"]
    assert report["plan"] == status["hash"]


def test_the_report_says_what_it_rests_on(run: Run, new: New) -> None:
    new()
    run("experiment", "run", "first")
    text = run("experiment", "report", "first", "--details").stdout
    for word in ("sha256:", "same tasks in all arms", "Effects", "Fairness", "EXAMPLE CALLS"):
        assert word in text


def test_every_trial_is_a_session_that_other_commands_read(run: Run, new: New) -> None:
    new()
    run("experiment", "run", "first")
    listed = _json(run("sessions", "list", "--source", "live_store", "--json"))["sessions"]
    assert len(listed) == 12
    trials = [json.loads(line) for line in run("experiment", "export", "first").stdout.splitlines()]
    calls = {row["id"]: (row["calls"], row["errors"]) for row in listed}
    for trial in trials:
        errors = sum(call[1] for call in trial["calls"])
        assert calls[trial["session"]] == (len(trial["calls"]), errors)
    shown = run("sessions", "show", trials[0]["session"])
    assert shown.exit_code == 0


def test_trials_are_exported_as_rows(run: Run, new: New, home: Path) -> None:
    new()
    run("experiment", "run", "first")
    rows = list(
        csv.DictReader(io.StringIO(run("experiment", "export", "first", "--as", "csv").stdout))
    )
    assert len(rows) == 12
    assert [int(row["order"]) for row in rows] == list(range(12))
    assert all(row["success"] == "True" for row in rows)
    target = home / "out.csv"
    assert run("experiment", "export", "first", "-o", target).exit_code == 0
    assert run("experiment", "export", "first", "-o", target).exit_code == 2
    assert len(target.read_text().splitlines()) == 12


def test_tasks_a_template_was_built_from_are_left_out_and_said(
    run: Run, new: New, home: Path
) -> None:
    save_template(home / "ws", "learned", ("t00", "t03", "elsewhere"))
    made = new(arms="cold,warm:learned")
    assert "2 tasks left out" in made.stdout
    assert tomllib.loads(_plan(home).read_text())["tasks"]["excluded"] == ["t00", "t03"]
    run("experiment", "run", "first")
    assert "2 tasks left out" in run("experiment", "report", "first").stdout
    assert _json(run("experiment", "status", "first", "--json"))["done"] == 8


def test_a_template_nobody_approved_is_not_tried(new: New, home: Path) -> None:
    save_template(home / "ws", "foreign", state=TemplateState.QUARANTINED)
    refused = new(arms="cold,warm:foreign")
    assert refused.exit_code == 2
    assert "foreign@1 is quarantined" in refused.stderr


def test_a_draft_is_tried_only_when_it_is_asked_for_and_the_plan_says_so(
    run: Run, new: New, home: Path
) -> None:
    save_template(home / "ws", "mine", state=TemplateState.DRAFT)
    refused = new(arms="cold,warm:mine")
    assert refused.exit_code == 2
    assert "mine@1 is a draft" in refused.stderr
    assert "--unreviewed" in refused.stderr
    planned = new("--unreviewed", arms="cold,warm:mine")
    assert planned.exit_code == 0, planned.output
    assert "unreviewed: mine" in planned.stdout
    assert tomllib.loads(_plan(home).read_text())["unreviewed"] == ["mine"]
    ran = run("experiment", "run", "first")
    assert ran.exit_code == 0, ran.output
    assert "unreviewed: mine" in ran.stdout
    assert (
        "mine was a draft that nobody had reviewed" in run("experiment", "report", "first").stdout
    )


def test_a_pinned_template_is_used_even_when_a_newer_one_is_there(
    run: Run, new: New, home: Path
) -> None:
    new()
    save_template(home / "ws", tasks=("t05",))
    assert _json(run("experiment", "run", "first", "--json"))["done"] == 12


def test_an_interrupted_run_goes_on(run: Run, new: New) -> None:
    new()
    assert _json(run("experiment", "run", "first", "--limit", 5, "--json"))["done"] == 5
    assert "5 of 12 trials" in run("experiment", "status", "first").stdout
    ran = _json(run("experiment", "run", "first", "--json"))
    assert (ran["ran"], ran["done"]) == (7, 12)
    assert _json(run("experiment", "run", "first", "--json"))["ran"] == 0


def test_a_trial_that_is_stored_but_not_listed_is_taken_from_the_store(
    run: Run, new: New, home: Path
) -> None:
    new()
    run("experiment", "run", "first", "--limit", 6)
    path = _plan(home).with_name("trials.jsonl")
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:3]) + lines[3][:40])
    ran = _json(run("experiment", "run", "first", "--json"))
    assert (ran["recovered"], ran["ran"], ran["done"]) == (3, 6, 12)
    with SessionDB(home / "ws" / "store.db") as db:
        assert db.session_count("experiment") == 12


def test_an_experiment_of_the_same_name_does_not_inherit_trials(
    run: Run, new: New, home: Path
) -> None:
    new()
    run("experiment", "run", "first")
    for path in sorted(_plan(home).parent.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    _plan(home).parent.rmdir()
    new("--seed", 2)
    ran = _json(run("experiment", "run", "first", "--json"))
    assert (ran["recovered"], ran["ran"]) == (0, 12)


def test_a_plan_changed_after_the_first_trial_is_recorded_and_said(
    run: Run, new: New, home: Path
) -> None:
    new()
    plan = _plan(home)
    plan.write_text(plan.read_text().replace("margin = 0.02", "margin = 0.03"))
    ran = run("experiment", "run", "first", "--limit", 2)
    assert "changed" not in ran.stderr
    plan.write_text(plan.read_text().replace("margin = 0.03", "margin = 0.2"))
    ran = run("experiment", "run", "first", "--limit", 2)
    assert "changed after 2 trials" in ran.stdout
    assert "design.margin: 0.03 -> 0.2" in ran.stdout
    assert "changed" not in run("experiment", "run", "first").stderr
    assert "design.margin: 0.03 -> 0.2" in run("experiment", "report", "first").stdout
    assert "design.margin" in run("experiment", "status", "first").stdout
    assert len(_json(run("experiment", "status", "first", "--json"))["deviations"]) == 1


def test_changed_tasks_are_refused(run: Run, new: New, home: Path) -> None:
    new()
    tasks = _plan(home).with_name("tasks.jsonl")
    tasks.write_text(tasks.read_text().replace("tell me", "say it"))
    refused = run("experiment", "run", "first")
    assert refused.exit_code == 2
    assert "not those of its plan" in refused.stderr


def test_a_sequential_plan_stops_when_its_rule_is_met(run: Run, home: Path) -> None:
    save_template(home / "ws")
    tasks = write_tasks(home / "tasks.jsonl", 40)
    model = LearningModel(cold_slips=0.95, warm_slips=0.0, spread=0.0)
    with ScriptedEndpoint(model) as served:
        run("experiment", "new", "early", "--tasks", tasks, "--arms", "cold,warm:reads", "--trials", 1,
            "--rule", "e-process", "--endpoint", served.url, "--model", "m")  # fmt: skip
        ran = _json(run("experiment", "run", "early", "--json"))
        assert "e-process was met" in ran["stopped"]
        assert ran["done"] < 80
        assert _json(run("experiment", "run", "early", "--json"))["ran"] == 0
    report = _json(run("experiment", "report", "early", "--json"))
    assert report["verdict"]["conclusion"] == "better"


def test_a_missing_endpoint_stops_the_run_and_loses_nothing(run: Run, new: New, home: Path) -> None:
    new("--retries", 0)
    plan = _plan(home)
    with ScriptedEndpoint(Script(Fault(status=401, body="no"))) as denied:
        text = plan.read_text()
        url = text.split('url = "')[1].split('"')[0]
        plan.write_text(text.replace(url, denied.url))
        stopped = run("experiment", "run", "first")
    assert stopped.exit_code == 7
    assert "401" in stopped.stderr
    assert _json(run("experiment", "status", "first", "--json"))["done"] == 0


def test_a_key_is_named_and_never_kept(
    run: Run, new: New, home: Path, endpoint: ScriptedEndpoint
) -> None:
    new("--key-env", "SOME_MODEL_KEY")
    refused = run("experiment", "run", "first")
    assert (refused.exit_code, "SOME_MODEL_KEY is not set" in refused.stderr) == (2, True)
    run("experiment", "run", "first", SOME_MODEL_KEY="planted-key-value")
    assert endpoint.requests[0].headers["authorization"] == "Bearer planted-key-value"
    kept = b"".join(path.read_bytes() for path in (home / "ws").rglob("*") if path.is_file())
    assert b"planted-key-value" not in kept


def test_experiments_are_listed_and_a_broken_one_is_named(run: Run, new: New, home: Path) -> None:
    assert "no experiments yet" in run("experiment", "list").stdout
    new()
    new(name="second")
    _plan(home, "second").write_text("nonsense")
    listed = run("experiment", "list")
    assert "first" in listed.stdout
    assert "second" in listed.stderr
    assert len(_json(run("experiment", "list", "--json"))["experiments"]) == 1


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        (("--arms", "cold"), "two arms"),
        (("--arms", "cold,hot"), "no such arm"),
        (("--arms", "cold,warm:none"), "none"),
        (("--command", "x"), "name one thing to run"),
        (("--prices", "3"), "--prices"),
        (("--split", "dev"), "no task is left"),
        (("--key-env", "sk-1234"), "never a key"),
    ],
)
def test_what_cannot_be_planned_is_said(new: New, more: tuple[str, ...], problem: str) -> None:
    refused = new(*more)
    assert refused.exit_code in (2, 3)
    assert problem in refused.stderr


def test_the_same_name_twice_is_refused(run: Run, new: New) -> None:
    assert new("--json").exit_code == 0
    assert new().exit_code == 2
    for action in ("run", "status", "report", "export"):
        assert run("experiment", action, "../first").exit_code == 3


def test_a_task_with_an_unknown_tool_is_refused(run: Run, home: Path) -> None:
    tasks = write_tasks(home / "tasks.jsonl", 1, tools=["fly"])
    refused = run("experiment", "new", "x", "--tasks", tasks, "--arms", "cold,placebo", "--endpoint",
                  "http://h", "--model", "m")  # fmt: skip
    assert "'fly'" in refused.stderr


def test_a_command_can_be_the_agent(run: Run, home: Path) -> None:
    tasks = write_tasks(home / "tasks.jsonl", 3, check={"answer": "template=(neutral)?$"})
    made = run("experiment", "new", "cmd", "--tasks", tasks, "--arms", "cold,placebo", "--trials", 1,
               "--command", "echo template={template}")  # fmt: skip
    assert made.exit_code == 0, made.output
    assert _json(run("experiment", "run", "cmd", "--json"))["done"] == 6
    rows = [json.loads(line) for line in run("experiment", "export", "cmd").stdout.splitlines()]
    assert all(row["success"] for row in rows)
    assert all(row["session"].startswith("live_store:exp-cmd-") for row in rows)


@pytest.mark.parametrize("group", ["experiment", "bootstrap"])
def test_a_command_that_would_run_the_prompt_is_refused(run: Run, home: Path, group: str) -> None:
    tasks = write_tasks(home / "tasks.jsonl", 3, prompt="$(touch ran)")
    first = ("experiment", "new", "cmd", "--arms", "cold,placebo", "--tasks", tasks)
    words = first if group == "experiment" else ("bootstrap", tasks, "--name", "cmd")
    made = run(*words, "--command", """sh -c 'echo "{prompt}"'""")
    assert made.exit_code == 2
    assert "{prompt} stands in a word that 'sh' reads as code" in made.stderr
    assert """sh -c 'my-agent "$1"' - {prompt}""" in made.stderr
    assert not (home / "ws" / "experiments").exists()


def test_a_stored_plan_that_would_run_the_prompt_is_not_run_but_reported(
    run: Run, home: Path
) -> None:
    tasks = write_tasks(home / "tasks.jsonl", 3)
    run("experiment", "new", "cmd", "--arms", "cold,placebo", "--tasks", tasks, "--trials", 1,
        "--command", "sh -c 'echo $1' - {prompt}")  # fmt: skip
    plan = _plan(home, "cmd")
    plan.write_text(plan.read_text().replace("echo $1", "echo {prompt}"))
    refused = run("experiment", "run", "cmd")
    assert (refused.exit_code, "reads as code" in refused.stderr) == (2, True)
    assert run("experiment", "status", "cmd").exit_code == 0


def test_no_cell_of_an_exported_table_is_a_formula(run: Run, home: Path) -> None:
    tasks = write_tasks(home / "tasks.jsonl", 1, id="=cmd|'/c calc'!A1")
    run("experiment", "new", "cmd", "--arms", "cold,placebo", "--tasks", tasks, "--trials", 1,
        "--command", "true")  # fmt: skip
    run("experiment", "run", "cmd")
    text = run("experiment", "export", "cmd", "--as", "csv").stdout
    assert {row["task"] for row in csv.DictReader(io.StringIO(text))} == {"'=cmd|'/c calc'!A1"}
    exported = run("experiment", "export", "cmd").stdout
    assert {json.loads(line)["task"] for line in exported.splitlines()} == {"=cmd|'/c calc'!A1"}


def test_recorded_sessions_with_labels_are_judged(run: Run, new: New, home: Path) -> None:
    new("--trials", 2)
    run("experiment", "run", "first")
    trials = [json.loads(line) for line in run("experiment", "export", "first").stdout.splitlines()]
    labels = home / "labels.jsonl"
    rows = [{"session": t["session"], "arm": t["arm"], "task": t["task"]} for t in trials]
    labels.write_text("".join(json.dumps(row) + "\n" for row in rows))
    made = run("experiment", "new", "seen", "--arms", "cold,warm:reads", "--observed", labels)
    assert made.exit_code == 0, made.output
    assert _json(run("experiment", "run", "seen", "--json"))["done"] == 24
    assert _json(run("experiment", "run", "seen", "--json"))["ran"] == 0
    ours, seen = (
        _json(run("experiment", "report", name, "--json"))["verdict"]["analysis"]["arms"]
        for name in ("first", "seen")
    )
    assert [(a["calls"], a["sessions"]) for a in ours] == [
        (a["calls"], a["sessions"]) for a in seen
    ]
    labels.write_text('{"session": "hermes:gone", "arm": "cold"}\n')
    assert run("experiment", "run", "seen").exit_code == 3


def test_the_size_of_an_experiment_is_planned(run: Run, new: New) -> None:
    assumed = _json(run("experiment", "plan", "--trials", 1, "--json"))
    assert abs(assumed["sizes"][0]["tasks"] - 164) <= 6
    text = run("experiment", "plan", "--prices", "3,15", "--tokens", "20000,1500", "--tasks", 40)
    assert "$" in text.stdout
    assert "chance of seeing this effect" in text.stdout
    for budget in (("--sessions", 160), ("--dollars", 13.2)):
        priced = ("--prices", "3,15", "--tokens", "20000,1500", "--trials", 2, "--json")
        assert _json(run("experiment", "plan", *budget, *priced))["reach"]["tasks"] == 40
    assert run("experiment", "plan", "--dollars", 5).exit_code == 2
    assert run("experiment", "plan", "--sessions", 4, "--trials", 3).exit_code == 2
    new("--trials", 3)
    run("experiment", "run", "first")
    pilot = run("experiment", "plan", "--pilot", "first", "--expected", "0.05")
    assert "from the cold trials of first" in pilot.stdout
    for metric in ("success", "tokens"):
        assert run("experiment", "plan", "--metric", metric, "--pilot", "first").exit_code == 0
    assert run("experiment", "plan", "--control", "3").exit_code == 2


def test_the_live_holdout_is_switched_without_touching_other_settings(run: Run, home: Path) -> None:
    assert "on: 10 %" in run("experiment", "live", "status").stdout
    config = home / "ws" / "config.toml"
    config.parent.mkdir(exist_ok=True)
    config.write_text("# mine\n[warm]\nbudget = 5\n\n[other]\nholdout = 3\n")
    assert "20 %" in run("experiment", "live", "on", "--share", "0.2").stdout
    assert _json(run("experiment", "live", "status", "--json"))["holdout"] == 0.2
    run("experiment", "live", "on")
    run("experiment", "live", "off")
    assert run("experiment", "live", "status").stdout.strip() == "live holdout off"
    assert config.read_text() == "# mine\n[warm]\nholdout = 0\nbudget = 5\n\n[other]\nholdout = 3\n"
    config.write_text("[warm]\nholdout = 7\n")
    assert run("experiment", "live", "status").exit_code == 2
    config.write_text("[[")
    assert run("experiment", "live", "on").exit_code == 2


def test_an_interrupt_keeps_what_is_done(
    run: Run, new: New, monkeypatch: pytest.MonkeyPatch
) -> None:
    new()
    follow = Pool._follow

    def interrupted(pool: Pool, slots: Any) -> Iterator[FinishedTrial]:
        for number, done in enumerate(follow(pool, slots)):
            if number == 3:
                raise KeyboardInterrupt
            yield done

    with monkeypatch.context() as patched:
        patched.setattr(Pool, "_follow", interrupted)
        assert run("experiment", "run", "first").exit_code == 130
    assert _json(run("experiment", "status", "first", "--json"))["done"] == 3
    assert _json(run("experiment", "run", "first", "--json"))["done"] == 12


def test_killed_again_and_again_it_ends_with_the_same_verdict(
    run: Run, new: New, home: Path
) -> None:
    for name in ("whole", "killed"):
        new("--trials", 4, name=name)
    run("experiment", "run", "whole")
    draw = random.Random(5)  # noqa: S311 - moments, no secrets
    command = [sys.executable, "-m", "warmstart", "experiment", "run", "killed", "--jobs", "2"]
    for _ in range(4):
        process = subprocess.Popen(command, env=os.environ, stdout=subprocess.DEVNULL)
        try:
            process.communicate(timeout=draw.uniform(0.3, 1.1))
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
    assert _json(run("experiment", "run", "killed", "--json"))["done"] == 48
    workspace = Workspace.open(home / "ws")
    whole, killed = (read_state(workspace, name) for name in ("whole", "killed"))
    assert len({record.trial.key for record in killed.records}) == len(killed.records) == 48
    first, second = (
        make_report(one).verdict.analysis.comparisons[0].primary for one in (whole, killed)
    )
    assert (first.estimate, first.interval, first.p) == (second.estimate, second.interval, second.p)
    with SessionDB(home / "ws" / "store.db") as db:
        assert db.session_count("experiment") == 96


@pytest.mark.parametrize("form", ["jsonl", "csv"])
def test_trials_are_exported_without_what_was_secret_in_them(
    run: Run, home: Path, form: str
) -> None:
    plant = Planter(5)
    said, known = plant.self_telling("words of the agent", "github_pat"), plant.random("own")
    named = plant.self_telling("name of the task", "npm")
    tasks = write_tasks(home / "tasks.jsonl", 2)
    rows = [json.loads(line) | {"id": f"t{number} {named}"}
            for number, line in enumerate(tasks.read_text().splitlines())]  # fmt: skip
    tasks.write_text("".join(json.dumps(row) + "\n" for row in rows))
    made = run("experiment", "new", "cmd", "--tasks", tasks, "--arms", "cold,placebo", "--trials", 1,
               "--command", f"sh -c 'echo it said {said} and {known}; exit 3'")  # fmt: skip
    assert made.exit_code == 0, made.output
    assert run("experiment", "run", "cmd").exit_code == 0
    target = home / f"trials.{form}"
    done = run("experiment", "export", "cmd", "--as", form, "-o", target, ACME_LICENCE_KEY=known)
    assert done.exit_code == 0, done.output
    text = target.read_text()
    assert "exited 3: it said <SECRET:" in text
    assert not find_leaks(plant.planted, text, done.output)
    assert target.stat().st_mode & 0o777 == 0o600
