"""One entry of a conversation, and the calls and results it carries."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

import msgspec

from warmstart.model.outcome import Status


class Role(StrEnum):
    """Who wrote a message. A tool message carries results only."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


class Kind(StrEnum):
    """What a message is for."""

    TURN = "turn"
    INJECTED = "injected"
    """Put there by the harness in the user's name: environment notes, reminders, hook output."""
    SUMMARY = "summary"
    """What a compaction left in place of the messages before it."""
    WARMUP = "warmup"
    """An example that a warm start put there; never counted in any rate."""


class Fate(StrEnum):
    """What happened to a message after it was written."""

    LIVE = "live"
    ARCHIVED = "archived"
    """Compacted away: the model no longer sees it, but it happened and counts."""
    REWOUND = "rewound"
    """Taken back by the user; shown on request, not counted."""
    COPIED = "copied"
    """A repeat of a message that counts elsewhere (compaction tail, fork, resume)."""


_LIVE, _ARCHIVED, _WARMUP = Fate.LIVE, Fate.ARCHIVED, Kind.WARMUP


class Tokens(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Tokens billed, each kind once."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    reasoning: int = 0

    def __add__(self, other: Tokens) -> Tokens:
        return Tokens(
            input=self.input + other.input,
            output=self.output + other.output,
            cache_read=self.cache_read + other.cache_read,
            cache_write=self.cache_write + other.cache_write,
            reasoning=self.reasoning + other.reasoning,
        )

    @property
    def total(self) -> int:
        """Everything but reasoning, which providers already count as output."""
        return self.input + self.output + self.cache_read + self.cache_write


class Request(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The agent asking for a tool: half of a call."""

    tool: str
    id: str | None = None
    """The source's own call id; None where the format has none."""
    arguments: Mapping[str, Any] = msgspec.field(default_factory=dict)
    raw: str | None = None
    """The argument text as written, only where it is not a JSON object."""


class Result(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What came back, with every explicit signal the source has: the other half of a call."""

    text: str
    """As the model saw it, or as near as the source keeps it."""
    call_id: str | None = None
    tool: str | None = None
    is_error: bool | None = None
    """The source's own failure field; None where the format has none or it is absent."""
    exit_code: int | None = None
    """From a field of the source, never parsed out of the text (that is the judge's work)."""
    status: Status | None = None
    """Set where the source itself says rejected or cancelled."""


class Message(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One message, in the order of its source; the clock never decides."""

    role: Role
    text: str = ""
    requests: tuple[Request, ...] = ()
    results: tuple[Result, ...] = ()
    reasoning: str = ""
    native_id: str | None = None
    timestamp: float | None = None
    """Seconds since the epoch, UTC."""
    model: str | None = None
    tokens: Tokens | None = None
    kind: Kind = Kind.TURN
    fate: Fate = Fate.LIVE

    @property
    def counts(self) -> bool:
        """Whether its calls belong in rates: it happened, here, and was not put there by us."""
        fate = self.fate
        return (fate is _LIVE or fate is _ARCHIVED) and self.kind is not _WARMUP
