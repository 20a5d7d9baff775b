"""``sessions list``: one small row is kept per session, never the session itself.

The rows come from the facts index, so only sessions that are new or have changed are read.

JSON is one object: ``schema_version``, ``sessions`` (newest first; times in UTC, ``error_rate``
over the calls judged ok or error), ``totals`` over everything selected, listed or not, and
``skipped``.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from rich.text import Text

from warmstart.app import Workspace
from warmstart.app.facts import read_rows
from warmstart.cli._output import (
    Column,
    list_skips,
    note,
    open_console,
    print_json,
    print_table,
    report_skips,
)
from warmstart.cli._refreshing import watch_reading
from warmstart.cli._text import clean, count, iso_time, local_time, one_line
from warmstart.model import Call, Selection, SessionFacts, Status, last_active
from warmstart.sources import ReadLog

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
    name: str
    """The title as it was given, or the user's first words."""
    messages: int
    tally: Tally
    when: float | None
    facts: SessionFacts
    """The rest, for JSON only."""

    @property
    def title(self) -> str:
        """The name, fit for one line of a terminal."""
        return one_line(self.name)


class Named(Protocol):
    """A session by its two ids."""

    @property
    def id(self) -> str:
        """``origin:native_id``."""

    @property
    def native_id(self) -> str:
        """The agent's own id."""


def print_list(selection: Selection, *, limit: int | None, as_json: bool, quiet: bool) -> None:
    """Read, sort and print."""
    log = ReadLog()
    with watch_reading(quiet=quiet) as progress:
        rows = list(read_rows(Workspace.open(), selection, log, on_progress=progress))
    rows.sort(key=_age_key, reverse=True)
    listed = [make_row(facts) for facts in rows[:limit]]
    totals = Tally(statuses=_add_up(rows))
    if as_json:
        print_json(
            {
                "schema_version": SCHEMA_VERSION,
                "sessions": [_row_json(row) for row in listed],
                "totals": {"sessions": len(rows), **_tally_json(totals)},
                "skipped": list_skips(log),
            }
        )
    elif listed and _print_rows(open_console(), listed, shorten_ids(rows, listed)):
        note("ids that end in … are cut: use a wider terminal, a pipe or --json", quiet=quiet)
    report_skips(log, quiet=quiet)
    note(_footer(len(rows), len(listed), totals), quiet=quiet)


def _age_key(row: SessionFacts) -> tuple[bool, float, str]:
    when = last_active(row)
    return when is not None, when or 0.0, row.id


def _add_up(rows: Sequence[SessionFacts]) -> Counter[Status]:
    totals = map(sum, zip(*(row.statuses for row in rows), strict=True)) if rows else ()
    return Counter(dict(zip(Status, totals, strict=False)))


def make_row(facts: SessionFacts) -> Row:
    """What a listing shows of a session."""
    return Row(
        id=facts.id,
        native_id=facts.native_id,
        agent=facts.agent,
        model=facts.model,
        project=facts.project,
        name=facts.title or facts.opening,
        messages=facts.messages,
        tally=Tally(statuses=Counter(dict(zip(Status, facts.statuses, strict=True)))),
        when=last_active(facts),
        facts=facts,
    )


def shorten_ids(rows: Iterable[Named], shown: Iterable[Named] | None = None) -> dict[str, str]:
    """For each id shown, the shortest text that finds it among all; eight characters at least."""
    named = {(row.native_id, row.id) for row in rows}
    origins = Counter(native for native, _ in named)
    natives = sorted(origins)
    wanted = named if shown is None else {(row.native_id, row.id) for row in shown}
    return {
        full: _shorten(native, natives) if origins[native] == 1 else full for native, full in wanted
    }


def _shorten(native: str, natives: Sequence[str]) -> str:
    """An id cut where it differs from its neighbours in the sorted list."""
    if clean(native) != native:  # half an escape sequence would be cleaned of nothing
        return native
    at = bisect_left(natives, native)
    neighbours = (*natives[max(at - 1, 0) : at], *natives[at + 1 : at + 2])
    shared = max((_shared_length(native, other) for other in neighbours), default=0)
    length = max(shared + 1, MIN_ID_LENGTH)
    # Cutting off a character or two makes an id no shorter to type, only odd to read.
    return native if len(native) - length < 4 else native[:length]


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


def _footer(found: int, listed: int, totals: Tally) -> str:
    if not found:
        return "no sessions found; see: warmstart doctor, or try: warmstart demo"
    shown = f" (the {listed:,} newest are shown, --all shows every one)"
    return (
        f"{count(found, 'session')}{shown if listed < found else ''}, "
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
    facts = row.facts
    return {
        "id": row.id,
        "native_id": row.native_id,
        "agent": row.agent,
        "model": row.model,
        "project": row.project,
        "title": row.title,
        "messages": row.messages,
        **_tally_json(row.tally),
        "origin": facts.origin,
        "agent_version": facts.agent_version,
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
