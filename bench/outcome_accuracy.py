"""Score the judge on labelled calls: precision, recall and F1 of the class "error".

    python bench/outcome_accuracy.py LABELLED.jsonl[.gz] [--json] [--check]

One JSON object per line: source, tool_name, arguments, result_text, result_text_nolabel (the same
without an embedded exit-code marker, or null), label_error, and the flags label_user_rejected and
label_cascade. The judge is given what a reader would give it and never a label: the source as
origin, the tool's name, the arguments and the text. Text whose marker was cut out stands for a
format that never writes one, so there the origin is withheld too.

The label is what the source's own field says, so the main columns ask the judge the same question
(``Outcome.observed_failure``): a search that found nothing and exited 1 counts as a failed exit, a
failure that a pipe turned into exit 0 does not. The columns "status" count ``status == error``
instead, which is what users see: benign exits are ok there, hidden failures are errors. Calls that
a user rejected, or that another call's failure cancelled, are reported apart.

The judge stands beside the keyword test ("error", "failed", … anywhere in the text) and beside
always answering ok, in the same run.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console
from rich.table import Table

from warmstart.model import Outcome, Request, Result, Status
from warmstart.outcome import judge
from warmstart.sources import parse_arguments

CODING_AGENTS = frozenset({
    "claude_code", "codex", "copilot", "gemini", "goose", "hermes", "mini_swe_agent", "opencode",
    "openhands", "swe_agent",
})  # fmt: skip
KEYWORDS = ("error", "failed", "exception", "traceback", "denied", "not found")
BARS = {
    "coding agents, text as seen: F1": (0.95, "min"),
    "coding agents, text as seen: false alarms": (0.01, "max"),
    "coding agents, markers removed: F1": (0.85, "min"),
    "other agents, text as seen: F1 of the weakest": (0.75, "min"),
}


class Score(NamedTuple):
    """Counts of one predictor on one set of calls."""

    calls: int
    errors: int
    hits: int
    false_alarms: int

    @property
    def precision(self) -> float:
        said = self.hits + self.false_alarms
        return self.hits / said if said else float(self.errors == 0)

    @property
    def recall(self) -> float:
        return self.hits / self.errors if self.errors else 1.0

    @property
    def f1(self) -> float:
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0

    @property
    def false_alarm_rate(self) -> float:
        return self.false_alarms / max(self.calls - self.errors, 1)

    def as_dict(self) -> dict[str, float]:
        return {
            **self._asdict(),
            "precision": round(self.precision, 4),
            "recall": round(self.recall, 4),
            "f1": round(self.f1, 4),
            "false_alarm_rate": round(self.false_alarm_rate, 5),
        }


class Judged(NamedTuple):
    """One labelled call and what was said of it."""

    row: dict[str, Any]
    text: str
    outcome: Outcome


def read_rows(path: Path) -> list[dict[str, Any]]:
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


def judge_rows(rows: Iterable[dict[str, Any]], *, markers: bool) -> list[Judged]:
    judged = []
    for row in rows:
        text, origin = row["result_text"] or "", row["source"]
        if not markers:
            bare = row.get("result_text_nolabel")
            text, origin = (text if bare is None else bare), ""
        judged.append(Judged(row, text, judge(read_request(row), Result(text=text), origin)))
    return judged


def read_request(row: dict[str, Any]) -> Request:
    """The call as a reader would give it; arguments may be an object or its JSON text."""
    arguments = parse_arguments(row.get("arguments"))
    return Request(
        tool=row.get("tool_name") or "unknown", arguments=arguments.data, raw=arguments.raw
    )


def score(calls: list[Judged], predict: Callable[[Judged], bool]) -> Score:
    pairs = Counter((predict(call), bool(call.row["label_error"])) for call in calls)
    errors = pairs[True, True] + pairs[False, True]
    return Score(len(calls), errors, pairs[True, True], pairs[True, False])


PREDICTORS: dict[str, Callable[[Judged], bool]] = {
    "judge": lambda call: call.outcome.observed_failure,
    "status": lambda call: call.outcome.status is Status.ERROR,
    "keywords": lambda call: any(word in call.text.lower() for word in KEYWORDS),
    "always ok": lambda _: False,
}


def is_flagged(row: dict[str, Any]) -> bool:
    return bool(row.get("label_user_rejected") or row.get("label_cascade"))


def score_groups(judged: list[Judged]) -> dict[str, dict[str, Score]]:
    """Scores by group: all coding agents pooled, all others pooled, then each source."""
    counted = [call for call in judged if not is_flagged(call.row)]
    groups: dict[str, list[Judged]] = {"coding agents": [], "other agents": []}
    for call in counted:
        source = call.row["source"]
        groups["coding agents" if source in CODING_AGENTS else "other agents"].append(call)
        groups.setdefault(source, []).append(call)
    return {
        name: {who: score(calls, predict) for who, predict in PREDICTORS.items()}
        for name, calls in groups.items()
        if calls
    }


def check_bars(results: dict[str, Any]) -> dict[str, tuple[float, bool]]:
    seen, removed = results["text as seen"], results["markers removed"]
    others = [
        scores["judge"].f1
        for name, scores in seen.items()
        if name not in CODING_AGENTS and not name.endswith(" agents") and scores["judge"].errors
    ]
    nothing = {"judge": Score(0, 0, 0, 0)}
    coding = seen.get("coding agents", nothing)["judge"]
    bare = removed.get("coding agents", nothing)["judge"]
    values = {
        "coding agents, text as seen: F1": coding.f1,
        "coding agents, text as seen: false alarms": coding.false_alarm_rate,
        "coding agents, markers removed: F1": bare.f1,
        "other agents, text as seen: F1 of the weakest": min(others, default=1.0),
    }
    return {
        name: (value, value >= BARS[name][0] if BARS[name][1] == "min" else value <= BARS[name][0])
        for name, value in values.items()
    }


def print_tables(results: dict[str, Any], apart: dict[str, int], bars: dict[str, Any]) -> None:
    console = Console(width=110)
    for variant, groups in results.items():
        table = Table(title=f"class error, {variant}", title_justify="left")
        table.add_column("calls of")
        for column in ("calls", "errors", "precision", "recall", "F1", "false alarms",
                       "status F1", "keywords F1", "always ok F1"):  # fmt: skip
            table.add_column(column, justify="right")
        for name, scores in groups.items():
            main = scores["judge"]
            table.add_row(
                name, f"{main.calls:,}", f"{main.errors:,}", f"{main.precision:.3f}",
                f"{main.recall:.3f}", f"{main.f1:.3f}", f"{main.false_alarm_rate:.2%}",
                f"{scores['status'].f1:.3f}", f"{scores['keywords'].f1:.3f}",
                f"{scores['always ok'].f1:.3f}",
                end_section=name == "other agents",
            )  # fmt: skip
        console.print(table)
    listed = ", ".join(f"{count} {status}" for status, count in apart.items()) or "none"
    console.print(f"rejected by a user or cascaded, counted apart: {listed}")
    for name, (value, met) in bars.items():
        limit, kind = BARS[name]
        console.print(f"{'ok  ' if met else 'MISS'} {name} {value:.4f} ({kind} {limit})")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("path", type=Path)
    parser.add_argument("--json", action="store_true", help="print figures as JSON")
    parser.add_argument("--check", action="store_true", help="exit 1 where a bar is missed")
    options = parser.parse_args()
    rows = read_rows(options.path)
    as_seen = judge_rows(rows, markers=True)
    results = {
        "text as seen": score_groups(as_seen),
        "markers removed": score_groups(judge_rows(rows, markers=False)),
    }
    apart = dict(Counter(str(c.outcome.status) for c in as_seen if is_flagged(c.row)))
    bars = check_bars(results)
    if options.json:
        figures = {
            variant: {
                group: {who: score.as_dict() for who, score in scores.items()}
                for group, scores in groups.items()
            }
            for variant, groups in results.items()
        }
        judged_bars = {name: {"value": value, "met": met} for name, (value, met) in bars.items()}
        report = {"schema_version": 1, "scores": figures, "apart": apart, "bars": judged_bars}
        print(json.dumps(report, indent=1))
    else:
        print_tables(results, apart, bars)
    return int(options.check and not all(met for _, met in bars.values()))


if __name__ == "__main__":
    sys.exit(main())
