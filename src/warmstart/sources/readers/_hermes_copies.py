"""Which rows of a Hermes session repeat rows that count elsewhere.

A compaction writes again what it keeps: some first messages, its summary, and the tail of the
conversation. It does so after the archived rows of the same session (in place) or at the head of
a new session (rotating); a branch begins with its parent's messages in the same way. The first
occurrence counts and every later one is a copy. Hermes stores no mark on a copy, so one is known
by standing in such a batch and repeating, in their order, rows from before it; a call by its ids
and arguments, because the texts beside it may have been shortened.

Some versions flag the originals of the kept tail like messages the user took back; found here as
the original of a copy, such a row is restored to archived, or its calls would count nowhere.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Hashable, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from warmstart.model import Fate, Kind, Message, Role
from warmstart.wire import encode_text

MAX_HEAD = 24
"""How many first messages a compaction is taken to keep at most."""


class SettledMessages(NamedTuple):
    """Messages with their final fates, and where each compaction's batch begins."""

    messages: list[Message]
    compactions: list[int]


class _Batch(NamedTuple):
    start: int
    summary: int
    """Index of its summary; rows up to there belong to the batch whether they repeat or not."""


def settle_copies(
    messages: Sequence[Message], inherited: Sequence[Message] = (), *, rotated: bool = False
) -> SettledMessages:
    """Mark the copies among ``messages``.

    Args:
        messages: the session's own, with the fates their flags say.
        inherited: the parent's, where the session begins with copies of them.
        rotated: the session is what a rotating compaction went on with.
    """
    walk = _CopyFinder(messages, inherited)
    compactions: list[int] = []
    done = 0
    if inherited or rotated:
        first = next((i for i, m in enumerate(messages) if m.kind is Kind.SUMMARY), 0)
        done = walk.mark(_Batch(0, first if rotated else 0))
        done = max(done, first + 1 if rotated else 0)
        compactions += [0] if rotated else []
    for batch in _find_batches(messages):
        if batch.summary >= done:
            done = walk.mark(batch)
            compactions.append(batch.start)
    return SettledMessages(walk.messages, compactions)


def _find_batches(messages: Sequence[Message]) -> list[_Batch]:
    archived_fate, summary_kind = Fate.ARCHIVED, Kind.SUMMARY
    archived = [i for i, m in enumerate(messages) if m.fate is archived_fate]
    summaries = [i for i, m in enumerate(messages) if m.kind is summary_kind]
    boundary = _first_live_after(messages, archived[-1]) if archived else None
    batches = []
    for index in summaries:
        start = index - _head_length(messages, index)
        if boundary is not None and boundary <= index:
            start, boundary = min(start, boundary), None
        batches.append(_Batch(start, index))
    if boundary is not None:
        batches.append(_Batch(boundary, boundary))
    return batches


def _first_live_after(messages: Sequence[Message], index: int) -> int | None:
    later = range(index + 1, len(messages))
    return next((i for i in later if messages[i].fate is Fate.LIVE), None)


def _head_length(messages: Sequence[Message], summary: int) -> int:
    """How many rows right before a summary repeat the session's first rows."""
    for length in range(min(MAX_HEAD, summary // 2), 0, -1):
        before = messages[summary - length : summary]
        if all(_key(a) == _key(b) for a, b in zip(before, messages, strict=False)):
            return length
    return 0


class _CopyFinder:
    """The rows so far, indexed by what a copy of them would look like."""

    def __init__(self, messages: Sequence[Message], inherited: Sequence[Message]) -> None:
        self.messages = list(messages)
        self._offset = len(inherited)
        self._places: dict[Hashable, list[int]] = defaultdict(list)
        self._indexed = 0
        for place, message in enumerate(inherited):
            self._index(place, message)

    def mark(self, batch: _Batch) -> int:
        """Mark the copies of one batch; returns the index just after it."""
        for index in range(self._indexed, batch.start):
            self._index(self._offset + index, self.messages[index])
        last = -1
        open_calls: dict[str, int] = {}
        index = batch.start
        while index < len(self.messages):
            message = self.messages[index]
            place = self._find_original(message, last, open_calls)
            if place is not None:
                last = max(last, place)
                open_calls |= {r.id: place for r in message.requests if r.id}
                self._restore(place)
                self.messages[index] = replace(message, fate=Fate.COPIED)
            elif _ends_batch(message, index - batch.summary):
                break
            index += 1
        self._indexed = max(self._indexed, batch.start)
        return index

    def _index(self, place: int, message: Message) -> None:
        if message.fate is Fate.COPIED:
            return
        self._places[_key(message)].append(place)
        if message.requests:
            self._places[_call_ids(message)].append(place)

    def _find_original(self, message: Message, last: int, open_calls: dict[str, int]) -> int | None:
        if message.role is Role.TOOL:
            asked = open_calls.pop(message.results[0].call_id or "", None)
            place = self._next(_key(message), last if asked is None else asked)
            return asked if place is None else place
        place = self._next(_key(message), last)
        if place is not None or not message.requests:
            return place
        same_ids = self._places.get(_call_ids(message), [])
        # Arguments get shortened; ids alone will do where no two calls share them.
        return same_ids[0] if len(same_ids) == 1 and same_ids[0] > last else None

    def _next(self, key: Hashable, last: int) -> int | None:
        places = self._places.get(key, [])
        at = bisect_right(places, last)
        return places[at] if at < len(places) else None

    def _restore(self, place: int) -> None:
        index = place - self._offset
        if index >= 0 and self.messages[index].fate is Fate.REWOUND:
            self.messages[index] = replace(self.messages[index], fate=Fate.ARCHIVED)


def _ends_batch(message: Message, after_summary: int) -> bool:
    """Whether a row that repeats nothing is the first one after the batch.

    The summary itself repeats nothing, nor does a note that Hermes adds after the tail.
    """
    if message.kind is Kind.SUMMARY:
        return after_summary > 0
    return after_summary >= 0 and message.kind is Kind.TURN


def _key(message: Message) -> Hashable:
    """What a message and its copy have in common."""
    if message.role is Role.TOOL:
        return ("result", message.results[0].call_id)
    if message.requests:
        return tuple((r.id, r.tool, r.raw or encode_text(r.arguments)) for r in message.requests)
    return (message.role, message.text)


def _call_ids(message: Message) -> Hashable:
    return ("calls", *(request.id for request in message.requests))
