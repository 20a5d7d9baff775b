"""What `warmstart template list` costs with many templates, beside an empty click program.

    python bench/template_list.py [--templates N,N] [--rounds R] [--json] [--check]

All are started as processes in turns; CPU time of the child, the best of the rounds. The bar, three
times the empty program, is for the smallest library asked for: 20 templates unless others are
named. The larger one shows how the cost grows.
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

from warmstart.app import Workspace, open_library
from warmstart.model import Example, Template, TemplateState

MAX_RATIO = 3.0
EMPTY = "import click\n@click.command()\ndef main(): pass\nmain()"
BASE = "empty click program"
COMMANDS = {
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


def run(sizes: list[int], rounds: int) -> dict[str, Any]:
    """The best of each command and library, and its ratio to the empty program."""
    best: dict[tuple[str, int], float] = {}
    with tempfile.TemporaryDirectory() as folder:
        for size in sizes:
            fill(Path(folder) / str(size), size)
        for _ in range(rounds):
            runs = [(BASE, 0, ["-c", EMPTY])]
            runs += [(name, size, args) for size in sizes for name, args in COMMANDS.items()]
            for name, size, arguments in runs:
                cpu = measure(arguments, Path(folder) / str(size))
                best[name, size] = min(best.get((name, size), cpu), cpu)
    empty = best[BASE, 0]
    return {
        "schema_version": 1,
        "max_ratio": MAX_RATIO,
        "commands": [
            {"command": name, "templates": size, "cpu_ms": round(cpu * 1000),
             "ratio": round(cpu / empty, 2)}
            for (name, size), cpu in best.items()
        ],
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--templates", default="20,1000", help="sizes of the libraries")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--check", action="store_true", help="exit 1 where the bar is missed")
    options = parser.parse_args()
    sizes = sorted(int(size) for size in options.templates.split(","))
    figures = run(sizes, options.rounds)
    if options.json:
        print(json.dumps(figures))
    else:
        table = Table("command", "templates", "CPU ms", "ratio")
        for row in figures["commands"]:
            cells = (row["command"], f"{row['templates']:,}", str(row["cpu_ms"]), str(row["ratio"]))
            table.add_row(*cells)
        Console().print(table)
    worst = max(row["ratio"] for row in figures["commands"] if row["templates"] == sizes[0])
    if options.check and worst > MAX_RATIO:
        sys.exit(1)


if __name__ == "__main__":
    main()
