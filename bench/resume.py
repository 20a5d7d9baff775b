"""An experiment killed again and again, beside the same one left alone.

    python bench/resume.py [--tasks N] [--trials N] [--kills N] [--jobs N] [--seed N]
                           [--json] [--check]

Runs an experiment of tasks x 2 arms x trials against a scripted model twice: once to its end, and
once killed with SIGKILL at random moments and started again until it is complete. The bar: every
trial is there, none twice, each with exactly one session in the store, and the verdict is the same
to the last digit. Everything is a demonstration: no model is asked.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console
from rich.table import Table

from warmstart.app import Workspace, open_library
from warmstart.app.experiment_verdicts import make_report
from warmstart.app.experiments import read_state
from warmstart.model import Example, Template, TemplateState
from warmstart.testing import LearningModel, Prompt, Reply, ScriptedEndpoint

NAME = "kills"
MAX_RUNS = 2000
THINKING_SECONDS = 0.02


def think(prompt: Prompt) -> Reply:
    """The learning model, slow enough that a kill finds it at work."""
    time.sleep(THINKING_SECONDS)
    return LearningModel()(prompt)


def write_tasks(path: Path, count: int) -> None:
    rows = [
        {
            "id": f"t{number:03}",
            "prompt": f"Read notes/a{number}.txt and notes/b{number}.txt and say what is in them.",
            "files": {f"notes/{name}{number}.txt": f"{name} {number}" for name in "ab"},
            "tools": ["read_file"],
            "check": {"answer": f"a {number} .*b {number}"},
        }
        for number in range(count)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")


def command(home: Path, *words: str) -> list[str]:
    os.environ["WARMSTART_HOME"] = str(home)
    return [sys.executable, "-m", "warmstart", "experiment", *words]


def create(home: Path, url: str, options: argparse.Namespace) -> None:
    home.mkdir()
    example = Example(
        tool="read_file", arguments={"path": "docs/guide.txt"}, result="A short guide.",
        intent="Read docs/guide.txt.", closing="It is a short guide.",
    )  # fmt: skip
    with open_library(Workspace.open(home)) as library:
        library.save(Template(name="reading", examples=(example,)), state=TemplateState.APPROVED)
    tasks = home / "tasks.jsonl"
    write_tasks(tasks, options.tasks)
    words = (
        "new", NAME, "--tasks", str(tasks), "--arms", "cold,warm:reading",
        "--trials", str(options.trials), "--endpoint", url, "--model", "scripted", "--quiet",
    )  # fmt: skip
    subprocess.run(command(home, *words), check=True, stdout=subprocess.DEVNULL)


def run_through(home: Path, jobs: int) -> float:
    started = time.perf_counter()
    words = ("run", NAME, "--jobs", str(jobs), "--quiet")
    subprocess.run(command(home, *words), check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - started


def count_lines(home: Path) -> int:
    path = home / "experiments" / NAME / "trials.jsonl"
    return path.read_bytes().count(b"\n") if path.exists() else 0


class Kills(NamedTuple):
    """How often a run was killed, and how often it had recorded trials of its own by then."""

    all: int
    at_work: int


def run_killed(home: Path, options: argparse.Namespace, longest: float) -> Kills:
    """Kill at random moments, then let it end."""
    draw = random.Random(options.seed)  # noqa: S311 - moments, no secrets
    killed = at_work = 0
    for _ in range(MAX_RUNS):
        words = ("run", NAME, "--jobs", str(options.jobs), "--quiet")
        before = count_lines(home)
        process = subprocess.Popen(
            command(home, *words), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        )
        try:
            wait = draw.uniform(0.0, longest) if killed < options.kills else None
            _, complaint = process.communicate(timeout=wait)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            killed += 1
            at_work += count_lines(home) > before
            continue
        if process.returncode == 0:
            return Kills(killed, at_work)
        raise SystemExit(f"a resumed run failed: {complaint.decode()}")
    raise SystemExit("the experiment never ended")


def inspect(home: Path) -> dict[str, Any]:
    workspace = Workspace.open(home)
    standing = read_state(workspace, NAME)
    lines = (home / "experiments" / NAME / "trials.jsonl").read_text("utf-8").splitlines()
    keys = [(row["task"], row["arm"], row["number"]) for row in map(json.loads, lines)]
    with workspace.open_store(read_only=True) as db:
        sessions = db.session_count("experiment")
        problems = len(db.verify().problems)
    verdict = make_report(standing).verdict
    primary = verdict.analysis.comparisons[0].primary
    return {
        "trials": len(keys),
        "twice": len(keys) - len(set(keys)),
        "sessions": sessions,
        "store_problems": problems,
        "conclusion": verdict.conclusion.value,
        "estimate": primary.estimate,
        "interval": list(primary.interval),
        "p": primary.p,
        "calls": list(primary.calls),
        "tokens": sum(trial.tokens for trial in standing.trials),
    }


def measure(options: argparse.Namespace) -> dict[str, Any]:
    with (
        tempfile.TemporaryDirectory() as folder,
        ScriptedEndpoint(think) as endpoint,
    ):
        whole, killed = Path(folder) / "whole", Path(folder) / "killed"
        for home in (whole, killed):
            create(home, endpoint.url, options)
        seconds = run_through(whole, options.jobs)
        # Starting takes most of a second; a third of the run goes by between two kills at most.
        longest = max(seconds / 3, 1.0)
        kills = run_killed(killed, options, longest)
        return {
            "wanted": options.tasks * 2 * options.trials,
            "kills": kills.all,
            "kills_at_work": kills.at_work,
            "whole": inspect(whole),
            "killed": inspect(killed),
        }


def find_failures(found: dict[str, Any]) -> list[str]:
    wanted, killed, whole = found["wanted"], found["killed"], found["whole"]
    failures = [] if found["kills_at_work"] >= 5 else ["it was hardly ever killed at work"]
    failures += [
        f"{killed[name]} {name}, not {wanted}"
        for name in ("trials", "sessions")
        if killed[name] != wanted
    ]
    if killed["twice"] or killed["store_problems"]:
        failures.append("a trial is there twice, or the store is not sound")
    failures += [
        f"{name} differs: {whole[name]} and {killed[name]}"
        for name in ("conclusion", "estimate", "interval", "p", "calls", "tokens")
        if whole[name] != killed[name]
    ]
    return failures


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--tasks", type=int, default=50)
    parser.add_argument("--trials", type=int, default=2)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    found = measure(options)
    failures = find_failures(found)
    if options.json:
        print(json.dumps({**found, "failures": failures}, indent=2))
    else:
        table = Table(
            "", "left alone", f"killed {found['kills']} times, {found['kills_at_work']} at work"
        )
        for name in found["whole"]:
            table.add_row(name, str(found["whole"][name]), str(found["killed"][name]))
        Console().print(table)
        print("\n".join(failures) or f"{found['wanted']} trials, none twice, same verdict")
    return int(bool(failures) and options.check)


if __name__ == "__main__":
    sys.exit(main())
