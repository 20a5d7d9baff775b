"""What building a template costs beside the original way, and whether it is small and stable.

    python bench/mine.py DATABASE [--original FOLDER] [--rounds N] [--json] [--check]

DATABASE is a Hermes state.db, as large as you have; FOLDER holds the original's two modules
(seed_v2.py, seed_store.py), and without it nothing is compared. Both sides read the database and
save their template, each run in a process of its own, in turns; CPU time of that process and of
the workers it starts, best of several rounds. Ours is measured three ways: everything from nothing
(facts are built first), with facts kept from an earlier run, and choosing sessions alone, from
facts already in memory.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

MIN_RATIO = 8.0
MAX_BYTES = 65_536
MAX_PLAN_SECONDS = 0.2
OURS = """
import gc, json, resource, sys, time
from pathlib import Path
from warmstart.mine import BuildRequest, plan_template
from warmstart.model.selection import Selection
from warmstart.sources import ReadLog
from warmstart.app import Workspace
from warmstart.app.facts import read_facts
from warmstart.app.mining import build_template
workspace, selection = Workspace.open(Path(sys.argv[2])), Selection(paths=(sys.argv[1],))
request = BuildRequest(name="bench")
mined = build_template(workspace, request, selection, ReadLog())
saved = mined.saved
workers = resource.getrusage(resource.RUSAGE_CHILDREN)
whole = time.process_time() + workers.ru_utime + workers.ru_stime
plans = []
if sys.argv[3] == "plan":
    facts = list(read_facts(workspace, selection, ReadLog()))
    gc.collect()
    gc.disable()
    for _ in range(5):
        start = time.process_time()
        plan = plan_template(request, facts)
        plans.append(time.process_time() - start)
print(json.dumps({"seconds": whole, "plan_seconds": min(plans, default=None), "id": saved.id,
                  "bytes": saved.path.stat().st_size, "examples": len(mined.template.examples),
                  "sessions": mined.plan.looked_at, "qualified": len(mined.plan.qualified)}))
"""
ORIGINAL = """
import json, os, sys, time
sys.path.insert(0, sys.argv[2])
import seed_v2
from seed_store import SessionDB
original = seed_v2.extract_from_session_db
def plain(*a, **k):
    patterns, metrics = original(*a, **k)
    metrics["tool_distribution"] = dict(metrics["tool_distribution"])
    return patterns, metrics
seed_v2.extract_from_session_db = plain
seed_v2.build_and_save(SessionDB(sys.argv[1]), "bench", min_messages=30, max_sessions=10**9)
seconds = time.process_time()
files = [os.path.join(folder, name) for folder, _, names in os.walk(os.environ["HERMES_HOME"])
         for name in names if name.endswith(".json")]
print(json.dumps({"seconds": seconds, "bytes": sum(map(os.path.getsize, files))}))
"""


def run(code: str, *arguments: object, **environ: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        capture_output=True, text=True, check=False, env={**os.environ, **environ},
    )  # fmt: skip
    if done.returncode:
        sys.exit(done.stderr[-2000:])
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def measure(database: Path, original: Path | None, rounds: int) -> dict[str, Any]:
    cold: list[dict[str, Any]] = []
    kept: list[dict[str, Any]] = []
    theirs: list[dict[str, Any]] = []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as home:
            cold.append(run(OURS, database, home, "no"))
            kept.append(run(OURS, database, home, "plan"))
        if original is not None:
            with tempfile.TemporaryDirectory() as home:
                theirs.append(run(ORIGINAL, database, original, HERMES_HOME=home))
    best = {name: min(one["seconds"] for one in runs)
            for name, runs in {"cold": cold, "kept": kept, "theirs": theirs}.items()
            if runs}  # fmt: skip
    return {
        "sessions": cold[0]["sessions"],
        "qualified": cold[0]["qualified"],
        "examples": cold[0]["examples"],
        "template_bytes": cold[0]["bytes"],
        "same_bytes": len({one["id"] for one in cold + kept}) == 1,
        "from_nothing_seconds": round(best["cold"], 2),
        "facts_kept_seconds": round(best["kept"], 2),
        "plan_seconds": round(min(one["plan_seconds"] for one in kept), 3),
        "original_seconds": round(best["theirs"], 2) if theirs else None,
        "original_bytes": theirs[0]["bytes"] if theirs else None,
        "ratio_from_nothing": round(best["theirs"] / best["cold"], 1) if theirs else None,
        "ratio_facts_kept": round(best["theirs"] / best["kept"], 1) if theirs else None,
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("database", type=Path)
    parser.add_argument("--original", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--check", action="store_true", help="exit 1 where a bar is missed")
    options = parser.parse_args()
    figures = measure(options.database, options.original, options.rounds)
    bars = {
        f"template at most {MAX_BYTES:,} bytes": figures["template_bytes"] <= MAX_BYTES,
        "same bytes on every run": figures["same_bytes"],
        f"choosing sessions at most {MAX_PLAN_SECONDS} s": figures["plan_seconds"]
        <= MAX_PLAN_SECONDS,
    }
    for name in ("ratio_from_nothing", "ratio_facts_kept"):
        if figures[name] is not None:
            bars[f"{name} at least {MIN_RATIO:g}"] = figures[name] >= MIN_RATIO
    if options.json:
        print(json.dumps({"schema_version": 1, **figures, "bars": bars}, indent=1))
    else:
        table = Table("what", "figure", title="building a template", title_justify="left")
        for name, value in figures.items():
            table.add_row(name, f"{value:,}" if isinstance(value, int) else str(value))
        console = Console(width=110)
        console.print(table)
        for name, met in bars.items():
            console.print(f"{'ok  ' if met else 'MISS'} {name}")
    return int(options.check and not all(bars.values()))


if __name__ == "__main__":
    sys.exit(main())
