"""The calls of a session as columns: how they are kept, and how they are counted.

One call takes thirty bytes. What is counted over all calls of all sessions (how they ended, which
tool was used) is read off whole columns; a call becomes an object only where somebody looks at it.
"""

from __future__ import annotations

import struct
import sys
from abc import abstractmethod
from array import array
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import accumulate, compress
from typing import NamedTuple, overload

import orjson

from warmstart.facts.sequences import TupleLike
from warmstart.facts.verdicts import STATUS_TABLE, VERDICTS, encode_parts
from warmstart.model.facts import CallFact

__all__ = ["CallColumns", "Calls", "PackedCalls", "columns_of", "unpack_calls"]

COLUMNS = ("I", "I", "I", "H", "q", "q")
"""message, turn, tool, verdict, same, shape: the array type of each as it is stored."""
MESSAGE, TURN, TOOL, VERDICT, SAME, SHAPE, ENDING, ERROR_CLASS = range(8)
"""What can be asked for: those stored, and the verdicts' low and high bytes."""
_WIDTHS = [array(kind).itemsize for kind in COLUMNS]
_OFFSETS = [0, *accumulate(_WIDTHS)]
_LENGTH = struct.Struct("<I")
_NO_CALLS = _LENGTH.pack(0)
_LOW, _HIGH = (0, 1) if sys.byteorder == "little" else (-1, -2)
_BYTES = {TOOL: (TOOL, _LOW), ENDING: (VERDICT, _LOW), ERROR_CLASS: (VERDICT, _HIGH)}
"""Columns that are one byte of each number of a stored one."""
_MAX_BYTES = 256


class _Layout(NamedTuple):
    """Where a column stands among the thirty bytes of a call."""

    offset: int
    width: int
    kind: str
    byte: int | None
    """Which byte of each number, where one is enough."""


def _lay_out(which: int) -> _Layout:
    stored, byte = _BYTES.get(which, (which, None))
    width = _WIDTHS[stored]
    return _Layout(_OFFSETS[stored], width, COLUMNS[stored], None if byte is None else byte % width)


_LAYOUTS = [_lay_out(which) for which in range(8)]
_STATUSES, _CERTAINTIES, _CLASSES, _MASKED = (
    {code: verdict[place] for code, verdict in VERDICTS.items()} for place in range(4)
)
_make_call = partial(tuple.__new__, CallFact)


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
            calls.verdicts.append(encode_parts(fact[4:8]))
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


class CallColumns(TupleLike[CallFact]):
    """Calls that can be asked for column by column.

    Columns are made each time one is asked for, so whoever counts asks once.
    """

    __slots__ = ()

    @property
    @abstractmethod
    def names(self) -> Sequence[str]:
        """Tools by their number in this session, in the order of their first call."""

    @property
    @abstractmethod
    def positions(self) -> Sequence[int]:
        """Where in its session each call stands."""

    @abstractmethod
    def column(self, which: int) -> Sequence[int]:
        """One of the columns named above; bytes, which are counted fastest, where they suffice."""

    @property
    def tools(self) -> Sequence[int]:
        """The number of each call's tool."""
        return self.column(TOOL)

    @property
    def statuses(self) -> bytes:
        """How each call ended: places in ``Status``."""
        return self.endings.translate(STATUS_TABLE)

    @property
    def endings(self) -> bytes:
        """The low bytes of the verdicts, from which the tables of ``verdicts`` make others."""
        return bytes(self.column(ENDING))

    def take(self, mask: bytes) -> CallColumns:
        """Some of the calls: those where the mask, a byte for each, is 1 and not 0."""
        return _Taken(self, mask)

    @overload
    def __getitem__(self, index: int) -> CallFact: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[CallFact, ...]: ...
    def __getitem__(self, index: int | slice) -> CallFact | tuple[CallFact, ...]:
        """One of them, or some; all are unpacked for it."""
        return self._unpack()[index]

    def __iter__(self) -> Iterator[CallFact]:
        """In their order."""
        return iter(self._unpack())

    def _unpack(self) -> tuple[CallFact, ...]:
        verdict = self.column(VERDICT)
        # Every step of this is in C: a loop over the calls takes twice as long.
        fields = zip(
            self.positions,
            self.column(MESSAGE),
            self.column(TURN),
            map(self.names.__getitem__, self.column(TOOL)),
            map(_STATUSES.__getitem__, verdict),
            map(_CERTAINTIES.__getitem__, verdict),
            map(_CLASSES.__getitem__, verdict),
            map(_MASKED.__getitem__, verdict),
            self.column(SAME),
            self.column(SHAPE),
            strict=True,
        )
        return tuple(map(_make_call, fields))


