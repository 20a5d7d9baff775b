"""How long it takes to start a session warm, and what the command itself costs.

    python bench/warm.py [--templates N] [--rounds N] [--json] [--check]

A library of invented templates is written to a temporary home through its own functions. *Start*:
open the library, list it, index it, choose, read the template, build, render; nothing is kept from
before. *Stages*: choose, build and render alone, from entries in memory. CPU milliseconds, best of
several rounds. The command is measured beside an empty click program, each as a process of its own,
in turns: with a library of 20 templates, which is what people have, and with all of them. Each
command is held to its worse form, the table into a pipe or JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from warmstart.app import StartRequest, WarmConfig, Workspace, open_library, prepare_start
from warmstart.model import (
    ErrorClass,
    Example,
    Guidance,
    Marker,
    MarkerKind,
    Recovery,
    Template,
    TemplateState,
)
from warmstart.warm import (
    SelectionRules,
    TemplateEntry,
    TemplateIndex,
    build_warmup,
    choose,
    render,
)

MAX_START_MS = 25.0
MAX_RATIOS = {"help": 2.0, "list": 3.0, "list_json": 3.0}
"""CPU time of a command over that of an empty click program."""
SMALL = 20
"""Templates of a realistic library."""
FORM = "openai"
EMPTY_PROGRAM = "import click\n@click.group()\ndef cli(): 'Nothing.'\ncli()"
VERBS = ("fix", "build", "deploy", "review", "migrate", "measure", "test", "document", "debug")
THINGS = (
    "checkout", "invoice", "cart", "search", "login", "parser", "scheduler", "report", "gateway",
    "cache", "index", "worker", "queue", "importer", "exporter", "dashboard", "webhook", "mailer",
)  # fmt: skip
PLACES = ("shop", "api", "web", "mobile", "batch", "cluster", "pipeline", "library", "plugin")
TOOLS = ("terminal", "read_file", "patch", "search_files", "write_file")


def make_template(number: int, chance: random.Random) -> Template:
    verb, thing, place = (chance.choice(words) for words in (VERBS, THINGS, PLACES))
    anchors = tuple(
        f"{chance.choice(VERBS)} the {chance.choice(THINGS)} of the {place}, case {number % 97}"
        for _ in range(6)
    )
    examples = tuple(
        Example(
            tool=chance.choice(TOOLS),
            arguments={"path": f"src/{thing}_{n}.py", "command": f"pytest -q tests/{thing}"},
            result=f"{n} passed, {number % 7} failed in the {thing} of the {place}\n" * 6,
            intent=f"Please {verb} the {thing} number {n}.",
            closing=f"The {thing} works now.",
            sessions=1 + n,
        )
        for n in range(8)
    )
    recovery = Recovery(
        tool="patch", error_class=ErrorClass.NOT_FOUND, signature="no match", count=3, tries=4,
        failed_arguments={"path": thing}, error="no match for old text", repaired_by="patch",
        arguments={"path": thing, "old": "x"}, result="patched", change="the exact text was quoted",
    )  # fmt: skip
    return Template(
        name=f"{verb}-{thing}-{place}-{number}",
        task_type=chance.choice(("code", "file", "terminal", "mixed")),
        tags=(verb, thing, place),
        anchors=anchors,
        guidance=tuple(
            Guidance(tool=t, text=f"{t} wants a relative path.", calls=40, errors=4) for t in TOOLS
        ),
        examples=examples,
        recoveries=(recovery,),
        markers=tuple(Marker(MarkerKind.FILE, f"src/{thing}_{n}.py", 3) for n in range(6)),
    )


def make_messages(chance: random.Random, count: int) -> list[str]:
    return [
        f"please {chance.choice(VERBS)} the {chance.choice(THINGS)} of our {chance.choice(PLACES)},"
        " it has been slow since the last release"
        for _ in range(count)
    ]


def fill(workspace: Workspace, templates: list[Template]) -> None:
    with open_library(workspace) as library:
        for template in templates:
            library.save(template, state=TemplateState.APPROVED)


def timed(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return (time.process_time() - start) * 1000


def measure_starts(workspace: Workspace, messages: list[str]) -> dict[str, float]:
    """Everything from opening the library on; each message is new."""
    config = WarmConfig(holdout=0.0)
    warm = 0

    def start(message: str) -> None:
        nonlocal warm
        found = prepare_start(workspace, StartRequest(message=message), config, record=False)
        found.render(FORM)
        warm += found.is_warm

    times = sorted(timed(lambda m=m: start(m)) for m in messages)  # type: ignore[misc]
    median = times[len(times) // 2]
    return {"start_ms": times[0], "start_median_ms": median, "warm_share": warm / len(messages)}


def measure_stages(templates: list[Template], messages: list[str]) -> dict[str, float]:
    by_name = {template.name: template for template in templates}
    entries = [
        TemplateEntry(name=t.name, tags=t.tags, anchors=t.anchors, task_type=t.task_type)
        for t in templates
    ]
    rules = SelectionRules(holdout=0.0)

    def go(index: TemplateIndex, message: str) -> None:
        choice = choose(message, index, session_seed=message, rules=rules)
        if choice.template:
            warmup = build_warmup(by_name[choice.template], template_id="0" * 64)
            render(warmup, FORM)

    index = TemplateIndex(entries)
    return {
        "stages_first_ms": min(
            timed(lambda m=m: go(TemplateIndex(entries), m)) for m in messages[:9]
        ),  # type: ignore[misc]
        "stages_next_ms": min(timed(lambda m=m: go(index, m)) for m in messages),  # type: ignore[misc]
    }


def child_ms(command: list[str], environ: dict[str, str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, env=environ, capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1000


def measure_command(small: Path, large: Path, rounds: int) -> dict[str, float]:
    ours = [sys.executable, "-c", "from warmstart.cli.main import main; main()"]
    listing, warm = [*ours, "template", "list"], [*ours, "warm", "fix the checkout of the shop"]
    commands = {
        "empty": ([sys.executable, "-c", EMPTY_PROGRAM, "--help"], small),
        "help": ([*ours, "--help"], small),
        "list": (listing, small),
        "list_json": ([*listing, "--json"], small),
        "list_all": (listing, large),
        "warm": (warm, small),
        "warm_json": ([*warm, "--json"], small),
    }
    best = dict.fromkeys(commands, float("inf"))
    plain = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    for _ in range(rounds):
        for name, (command, home) in commands.items():
            environ = {**plain, "WARMSTART_HOME": str(home), "WARMSTART_STORE": ""}
            best[name] = min(best[name], child_ms(command, environ))
    figures = {f"{name}_ms": cpu for name, cpu in best.items()}
    return figures | {
        f"{name}_ratio": cpu / best["empty"] for name, cpu in best.items() if name != "empty"
    }


def measure(count: int, rounds: int) -> dict[str, float]:
    chance = random.Random(1)  # noqa: S311 - a fixed library
    templates = [make_template(number, chance) for number in range(count)]
    messages = make_messages(chance, max(rounds, 3))
    with tempfile.TemporaryDirectory() as folder:
        workspace = Workspace.open(Path(folder) / "home")
        fill(workspace, templates)
        figures = measure_starts(workspace, messages)
        figures |= measure_stages(templates, messages)
        small = Workspace.open(Path(folder) / "small")
        fill(small, templates[:SMALL])
        return figures | measure_command(small.home, workspace.home, max(rounds // 3, 3))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--templates", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--check", action="store_true", help="exit 1 where a bar is missed")
    options = parser.parse_args()
    figures: dict[str, Any] = measure(options.templates, options.rounds)
    bars = {
        f"start from {options.templates:,} templates in {MAX_START_MS:.0f} ms": figures["start_ms"]
        <= MAX_START_MS,
    }
    for name, most in MAX_RATIOS.items():
        bars[f"{name} at most {most}x an empty click program"] = figures[f"{name}_ratio"] <= most
    rounded = {name: round(value, 2) for name, value in figures.items()}
    if options.json:
        print(json.dumps({"schema_version": 1, **rounded, "bars": bars}, indent=1))
    else:
        table = Table("what", "figure", title="starting warm", title_justify="left")
        for name, value in rounded.items():
            table.add_row(name, f"{value:,}")
        console = Console(width=110)
        console.print(table)
        for name, good in bars.items():
            console.print(f"{'ok  ' if good else 'MISS'} {name}")
    return int(options.check and not all(bars.values()))


if __name__ == "__main__":
    sys.exit(main())
