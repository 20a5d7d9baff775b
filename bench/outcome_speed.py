"""How fast the judge is, beside the keyword test, and whether it is flat in the result's length.

    python bench/outcome_speed.py LABELLED.jsonl[.gz] [--rounds N] [--json] [--check]

CPU time of one core, texts already in memory, both sides alternating, best of several rounds. For
flatness every result is stretched in its middle to 10 and 100 times its length. Hostile texts are
what the rules look for, repeated (``outcome_hostile.py``): results of 1 MB and of 1 kB, and
commands of 1 MB, each beside the slowest ordinary text of its size. A ratio may be missed where the
time itself is next to nothing: half a millisecond a result, 20 milliseconds a command of 1 MB.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from outcome_accuracy import KEYWORDS, read_request, read_rows
from outcome_hostile import (
    ORDINARY,
    ORDINARY_COMMANDS,
    list_commands,
    list_results,
    repeat,
)
from warmstart.model import Request, Result
from warmstart.outcome import judge

MIN_CALLS_PER_SECOND = 150_000
MAX_STRETCHED_RATIO = 1.5
STRETCHES = (1, 10, 100)
MEGABYTE = 1_000_000
MAX_HOSTILE_RATIO = 3.0
MAX_RESULT_SECONDS, MAX_COMMAND_SECONDS = 0.0005 * 6, 0.020
"""What all judgements of one text may take where it is more than the ratio allows."""
WORST_SHOWN = 5
HOSTILE_REQUESTS = [
    (Request(tool=tool, arguments={"command": line}), origin)
    for tool, line, origin in (
        ("Bash", "pytest -q | tail -5", "claude_code"),
        ("terminal", "make; echo $?", "codex"),
        ("execute_code", "", "hermes"),
    )
]
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


def time_shapes(
    shapes: Iterable[tuple[str, str]], work: Callable[[str], None]
) -> list[tuple[float, str]]:
    """Seconds that each text takes, the worst first; the best of three counts."""
    taken = [(min(best_of(3, partial(work, text))), name) for name, text in shapes]
    return sorted(taken, reverse=True)


def judge_result(text: str) -> None:
    for request, origin in HOSTILE_REQUESTS:
        judge(request, Result(text=text), origin)
        judge(request, Result(text=text, is_error=True), origin)


def judge_command(line: str) -> None:
    request = Request(tool="Bash", arguments={"command": line})
    judge(request, Result(text="boom", exit_code=1), "codex")
    judge(request, Result(text="boom\n"), "claude_code")


def measure_hostile() -> dict[str, dict[str, Any]]:
    """For each kind of text, the worst shape beside the slowest ordinary one."""
    sets = {
        "result of 1 MB": (list_results, ORDINARY, judge_result, MEGABYTE, MAX_RESULT_SECONDS),
        "result of 1 kB": (list_results, ORDINARY, judge_result, 1000, MAX_RESULT_SECONDS),
        "command of 1 MB": (
            list_commands, ORDINARY_COMMANDS, judge_command, MEGABYTE, MAX_COMMAND_SECONDS
        ),
    }  # fmt: skip
    figures: dict[str, dict[str, Any]] = {}
    for kind, (hostile, ordinary, work, size, most) in sets.items():
        usual = time_shapes(((text, repeat(text, size)) for text in ordinary), work)[0][0]
        worst = time_shapes(hostile(size), work)[:WORST_SHOWN]
        ratio = worst[0][0] / usual
        figures[kind] = {
            "ordinary_us": round(usual * 1e6, 1),
            "ratio": round(ratio, 2),
            "worst_us": {name: round(seconds * 1e6, 1) for seconds, name in worst},
            "met": ratio <= MAX_HOSTILE_RATIO or worst[0][0] <= most,
        }
    return figures


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
    figures: dict[str, Any] = {
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
    hostile = measure_hostile()
    met |= {
        f"hostile {kind}: at most {MAX_HOSTILE_RATIO}x ordinary, or next to nothing": one["met"]
        for kind, one in hostile.items()
    }
    figures["hostile"] = hostile
    if options.json:
        print(json.dumps({"schema_version": 1, **figures, "bars": met}, indent=1))
    else:
        table = Table("what", "figure", title="judge speed", title_justify="left")
        for name, value in figures.items():
            if name != "hostile":
                table.add_row(name, f"{value:,}" if isinstance(value, int) else str(value))
        for kind, one in hostile.items():
            worst = "\n".join(f"{us:,.0f} us {name}" for name, us in one["worst_us"].items())
            table.add_row(f"hostile {kind}", f"{one['ratio']}x {one['ordinary_us']} us\n{worst}")
        console = Console(width=110)
        console.print(table)
        for name, good in met.items():
            console.print(f"{'ok  ' if good else 'MISS'} {name}")
    return int(options.check and not all(met.values()))


if __name__ == "__main__":
    sys.exit(main())
