"""Facts as rows of the index: what is filtered by in columns, the calls packed.

One call is one record of thirty bytes, kept together per session: reading or writing a session's
calls is one row of the database instead of hundreds.
"""

from __future__ import annotations

import json
import struct
from array import array
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple, overload

import orjson

from warmstart.facts.verdicts import VERDICTS, count_statuses, encode_verdict
from warmstart.model import Link, Outcome, Parent, Status, Tokens
from warmstart.model.facts import CallFact, Marker, MarkerKind, SessionFacts, Voice

COLUMNS = ("I", "I", "I", "H", "q", "q")
"""message, turn, tool, verdict, same, shape: the array type of each."""
_COUNTS = struct.Struct(f"<{len(Status)}I")
_LENGTH = struct.Struct("<I")
_NO_CALLS = _LENGTH.pack(0)


class Calls:
    """The calls of a session as columns that grow together."""

    __slots__ = ("messages", "names", "sames", "shapes", "tools", "turns", "verdicts")

    def __init__(self) -> None:
        self.messages: list[int] = []
        self.turns: list[int] = []
        self.tools: list[int] = []
        self.verdicts: list[int] = []
        self.sames: list[int] = []
        self.shapes: list[int] = []
        self.names: dict[str, int] = {}
        """Tools by name, each with its number in this session."""

    @classmethod
    def of(cls, facts: Sequence[CallFact]) -> Calls:
        """The columns of calls that were derived one by one."""
        calls = cls()
        names = calls.names
        for fact in facts:
            calls.messages.append(fact.message)
            calls.turns.append(fact.turn)
            calls.tools.append(names.setdefault(fact.tool, len(names)))
            calls.verdicts.append(encode_verdict(_as_outcome(fact)))
            calls.sames.append(fact.same)
            calls.shapes.append(fact.shape)
        return calls

    def add_rows(self, rows: Sequence[tuple[int, int, int, int, int]]) -> None:
        """Everything of a session's calls but their verdicts: message, turn, tool, same, shape."""
        if rows:
            columns = map(list, zip(*rows, strict=True))
            self.messages, self.turns, self.tools, self.sames, self.shapes = columns

    def pack(self) -> bytes:
        """All columns, one after the other."""
        if not self.messages:
            return _NO_CALLS
        columns = (self.messages, self.turns, self.tools, self.verdicts, self.sames, self.shapes)
        pairs = zip(COLUMNS, columns, strict=True)
        packed = [array(kind, column).tobytes() for kind, column in pairs]
        return b"".join((_LENGTH.pack(len(self.messages)), *packed))


def _as_outcome(fact: CallFact) -> Outcome:
    return Outcome(
        status=fact.status,
        certainty=fact.certainty,
        evidence="",
        error_class=fact.error_class,
        masked=fact.masked,
    )


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
        _pack_details(facts),
        calls.pack(),
    )


def clean(text: str) -> str:
    """Text that can be stored: half characters, which a file name may hold, replaced."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def _pack_details(facts: SessionFacts) -> bytes:
    parent, tokens = facts.parent, facts.tokens
    details = (
        facts.agent_version,
        facts.title,
        facts.opening,
        facts.git_branch,
        facts.end_reason,
        (parent.id, parent.link) if parent else None,
        facts.task,
        facts.reward,
        facts.cost_usd,
        (tokens.input, tokens.output, tokens.cache_read, tokens.cache_write, tokens.reasoning),
        facts.turns,
        facts.warmups,
        facts.compactions,
        [tuple(marker) for marker in facts.markers],
        tuple(facts.voice),
        facts.path,
    )
    try:
        return orjson.dumps(details)
    except TypeError:  # a half character, or a number beyond 64 bits
        return json.dumps(details).encode()


_make_call = partial(tuple.__new__, CallFact)
_STATUSES, _CERTAINTIES, _CLASSES, _MASKED = (
    [verdict[place] for verdict in VERDICTS] for place in range(4)
)


def unpack_calls(data: bytes, tools: bytes) -> tuple[CallFact, ...]:
    """A session's calls."""
    (size,) = _LENGTH.unpack_from(data)
    if not size:
        return ()
    message, turn, tool, verdict, same, shape = _columns(data, size)
    # Every step of this is in C: a loop over the calls takes twice as long.
    fields = zip(
        range(size),
        message,
        turn,
        map(orjson.loads(tools).__getitem__, tool),
        map(_STATUSES.__getitem__, verdict),
        map(_CERTAINTIES.__getitem__, verdict),
        map(_CLASSES.__getitem__, verdict),
        map(_MASKED.__getitem__, verdict),
        same,
        shape,
        strict=True,
    )
    return tuple(map(_make_call, fields))


