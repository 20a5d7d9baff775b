"""What stands around a corpus profile: short ids, the period, and the filters in words."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from warmstart.app.facts import read_rows
from warmstart.cli._listing import shorten_ids
from warmstart.cli._text import count, local_time
from warmstart.model import Selection, last_active
from warmstart.sources import ReadLog

if TYPE_CHECKING:
    from collections.abc import Iterable

    from warmstart.app import Workspace
    from warmstart.model import Described
    from warmstart.profile.corpus import CorpusProfile


def find_short_ids(
    workspace: Workspace, selection: Selection, profile: CorpusProfile
) -> dict[str, str]:
    """For each session named as evidence, what is enough to find it by in the same places."""
    named = {tool.evidence[0] for tool in profile.tools if tool.evidence}
    if not named:
        return {}
    everything = Selection(paths=selection.paths, format=selection.format)
    rows = list(read_rows(workspace, everything, ReadLog()))
    return shorten_ids(rows, [row for row in rows if row.id in named])


def find_period(workspace: Workspace, selection: Selection) -> tuple[str, str] | None:
    """First and last day (UTC) of the sessions selected; None where none has a time."""
    return span_days(read_rows(workspace, selection, ReadLog()))


def span_days(sessions: Iterable[Described]) -> tuple[str, str] | None:
    """The day the first of them began and the day the last was written to."""
    firsts, lasts = [], []
    for one in sessions:
        first = one.started_at if one.started_at is not None else one.ended_at
        last = last_active(one)
        if first is not None and last is not None:
            firsts.append(first)
            lasts.append(last)
    if not firsts:
        return None
    days = [_day(min(firsts)), _day(max(lasts))]
    return (days[0], days[1]) if all(days) else None


def _day(seconds: float) -> str:
    try:
        return datetime.fromtimestamp(seconds, UTC).date().isoformat()
    except (OverflowError, ValueError, OSError):
        return ""


def today() -> str:
    """The day it is where the user is."""
    return datetime.now(UTC).astimezone().date().isoformat()


def describe_filters(selection: Selection) -> tuple[str, ...]:
    """The filters in force, in words."""
    words = [
        ("format", selection.source),
        ("agent", selection.agent),
        ("model contains", selection.model),
        ("project contains", selection.project),
        ("called", selection.tool),
        ("active since", _moment(selection.since)),
        ("started before", _moment(selection.until)),
        ("at least", _messages(selection.min_messages)),
        ("at most", _messages(selection.max_messages)),
        ("with", "failed calls" if selection.errors_only else None),
    ]
    return tuple(f"{name} {value}" for name, value in words if value is not None)


def _moment(seconds: float | None) -> str | None:
    return None if seconds is None else local_time(seconds)


def _messages(number: int | None) -> str | None:
    return None if number is None else count(number, "message")
