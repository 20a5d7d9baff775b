"""How often what the readers extract agrees with the labels, wherever a format has a field for it.

    python bench/outcome_explicit.py LABELLED.jsonl[.gz] TRANSCRIPTS [--json] [--check]

Reads the transcripts with the product's own readers, judges their calls with every explicit field
the readers found, and compares with the labelled calls of the same source, matched by tool and by
the beginning of the result. Calls judged on an explicit field are counted apart from the rest.
Labels flagged as rejected or cascaded are left out, as are results that carry both labels.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from outcome_accuracy import is_flagged, read_rows
from warmstart.model import Call, Certainty, Session
from warmstart.sources import ReadLog, read_sessions

MIN_AGREEMENT = 0.995
SOURCE_NAMES = {"tau1": "tau_bench", "tau2": "tau2_bench"}
KEY_CHARS = 1500
Key = tuple[str, str, str]


def index_labels(rows: list[dict[str, Any]]) -> dict[Key, set[bool]]:
    labels: dict[Key, set[bool]] = defaultdict(set)
    for row in rows:
        if not is_flagged(row):
            source = SOURCE_NAMES.get(row["source"], row["source"])
            text = (row["result_text"] or "")[:KEY_CHARS].strip()
            labels[source, row["tool_name"], text].add(bool(row["label_error"]))
    return labels


def answered_calls(path: Path) -> Iterator[tuple[Session, Call]]:
    for session in read_sessions(path, ReadLog()):
        yield from ((session, call) for call in session.calls if call.result is not None)


def compare(labels: dict[Key, set[bool]], path: Path) -> dict[str, Counter[str]]:
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for session, call in answered_calls(path):
        text = call.result.text[:KEY_CHARS].strip() if call.result else ""
        label = labels.get((session.origin, call.tool, text))
        if label is None or len(label) != 1:
            continue
        kind = "explicit" if is_explicit(call) else "inferred"
        agrees = call.outcome.observed_failure == next(iter(label))
        counts[session.origin][kind] += 1
        counts[session.origin][f"{kind} agree"] += agrees
    return counts


def is_explicit(call: Call) -> bool:
    result = call.result
    has_field = result is not None and (result.is_error is not None or result.exit_code is not None)
    return has_field or call.outcome.certainty is Certainty.EXPLICIT


def share(counts: Counter[str], kind: str) -> float | None:
    return counts[f"{kind} agree"] / counts[kind] if counts[kind] else None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("labelled", type=Path)
    parser.add_argument("transcripts", type=Path)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--check", action="store_true", help="exit 1 where the bar is missed")
    options = parser.parse_args()
    counts = compare(index_labels(read_rows(options.labelled)), options.transcripts)
    figures = {
        source: {
            kind: {"calls": found[kind], "agreement": share(found, kind)}
            for kind in ("explicit", "inferred")
        }
        for source, found in sorted(counts.items())
    }
    low = [s for s, found in counts.items() if (share(found, "explicit") or 1.0) < MIN_AGREEMENT]
    if options.json:
        print(json.dumps({"schema_version": 1, "sources": figures, "below_bar": low}, indent=1))
    else:
        table = Table(title="agreement with the labels", title_justify="left")
        for column in ("source", "with a field", "agree", "without", "agree"):
            table.add_column(column, justify="left" if column == "source" else "right")
        for source, found in figures.items():
            cells = [source]
            for kind in ("explicit", "inferred"):
                value = found[kind]["agreement"]
                cells += [f"{found[kind]['calls']:,}", "-" if value is None else f"{value:.2%}"]
            table.add_row(*cells)
        Console(width=100).print(table)
        mark = "MISS" if low else "ok  "
        print(f"{mark} at least {MIN_AGREEMENT:.1%} wherever a format has a field")
    return int(options.check and bool(low))


if __name__ == "__main__":
    sys.exit(main())
