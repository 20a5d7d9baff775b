"""Facts as rows of the index: what is filtered by in columns, the calls packed.

A session's calls are kept together (``columns``), so reading or writing them is one row of the
database instead of hundreds.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

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
    "row_of",
    "unpack_calls",
    "unpack_facts",
    "unpack_statuses",
]

_COUNTS = struct.Struct(f"<{len(Status)}I")


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
        _COUNTS.pack(*count_statuses(calls.verdicts)),
        orjson.dumps([clean(name) for name in calls.names]),
        pack_details(facts),
        calls.pack(),
    )


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


def unpack_facts(row: SessionRow, calls: bytes | None = None) -> SessionFacts:
    """A row's facts; without ``calls`` everything but the calls."""
    details, markers = unpack_details(row.packed_details)
    parent = details.parent
    return SessionFacts(
        id=row.id,
        origin=row.origin,
        agent=row.agent,
        agent_version=details.agent_version,
        model=row.model,
        title=details.title,
        opening=details.opening,
        project=row.project,
        git_branch=details.git_branch,
        started_at=row.started_at,
        ended_at=row.ended_at,
        end_reason=details.end_reason,
        parent=Parent(id=parent[0], link=Link(parent[1])) if parent else None,
        task=details.task,
        reward=details.reward,
        cost_usd=details.cost_usd,
        tokens=_tokens(*details.tokens),
        messages=row.messages,
        turns=details.turns,
        warmups=details.warmups,
        calls=PackedCalls(calls, row.packed_tools) if calls else (),
        compactions=tuple(details.compactions),
        markers=markers,
        voice=Voice._make(details.voice),
        path=details.path,
    )


def _tokens(fresh: int, output: int, cache_read: int, cache_write: int, reasoning: int) -> Tokens:
    return Tokens(
        input=fresh,
        output=output,
        cache_read=cache_read,
        cache_write=cache_write,
        reasoning=reasoning,
    )
