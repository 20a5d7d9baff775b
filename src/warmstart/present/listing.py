"""Sessions as a listing, newest first."""

from __future__ import annotations

from functools import partial
from typing import Any

from warmstart.app import CallTally, ListedSession, SessionList
from warmstart.model import Status
from warmstart.present.about import describe_filters
from warmstart.present.document import Column, Data, Document, StyledText, Table
from warmstart.present.json import list_skips
from warmstart.present.text import count, iso_time, local_time, one_line, percent

__all__ = ["describe_listing", "list_document"]

SCHEMA_VERSION = 1
COLUMNS = (
    Column("id", style="name", whole=True),
    Column("when", whole=True),
    Column("time", whole=True, priority=4),
    Column("agent", max_width=14, priority=1),
    Column("model", max_width=18, priority=3),
    Column("project", max_width=14, priority=2),
    Column("msgs", right=True),
    Column("calls", right=True),
    Column("err", right=True),
    Column("rate", right=True),
    Column("title"),
)


def list_document(result: SessionList) -> Document:
    """A row per session."""
    table = Table(
        columns=COLUMNS, rows=[_make_cells(row, result.ids[row.id]) for row in result.rows]
    )
    blocks = [table] if result.rows else []
    return Document(title="", blocks=[*blocks, Data(partial(_list_fields, result))])


def describe_listing(result: SessionList) -> str:
    """How many sessions there are, and how their calls ended."""
    if not result.found and result.selection.has_filters:
        return f"no session matches: {', '.join(describe_filters(result.selection))}"
    if not result.found:
        return "no sessions found; see: warmstart doctor, or try: warmstart demo"
    shown = f" (the {len(result.rows):,} newest are shown, --all shows every one)"
    totals = result.totals
    return (
        f"{count(result.found, 'session')}{shown if len(result.rows) < result.found else ''}, "
        f"{count(totals.calls, 'call')}, {count(totals.errors, 'error')} "
        f"({percent(totals.rate)} of {totals.judged:,} judged)"
    )


def _make_cells(row: ListedSession, short: str) -> list[str | StyledText]:
    facts, tally = row.facts, row.tally
    day, _, time = local_time(row.when).partition(" ")
    style = "bad" if tally.errors else "muted"
    return [
        short,
        day,
        time or "-",
        facts.agent,
        _take_last_part(facts.model),
        _take_last_part(facts.project),
        f"{facts.messages:,}",
        f"{tally.calls:,}",
        StyledText(f"{tally.errors:,}", style),
        StyledText(percent(tally.rate), style),
        one_line(row.name),
    ]


def _take_last_part(path: str | None) -> str:
    """The folder of a project, the model without its provider."""
    parts = (path or "").replace("\\", "/").rstrip("/").rpartition("/")
    return one_line(parts[2]) or "-"


def _list_fields(result: SessionList) -> dict[str, Any]:
    return {
        "schema_version": SCHEMA_VERSION,
        "sessions": [_list_row_fields(row) for row in result.rows],
        "totals": {"sessions": result.found, **_list_tally_fields(result.totals)},
        "skipped": list_skips(result.log),
    }


def _list_tally_fields(tally: CallTally) -> dict[str, Any]:
    return {
        "calls": tally.calls,
        "judged": tally.judged,
        "errors": tally.errors,
        "error_rate": tally.rate,
        "outcomes": {str(status): tally.statuses[status] for status in Status},
    }


def _list_row_fields(row: ListedSession) -> dict[str, Any]:
    facts = row.facts
    return {
        "id": row.id,
        "native_id": row.native_id,
        "agent": facts.agent,
        "model": facts.model,
        "project": facts.project,
        "title": one_line(row.name),
        "messages": facts.messages,
        **_list_tally_fields(row.tally),
        "origin": facts.origin,
        "agent_version": facts.agent_version,
        "platform": facts.platform,
        "git_branch": facts.git_branch,
        "started_at": iso_time(facts.started_at),
        "ended_at": iso_time(facts.ended_at),
        "end_reason": facts.end_reason,
        "parent": facts.parent.id if facts.parent else None,
        "link": facts.parent.link if facts.parent else None,
        "compactions": len(facts.compactions),
        "tokens": facts.tokens.total,
        "cost_usd": facts.cost_usd,
        "task": facts.task,
        "reward": facts.reward,
        "path": facts.path,
    }
