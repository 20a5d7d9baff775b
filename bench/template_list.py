"""What `warmstart template list` costs with many templates, beside an empty click program.

    python bench/template_list.py [--templates N] [--rounds R] [--json] [--check]

Both are started as processes in turns; CPU time of the child, the best of the rounds. The table for
people goes through rich cell by cell, so its cost grows with the rows; ``--json`` does not. The
goal is three times the empty program.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from warmstart.model.template import Example, Template, TemplateState
from warmstart.workspace import Workspace
from warmstart.workspace.templates import open_library

MAX_RATIO = 3.0
EMPTY = "import click\n@click.command()\ndef main(): pass\nmain()"
COMMANDS = {
    "empty click program": ["-c", EMPTY],
    "template list --json": ["-m", "warmstart", "template", "list", "--json"],
    "template list": ["-m", "warmstart", "template", "list"],
}


def fill(home: Path, number: int) -> None:
    """Templates with five examples and five anchors each."""
    with open_library(Workspace(home)) as library:
        for place in range(number):
            examples = tuple(
                Example(tool="bash", arguments={"command": f"pytest {n}"}, result="3 passed " * 20)
                for n in range(5)
            )
            template = Template(
                name=f"template-{place:05}",
                description=f"number {place}",
                anchors=tuple(f"fix the failing test {place} {n}" for n in range(5)),
                examples=examples,
            )
            library.save(template, state=TemplateState.DRAFT)


def measure(arguments: list[str], home: Path) -> float:
    """CPU seconds of one run."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, *arguments],
        env={**os.environ, "WARMSTART_HOME": str(home), "WARMSTART_STORE": ""},
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def run(templates: int, rounds: int) -> dict[str, Any]:
    """The best of each command, and its ratio to the empty program."""
    best = dict.fromkeys(COMMANDS, float("inf"))
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        fill(home, templates)
        for _ in range(rounds):
            for name, arguments in COMMANDS.items():
                best[name] = min(best[name], measure(arguments, home))
    empty = best["empty click program"]
    return {
        "templates": templates,
        "commands": [
            {"command": name, "cpu_ms": round(cpu * 1000), "ratio": round(cpu / empty, 2)}
            for name, cpu in best.items()
        ],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--templates", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    figures = run(options.templates, options.rounds)
    if options.json:
        print(json.dumps(figures))
    else:
        table = Table("command", "CPU ms", "ratio", title=f"{options.templates:,} templates")
        for row in figures["commands"]:
            table.add_row(row["command"], str(row["cpu_ms"]), str(row["ratio"]))
        Console().print(table)
    worst = max(row["ratio"] for row in figures["commands"])
    if options.check and worst > MAX_RATIO:
        sys.exit(1)


if __name__ == "__main__":
    main()
