"""How often results of tools are flagged as orders, by source, and how many planted ones are seen.

    python bench/injection.py LABELLED.jsonl[.gz] [--runs RUNS.jsonl[.gz]] [--json] [--check]

LABELLED has one tool call per line with ``source`` and ``result_text``. RUNS has one run of an
injection benchmark per line with ``messages`` and the texts planted in it under ``injections``; a
result is hostile when it holds the beginning of one of them.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from warmstart.redact.injection import find_instructions

CODING = ("claude_code", "codex", "copilot", "gemini", "mini_swe_agent", "openhands", "intercode")
MAX_FALSE_ALARMS = 0.01
MIN_SEEN = 0.75
BEGINNING = 60


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as file:
        yield from map(json.loads, file)


def flag_by_source(path: Path) -> dict[str, tuple[int, int]]:
    total: Counter[str] = Counter()
    flagged: Counter[str] = Counter()
    for row in read_lines(path):
        total[row["source"]] += 1
        flagged[row["source"]] += bool(find_instructions(row["result_text"] or ""))
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


def share(counts: dict[str, tuple[int, int]], keys: list[str]) -> float:
    total = sum(counts[key][1] for key in keys)
    return sum(counts[key][0] for key in keys) / total if total else 0.0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("path", type=Path)
    parser.add_argument("--runs", type=Path)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--check", action="store_true", help="exit 1 where a bar is missed")
    options = parser.parse_args()
    sources = flag_by_source(options.path)
    alarms = share(sources, [source for source in sources if source in CODING])
    met = {f"coding results flagged at most {MAX_FALSE_ALARMS:.0%}": alarms <= MAX_FALSE_ALARMS}
    planted: dict[str, tuple[int, int]] = {}
    figures: dict[str, Any] = {"coding_flagged": round(alarms, 4), "sources": sources}
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
    for name, good in met.items():
        console.print(f"{'ok  ' if good else 'MISS'} {name}")
    return int(options.check and not all(met.values()))


if __name__ == "__main__":
    sys.exit(main())
