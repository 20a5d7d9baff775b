"""``template list`` and ``template versions``: rows from the store, no template is opened.

JSON is one object: ``schema_version`` and ``templates``; times in UTC, ``success_rate`` with its
95 % interval over settled sessions, null where there are none.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from warmstart.cli._output import Column, note, print_json
from warmstart.home import find_home
from warmstart.library import Listed
from warmstart.library.catalogue import open_catalogue
from warmstart.present import Span, clean, count, iso_time, one_line, print_table, readable_duration

SCHEMA_VERSION = 1
STYLES = {"approved": "green", "quarantined": "yellow", "retired": "dim", "draft": ""}
VERDICTS = {"better": "green", "worse": "red", "invalid": "red"}


def print_list(
    store: str | None, states: Sequence[str], task_type: str | None, *, as_json: bool
) -> None:
    """The current version of every template."""
    with open_catalogue(find_home(), store) as catalogue:
        rows = catalogue.list()
    rows = [
        row
        for row in rows
        if (not states or row.state in states)
        and (task_type is None or row.summary.get("task_type") == task_type)
    ]
    _print(rows, as_json=as_json)


def print_versions(store: str | None, name: str, *, as_json: bool) -> None:
    """Every version of one template."""
    with open_catalogue(find_home(), store) as catalogue:
        rows = catalogue.versions(name)
    _print(rows, as_json=as_json, with_current=True)


def row_json(row: Listed) -> dict[str, Any]:
    """A row for machines."""
    settled = row.record.successes + row.record.failures
    interval = _interval(row)
    return {
        "name": row.name,
        "version": row.version,
        "id": row.id,
        "state": str(row.state),
        "reason": row.reason,
        "current": row.current,
        "versions": row.versions,
        "newest": row.newest,
        "created_at": iso_time(row.created_at),
        **{key: value for key, value in row.summary.items() if key != "markers"},
        "uses": row.record.uses,
        "settled": settled,
        "successes": row.record.successes,
        "success_rate": row.record.successes / settled if settled else None,
        "success_interval": list(interval) if interval else None,
        "verdict": row.verdict or None,
    }


def say_success(row: Listed) -> str:
    """The rate with its interval, as people read it."""
    interval = _interval(row)
    if interval is None:
        return "-"
    rate = row.record.successes / (row.record.successes + row.record.failures)
    return f"{rate:.0%} ({interval[0]:.0%}-{interval[1]:.0%})"


def _interval(row: Listed) -> tuple[float, float] | None:
    settled = row.record.successes + row.record.failures
    if not settled:
        return None
    from warmstart.stats.proportion import wilson  # noqa: PLC0415 - only where sessions settled

    return wilson(row.record.successes, settled)


def _print(rows: Sequence[Listed], *, as_json: bool, with_current: bool = False) -> None:
    if as_json:
        print_json({"schema_version": SCHEMA_VERSION, "templates": [row_json(row) for row in rows]})
        return
    if not rows:
        note("no templates; make one: warmstart template auto, or: warmstart template build")
        return
    _print_rows(rows, with_current=with_current)
    waiting = sum(row.state == "quarantined" for row in rows)
    review = f", {waiting} to review" if waiting else ""
    note(count(len(rows), "version" if with_current else "template") + review)


def _print_rows(rows: Sequence[Listed], *, with_current: bool) -> None:
    columns = [
        Column(name="NAME", style="cyan", max_width=40),
        Column(name="VER", right=True),
        Column(name="TYPE", max_width=12),
        Column(name="EX", right=True),
        Column(name="TOKENS", right=True),
        Column(name="USES", right=True),
        Column(name="SUCCESS", right=True),
        Column(name="VERDICT"),
        Column(name="STATE"),
        Column(name="AGE", right=True),
        Column(name="DESCRIPTION"),
    ]
    print_table(columns, [_cells(row, with_current=with_current) for row in rows])


def _cells(row: Listed, *, with_current: bool) -> list[Span]:
    summary = row.summary
    mark = "*" if with_current and row.current else ""
    newer = "+" if row.newest > row.version and not with_current else ""
    state = f"{row.state}{' !' if summary.get('flags') else ''}"
    return [
        Span(clean(row.name)),
        Span(f"{mark}{row.version}{newer}"),
        Span(one_line(str(summary.get("task_type", "-")))),
        Span(f"{summary.get('examples', 0):,}"),
        Span(f"{summary.get('tokens', 0):,}"),
        Span(f"{row.record.uses:,}"),
        Span(say_success(row)),
        Span(one_line(row.verdict) or "-", style=VERDICTS.get(row.verdict.partition(" ")[0], "")),
        Span(state, style=STYLES.get(row.state, "")),
        Span(_age(row.created_at)),
        Span(one_line(row.reason if row.state == "retired" else summary.get("description", ""))),
    ]


def _age(moment: float) -> str:
    return readable_duration(max(time.time() - moment, 0.0))
