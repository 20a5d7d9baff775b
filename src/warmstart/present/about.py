"""Which sessions a result is about: their period, the filters, and names that find them again."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from warmstart.present.document import Block, StyledText, Text
from warmstart.present.text import count, local_time

if TYPE_CHECKING:
    from warmstart.model import Selection

__all__ = [
    "describe_filters",
    "describe_period",
    "name_call",
    "name_show_command",
    "shift_label",
    "shorten_id",
    "show_day",
]

UUID_LENGTH = 36


def describe_period(period: tuple[float, float] | None) -> str:
    """First and last day (UTC); empty where they are not known."""
    days = [show_day(moment) for moment in period or ()]
    return " to ".join(dict.fromkeys(days)) if all(days) else ""


def show_day(seconds: float) -> str:
    """The day of a moment (UTC); empty where there is none."""
    try:
        return datetime.fromtimestamp(seconds, UTC).date().isoformat()
    except (OverflowError, ValueError, OSError):
        return ""


def describe_filters(selection: Selection) -> tuple[str, ...]:
    """The filters in force, in words."""
    moments = {
        "active since": selection.since,
        "started before": selection.until,
    }
    sizes = {"at least": selection.min_messages, "at most": selection.max_messages}
    words = [
        ("format", selection.source),
        ("agent", selection.agent),
        ("model contains", selection.model),
        ("project contains", selection.project),
        ("platform", selection.platform),
        ("called", selection.tool),
        *((name, None if at is None else local_time(at)) for name, at in moments.items()),
        *((name, None if n is None else count(n, "message")) for name, n in sizes.items()),
        ("with", "failed calls" if selection.errors_only else None),
    ]
    return tuple(f"{name} {value}" for name, value in words if value is not None)


def shorten_id(session: str, ids: Mapping[str, str]) -> str:
    """An id that still finds its session: of a UUID, the first eight digits do."""
    if session in ids:
        return ids[session]
    origin, _, native = session.partition(":")
    is_uuid = len(native) == UUID_LENGTH and native.count("-") == 4
    return f"{origin}:{native[:8]}" if is_uuid else session


def name_call(session: str, position: int, ids: Mapping[str, str]) -> str:
    """A call of a session as people count: from 1."""
    return f"{shorten_id(session, ids)} #{position + 1}"


def name_show_command(session: str, paths: Sequence[str]) -> Block:
    """The command that shows what failed in a session, to be copied."""
    words = ["warmstart", "sessions", "show", session, *paths, "--errors"]
    return Text(["next: ", StyledText(shlex.join(words), "code")], whole=True)


def shift_label(label: str) -> str:
    """A stretch of positions counted from 1 instead of 0: "0-9" is "1-10"."""
    first, dash, last = label.partition("-")
    if dash:
        return f"{int(first) + 1}-{int(last) + 1}"
    return f"{int(label.rstrip('+')) + 1}+"