class PackedCalls(Sequence[CallFact]):
    """The calls of a session as the index keeps them: less memory, the same values.

    Going through them unpacks them each time; asking for single ones keeps them unpacked.
    """

    __slots__ = ("_calls", "_data", "_tools")

    def __init__(self, data: bytes, tools: bytes) -> None:
        self._data = data
        self._tools = tools
        self._calls: tuple[CallFact, ...] | None = None

    def __len__(self) -> int:
        """How many there are."""
        (size,) = _LENGTH.unpack_from(self._data)
        return int(size)

    def __iter__(self) -> Iterator[CallFact]:
        """In their order."""
        calls = self._calls
        return iter(unpack_calls(self._data, self._tools) if calls is None else calls)

    @overload
    def __getitem__(self, index: int) -> CallFact: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[CallFact, ...]: ...
    def __getitem__(self, index: int | slice) -> CallFact | tuple[CallFact, ...]:
        """One of them, or some."""
        if self._calls is None:
            self._calls = unpack_calls(self._data, self._tools)
        return self._calls[index]

    def __eq__(self, other: object) -> bool:
        """Whether the calls are the same, packed or not."""
        if not isinstance(other, tuple | PackedCalls):
            return NotImplemented
        return tuple(self) == tuple(other)

    def __hash__(self) -> int:
        """As the calls unpacked."""
        return hash(tuple(self))

    def __repr__(self) -> str:
        """As the calls unpacked."""
        return repr(tuple(self))


def _columns(data: bytes, size: int) -> list[array[int]]:
    columns = []
    start = _LENGTH.size
    for kind in COLUMNS:
        column: array[int] = array(kind)
        end = start + size * column.itemsize
        column.frombytes(data[start:end])
        columns.append(column)
        start = end
    return columns


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
    (
        agent_version, title, opening, git_branch, end_reason, parent, task, reward, cost_usd,
        tokens, turns, warmups, compactions, markers, voice, path,
    ) = _load(row.packed_details)  # fmt: skip
    return SessionFacts(
        id=row.id,
        origin=row.origin,
        agent=row.agent,
        agent_version=agent_version,
        model=row.model,
        title=title,
        opening=opening,
        project=row.project,
        git_branch=git_branch,
        started_at=row.started_at,
        ended_at=row.ended_at,
        end_reason=end_reason,
        parent=Parent(id=parent[0], link=Link(parent[1])) if parent else None,
        task=task,
        reward=reward,
        cost_usd=cost_usd,
        tokens=_tokens(*tokens),
        messages=row.messages,
        turns=turns,
        warmups=warmups,
        calls=() if calls is None else PackedCalls(calls, row.packed_tools),
        compactions=tuple(compactions),
        markers=tuple(Marker(_MARKER_KINDS[kind], value, uses) for kind, value, uses in markers),
        voice=Voice(*voice),
        path=path,
    )


_MARKER_KINDS = {str(kind): kind for kind in MarkerKind}


def _load(data: bytes) -> Any:
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        return json.loads(data)


def _tokens(fresh: int, output: int, cache_read: int, cache_write: int, reasoning: int) -> Tokens:
    return Tokens(
        input=fresh,
        output=output,
        cache_read=cache_read,
        cache_write=cache_write,
        reasoning=reasoning,
    )