class PackedCalls(CallColumns):
    """The calls of a session as the index keeps them: less memory, the same values.

    Going through them unpacks them each time; asking for single ones keeps them unpacked.
    """

    __slots__ = ("_calls", "_data", "_names", "_size")

    def __init__(self, data: bytes, names: bytes | Sequence[str]) -> None:
        self._data = data
        self._names = names
        self._size = len(data) // _OFFSETS[-1]  # what stands before the columns is shorter
        self._calls: tuple[CallFact, ...] | None = None

    @property
    def names(self) -> Sequence[str]:
        """Tools by their number in this session."""
        names = self._names
        if isinstance(names, bytes):
            loaded: list[str] = orjson.loads(names)
            return loaded
        return names

    @property
    def positions(self) -> range:
        """All of them."""
        return range(self._size)

    def column(self, which: int) -> Sequence[int]:
        """One of ``COLUMNS``."""
        size = self._size
        offset, width, kind, byte = _LAYOUTS[which]
        start = _LENGTH.size + size * offset
        end = start + size * width
        if byte is not None and (which != TOOL or self._has_few_tools(size)):
            return self._data[start + byte : end : width]
        return array(kind, self._data[start:end])

    def _has_few_tools(self, calls: int) -> bool:
        return calls <= _MAX_BYTES or len(self.names) <= _MAX_BYTES

    def __len__(self) -> int:
        """How many there are."""
        return self._size

    def __iter__(self) -> Iterator[CallFact]:
        """In their order."""
        return iter(self._unpack() if self._calls is None else self._calls)

    @overload
    def __getitem__(self, index: int) -> CallFact: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[CallFact, ...]: ...
    def __getitem__(self, index: int | slice) -> CallFact | tuple[CallFact, ...]:
        """One of them, or some."""
        if self._calls is None:
            self._calls = self._unpack()
        return self._calls[index]


class _Taken(CallColumns):
    """Some calls of others."""

    __slots__ = ("_mask", "_source")

    def __init__(self, source: CallColumns, mask: bytes) -> None:
        self._source = source
        self._mask = mask

    @property
    def names(self) -> Sequence[str]:
        """Tools by their number in the session, also those of calls that were not taken."""
        return self._source.names

    @property
    def positions(self) -> Sequence[int]:
        """Where in its session each call stands."""
        return list(compress(self._source.positions, self._mask))

    def column(self, which: int) -> Sequence[int]:
        """The same column of the calls taken."""
        column = self._source.column(which)
        taken = compress(column, self._mask)
        return bytes(taken) if isinstance(column, bytes) else list(taken)

    def __len__(self) -> int:
        """How many there are."""
        return self._mask.count(1)


def columns_of(calls: Sequence[CallFact]) -> CallColumns:
    """Any calls as columns; positions are taken to count up from nought."""
    if type(calls) is PackedCalls or isinstance(calls, CallColumns):  # the first is quicker
        return calls
    columns = Calls.of(calls)
    return PackedCalls(columns.pack(), tuple(columns.names))


def unpack_calls(data: bytes, names: bytes) -> tuple[CallFact, ...]:
    """A session's calls."""
    return tuple(PackedCalls(data, names))
