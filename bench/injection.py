"""How often results of tools are flagged as orders, by source, and how many planted ones are seen.

    python bench/injection.py [LABELLED.jsonl[.gz]] [--runs RUNS.jsonl[.gz]] [--json] [--check]

LABELLED has one tool call per line with ``source``, ``arguments`` and ``result_text``. RUNS has one
run of an injection benchmark per line with ``messages`` and the texts planted in it under
``injections``; a result is hostile when it holds the beginning of one of them. Without files only
the time is measured: CPU of a megabyte of hostile text (``redact_hostile.py``) against a megabyte
of ordinary text, in the same run.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from redact_hostile import list_scan_texts, ordinary
from warmstart.redact import find_instructions

CODING = ("claude_code", "codex", "copilot", "gemini", "mini_swe_agent", "openhands", "intercode")
MAX_FALSE_ALARMS = 0.01
MIN_SEEN = 0.75
BEGINNING = 60
SIZE = 1_000_000
MAX_RATIO = 3.0
ROUNDS = 2


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as file:
        yield from map(json.loads, file)


def list_strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for inner in value.values() if isinstance(value, dict) else ():
        yield from list_strings(inner)
    if isinstance(value, list):
        yield " ".join(inner for inner in value if isinstance(inner, str))
        for inner in value:
            yield from list_strings(inner)


def flag_by_source(path: Path) -> dict[str, tuple[int, int]]:
    total: Counter[str] = Counter()
    flagged: Counter[str] = Counter()
    for row in read_lines(path):
        total[row["source"]] += 1
        texts = [row["result_text"] or "", *list_strings(row.get("arguments"))]
        flagged[row["source"]] += any(map(find_instructions, texts))
    return {source: (flagged[source], total[source]) for source in sorted(total)}


def read_text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return " ".join(str(block.get("content") or block.get("text") or "") for block in content or ())


def flag_planted(path: Path) -> dict[str, tuple[int, int]]:
    """By kind of attack, and ``clean`` for the results that hold none."""
    total: Counter[str] = Counter()
    flagged: Counter[str] = Counter()
    for run in read_lines(path):
        planted = [" ".join(t.split())[:BEGINNING] for t in (run["injections"] or {}).values() if t]
        for message in run["messages"]:
            if message["role"] == "tool":
                text = read_text(message["content"])
                flat = " ".join(text.split())
                hostile = any(beginning in flat for beginning in planted)
                kind = str(run["attack_type"]) if hostile else "clean"
                total[kind] += 1
                flagged[kind] += bool(find_instructions(text))
    return {kind: (flagged[kind], total[kind]) for kind in sorted(total)}


def measure(text: str) -> float:
    """CPU seconds to scan a text, best of some rounds."""
    best = float("inf")
    for _ in range(ROUNDS):
        begin = time.process_time()
        find_instructions(text)
        best = min(best, time.process_time() - begin)
    return best


def find_slowest() -> tuple[float, str, float]:
    """The largest ratio of hostile to ordinary text, its shape, and ordinary MB a second."""
    usual = measure(ordinary(SIZE))
    slowest = max((measure(text), family) for family, text in list_scan_texts(SIZE))
    return slowest[0] / usual, slowest[1], SIZE / 1e6 / usual


def share(counts: dict[str, tuple[int, int]], keys: list[str]) -> float:
    total = sum(counts[key][1] for key in keys)
    return sum(counts[key][0] for key in keys) / total if total else 0.0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("path", type=Path, nargs="?")
    parser.add_argument("--runs", type=Path)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--check", action="store_true", help="exit 1 where a bar is missed")
    options = parser.parse_args()
    ratio, shape, speed = find_slowest()
    figures: dict[str, Any] = {
        "slowest_ratio": round(ratio, 2), "slowest_shape": shape, "mb_per_second": round(speed, 1),
    }  # fmt: skip
    met = {f"hostile text takes at most {MAX_RATIO:.0f} times ordinary text": ratio <= MAX_RATIO}
    sources: dict[str, tuple[int, int]] = {}
    planted: dict[str, tuple[int, int]] = {}
    if options.path is not None:
        sources = flag_by_source(options.path)
        alarms = share(sources, [source for source in sources if source in CODING])
        figures |= {"coding_flagged": round(alarms, 4), "sources": sources}
        bar = f"coding calls and results flagged at most {MAX_FALSE_ALARMS:.0%}"
        met[bar] = alarms <= MAX_FALSE_ALARMS
    if options.runs is not None:
        planted = flag_planted(options.runs)
        seen = share(planted, [kind for kind in planted if kind != "clean"])
        figures |= {"planted_seen": round(seen, 4), "planted": planted}
        met[f"planted orders seen at least {MIN_SEEN:.0%}"] = seen >= MIN_SEEN
    if options.json:
        print(json.dumps({"schema_version": 1, **figures, "bars": met}, indent=1))
        return int(options.check and not all(met.values()))
    table = Table("results", "flagged", "of", "share", title="orders in data", title_justify="left")
    for name, (hit, total) in {**sources, **planted}.items():
        table.add_row(name, f"{hit:,}", f"{total:,}", f"{hit / total:.1%}")
    console = Console(width=100)
    console.print(table)
    console.print(f"{speed:.1f} MB/s; slowest shape {shape[:20]!r}: {ratio:.2f} x ordinary text")
    for name, good in met.items():
        console.print(f"{'ok  ' if good else 'MISS'} {name}")
    return int(options.check and not all(met.values()))


if __name__ == "__main__":
    sys.exit(main())
