"""Facts, profiles and mining candidates beside the original, on a generated Hermes database.

    python bench/facts.py --baseline DIR [--database FILE] [--claude DIR] [--rounds N]
                          [--before SRC --format DIR ...] [--sessions N] [--quick] [--json]
                          [--check]

DIR holds the original made runnable (``seed_v2.py``, ``seed_store.py``) and the generator
(``gen_state_db.py``); neither is imported here, each runs in a process of its own. The database is
generated unless one is given (its truth beside it as FILE.truth.db); it is never written to. Every
part runs in a fresh process, the sides alternate, and the best of several rounds counts: CPU
seconds of the process and its children, and peak memory of the largest of them.

SRC is the ``src`` folder of an earlier version. First builds of the database, of the Claude Code
transcripts and of every other folder of sessions named by --format are then measured beside it.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from warmstart.app import Workspace
from warmstart.app.facts import read_facts, read_rows, refresh_facts
from warmstart.app.profiles import profile_corpus
from warmstart.facts import gc_paused
from warmstart.mine import MiningRules, plan_mining
from warmstart.model import Selection
from warmstart.sources import ReadLog

MIN_SPEEDUP = 8.0
MAX_SCAN_RATIO = 3.0
MAX_MEGABYTES = 120.0
MAX_REFRESH = 0.03
MAX_NOTHING_NEW = 0.015
MIN_STORED_SPEEDUP = 100.0
MAX_FOUR_TIMES = 4.4
MAX_LONG_SESSION = 6.0
MAX_BESIDE_BEFORE = 1.5
"""CPU of a first build of Hermes and Claude Code sessions, beside an earlier version."""
MIN_OTHERS_SPEEDUP = 1.5
MAX_MISCOUNT = 0.005
CONTENTS = "session_id, role, content, tool_call_id, tool_calls, tool_name, timestamp"
SCAN = f"SELECT id, {CONTENTS} FROM messages"
ORIGINAL = """
import os, sys, tempfile, time
sys.path.insert(0, sys.argv[1])
os.environ["HERMES_HOME"] = tempfile.mkdtemp()
import seed_v2
from seed_store import SessionDB
start = time.process_time()
database = SessionDB(sys.argv[2])
for session in database.list_sessions(limit=10**9):
    seed_v2.profile_session(database.get_messages(session["id"]), session["id"])
profiled = time.process_time()
extract = seed_v2.extract_from_session_db
def plain(*args, **options):
    patterns, metrics = extract(*args, **options)
    metrics["tool_distribution"] = dict(metrics["tool_distribution"])
    return patterns, metrics
