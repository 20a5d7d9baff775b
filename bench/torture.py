"""Break it on purpose, and count what gives: kills, full disks, damaged files, hostile texts.

    python bench/torture.py [--only PART ...] [--quick] [--corpus DIR] [--seed N] [--json] [--check]

Parts, each a row of the table with its tries and failures:

- ``writers``: 8 processes on one store for 30 s, then kill -9 in mid-write; SQLite and a PostgreSQL
  server that is restarted under them. A failure is a message lost, repeated or out of order, a
  lock error, or a store that does not verify.
- ``disk``: every writing command with its home on a file system of a few hundred kB, then again
  with room. A failure is a traceback, or anything that does not work once there is room.
- ``facts``, ``build``: kill -9 in the middle of a first profile and of a template build, then the
  same command undisturbed. A failure is an output that differs from a run never killed.
- ``experiment``: an experiment killed until it is done (``bench/resume.py``), and one killed while
  a check's regular expression runs. A failure is a trial lost or repeated, another verdict, or a
  process left behind.
- ``mutants``: 3,000 damaged session files through ``sessions list`` and ``profile``. A failure is a
  traceback, an exit code that is not documented, or no answer within a minute.
- ``imports``: hostile template files (``bench/import_hostile.py``).
- ``texts``: texts of 1 MB made to be slow, for redaction, for the scan for orders
  (``bench/redact_hostile.py``) and for the judge (``bench/outcome_hostile.py``). A failure takes
  more than three times the CPU of ordinary text of that size in the same run.

``--quick`` is a run of about two minutes; ``--corpus`` adds a folder of real sessions to the files
that are mutated.
"""

from __future__ import annotations

import argparse
import copy
import json
import os
import random
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

import import_hostile
import outcome_hostile
import redact_hostile
import resume
import store
from support.badinput import DAMAGES, ODD_VALUES, damage, list_places
from warmstart.samples import samples_path

EXIT_CODES = range(8)
"""Every exit code the commands document; a signal or anything else is a failure."""
BATCH = 6
MAX_BASE_BYTES = 200_000
ANSWER_SECONDS = 60.0
COMMAND_SECONDS = 300.0
ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|\b(?:msg|toolu|req)_\w+")
MAX_TEXT_RATIO = 3.0
TEXT_SECONDS = 6.0
MAX_HANGS = 3
"""Texts without an answer after which the others of their kind are not tried."""
SMALL_DISKS_KB = (40, 80, 120, 200, 300, 500)


class Options(NamedTuple):
    """How much of each part."""

    writer_seconds: float = 30.0
    store_kills: int = 40
    kills: int = 12
    copies: int = 40
    """Copies of each sample session, so that a kill finds work under way."""
    mutants: int = 3000
    imports: int = 3000
    tasks: int = 50
    texts: int = 10_000
    """Hostile texts for each of redaction, scan and judge, at most."""
    text_size: int = 1_000_000
    seed: int = 1
    corpus: Path | None = None


QUICK = Options(writer_seconds=5, store_kills=5, kills=4, copies=10, mutants=240, imports=500,
                tasks=12, texts=40, text_size=200_000)  # fmt: skip


class Row(NamedTuple):
    """One line of the table."""

    test: str
    tries: int
    failures: tuple[str, ...] = ()
    note: str = ""


