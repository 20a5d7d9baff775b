"""How fast the judge is, beside the keyword test, and whether it is flat in the result's length.

    python bench/outcome_speed.py LABELLED.jsonl[.gz] [--rounds N] [--json] [--check]

CPU time of one core, texts already in memory, both sides alternating, best of several rounds. For
flatness every result is stretched in its middle to 10 and 100 times its length.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from outcome_accuracy import KEYWORDS, read_request, read_rows
from warmstart.model import Request, Result
from warmstart.outcome import judge

MIN_CALLS_PER_SECOND = 150_000
MAX_STRETCHED_RATIO = 1.5
STRETCHES = (1, 10, 100)
Call = tuple[Request, Result, str]


def load_calls(rows: list[dict[str, Any]]) -> list[Call]:
    return [
        (read_request(row), Result(text=row["result_text"] or ""), row["source"]) for row in rows
    ]


def stretch(calls: list[Call], times: int) -> list[Call]:
    """The same calls with the middle of each result repeated; the ends stay as they are."""
    stretched = []
    for request, result, origin in calls:
        text = result.text
        middle = len(text) // 2
        filler = "plain line of output\n" * max((times - 1) * max(len(text), 2000) // 21, 0)
        longer = text[:middle] + "\n" + filler + text[middle:] if times > 1 else text
        stretched.append((request, Result(text=longer), origin))
    return stretched


def judge_all(calls: list[Call]) -> None:
    for request, result, origin in calls:
        judge(request, result, origin)


def keywords_all(calls: list[Call]) -> None:
    for _, result, _ in calls:
        text = result.text.lower()
        any(word in text for word in KEYWORDS)


def best_of(rounds: int, *works: Callable[[], None]) -> list[float]:
    best = [float("inf")] * len(works)
    for _ in range(rounds):
        for index, work in enumerate(works):
            start = time.process_time()
            work()
            best[index] = min(best[index], time.process_time() - start)
    return best


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("path", type=Path)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--check", action="store_true", help="exit 1 where a bar is missed")
    options = parser.parse_args()
    calls = load_calls(read_rows(options.path))
    ours, keywords = best_of(options.rounds, lambda: judge_all(calls), lambda: keywords_all(calls))
    sample = [call for call in calls if len(call[1].text) > 4000][:300]
    longer = [stretch(sample, times) for times in STRETCHES]
    lengths = best_of(options.rounds, *(partial(judge_all, stretched) for stretched in longer))
    figures = {
        "calls": len(calls),
        "judge_calls_per_second": round(len(calls) / ours),
        "keywords_calls_per_second": round(len(calls) / keywords),
        "ratio_to_keywords": round(keywords / ours, 2),
        "stretched": {
            f"{t}x": round(s / lengths[0], 2) for t, s in zip(STRETCHES, lengths, strict=True)
        },
    }
    met = {
        f"at least {MIN_CALLS_PER_SECOND:,} calls/s": figures["judge_calls_per_second"]
        >= MIN_CALLS_PER_SECOND,
        f"100x longer results at most {MAX_STRETCHED_RATIO}x the time": lengths[-1]
        <= MAX_STRETCHED_RATIO * lengths[0],
    }
    if options.json:
        print(json.dumps({"schema_version": 1, **figures, "bars": met}, indent=1))
    else:
        table = Table("what", "figure", title="judge speed", title_justify="left")
        for name, value in figures.items():
            table.add_row(name, f"{value:,}" if isinstance(value, int) else str(value))
        console = Console(width=110)
        console.print(table)
        for name, good in met.items():
            console.print(f"{'ok  ' if good else 'MISS'} {name}")
    return int(options.check and not all(met.values()))


if __name__ == "__main__":
    sys.exit(main())