seed_v2.extract_from_session_db = plain
seed_v2.build_and_save(SessionDB(sys.argv[2]), "bench", min_messages=30, max_sessions=10**9)
import json, resource
print("FIGURES", json.dumps({"profile": profiled - start, "mine": time.process_time() - profiled,
    "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}))
"""


def cpu_seconds() -> float:
    own, children = (
        resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def measure(work: Callable[[], Any]) -> dict[str, Any]:
    cpu, wall = cpu_seconds(), time.perf_counter()
    found = work()
    return {"cpu": cpu_seconds() - cpu, "wall": time.perf_counter() - wall, "found": found}


def part_scan(database: Path, _: Path) -> dict[str, Any]:
    """Drain the columns through sqlite3 and do nothing with them."""
    connection = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
    return measure(lambda: len(deque(connection.execute(SCAN), maxlen=0)))


def part_full(database: Path, home: Path) -> dict[str, Any]:
    """Facts, the whole profile and the candidates for mining, from nothing."""
    workspace, selection = Workspace.open(home), Selection(paths=(str(database),))
    facts = measure(lambda: refresh_facts(workspace, selection, ReadLog()))
    profile = measure(lambda: profile_corpus(workspace, selection, ReadLog()) and None)
    mine = measure(lambda: choose_sessions(workspace, selection))
    peak = max(
        resource.getrusage(who).ru_maxrss
        for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    errors = sum(row.statuses.error for row in read_rows(workspace, selection, ReadLog()))
    return {
        "facts": facts,
        "profile": profile,
        "mine": mine,
        "megabytes": peak / 1024,
        "errors": errors,
    }


def choose_sessions(workspace: Workspace, selection: Selection) -> None:
    """Which sessions a template would be made from, as building one does it."""
    with gc_paused():
        facts = read_facts(workspace, selection, ReadLog(), repeats=False)
        plan_mining(facts, MiningRules(), max_sessions=40)


def part_refresh(database: Path, home: Path) -> dict[str, Any]:
    """Bring facts that are there up to date."""
    workspace, selection = Workspace.open(home), Selection(paths=(str(database),))
    return measure(lambda: refresh_facts(workspace, selection, ReadLog()))


def part_stored(database: Path, home: Path) -> dict[str, Any]:
    """The whole profile from facts that are there."""
    workspace, selection = Workspace.open(home), Selection(paths=(str(database),))
    return measure(lambda: profile_corpus(workspace, selection, ReadLog()) and None)


def part_equal(database: Path, home: Path) -> dict[str, Any]:
    """Whether the facts that are there are those of a fresh index."""
    selection = Selection(paths=(str(database),))
    with tempfile.TemporaryDirectory() as fresh:
        pairs = zip(
            read_facts(Workspace.open(home), selection, ReadLog()),
            read_facts(Workspace.open(Path(fresh)), selection, ReadLog()),
            strict=True,
        )
        return {"equal": all(one == two for one, two in pairs)}


PARTS: dict[str, Callable[[Path, Path], dict[str, Any]]] = {
    "scan": part_scan,
    "full": part_full,
    "refresh": part_refresh,
    "stored": part_stored,
    "equal": part_equal,
}


def run_part(name: str, database: Path, home: Path) -> dict[str, Any]:
    command = [sys.executable, __file__, "--part", name, str(database), str(home)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


COMPILED = {name: text for name, text in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
"""Without it, compiling the code would be part of every build."""
MAIN_FORMATS = ("hermes", "claude_code")
BUILD = """
import sys
from pathlib import Path
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage
from warmstart.app import Workspace
from warmstart.app.facts import refresh_facts
from warmstart.model.selection import Selection
from warmstart.sources.log import ReadLog
refresh_facts(Workspace.open(Path(sys.argv[2])), Selection(paths=(sys.argv[1],)), ReadLog())
print(sum(sum(getrusage(who)[:2]) for who in (RUSAGE_SELF, RUSAGE_CHILDREN)))
"""


def measure_before(
    before: Path, sources: dict[str, Path], folder: Path, rounds: int
) -> dict[str, tuple[float, float]]:
    """CPU seconds of a first build of each source, by an earlier version and by this one."""
    versions = (before.resolve(), Path(__file__).resolve().parents[1] / "src")
    found = {}
    for name, path in sources.items():
        best = [float("inf"), float("inf")]
        for _ in range(rounds):
            for side, version in enumerate(versions):
                home = folder / "before-home"
                command = [sys.executable, "-c", BUILD, str(path), str(home)]
                environment = {**COMPILED, "PYTHONPATH": str(version)}
                done = subprocess.run(
                    command, env=environment, capture_output=True, text=True, check=True
                )
                best[side] = min(best[side], float(done.stdout))
                shutil.rmtree(home)
        found[name] = (best[0], best[1])
    return found


def run_original(baseline: Path, database: Path) -> dict[str, float]:
    command = [sys.executable, "-c", ORIGINAL, str(baseline), str(database)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    line = next(line for line in done.stdout.splitlines() if line.startswith("FIGURES "))
    return json.loads(line.partition(" ")[2])


def generate(baseline: Path, target: Path, *options: str) -> Path:
    if not target.exists():
        command = [sys.executable, str(baseline / "gen_state_db.py"), str(target), *options]
        subprocess.run(command, capture_output=True, check=True)
    return target


def best_full(database: Path, folder: Path, rounds: int) -> dict[str, Any]:
    """The best of several full runs; the last one's home stays for the refreshes."""
    runs = []
    for _ in range(rounds):
        shutil.rmtree(folder, ignore_errors=True)
        runs.append(run_part("full", database, folder))
    return min(runs, key=total_cpu)


def total_cpu(full: dict[str, Any]) -> float:
    return full["facts"]["cpu"] + full["profile"]["cpu"] + full["mine"]["cpu"]


def total_wall(full: dict[str, Any]) -> float:
    return full["facts"]["wall"] + full["profile"]["wall"] + full["mine"]["wall"]


GROWTHS = 5
"""How often the refresh after growth is measured, each time from the facts before it."""
GROWTH = f"""INSERT INTO messages ({CONTENTS}) SELECT {CONTENTS} + 1e7 FROM messages
    WHERE session_id IN (SELECT id FROM sessions WHERE message_count > 0
        ORDER BY started_at DESC LIMIT ?) ORDER BY id"""
MUTATIONS = {
    "rewrite": (
        """UPDATE messages SET content = 'Error: rewritten later on' WHERE role = 'tool'
            AND session_id IN (SELECT id FROM sessions WHERE message_count > 9 LIMIT 7)""",
    ),
    "truncation": ("DELETE FROM messages WHERE id > (SELECT max(id) - 500 FROM messages)",),
    "deletion": (
        "DELETE FROM messages WHERE session_id IN (SELECT id FROM sessions LIMIT 40)",
        "DELETE FROM sessions WHERE id IN (SELECT id FROM sessions LIMIT 40)",
    ),
}


def mutate(database: Path, *statements: str) -> int:
    connection = sqlite3.connect(database)
    with connection:
        changed = sum(connection.execute(statement).rowcount for statement in statements)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    return changed


def grow(database: Path) -> int:
    """One message in a hundred more, in the newest sessions."""
    connection = sqlite3.connect(database)
    with connection:
        added = connection.execute(GROWTH, (sessions_of_a_percent(database),)).rowcount
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    return added


def sessions_of_a_percent(database: Path) -> int:
    """How many of the newest sessions hold one message in a hundred."""
    connection = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
    total = connection.execute("SELECT count(*) FROM messages").fetchone()[0]
    counts = connection.execute(
        "SELECT message_count FROM sessions WHERE message_count > 0 ORDER BY started_at DESC"
    )
    so_far = number = 0
    for (count,) in counts:
        if so_far >= total // 100:
            break
        so_far += count
        number += 1
    return number


def measure_refreshes(database: Path, folder: Path, full: dict[str, Any]) -> dict[str, Any]:
    """A copy of the database, changed in every way, and the facts after each change."""
    copy = folder / "changing.db"
    shutil.copy(database, copy)
    time.sleep(2.5)  # a file changed this second could change again unseen
    home = folder / "changing-home"
    whole = full["facts"]["cpu"]
    run_part("refresh", copy, home)
    nothing = min(run_part("refresh", copy, home)["cpu"] for _ in range(5))
    added = grow(copy)
    before = shutil.copytree(home, folder / "home-before-growth")
    growth = float("inf")
    for _ in range(GROWTHS):
        shutil.rmtree(home)
        shutil.copytree(before, home)
        growth = min(growth, run_part("refresh", copy, home)["cpu"])
    equal = {"growth": run_part("equal", copy, home)["equal"]}
    for name, statements in MUTATIONS.items():
        mutate(copy, *statements)
        run_part("refresh", copy, home)
        equal[name] = run_part("equal", copy, home)["equal"]
    return {
        "added_messages": added,
        "growth_share": growth / whole,
        "nothing_new_share": nothing / whole,
        "equal_to_rebuild": equal,
    }


def measure_linearity(baseline: Path, folder: Path) -> dict[str, float]:
    def best(path: Path) -> float:
        homes = (folder / f"home-{path.stem}-{number}" for number in range(3))
        return min(run_part("refresh", path, home)["cpu"] for home in homes)

    small = best(generate(baseline, folder / "s1.db", "--sessions", "1500"))
    large = best(generate(baseline, folder / "s4.db", "--sessions", "6000"))
    long = {
        size: best(
            generate(baseline, folder / f"l{size}.db", "--only-long", "--long-session", str(size))
        )
        for size in (10_000, 50_000)
    }
    return {"four_times_sessions": large / small, "long_session": long[50_000] / long[10_000]}


def count_true_errors(database: Path) -> int | None:
    truth = database.with_suffix(".truth.db")
    if not truth.exists():
        return None
    connection = sqlite3.connect(f"file:{truth}?mode=ro", uri=True)
    return int(connection.execute("SELECT sum(is_error) FROM truth").fetchone()[0])


def unpack(folder: Path, target: Path) -> Path:
    """A copy of a folder without compression, which would be most of what is measured."""
    for packed in filter(Path.is_file, folder.rglob("*")):
        plain = target / packed.relative_to(folder).with_name(packed.name.removesuffix(".gz"))
        plain.parent.mkdir(parents=True, exist_ok=True)
        opener = gzip.open if packed.suffix == ".gz" else open
        with opener(packed, "rb") as source, plain.open("wb") as out:
            shutil.copyfileobj(source, out)
    return target


Row = tuple[str, str, str, bool]


def report(figures: dict[str, Any]) -> Iterator[Row]:
    full, scan, original = figures["full"], figures["scan"], figures["original"]
    if original:
        speedup = (original["profile"] + original["mine"]) / total_cpu(full)
        yield (
            "CPU beside the original",
            f"{speedup:.1f}x",
            f">= {MIN_SPEEDUP}x",
            speedup >= MIN_SPEEDUP,
        )
        stored = original["profile"] / figures["stored"]["cpu"]
        yield (
            "all profiles from stored facts",
            f"{stored:.0f}x",
            f">= {MIN_STORED_SPEEDUP:.0f}x",
            stored >= MIN_STORED_SPEEDUP,
        )
    ratio = total_wall(full) / scan["wall"]
    yield (
        "wall beside a bare scan",
        f"{ratio:.2f}x",
        f"<= {MAX_SCAN_RATIO}x",
        ratio <= MAX_SCAN_RATIO,
    )
    yield (
        "peak memory",
        f"{full['megabytes']:.0f} MB",
        f"<= {MAX_MEGABYTES:.0f} MB",
        full["megabytes"] <= MAX_MEGABYTES,
    )
    changes = figures["changes"]
    for name, limit in (("growth_share", MAX_REFRESH), ("nothing_new_share", MAX_NOTHING_NEW)):
        yield (
            name.replace("_", " "),
            f"{changes[name]:.2%}",
            f"<= {limit:.1%}",
            changes[name] <= limit,
        )
    for name, equal in changes["equal_to_rebuild"].items():
        yield f"equal to a rebuild after {name}", str(equal), "True", equal
    if figures["linearity"]:
        for name, limit in (
            ("four_times_sessions", MAX_FOUR_TIMES),
            ("long_session", MAX_LONG_SESSION),
        ):
            value = figures["linearity"][name]
            yield name.replace("_", " "), f"{value:.2f}x", f"<= {limit}x", value <= limit
    for name, (before, now) in figures["before"].items():
        if name in MAIN_FORMATS:
            met = now <= MAX_BESIDE_BEFORE * before
            yield f"first build of {name}", f"{now / before:.2f}x", f"<= {MAX_BESIDE_BEFORE}x", met
        else:
            met = before >= MIN_OTHERS_SPEEDUP * now
            bar = f">= {MIN_OTHERS_SPEEDUP}x faster"
            yield f"first build of {name}", f"{before / now:.2f}x faster", bar, met
    if figures["truth"]:
        off = abs(full["errors"] - figures["truth"]) / figures["truth"]
        yield (
            "errors beside the truth",
            f"{off:.2%} off",
            f"<= {MAX_MISCOUNT:.1%}",
            off <= MAX_MISCOUNT,
        )


def list_formats(options: argparse.Namespace, database: Path, folder: Path) -> dict[str, Path]:
    """What first builds are measured on, by name."""
    sources = {"hermes": database}
    if options.claude:
        sources["claude_code"] = unpack(options.claude, folder / "claude_code")
    for path in options.format:
        sources[path.name] = unpack(path, folder / path.name)
    return sources


def run_all(options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    database = options.database or generate(
        options.baseline, folder / "state.db", "--sessions", str(options.sessions)
    )
    scans, originals, fulls = [], [], []
    for _ in range(options.rounds):
        scans.append(run_part("scan", database, folder))
        if options.baseline and not options.quick:
            copy = folder / "original.db"
            shutil.copy(database, copy)
            originals.append(run_original(options.baseline, copy))
            copy.unlink()
        fulls.append(best_full(database, folder / "home", 1))
    full = min(fulls, key=total_cpu)
    stored = min(
        (run_part("stored", database, folder / "home") for _ in range(5)), key=lambda p: p["cpu"]
    )
    return {
        "full": full,
        "scan": min(scans, key=lambda part: part["wall"]),
        "original": min(originals, key=lambda part: part["profile"] + part["mine"])
        if originals
        else None,
        "stored": stored,
        "changes": measure_refreshes(database, folder, full),
        "linearity": measure_linearity(options.baseline, folder)
        if options.baseline and not options.quick
        else None,
        "before": measure_before(
            options.before, list_formats(options, database, folder), folder, 2 * options.rounds + 1
        )
        if options.before
        else {},
        "truth": count_true_errors(database),
    }


def main() -> int:
    if sys.argv[1:2] == ["--part"]:
        name, database, home = sys.argv[2:5]
        print(json.dumps(PARTS[name](Path(database), Path(home))))
        return 0
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--baseline", type=Path, help="folder of the original and the generator")
    parser.add_argument("--database", type=Path, help="a generated database, instead of a new one")
    parser.add_argument("--claude", type=Path, help="folder of Claude Code transcripts")
    parser.add_argument("--before", type=Path, help="src folder of an earlier version")
    parser.add_argument("--format", type=Path, action="append", default=[],
                        help="folder of sessions of another format; can be repeated")  # fmt: skip
    parser.add_argument("--sessions", type=int, default=10_985)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="without the original and linearity")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--check", action="store_true", help="exit 1 where a bar is missed")
    options = parser.parse_args()
    if options.baseline is None and options.database is None:
        parser.error("give --baseline, --database or both")
    for name in ("baseline", "claude"):
        folder = getattr(options, name)
        if folder is not None and not folder.is_dir():
            parser.error(f"--{name}: there is no folder {str(folder)!r}")
    if options.database is not None and not options.database.is_file():
        parser.error(f"--database: there is no file {str(options.database)!r}")
    with tempfile.TemporaryDirectory(prefix="warmstart-bench-") as folder:
        figures = run_all(options, Path(folder))
    rows = list(report(figures))
    if options.json:
        bars = {name: {"figure": figure, "bar": bar, "met": met} for name, figure, bar, met in rows}
        print(json.dumps({"schema_version": 1, "bars": bars, **figures}, indent=1))
    else:
        table = Table("what", "figure", "bar", "", title="facts and profiles", title_justify="left")
        for name, figure, bar, met in rows:
            table.add_row(name, figure, bar, "ok" if met else "MISS")
        Console(width=110).print(table)
    return int(options.check and not all(met for *_, met in rows))


if __name__ == "__main__":
    sys.exit(main())
