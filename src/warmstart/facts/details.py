"""What the index keeps of a session beside its columns: two lines of JSON, details and markers.

Context markers are a line of their own, read only when somebody asks for them: there are ten and
more to a session, and choosing sessions to learn from looks at none of them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple, cast, overload

import orjson

from warmstart.facts.markers import MarkerRow
from warmstart.facts.sequences import TupleLike
from warmstart.model import Tokens
from warmstart.model.facts import Marker, MarkerKind, SessionFacts

__all__ = [
    "DETAIL_TEXTS",
    "Details",
    "PackedMarkers",
    "dump_details",
    "list_details",
    "list_tokens",
    "unpack_details",
]

_KINDS = {str(kind): kind for kind in MarkerKind}
_make_marker = partial(tuple.__new__, Marker)


class Details(NamedTuple):
    """The first line, as it is stored."""

    agent_version: str | None
    title: str | None
    opening: str
    git_branch: str | None
    end_reason: str | None
    parent: Sequence[str] | None
    """Id and link."""
    task: str | None
    reward: float | None
    cost_usd: float | None
    tokens: Sequence[int]
    turns: int
    warmups: int
    compactions: Sequence[int]
    voice: Sequence[int]
    path: str | None


DETAIL_TEXTS = ("agent_version", "title", "opening", "git_branch", "end_reason", "task")
"""Fields that hold words of the transcript."""


def list_details(facts: SessionFacts) -> Details:
    """The first line of a session."""
    parent = facts.parent
    return Details(
        facts.agent_version,
        facts.title,
        facts.opening,
        facts.git_branch,
        facts.end_reason,
        (parent.id, parent.link) if parent else None,
        facts.task,
        facts.reward,
        facts.cost_usd,
        list_tokens(facts.tokens),
        facts.turns,
        facts.warmups,
        facts.compactions,
        tuple(facts.voice),
        facts.path,
    )


def dump_details(details: Details, markers: Sequence[MarkerRow]) -> bytes:
    """Both lines of a session."""
    return b"\n".join((_dump(tuple(details)), _dump(markers)))


def list_tokens(tokens: Tokens) -> tuple[int, ...]:
    """Counts in the order they are stored in."""
    return (
        tokens.input, tokens.output, tokens.cache_read, tokens.cache_write, tokens.reasoning
    )  # fmt: skip


def unpack_details(data: bytes) -> tuple[Details, PackedMarkers]:
    """The details, and the markers as they are kept."""
    details, _, markers = data.partition(b"\n")
    return Details._make(_load(details)), PackedMarkers(markers)


class PackedMarkers(TupleLike[Marker]):
    """Markers from their JSON, read each time they are looked at."""

    __slots__ = ("_data",)

    def __init__(self, data: bytes) -> None:
        self._data = data

    def __len__(self) -> int:
        """How many there are."""
        return len(_load(self._data))

    def __iter__(self) -> Iterator[Marker]:
        """In their order, the most used first."""
        return iter(self[:])

    @overload
    def __getitem__(self, index: int) -> Marker: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Marker, ...]: ...
    def __getitem__(self, index: int | slice) -> Marker | tuple[Marker, ...]:
        """One of them, or some."""
        if isinstance(index, int):
            return self[:][index]
        found = _load(self._data)[index]
        return tuple([_make_marker((_KINDS[kind], value, uses)) for kind, value, uses in found])

    def rows(self) -> list[MarkerRow]:
        """The same as they are stored, for whoever adds up all of them."""
        return cast("list[MarkerRow]", _load(self._data))


def _dump(value: Any) -> bytes:
    try:
        return orjson.dumps(value)
    except TypeError:  # a half character, or a number beyond 64 bits
        return json.dumps(value).encode()


def _load(data: bytes) -> Any:
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        return json.loads(data)
