"""An OpenHands conversation as it builds up from its events, whichever language they are in.

A message remembers the events it was made of: a condensation names events, not messages.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from msgspec.structs import replace

from warmstart.model import Compaction, Fate, Kind, Message, Role
from warmstart.sources.fields import as_id, as_text, parse_time

ROOT = "__root__"


@dataclass(slots=True)
class _Entry:
    """A message, the events it was made of and the model response they belong to."""

    message: Message
    events: list[str]
    response: str | None = None


@dataclass(slots=True)
class Transcript:
    """A conversation as it builds up from its events."""

    entries: list[_Entry] = field(default_factory=list)
    compactions: list[Compaction] = field(default_factory=list)
    calls: dict[str, str] = field(default_factory=dict)
    """Event id -> call id."""
    answered: set[str] = field(default_factory=set)
    latest: tuple[str, str] | None = None
    """Call id and tool of the latest call."""
    billed: set[str] = field(default_factory=set)
    """Model responses whose tokens were counted."""
    state: str | None = None
    """The last state the harness reported."""
    parents: dict[str, str | None] = field(default_factory=dict)
    """Event id -> the event it follows, in the order written; only where events say so."""

    @property
    def messages(self) -> list[Message]:
        """The messages, in the order of the events."""
        return [entry.message for entry in self.entries]

    def add(self, event: dict[str, Any], message: Message, response: str | None = None) -> None:
        """Append a message made from an event."""
        stamped = replace(
            message,
            native_id=as_id(event.get("id")),
            timestamp=parse_time(event.get("timestamp")),
        )
        self.entries.append(_Entry(stamped, [as_id(event.get("id")) or ""], response))

    def compact(self, event: dict[str, Any], forgets: Callable[[str], bool], summary: str) -> None:
        """Note a compaction: what it forgot happened, but the model no longer sees it."""
        for entry in self.entries:
            if entry.message.fate is Fate.LIVE and all(map(forgets, entry.events)):
                entry.message = replace(entry.message, fate=Fate.ARCHIVED)
        self.compactions.append(Compaction(at=len(self.entries)))
        if summary:
            self.add(event, Message(role=Role.USER, text=summary, kind=Kind.SUMMARY))

    def rewind_to(self, leaf: str | None) -> None:
        """Mark what was taken back: messages on no line through the conversation's head."""
        line = find_line(self.parents, leaf)
        for entry in self.entries:
            if all(event in self.parents and event not in line for event in entry.events):
                entry.message = replace(entry.message, fate=Fate.REWOUND)


def find_line(parents: dict[str, str | None], leaf: str | None) -> set[str]:
    """The events before and after ``leaf``; all of them where it is not among them.

    The head may be older than the newest events, so what follows it is kept. A line that begins
    at no root begins where events had no parents yet: everything before that is kept too.
    """
    if leaf not in parents:
        return set(parents)
    line: set[str] = set()
    at: str | None = leaf
    while at in parents and at not in line:
        line.add(at)
        at = parents[at]
    after = {leaf}
    is_before = at != ROOT
    for event, parent in parents.items():
        is_before = is_before and event not in line
        if parent in after:
            after.add(event)
        if is_before:
            line.add(event)
    return line | after


def wrap_output(text: str, metadata: dict[str, Any]) -> str:
    """Output as the model saw it, between the notes the terminal puts around it."""
    return f"{as_text(metadata.get('prefix')) or ''}{text}{as_text(metadata.get('suffix')) or ''}"
