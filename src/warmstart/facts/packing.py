"""Facts as rows of the index: what is filtered by in columns, the calls packed.

A session's calls are kept together (``columns``), so reading or writing them is one row of the
database instead of hundreds.
"""

from __future__ import annotations

import struct
from dataclasses import fields
from typing import Any, NamedTuple, cast

import orjson

from warmstart.facts.columns import Calls, PackedCalls, unpack_calls
from warmstart.facts.details import pack_details, unpack_details
from warmstart.facts.verdicts import count_statuses
from warmstart.model import Link, Parent, Status, Tokens
from warmstart.model.facts import SessionFacts, Voice

__all__ = [
    "Calls",
    "Packed",
    "PackedCalls",
    "SessionRow",
    "clean",
    "pack_columns",
    "pack_facts",
    "pack_statuses",
    "pack_tools",
    "row_of",
    "unpack_calls",
    "unpack_facts",
    "unpack_statuses",
]

_COUNTS = struct.Struct(f"<{len(Status)}I")
_NO_STATUSES = bytes(_COUNTS.size)


class Packed(NamedTuple):
    """One session as the index keeps it."""

    key: str
    """Which part of its unit it is, where a unit holds sessions that change one by one."""
    ord: float
    """Its place among the sessions of its unit."""
    name: str
    """``origin:native_id``."""
    origin: str
    agent: str
    model: str | None
    project: str | None
    started_at: float | None
    ended_at: float | None
    messages: int
    statuses: bytes
    tools: bytes
    details: bytes
    calls: bytes


def pack_facts(facts: SessionFacts, *, key: str = "", place: float = 0.0) -> Packed:
    """A session's facts as a row."""
    calls = Calls.of(facts.calls)
    return pack_columns(facts, calls, key=key, place=place)


def pack_columns(facts: SessionFacts, calls: Calls, *, key: str = "", place: float = 0.0) -> Packed:
    """The same where the calls are columns already; ``facts.calls`` is not looked at."""
    return Packed(
        key,
        place,
        clean(facts.id),
        clean(facts.origin),
        clean(facts.agent),
        facts.model and clean(facts.model),
        facts.project and clean(facts.project),
        facts.started_at,
        facts.ended_at,
        facts.messages,
        pack_statuses(calls),
        pack_tools(calls),
        pack_details(facts),
        calls.pack(),
    )


def pack_statuses(calls: Calls) -> bytes:
    """How many calls ended in each way."""
    return _COUNTS.pack(*count_statuses(calls.verdicts)) if calls.verdicts else _NO_STATUSES


def pack_tools(calls: Calls) -> bytes:
    """The names of the tools called, in the order of their first call."""
    return orjson.dumps([clean(name) for name in calls.names])


def clean(text: str) -> str:
    """Text that can be stored: half characters, which a file name may hold, replaced."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


class SessionRow(NamedTuple):
    """What can be known of a session without its calls: enough to filter and to list by."""

    id: str
    origin: str
    agent: str
    model: str | None
    project: str | None
    started_at: float | None
    ended_at: float | None
    messages: int
    packed_statuses: bytes
    packed_tools: bytes
    packed_details: bytes

    @property
    def statuses(self) -> dict[Status, int]:
        """Calls by how they ended."""
        return unpack_statuses(self.packed_statuses)

    @property
    def tools(self) -> tuple[str, ...]:
        """The tools called, in the order of their first call."""
        return tuple(orjson.loads(self.packed_tools))

    @property
    def errors(self) -> int:
        """Calls that failed."""
        return self.statuses[Status.ERROR]

    @property
    def native_id(self) -> str:
        """The agent's own id."""
        return self.id.removeprefix(f"{self.origin}:")


def unpack_statuses(packed: bytes) -> dict[Status, int]:
    """Calls by how they ended."""
    return dict(zip(Status, _COUNTS.unpack(packed), strict=True))


def row_of(facts: SessionFacts) -> SessionRow:
    """The row that the index would hold of a session."""
    packed = pack_facts(facts)
    return SessionRow._make(packed[Packed._fields.index("name") : -1])


class _Facts:
    """Facts that are being filled in: the slots of ``SessionFacts``, not frozen yet."""

    __slots__ = tuple(one.name for one in fields(SessionFacts))


class _Tokens:
    """The same of ``Tokens``."""

    __slots__ = tuple(one.name for one in fields(Tokens))


def unpack_facts(row: tuple[Any, ...], calls: bytes | None = None) -> SessionFacts:
    """The facts of a row, as ``SessionRow`` is; without ``calls`` everything but the calls.

    A frozen object sets each field through a function. One that is frozen by its class when it is
    filled does not, which halves the time, and this runs for every session of a corpus.
    """
    facts: Any = _Facts()
    (
        facts.id, facts.origin, facts.agent, facts.model, facts.project, facts.started_at,
        facts.ended_at, facts.messages, _, tools, packed,
    ) = row  # fmt: skip
    details, facts.markers = unpack_details(packed)
    (
        facts.agent_version, facts.title, facts.opening, facts.git_branch, facts.end_reason,
        parent, facts.task, facts.reward, facts.cost_usd, counts, facts.turns, facts.warmups,
        compactions, voice, facts.path,
    ) = details  # fmt: skip
    facts.parent = Parent(id=parent[0], link=Link(parent[1])) if parent else None
    facts.compactions = tuple(compactions)
    facts.voice = Voice._make(voice)
    facts.calls = PackedCalls(calls, tools) if calls else ()
    tokens: Any = _Tokens()
    facts.tokens = tokens
    tokens.input, tokens.output, tokens.cache_read, tokens.cache_write, tokens.reasoning = counts
    tokens.__class__ = Tokens
    facts.__class__ = SessionFacts
    return cast("SessionFacts", facts)
