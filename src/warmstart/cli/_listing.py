"""``sessions list``: one small row is kept per session, never the session itself.

JSON is one object: ``schema_version``, ``sessions`` (newest first; times in UTC, ``error_rate``
over the calls judged ok or error), ``totals`` over everything selected, listed or not, and
``skipped``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rich.text import Text

from warmstart.cli._output import (
    Column,
    follow,
    list_skips,
    note,
    open_console,
    print_json,
    print_table,
    report_skips,
)
from warmstart.cli._text import clean, count, iso_time, local_time, one_line
from warmstart.model import Call, Fate, Kind, Role, Session, Status
from warmstart.model.selection import Selection, count_messages, last_active
from warmstart.sources import ReadLog
from warmstart.workspace import Workspace

if TYPE_CHECKING:
    from rich.console import Console

SCHEMA_VERSION = 1
MIN_ID_LENGTH = 8
MEDIUM_WIDTH = 100
"""From this width on there is room for the model and the project."""
WIDE_WIDTH = 140
"""From this width on there is room for the time of day."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """Calls by how they ended."""

    statuses: Counter[Status]

    @classmethod
    def of(cls, calls: Iterable[Call]) -> Tally:
        """Count calls."""
        return cls(statuses=Counter(call.outcome.status for call in calls))

    @property
    def calls(self) -> int:
        """All of them."""
        return self.statuses.total()

    @property
    def errors(self) -> int:
        """Those that failed."""
        return self.statuses[Status.ERROR]

    @property
    def judged(self) -> int:
        """Those that say something about the agent: ok or error."""
        return self.statuses[Status.OK] + self.statuses[Status.ERROR]

    @property
    def rate(self) -> float | None:
        """Errors among the judged; None where nothing was."""
        return self.errors / self.judged if self.judged else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What a listing needs of a session."""

    id: str
    native_id: str
    agent: str
    model: str | None
    project: str | None
    title: str
    messages: int
    tally: Tally
    when: float | None
    facts: dict[str, Any]
    """The rest, for JSON only."""


def print_list(selection: Selection, *, limit: int | None, as_json: bool, quiet: bool) -> None:
    """Read, sort and print."""
    log = ReadLog()
    found = Workspace.open().read_sessions(selection, log)
    rows = [make_row(session) for session in follow(found, "sessions", quiet=quiet)]
    rows.sort(key=lambda row: (row.when is not None, row.when or 0.0, row.id), reverse=True)
    listed = rows[:limit]
    totals = Tally(statuses=sum((row.tally.statuses for row in rows), Counter()))
    if as_json:
        print_json(
            {
                "schema_version": SCHEMA_VERSION,
                "sessions": [_row_json(row) for row in listed],
                "totals": {"sessions": len(rows), **_tally_json(totals)},
                "skipped": list_skips(log),
            }
        )
    elif listed and _print_rows(open_console(), listed, shorten_ids(rows)):
        note("ids that end in … are cut: use a wider terminal, a pipe or --json", quiet=quiet)
    report_skips(log, quiet=quiet)
    note(_footer(rows, listed, totals), quiet=quiet)


def make_row(session: Session) -> Row:
    """The row of a session."""
    return Row(
        id=session.id,
        native_id=session.native_id,
        agent=session.agent,
        model=session.model,
        project=session.project,
        title=one_line(session.title or first_words(session)),
        messages=count_messages(session),
        tally=Tally.of(session.calls),
        when=last_active(session),
        facts={
            "origin": session.origin,
            "agent_version": session.agent_version,
            "git_branch": session.git_branch,
            "started_at": iso_time(session.started_at),
            "ended_at": iso_time(session.ended_at),
            "end_reason": session.end_reason,
            "parent": session.parent.id if session.parent else None,
            "link": session.parent.link if session.parent else None,
            "compactions": len(session.compactions),
            "tokens": session.tokens.total,
            "cost_usd": session.cost_usd,
            "task": session.task,
            "reward": session.reward,
            "path": session.path,
        },
    )