def run_command(home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environ = {**os.environ, "WARMSTART_HOME": str(home)}
    return subprocess.run(
        [sys.executable, "-m", "warmstart", *words], env=environ, capture_output=True, text=True,
        timeout=COMMAND_SECONDS, check=False,
    )  # fmt: skip


def find_fault(done: subprocess.CompletedProcess[str]) -> str | None:
    """What no command may do, however bad its input or its disk is."""
    if "Traceback (most recent call last)" in done.stderr:
        return "a traceback: " + done.stderr.strip().splitlines()[-1][:120]
    if done.returncode not in EXIT_CODES:
        return f"exit code {done.returncode}"
    return None


# -- the store


def try_writers(options: Options, folder: Path) -> Iterator[Row]:
    wanted = argparse.Namespace(
        writers=8, seconds=options.writer_seconds, kills=options.store_kills
    )
    found = {
        "SQLite": {
            "writers": store.run_writers(str(folder / "many.db"), 8, options.writer_seconds),
            "kills": store.run_kills(str(folder / "kill.db"), options.store_kills),
        }
    }
    server = store.measure_postgresql(folder, wanted)
    found["PostgreSQL"] = {
        "writers": server["writers_postgresql"],
        "kills": server["kills_postgresql"],
    }
    for engine, figures in found.items():
        writers, kills = figures["writers"], figures["kills"]
        restarted = ", restarted once" if engine == "PostgreSQL" else ""
        yield Row(f"{engine}: messages by 8 writers{restarted}", writers["appended"],
                  _list_faults(writers))  # fmt: skip
        yield Row(f"{engine}: writers killed", kills["kills"], _list_faults(kills),
                  f"{kills['acknowledged']:,} acknowledged messages")  # fmt: skip


def _list_faults(figures: dict[str, Any]) -> tuple[str, ...]:
    names = ("lost", "repeated", "out_of_order", "lock_errors", "problems")
    return tuple(f"{figures[name]} {name}" for name in names if figures.get(name))


# -- a full disk


@contextmanager
def small_disk(folder: Path, kilobytes: int) -> Iterator[Callable[[int], None]]:
    """A file system of that size; the function given makes it larger.

    Raises:
        PermissionError: this user may not mount one.
    """
    folder.mkdir()

    def mount(size: int, how: str) -> None:
        words = ["mount", "-t", "tmpfs", "-o", f"{how}size={size}k", "tmpfs", str(folder)]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if done.returncode:
            raise PermissionError(done.stderr.strip())

    mount(kilobytes, "")
    try:
        yield lambda size: mount(size, "remount,")
    finally:
        subprocess.run(["umount", str(folder)], check=False)  # noqa: S607 - where systems differ


def try_full_disk(options: Options, folder: Path) -> Iterator[Row]:
    sessions = str(widen_samples(folder / "sessions", min(options.copies, 10)))
    writing = (
        ("profile", sessions, "--json"),
        ("sessions", "import", sessions),
        ("template", "build", sessions, "--name", "full", "--min-messages", "4"),
        ("facts", "rebuild", sessions),
    )
    reading = (("sessions", "verify"), ("template", "verify"), ("profile", sessions, "--json"))
    tries, failures = 0, []
    for size in SMALL_DISKS_KB:
        try:
            with small_disk(folder / f"disk{size}", size) as enlarge:
                home = folder / f"disk{size}" / "home"
                for words in writing:
                    tries += 1
                    fault = find_fault(run_command(home, *words))
                    failures += [f"{size} kB, {words[0]} {words[1][:20]}: {fault}"] if fault else []
                enlarge(200_000)
                for words in (*writing, *reading):
                    tries += 1
                    done = run_command(home, *words)
                    fault = find_fault(done) or (done.returncode and done.stderr.strip()[:160])
                    failures += [f"{size} kB then room, {words[:2]}: {fault}"] if fault else []
        except PermissionError as error:
            yield Row("commands on a full disk", 0, (), f"not tried: {error}")
            return
    yield Row("commands on a full disk, and again with room", tries, tuple(failures))


# -- kill -9


def widen_samples(folder: Path, copies: int) -> Path:
    """The sample sessions of Claude Code, each several times under other ids."""
    source = samples_path() / "claude_code" / "projects"
    for path in sorted(source.glob("*/*.jsonl")):
        text = path.read_text("utf-8")
        target = folder / "projects" / path.parent.name
        target.mkdir(parents=True, exist_ok=True)
        for number in range(copies):
            name = rename_ids(path.stem, number)
            (target / f"{name}.jsonl").write_text(rename_ids(text, number), "utf-8")
    return folder


def rename_ids(text: str, copy: object) -> str:
    """The text with ids of its own; the same ids for the same copy."""
    return ID.sub(lambda m: str(uuid.uuid5(uuid.NAMESPACE_URL, f"{m.group()} {copy}")), text)


def kill_and_rerun(
    options: Options, folder: Path, name: str, work: tuple[str, ...], read: tuple[str, ...]
) -> Row:
    """Kill ``work`` in fresh homes, run it again, and compare what ``read`` then says."""
    started = time.monotonic()
    first = run_command(folder / "whole", *work)
    seconds = time.monotonic() - started
    if first.returncode:
        return Row(name, 1, (f"it fails by itself: {first.stderr.strip()[:200]}",))
    wanted = read_result(folder / "whole", read)
    draw = random.Random(options.seed)  # noqa: S311 - moments, no secrets
    failures = []
    for number in range(options.kills):
        home = folder / f"killed{number}"
        kill_at_random(home, work, draw.uniform(0.15, 0.95) * seconds)
        again = run_command(home, *work)
        fault = find_fault(again) or (again.returncode and again.stderr.strip()[:160])
        if fault:
            failures.append(f"kill {number}: {fault}")
        elif read_result(home, read) != wanted:
            failures.append(f"kill {number}: another result than a run never killed")
        shutil.rmtree(home, ignore_errors=True)
    return Row(name, options.kills, tuple(failures))


def read_result(home: Path, words: tuple[str, ...]) -> dict[str, Any]:
    """What a command answers, without when and where it was made."""
    answer: dict[str, Any] = json.loads(run_command(home, *words).stdout)
    return {name: value for name, value in answer.items() if name not in ("created_at", "path")}


def kill_at_random(home: Path, words: tuple[str, ...], seconds: float) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "warmstart", *words],
        env={**os.environ, "WARMSTART_HOME": str(home)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
    process.wait()


def try_facts(options: Options, folder: Path) -> Iterator[Row]:
    sessions = str(widen_samples(folder / "sessions", options.copies))
    work = ("profile", sessions, "--json", "--quiet")
    yield kill_and_rerun(options, folder, "first profile killed, then run again", work, work)


def try_build(options: Options, folder: Path) -> Iterator[Row]:
    sessions = str(widen_samples(folder / "sessions", options.copies))
    work = ("template", "build", sessions, "--name", "kills", "--min-messages", "4", "--quiet")
    read = ("template", "show", "kills", "--json")
    yield kill_and_rerun(options, folder, "template build killed, then run again", work, read)


def try_experiment(options: Options, folder: Path) -> Iterator[Row]:
    del folder
    wanted = SimpleNamespace(
        tasks=options.tasks, trials=2, kills=options.kills, jobs=2, seed=options.seed
    )
    found = resume.measure(wanted)
    # Few kills at work make a small try, not a failure.
    failures = [one for one in resume.find_failures(found) if "hardly ever killed" not in one]
    yield Row("experiment killed until it was done", found["kills"], tuple(failures),
              f"{found['wanted']} trials, {found['kills_at_work']} kills at work")  # fmt: skip


# -- damaged files


def list_bases(options: Options) -> list[Path]:
    """Files to be mutated: the samples, and the first of each kind in a corpus."""
    bases = [p for p in sorted(samples_path().rglob("*")) if p.suffix in (".jsonl", ".db", ".zst")]
    if options.corpus is not None:
        for folder in sorted(path for path in options.corpus.iterdir() if path.is_dir()):
            small = (p for p in sorted(folder.rglob("*")) if p.is_file() and p.name != "README.md")
            bases += [p for p in small if p.stat().st_size <= MAX_BASE_BYTES][:6]
    return bases


def mutate(draw: random.Random, path: Path) -> bytes:
    """A file after an accident: bytes damaged, or values of another type in its records."""
    data = path.read_bytes()
    if path.suffix == ".jsonl" and draw.random() < 0.5:
        lines = data.splitlines()
        at = draw.randrange(len(lines))
        lines[at] = json.dumps(retype(draw, json.loads(lines[at]))).encode()
        return b"\n".join(lines)
    at = draw.randrange(max(len(data), 1))
    junk = draw.randbytes(draw.randint(1, 300))
    return damage(data, draw.choice(DAMAGES), at, draw.randint(1, 200), junk)


def retype(draw: random.Random, document: Any) -> Any:
    """Up to four values swapped for odd ones."""
    for _ in range(draw.randint(1, 4)):
        places = list(list_places(document))
        if not places:
            break
        holder = document
        *trail, last = draw.choice(places)
        for key in trail:
            holder = holder[key]
        holder[last] = copy.deepcopy(draw.choice(ODD_VALUES))
    return document


def answer_mutants(options: Options, first: int, last: int) -> None:
    """A line of JSON for each batch: what was wrong with the commands' answers to it."""
    from click.testing import CliRunner  # noqa: PLC0415 - only in the child

    from warmstart.cli.main import cli as command  # noqa: PLC0415 - same

    bases = list_bases(options)
    for number in range(first, last):
        draw = random.Random(f"{options.seed} {number}")  # noqa: S311 - repeatable, no secrets
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name) / "files"
            for index in range(BATCH):
                base = draw.choice(bases)
                target = folder / str(index) / base.name
                target.parent.mkdir(parents=True)
                target.write_bytes(mutate(draw, base))
            os.environ["WARMSTART_HOME"] = str(Path(name) / "home")
            for words in (["sessions", "list", str(folder)], ["profile", str(folder)]):
                print(json.dumps({"batch": number, "words": words[0]}), flush=True)
                result = CliRunner().invoke(command, words)
                fault = None
                if result.exception and not isinstance(result.exception, SystemExit):
                    fault = f"{type(result.exception).__name__}: {result.exception}"
                elif result.exit_code not in EXIT_CODES:
                    fault = f"exit code {result.exit_code}"
                if fault:
                    print(json.dumps({"batch": number, "fault": f"{words[0]}: {fault}"[:300]}),
                          flush=True)  # fmt: skip


