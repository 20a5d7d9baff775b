"""Facts as rows of the index: what is filtered by in columns, the calls packed.

A session's calls are kept together (``columns``), so reading or writing them is one row of the
database instead of hundreds.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from operator import attrgetter, itemgetter
from typing import Any, NamedTuple

import orjson

from warmstart.facts.columns import Calls, PackedCalls, unpack_calls
from warmstart.facts.details import (
    DETAIL_TEXTS,
    Details,
    dump_details,
    list_details,
    unpack_details,
)
from warmstart.facts.markers import MarkerRow
from warmstart.facts.verdicts import count_statuses
from warmstart.model import Link, Parent, Status, Tokens
from warmstart.model.facts import SessionFacts, Voice

__all__ = [
    "Calls",
    "Head",
    "Mask",
    "Packed",
    "PackedCalls",
    "Parts",
    "SessionRow",
    "clean",
    "keep_texts",
    "list_parts",
    "pack_facts",
    "pack_rows",
    "row_of",
    "unpack_calls",
    "unpack_facts",
    "unpack_statuses",
]

Mask = Callable[[list[str]], list[str]]
"""Texts without their secrets; the very same list where there were none."""
_HEAD_TEXTS = ("agent", "model", "project")
_head_texts, _detail_texts = attrgetter(*_HEAD_TEXTS), attrgetter(*DETAIL_TEXTS)
_value_of = itemgetter(1)
_COUNTS = struct.Struct(f"<{len(Status)}I")
_NO_STATUSES = bytes(_COUNTS.size)


def keep_texts(texts: list[str]) -> list[str]:
    """Mask nothing: for facts that are not kept."""
    return texts


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


def pack_facts(facts: SessionFacts, *, key: str = "", mask: Mask = keep_texts) -> Packed:
    """A session's facts as a row."""
    return pack_rows([list_parts(facts, Calls.of(facts.calls), key)], mask)[0]


def list_parts(facts: SessionFacts, calls: Calls, key: str = "") -> Parts:
    """What the row of some facts is packed from; ``facts.calls`` is not looked at."""
    head = Head(
        key,
        facts.id,
        facts.origin,
        facts.agent,
        facts.model,
        facts.project,
        facts.started_at,
        facts.ended_at,
        facts.messages,
    )
    markers = [(one.kind, one.value, one.uses) for one in facts.markers]
    return Parts(head, list_details(facts), markers, calls)


class Head(NamedTuple):
    """The columns of a row that are not packed."""

    key: str
    name: str
    origin: str
    agent: str
    model: str | None
    project: str | None
    started_at: float | None
    ended_at: float | None
    messages: int


class Parts(NamedTuple):
    """What a row is packed from, its texts as the transcript has them."""

    head: Head
    details: Details
    markers: Sequence[MarkerRow]
    calls: Calls


def pack_rows(sessions: Sequence[Parts], mask: Mask) -> list[Packed]:
    """Rows of some sessions; nothing becomes one without its texts going through the mask.

    Together they are looked at once. Only where that finds something is each looked at by itself.
    """
    texts = [text for parts in sessions for text in _list_texts(parts)]
    if mask(texts) is texts:
        return [_pack(parts, list(parts.calls.names)) for parts in sessions]
    return [_pack_masked(parts, mask) for parts in sessions]


def _list_texts(parts: Parts) -> list[str]:
    head, details, markers, calls = parts
    said = (*_head_texts(head), *_detail_texts(details))
    return [*(text or "" for text in said), *calls.names, *map(_value_of, markers)]


def _pack_masked(parts: Parts, mask: Mask) -> Packed:
    head, details, markers, calls = parts
    texts = iter(mask(_list_texts(parts)))
    said = {name: _replace(getattr(head, name), next(texts)) for name in _HEAD_TEXTS}
    told = {name: _replace(getattr(details, name), next(texts)) for name in DETAIL_TEXTS}
    tools = [next(texts) for _ in calls.names]
    ranked = [(kind, next(texts), uses) for kind, _, uses in markers]
    return _pack(Parts(head._replace(**said), details._replace(**told), ranked, calls), tools)


def _pack(parts: Parts, tools: Sequence[str]) -> Packed:
    head, details, markers, calls = parts
    return Packed(
        head.key,
        0.0,
        clean(head.name),
        clean(head.origin),
        clean(head.agent),
        head.model and clean(head.model),
        head.project and clean(head.project),
        head.started_at,
        head.ended_at,
        head.messages,
        _pack_statuses(calls),
        orjson.dumps([clean(name) for name in tools]),
        dump_details(details, markers),
        calls.pack(),
    )


def _replace(text: str | None, masked: str) -> Any:
    return None if text is None else masked


def _pack_statuses(calls: Calls) -> bytes:
    """How many calls ended in each way."""
    return _COUNTS.pack(*count_statuses(calls.verdicts)) if calls.verdicts else _NO_STATUSES


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


def unpack_facts(row: tuple[Any, ...], calls: bytes | None = None) -> SessionFacts:
    """The facts of a row, as ``SessionRow`` is; without ``calls`` everything but the calls."""
    (
        name, origin, agent, model, project, started_at, ended_at, messages, _, tools, packed,
    ) = row  # fmt: skip
    details, markers = unpack_details(packed)
    (
        agent_version, title, opening, git_branch, end_reason, parent, task, reward, cost_usd,
        counts, turns, warmups, compactions, voice, path,
    ) = details  # fmt: skip
    return SessionFacts(
        id=name,
        origin=origin,
        agent=agent,
        agent_version=agent_version,
        model=model,
        title=title,
        opening=opening,
        project=project,
        git_branch=git_branch,
        started_at=started_at,
        ended_at=ended_at,
        end_reason=end_reason,
        parent=Parent(id=parent[0], link=Link(parent[1])) if parent else None,
        task=task,
        reward=reward,
        cost_usd=cost_usd,
        tokens=Tokens(**dict(zip(Tokens.__struct_fields__, counts, strict=True))),
        messages=messages,
        turns=turns,
        warmups=warmups,
        calls=PackedCalls(calls, tools) if calls else (),
        compactions=tuple(compactions),
        markers=markers,
        voice=Voice._make(voice),
        path=path,
    )