def first_words(session: Session) -> str:
    """What the user asked for first."""
    for message in session.messages:
        is_ask = message.role is Role.USER and message.kind is Kind.TURN
        if is_ask and message.fate is not Fate.REWOUND and message.text.strip():
            return message.text
    return ""


def shorten_ids(rows: Iterable[Row]) -> dict[str, str]:
    """For each id the shortest text that finds it again, eight characters at least."""
    origins = Counter(native for native, _ in {(row.native_id, row.id) for row in rows})
    natives = sorted(origins)
    shorts: dict[str, str] = {}
    for index, native in enumerate(natives):
        neighbours = natives[max(index - 1, 0) : index] + natives[index + 1 : index + 2]
        shared = max((_shared_length(native, other) for other in neighbours), default=0)
        length = max(shared + 1, MIN_ID_LENGTH)
        # Cutting off a character or two makes an id no shorter to type, only odd to read.
        shorts[native] = native if len(native) - length < 4 else native[:length]
    return {
        row.id: shorts[row.native_id] if origins[row.native_id] == 1 else row.id for row in rows
    }


def _shared_length(one: str, other: str) -> int:
    """How many characters two ids begin with in common."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))


def _print_rows(console: Console, rows: Sequence[Row], shorts: dict[str, str]) -> bool:
    """The listing for people; narrow terminals get fewer columns. True if an id had to be cut."""
    columns = [
        Column(name="ID", style="cyan", max_width=max(console.width // 3, MIN_ID_LENGTH)),
        Column(name="WHEN"),
        Column(name="AGENT", max_width=14),
    ]
    if console.width >= MEDIUM_WIDTH:
        columns += [Column(name="MODEL", max_width=18), Column(name="PROJECT", max_width=14)]
    columns += [Column(name=name, right=True) for name in ("MSGS", "CALLS", "ERR", "RATE")]
    columns.append(Column(name="TITLE"))
    cells = [_cells(row, shorts[row.id], console.width) for row in rows]
    widths = print_table(console, columns, cells)
    return any(row[0].cell_len > widths[0] for row in cells)


def _cells(row: Row, short: str, width: int) -> list[Text]:
    when = local_time(row.when)
    cells = [clean(short), when if width >= WIDE_WIDTH else when[:10], clean(row.agent)]
    if width >= MEDIUM_WIDTH:
        cells += [clean(_last_part(row.model)), clean(_last_part(row.project))]
    cells += [f"{row.messages:,}", f"{row.tally.calls:,}"]
    style = "red" if row.tally.errors else "dim"
    errors = [f"{row.tally.errors:,}", percent(row.tally.rate)]
    texts = [Text(cell) for cell in cells] + [Text(cell, style=style) for cell in errors]
    return [*texts, Text(row.title)]


def percent(rate: float | None) -> str:
    """A rate with one digit; a dash where there is nothing to divide by."""
    return "-" if rate is None else f"{rate:.1%}"


def _last_part(path: str | None) -> str:
    """The folder of a project, the model without its provider."""
    parts = (path or "").replace("\\", "/").rstrip("/").rpartition("/")
    return one_line(parts[2]) or "-"


def _footer(rows: Sequence[Row], listed: Sequence[Row], totals: Tally) -> str:
    if not rows:
        return "no sessions found; see: warmstart doctor, or try: warmstart demo"
    shown = f" (the {len(listed):,} newest are shown, --all shows every one)"
    return (
        f"{count(len(rows), 'session')}{shown if len(listed) < len(rows) else ''}, "
        f"{count(totals.calls, 'call')}, {count(totals.errors, 'error')} "
        f"({percent(totals.rate)} of {totals.judged:,} judged)"
    )


def _tally_json(tally: Tally) -> dict[str, Any]:
    return {
        "calls": tally.calls,
        "judged": tally.judged,
        "errors": tally.errors,
        "error_rate": tally.rate,
        "outcomes": {str(status): tally.statuses[status] for status in Status},
    }


def _row_json(row: Row) -> dict[str, Any]:
    return {
        "id": row.id,
        "native_id": row.native_id,
        "agent": row.agent,
        "model": row.model,
        "project": row.project,
        "title": row.title,
        "messages": row.messages,
        **_tally_json(row.tally),
        **row.facts,
    }
