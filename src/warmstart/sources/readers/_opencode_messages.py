"""opencode's messages and parts to messages of ours, whatever store they came from.

An assistant message holds its tool calls with their results; it becomes one message that asks and
one that answers. Text that opencode wrote in the user's name ("synthetic") is kept apart from what
the user wrote. A message seen before in the same scan is a copy: a fork repeats its parent's
messages under new ids, with their times and texts unchanged.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

from msgspec.structs import replace

from warmstart.model import (
    Compaction,
    Fate,
    Kind,
    Message,
    Request,
    Result,
    Role,
    Status,
    Tokens,
)
from warmstart.sources.fields import (
    as_bool,
    as_dict,
    as_float,
    as_id,
    as_int,
    as_text,
    content_text,
    parse_arguments,
    parse_time,
    parse_tokens,
)
from warmstart.sources.json_text import dump
from warmstart.sources.log import ReadLog

ORIGIN = "opencode"
TOKENS = {"input": "input", "output": "output", "reasoning": "reasoning"}
CACHE_TOKENS = {"cache_read": "read", "cache_write": "write"}
TRIGGERS = {True: "auto", False: "manual", None: None}
ANSWERED = frozenset({"completed", "error"})


class Entry(NamedTuple):
    """One stored message and its parts, both as plain JSON objects."""

    info: dict[str, Any]
    parts: Sequence[dict[str, Any]]


@dataclass(slots=True)
class Transcript:
    """Collects a session's messages, and what only shows while reading them in order."""

    path: Path
    log: ReadLog
    messages: list[Message] = field(default_factory=list)
    compactions: list[Compaction] = field(default_factory=list)
    cost_usd: float = 0.0
    _first_of: dict[str, int] = field(default_factory=dict)
    """Index of the first message of each stored message."""
    _pending_compaction: dict[str, Any] | None = None

    def add(self, entry: Entry) -> None:
        """Take in the next stored message."""
        native_id = as_id(entry.info.get("id"))
        if native_id is not None:
            self._first_of.setdefault(native_id, len(self.messages))
        for part in entry.parts:
            if part.get("type") == "compaction":
                self._compact(part)
        if _is_summary(entry):
            self._archive()
        new = list(_read_entry(entry))
        if self._is_copy(entry, new):
            new = [replace(message, fate=Fate.COPIED) for message in new]
        else:
            self.cost_usd += max(as_float(entry.info.get("cost")) or 0.0, 0.0)
        self.messages += new
        if entry.info.get("role") not in ("assistant", "user"):
            self.log.skip("message of an unknown role", self.path)

    def _is_copy(self, entry: Entry, messages: Sequence[Message]) -> bool:
        """Whether it was met before; one that has no time cannot be told from its like."""
        created = as_float(as_dict(entry.info.get("time")).get("created"))
        if created is None or not messages:
            return False
        content = [(m.role, m.text, [r.id for r in m.requests]) for m in messages]
        digest = blake2b(repr(content).encode("utf-8", "replace"), digest_size=12).hexdigest()
        return not self.log.first_sight(ORIGIN, f"{created}-{digest}")

    def rewind(self, revert: Any) -> None:
        """Mark what the user took back: everything from a message on, or after it for a part."""
        target = as_dict(revert)
        start = self._first_of.get(as_id(target.get("messageID")) or "")
        if start is None:
            return
        if target.get("partID"):
            later = (first for first in self._first_of.values() if first > start)
            start = min(later, default=len(self.messages))
        self._set_fate(range(start, len(self.messages)), Fate.REWOUND)

    def _compact(self, part: dict[str, Any]) -> None:
        trigger = TRIGGERS.get(as_bool(part.get("auto")))
        self.compactions.append(Compaction(at=len(self.messages), trigger=trigger))
        self._pending_compaction = part

    def _archive(self) -> None:
        """The summary is there: what stands before it is out of sight, but for the kept tail."""
        end = len(self.messages)
        if self._pending_compaction is None:
            self.compactions.append(Compaction(at=end))
        else:
            tail = as_id(self._pending_compaction.get("tail_start_id")) or ""
            end = self._first_of.get(tail, self.compactions[-1].at)
        self._pending_compaction = None
        self._set_fate(range(end), Fate.ARCHIVED)

    def _set_fate(self, indexes: range, fate: Fate) -> None:
        for index in indexes:
            if self.messages[index].fate is Fate.LIVE:
                self.messages[index] = replace(self.messages[index], fate=fate)


