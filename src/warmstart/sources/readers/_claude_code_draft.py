"""A message of a Claude Code file while its file is read: what its lines hold, not yet final.

A draft may still grow, be taken back or turn out to be a copy, and whoever wants only facts never
needs the message. So blocks stay as they were parsed, and become a message in ``finish`` alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from warmstart.model import Fate, Kind, Message, Request, Result, Role, Status, Tokens
from warmstart.sources.fields import (
    MAX_TOKENS,
    as_dict,
    as_float,
    as_id,
    as_text,
    content_text,
    parse_arguments,
    parse_time,
)

SHORT_ID = 16
"""Ids shorter than this were made by a script, and unrelated files have the same ones."""


class Draft:
    """A message as far as its lines have been read."""

    text = ""
    """What was said in the user's name; an answer's words are in its contents."""
    answers: Sequence[dict[str, Any]] = ()
    """The blocks that hold a result."""
    status: Status | None = None
    """How the calls of those results ended, where a field of the line says so."""
    model: str | None = None
    usage: Any = None
    cost: Any = None
    kind = Kind.TURN
    fate = Fate.LIVE
    turn = 0
    forked = False
    """The line itself says that it is a copy."""

    def __init__(self, role: Role, data: dict[str, Any], uuid: str | None) -> None:
        self.role = role
        self.contents: list[Any] = []
        """Of an answer: ``message.content`` of each of its lines."""
        self.uses: list[dict[str, Any]] = []
        """The blocks that ask for a tool; each has a tool's name."""
        self.native_id = self.line = uuid
        self.stamp = stamp = data.get("timestamp")
        self.session = data.get("sessionId")
        """The session its line belongs to, be it this file's or the one it was copied from."""
        self.key = uuid if uuid is None or len(uuid) >= SHORT_ID else f"{uuid} {stamp}"
        """What another file would repeat it under; None for results, which follow their call."""
        if "forkedFrom" in data:
            self.forked = True
            self.session = as_dict(data["forkedFrom"]).get("sessionId")

    @property
    def timestamp(self) -> float | None:
        """When its first line was written."""
        return parse_time(self.stamp)

    def absorb(self, content: Any) -> int:
        """Add an answer's content; returns how many calls had no tool's name and were left out."""
        self.contents.append(content)
        nameless = 0
        for block in content if content.__class__ is list else ():
            if block.__class__ is dict and block.get("type") == "tool_use":
                name = block.get("name")
                if name.__class__ is str and name:
                    self.uses.append(block)
                else:
                    nameless += 1
        return nameless

    def finish(self) -> Message:
        """The message as it stands now."""
        return Message(
            role=self.role,
            text=self.text or _join_blocks(self.contents, "text"),
            requests=tuple(map(_read_request, self.uses)),
            results=tuple(_read_result(block, self.status) for block in self.answers),
            reasoning=_join_blocks(self.contents, "thinking"),
            native_id=self.native_id,
            timestamp=self.timestamp,
            model=self.model,
            tokens=_read_tokens(self.usage),
            kind=self.kind,
            fate=self.fate,
        )


def _join_blocks(contents: Sequence[Any], kind: str) -> str:
    """The words of an answer, or its reasoning; a content that is a bare string is words."""
    parts: list[Any] = []
    for content in contents:
        if isinstance(content, str):
            parts.append(content if kind == "text" else "")
        elif isinstance(content, list):
            parts += [
                as_text(block.get(kind))
                for block in content
                if isinstance(block, dict) and block.get("type") == kind
            ]
    return "\n".join(filter(None, parts))


def _read_request(block: dict[str, Any]) -> Request:
    arguments = parse_arguments(block.get("input"))
    return Request(
        tool=block["name"],
        id=as_id(block.get("id")),
        arguments=arguments.data,
        raw=arguments.raw,
    )


def _read_result(block: dict[str, Any], status: Status | None) -> Result:
    return Result(
        text=content_text(block.get("content")),
        call_id=as_id(block.get("tool_use_id")),
        # The API documents the field's default as false.
        is_error=block.get("is_error") is True,
        status=status,
    )


def _read_tokens(usage: Any) -> Tokens | None:
    if not isinstance(usage, dict):
        return None
    fresh, output, cache_read, cache_write = count_tokens(usage)
    tokens = Tokens(input=fresh, output=output, cache_read=cache_read, cache_write=cache_write)
    return tokens if tokens.total else None


def count_tokens(usage: dict[str, Any]) -> tuple[int, int, int, int]:
    """Input, output, read from a cache and written to one."""
    return (
        _count(usage.get("input_tokens")),
        _count(usage.get("output_tokens")),
        _count(usage.get("cache_read_input_tokens")),
        _count(usage.get("cache_creation_input_tokens")),
    )


def _count(value: Any) -> int:
    return value if type(value) is int and 0 < value <= MAX_TOKENS else 0


def sum_cost(drafts: list[Draft]) -> float | None:
    """US dollars, for the versions that wrote them; None for all others."""
    costs = [as_float(draft.cost) for draft in drafts if draft.cost is not None]
    known = [cost for cost in costs if cost is not None]
    return sum(known) if known else None
