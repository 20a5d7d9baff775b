"""How much redaction finds, what it takes by mistake, how fast it is, and how slow it can be made.

    python bench/redact.py [FILE.jsonl] [--split dev|heldout] [--hostile] [--json] [--check]

FILE has one ``{"text": …, "secrets": […], "negatives": […]}`` per line, optionally ``kind``. With
no file the cases are made from a seed: secrets in nine encodings (``redact_cases.py``) and
look-alikes (``redact_lookalikes.py``). A key counts as found only when no eight characters of it in
a row are left, a password when no six are; a negative is a false alarm when it is changed.
Speed is CPU time of one core over the texts, repeated among ordinary output to a realistic share
of secrets, best of several rounds, beside a scan for one fixed word in the same run.

``--hostile`` measures texts made to be slow (``redact_hostile.py``) for redaction, with and without
personal data (one family in four), and for the scan for instructions: 1 MB of each, as a ratio to
ordinary text of the same length in the same run. About five minutes of CPU.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from redact_cases import SPLITS, make_cases
from redact_hostile import list_scan_texts, list_texts, ordinary
from redact_lookalikes import make_lookalikes
from warmstart.redact import find_instructions, redact

MIN_RECALL = 0.97
MIN_PASSWORDS = 0.98
MIN_MB_PER_SECOND = 6.0
MAX_RATIO = 3.0
PIECE = 8
SIZE = 1_000_000
AGAIN = 2.0
"""Families above this ratio are measured again."""
SLOWEST = 4
FILLER = (
    "    def read_rows(self, path: Path) -> list[Row]:\n"
    '        """Rows of a file in the order they stand."""\n'
    "        with path.open() as file:\n"
    "            return [Row.parse(line) for line in file if line.strip()]\n"
    "src/app/models/order_line.py:214: error: Argument 1 has incompatible type [arg-type]\n"
    "2026-03-04T10:22:51Z INFO worker-3 handled GET /v1/orders/8821?page=2 in 41 ms (200)\n"
    "commit 4d5f0ad1c2b93e86f2a7c1d5b8e90f3a6c7d8e91\n"
)
Work = Callable[[str], object]
HOSTILE: dict[str, tuple[Work, Callable[[int], Iterable[tuple[str, str]]]]] = {
    "redact": (redact, list_texts),
    "redact with people": (
        partial(redact, pii=True),
        lambda size: islice(list_texts(size), 0, None, 4),
    ),
    "scan": (find_instructions, list_scan_texts),
}


def read_cases(path: Path | None, split: str) -> list[dict[str, Any]]:
    if path is None:
        return [*make_cases(split), *make_lookalikes(SPLITS[split])]
    return [json.loads(line) for line in path.read_text().splitlines() if line.strip()]


def is_gone(secret: str, text: str, piece: int = PIECE) -> bool:
    """No piece of the secret is left, as it is or as JSON writes it."""
    for form in {secret, json.dumps(secret)[1:-1]}:
        pieces = (form[at : at + piece] for at in range(max(len(form) - piece + 1, 1)))
        if any(part in text for part in pieces):
            return False
    return True


class Tally:
    """Counts by kind and by encoding."""

    def __init__(self) -> None:
        self.planted: Counter[tuple[str, str]] = Counter()
        self.found: Counter[tuple[str, str]] = Counter()
        self.negatives: Counter[str] = Counter()
        self.alarms: Counter[str] = Counter()
        self.misses: list[dict[str, Any]] = []

    def add(self, case: dict[str, Any]) -> None:
        text, kind = case["text"], case.get("kind", "any")
        clean = redact(text).text
        secrets = case.get("secrets", ())
        pieces = case.get("pieces") or [PIECE] * len(secrets)
        if secrets:
            place = (kind, case.get("encoding", "plain"))
            good = all(is_gone(s, clean, piece) for s, piece in zip(secrets, pieces, strict=True))
            self.planted[place] += 1
            self.found[place] += good
            if not good:
                self.misses.append({"kind": kind, "text": text, "clean": clean})
        for negative in case.get("negatives", ()):
            self.negatives[kind] += 1
            if negative not in clean:
                self.alarms[kind] += 1
                self.misses.append({"kind": kind, "text": text, "clean": clean})

    def share(self, *, passwords: bool, encoding: str | None = None) -> float:
        keys = [
            key for key in self.planted
            if key[0].startswith("password ") is passwords and encoding in (None, key[1])
        ]  # fmt: skip
        planted = sum(self.planted[key] for key in keys)
        return sum(self.found[key] for key in keys) / planted if planted else 1.0


def best_cpu(work: Callable[[], object], rounds: int) -> float:
    best = float("inf")
    for _ in range(rounds):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return best


def measure_speed(texts: Iterable[str], rounds: int) -> dict[str, float]:
    documents = [FILLER * 6 + text + "\n" + FILLER * 2 for text in texts]
    size = sum(len(text.encode()) for text in documents)

    def ours() -> None:
        for text in documents:
            redact(text)

    def word() -> None:
        for text in documents:
            text.lower().count("password")

    seconds, baseline = best_cpu(ours, rounds), best_cpu(word, rounds)
    return {
        "mb_per_second": round(size / seconds / 1e6, 2),
        "mb": round(size / 1e6, 2),
        "times_a_word_count": round(seconds / baseline, 1),
    }


def summarise(tally: Tally, speed: dict[str, float]) -> dict[str, Any]:
    encodings = list(dict.fromkeys(encoding for _, encoding in tally.planted))
    kinds = sorted({kind for kind, _ in tally.planted})
    lost = Counter({key: tally.planted[key] - tally.found[key] for key in tally.planted})
    return {
        "texts": sum(tally.planted.values()),
        "kinds": len(kinds),
        "keys": {e: round(tally.share(passwords=False, encoding=e), 4) for e in encodings},
        "passwords": {
            e: round(tally.share(passwords=True, encoding=e), 4)
            for e in encodings
            if any(key[1] == e and key[0].startswith("password ") for key in tally.planted)
        },
        "lookalikes": sum(tally.negatives.values()),
        "false_alarms": sum(tally.alarms.values()),
        **speed,
        "missed": {f"{kind}, {encoding}": n for (kind, encoding), n in lost.items() if n},
        "alarms": dict(tally.alarms),
    }


def measure_hostile() -> dict[str, Any]:
    """The families that take longest beside ordinary text of the same length."""
    figures: dict[str, Any] = {}
    usual = ordinary(SIZE)
    for name, (work, families) in HOSTILE.items():
        base = best_cpu(partial(work, usual), 3)
        ratios = {}
        for family, text in families(SIZE):
            seconds = best_cpu(partial(work, text), 1)
            if seconds > AGAIN * base:  # another process may have been in the way
                base = min(base, best_cpu(partial(work, usual), 1))
                seconds = min(seconds, best_cpu(partial(work, text), 2))
            ratios[family] = seconds / base
        slowest = sorted(ratios, key=ratios.__getitem__, reverse=True)[:SLOWEST]
        figures[name] = {
            "families": len(ratios), "ratio": round(ratios[slowest[0]], 2),
            "slowest": {family[:40]: round(ratios[family], 2) for family in slowest},
            "ordinary_mb_per_second": round(SIZE / base / 1e6, 2),
        }  # fmt: skip
    return figures


def list_bars(figures: dict[str, Any]) -> dict[str, bool]:
    met = {
        f"at least {MIN_RECALL:.0%} of keys in every encoding": min(
            figures["keys"].values(), default=1.0
        ) >= MIN_RECALL,
        f"at least {MIN_PASSWORDS:.0%} of passwords": min(
            figures["passwords"].values(), default=1.0
        ) >= MIN_PASSWORDS,
        "no false alarms": figures["false_alarms"] == 0,
        f"at least {MIN_MB_PER_SECOND} MB/s": figures["mb_per_second"] >= MIN_MB_PER_SECOND,
    }  # fmt: skip
    for name, row in figures.get("hostile", {}).items():
        met[f"{name}: at most {MAX_RATIO} x ordinary text"] = row["ratio"] <= MAX_RATIO
    return met


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("path", type=Path, nargs="?")
    parser.add_argument("--split", choices=sorted(SPLITS), default="heldout")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--hostile", action="store_true", help="also measure hostile texts")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--misses", action="store_true", help="print the texts that went wrong")
    parser.add_argument("--check", action="store_true", help="exit 1 where a bar is missed")
    options = parser.parse_args()
    cases = read_cases(options.path, options.split)
    tally = Tally()
    for case in cases:
        tally.add(case)
    told = [case["text"] for case in cases if case.get("secrets")]
    figures = summarise(tally, measure_speed(told[::8], options.rounds))
    if options.hostile:
        figures["hostile"] = measure_hostile()
    met = list_bars(figures)
    report(figures, met, as_json=options.json)
    if options.misses:
        for miss in tally.misses:
            print(json.dumps(miss))
    return int(options.check and not all(met.values()))


def report(figures: dict[str, Any], met: dict[str, bool], *, as_json: bool) -> None:
    if as_json:
        print(json.dumps({"schema_version": 2, **figures, "bars": met}, indent=1))
        return
    table = Table("what", "figure", title="redaction", title_justify="left")
    for name, value in figures.items():
        rows = value.items() if isinstance(value, dict) else [("", value)]
        for part, figure in rows:
            table.add_row(f"{name} {part}".strip(), str(figure))
    console = Console(width=110)
    console.print(table)
    for name, good in met.items():
        console.print(f"{'ok  ' if good else 'MISS'} {name}")


if __name__ == "__main__":
    sys.exit(main())