def _is_summary(entry: Entry) -> bool:
    """Users' messages have a ``summary`` too: an object, about what they changed."""
    return entry.info.get("role") == "assistant" and entry.info.get("summary") is True


def _read_entry(entry: Entry) -> Iterator[Message]:
    common = {
        "native_id": as_id(entry.info.get("id")),
        "timestamp": parse_time(as_dict(entry.info.get("time")).get("created")),
    }
    role = entry.info.get("role")
    if role == "assistant":
        yield from _read_assistant(entry, common)
    elif role == "user":
        yield from _read_user(entry, common)


def _read_user(entry: Entry, common: dict[str, Any]) -> Iterator[Message]:
    own = [part for part in entry.parts if not part.get("synthetic")]
    synthetic = [part for part in entry.parts if part.get("synthetic")]
    for parts, kind in ((own, Kind.TURN), (synthetic, Kind.INJECTED)):
        text = _texts(parts)
        if text:
            yield Message(role=Role.USER, text=text, kind=kind, **common)


def _read_assistant(entry: Entry, common: dict[str, Any]) -> Iterator[Message]:
    tools = [part for part in entry.parts if part.get("type") == "tool"]
    yield Message(
        role=Role.ASSISTANT,
        text=_texts(entry.parts),
        requests=tuple(_read_request(part) for part in tools),
        reasoning=_texts(entry.parts, "reasoning"),
        model=as_text(entry.info.get("modelID")),
        tokens=_read_tokens(entry.info.get("tokens")),
        kind=Kind.SUMMARY if _is_summary(entry) else Kind.TURN,
        **common,
    )
    results = tuple(result for part in tools for result in _read_result(part))
    if results:
        yield Message(role=Role.TOOL, results=results, **common)


def _texts(parts: Sequence[dict[str, Any]], kind: str = "text") -> str:
    """The text of parts of a kind; for plain text also the names of the files attached."""
    texts = []
    for part in parts:
        if part.get("type") == kind and part.get("ignored") is not True:
            texts.append(content_text(part.get("text")))
        elif part.get("type") == "file" and kind == "text":
            texts.append(f"[file {as_text(part.get('filename')) or ''}".rstrip() + "]")
    return "\n".join(text for text in texts if text)


def _call_id(part: dict[str, Any]) -> str | None:
    return as_id(part.get("callID")) or as_id(part.get("id"))


def _read_request(part: dict[str, Any]) -> Request:
    arguments = parse_arguments(as_dict(part.get("state")).get("input"))
    return Request(
        tool=as_text(part.get("tool")) or "unknown",
        id=_call_id(part),
        arguments=arguments.data,
        raw=arguments.raw,
    )


def _read_result(part: dict[str, Any]) -> Iterator[Result]:
    """A call still pending or running when the transcript ends has no result."""
    state = as_dict(part.get("state"))
    status = as_text(state.get("status"))
    if status not in ANSWERED:
        return
    failed = status == "error"
    value = state.get("error") if failed else state.get("output")
    metadata = as_dict(state.get("metadata"))
    yield Result(
        text=value if isinstance(value, str) else content_text(value) or _dump(value),
        call_id=_call_id(part),
        tool=as_text(part.get("tool")),
        is_error=failed,
        exit_code=as_int(metadata.get("exit")),
        status=Status.CANCELLED if failed and metadata.get("interrupted") is True else None,
    )


def _dump(value: Any) -> str:
    return "" if value is None else dump(value)


def _read_tokens(value: Any) -> Tokens | None:
    fresh = parse_tokens(value, TOKENS)
    cached = parse_tokens(as_dict(value).get("cache"), CACHE_TOKENS)
    if fresh is None and cached is None:
        return None
    return (fresh or Tokens()) + (cached or Tokens())