def try_mutants(options: Options, folder: Path) -> Iterator[Row]:
    del folder
    batches = -(-options.mutants // BATCH)
    failures: list[str] = []
    start = 0
    while start < batches:
        start = _follow_mutants(options, start, batches, failures)
    formats = len({path.suffix for path in list_bases(options)})
    yield Row("damaged files, listed and profiled", batches * BATCH, tuple(failures),
              f"{len(list_bases(options))} files, {formats} suffixes to begin with")  # fmt: skip


def _follow_mutants(options: Options, start: int, end: int, failures: list[str]) -> int:
    """Read a child's lines; where it hangs or dies, note it and go on after that batch."""
    words = ["--answer-mutants", str(start), str(end), "--seed", str(options.seed)]
    words += ["--corpus", str(options.corpus)] if options.corpus else []
    at = start
    for row in follow_child(words, ANSWER_SECONDS):
        at = row.get("batch", at)
        failures += [f"batch {at}: {row['fault']}"] if "fault" in row else []
    return at + 1


def follow_child(words: list[str], seconds: float) -> Iterator[dict[str, Any]]:
    """Lines of JSON from this script in another process; a last one where it hangs or dies."""
    process = subprocess.Popen(
        [sys.executable, __file__, *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        text=True, bufsize=1,
    )  # fmt: skip
    if process.stdout is None:
        raise AssertionError
    fault = ""
    is_over = False
    try:
        while select.select([process.stdout], [], [], seconds)[0]:
            line = process.stdout.readline()
            if not line:
                is_over = True
                break
            yield json.loads(line)
        else:
            fault = f"no answer in {seconds:g} s"
    finally:
        if not is_over:
            process.kill()
        code = process.wait()
    if fault or code:
        yield {"fault": fault or f"the process ended with {code}", "ended": True}


def try_imports(options: Options, folder: Path) -> Iterator[Row]:
    del folder
    figures = import_hostile.run(options.imports, options.seed)
    yield Row("hostile template files imported", options.imports, tuple(figures["broken"]))


# -- hostile texts


class Target(NamedTuple):
    """Something that reads foreign text."""

    work: Callable[[str], Any]
    texts: Callable[[int], Iterator[tuple[str, str]]]
    ordinary: tuple[str, ...]
    nothing: float = 0.0
    """CPU seconds that are next to nothing, whatever the ratio is."""


ORDINARY_SIZE = 1_000_000


def list_targets() -> dict[str, Target]:
    import outcome_speed as judging  # noqa: PLC0415 - only in the child
    from warmstart.redact import (  # noqa: PLC0415 - only this part needs it
        find_orders,
        redact,
    )

    usual = (redact_hostile.ordinary(ORDINARY_SIZE),)
    return {
        "redaction": Target(redact, redact_hostile.list_texts, usual),
        "scan for orders": Target(find_orders, redact_hostile.list_scan_texts, usual),
        "judge, results": Target(judging.judge_result, judging.list_results, judging.ORDINARY,
                                 judging.MAX_RESULT_SECONDS),
        "judge, commands": Target(judging.judge_command, judging.list_commands,
                                  judging.ORDINARY_COMMANDS, judging.MAX_COMMAND_SECONDS),
    }  # fmt: skip


def pick_texts(options: Options, target: Target) -> list[tuple[str, str]]:
    """All texts, or as many as are wanted, the same ones for the same seed."""
    texts = list(target.texts(options.text_size))
    if len(texts) <= options.texts:
        return texts
    return random.Random(options.seed).sample(texts, options.texts)  # noqa: S311 - repeatable


def answer_texts(options: Options, name: str, first: int) -> None:
    """A line of JSON before and after each text: which it is, and its CPU beside ordinary text."""
    target = list_targets()[name]
    size = options.text_size
    ordinary = [outcome_hostile.repeat(text, size) for text in target.ordinary]
    usual = max(min(take_time(target.work, text) for _ in range(3)) for text in ordinary)
    most = max(MAX_TEXT_RATIO * usual, target.nothing)
    texts = pick_texts(options, target)
    for number, (shape, text) in enumerate(texts[first:], first):
        row: dict[str, Any] = {"text": number, "of": len(texts), "shape": shape}
        print(json.dumps(row), flush=True)
        seconds = take_time(target.work, text)
        if most < seconds < 3 * most:  # another process may have been in the way
            seconds = min(seconds, *(take_time(target.work, text) for _ in range(2)))
        found = {"ratio": seconds / usual, "slow": seconds > most}
        print(json.dumps({**row, **found}), flush=True)


def take_time(work: Callable[[str], Any], text: str) -> float:
    started = time.process_time()
    work(text)
    return time.process_time() - started


def try_texts(options: Options, folder: Path) -> Iterator[Row]:
    del folder
    for name in list_targets():
        slow: list[str] = []
        shape = ""
        worst, at, count, hangs = 0.0, -1, 1, 0
        while at + 1 < count and hangs < MAX_HANGS:
            words = ["--answer-texts", name, str(at + 1), "--seed", str(options.seed)]
            words += ["--texts", str(options.texts), "--text-size", str(options.text_size)]
            for row in follow_child(words, TEXT_SECONDS):
                at, count, shape = (
                    row.get("text", at),
                    row.get("of", count),
                    row.get("shape", shape),
                )
                worst = max(worst, row.get("ratio", 0.0))
                slow += [f"{shape}: {row['ratio']:.1f}x"] if row.get("slow") else []
                if "fault" in row:
                    hangs += 1
                    slow.append(f"{shape}: {row['fault']}")
        note = f"slowest {worst:.1f}x ordinary text" if worst else ""
        note += ", the rest was not tried" if hangs == MAX_HANGS else ""
        yield Row(f"{name}: hostile texts", at + 1, tuple(slow), note)


PARTS: dict[str, Callable[[Options, Path], Iterator[Row]]] = {
    "writers": try_writers,
    "disk": try_full_disk,
    "facts": try_facts,
    "build": try_build,
    "experiment": try_experiment,
    "mutants": try_mutants,
    "imports": try_imports,
    "texts": try_texts,
}


def run_parts(options: Options, names: list[str]) -> list[Row]:
    rows = []
    for name in names:
        with tempfile.TemporaryDirectory(prefix="warmstart-torture-") as folder:
            started = time.monotonic()
            for row in PARTS[name](options, Path(folder)):
                rows.append(row)
                print(f"{name}: {row.test}: {row.tries:,} tries, {len(row.failures)} failures, "
                      f"{time.monotonic() - started:.0f} s", file=sys.stderr)  # fmt: skip
    return rows


def show(rows: list[Row]) -> None:
    table = Table("test", "tries", "failures", "", title="torture", title_justify="left")
    for row in rows:
        table.add_row(row.test, f"{row.tries:,}", str(len(row.failures)), row.note)
    console = Console(width=130)
    console.print(table)
    for row in rows:
        for failure in row.failures[:10]:
            console.print(f"  {row.test}: {failure}", markup=False, highlight=False)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", action="append", choices=list(PARTS), help="may be repeated")
    parser.add_argument("--quick", action="store_true", help="about two minutes in all")
    parser.add_argument("--corpus", type=Path, help="a folder of real sessions to mutate too")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--check", action="store_true", help="exit 1 where anything failed")
    parser.add_argument("--answer-mutants", nargs=2, type=int, help=argparse.SUPPRESS)
    parser.add_argument("--answer-texts", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--texts", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--text-size", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    options = (QUICK if given.quick else Options())._replace(seed=given.seed, corpus=given.corpus)
    if given.answer_mutants:
        answer_mutants(options, *given.answer_mutants)
        return 0
    if given.answer_texts:
        name, first = given.answer_texts
        sizes = {"texts": given.texts, "text_size": given.text_size}
        answer_texts(options._replace(**sizes), name, int(first))
        return 0
    rows = run_parts(options, given.only or list(PARTS))
    if given.json:
        print(json.dumps({"schema_version": 1, "rows": [row._asdict() for row in rows]}, indent=1))
    else:
        show(rows)
    return int(given.check and any(row.failures for row in rows))


if __name__ == "__main__":
    sys.exit(main())
