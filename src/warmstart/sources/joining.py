"""Sessions of chat files, whose results have to be joined to calls as far as the file allows.

What an API sends has ids that match; what people save often has not: ids are left out, made up, or
of two kinds. Where hardly any id of a result is one of a call, the order decides: results answer
the calls before them, one after the other, those that name a tool a call of that tool. Where that
does not help either, the calls would all count as unanswered, and that is reported.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from warmstart.model import Message, Request, Result, Role, Session
from warmstart.sources.assemble import build_session
from warmstart.sources.log import ReadLog

HARDLY_ANY = 0.1
LOST_RESULTS = "result that fits no call; give it the tool_call_id of its call"
NO_RESULTS = "call without a result in a chat that goes on; give results the role tool"


def build_chat(
    origin: str, native_id: str, messages: Iterable[Message], log: ReadLog, **fields: Any
) -> Session:
    """A session as ``build_session`` makes it, its results joined by order where ids fail."""
    session = build_session(origin, native_id, join_by_order(list(messages)), **fields)
    _report_unjoined(session, log)
    return session


def join_by_order(messages: Sequence[Message]) -> Sequence[Message]:
    """The messages, with ids that join results to calls where their own do not."""
    if _ids_are_good(messages):
        return messages
    joiner = _Joiner(messages)
    return [joiner.take(message) for message in messages]


def _ids_are_good(messages: Sequence[Message]) -> bool:
    """Whether most results have the id of a call, or there are no ids to go by at all."""
    asked = {request.id for message in messages for request in message.requests}
    given = [result.call_id for message in messages for result in message.results]
    if asked.union(given) <= {None}:
        return True
    return 2 * sum(name is not None and name in asked for name in given) >= len(given)


class _Joiner:
    """Gives results the ids of the calls before them."""

    def __init__(self, messages: Sequence[Message]) -> None:
        counts = Counter(request.id for message in messages for request in message.requests)
        self._repeated = {name for name, count in counts.items() if name is None or count > 1}
        self._waiting: dict[str, deque[str]] = {}
        self._order: deque[tuple[str, str]] = deque()
        self._done: set[str] = set()
        self._was_answered = False
        self._number = 0

    def take(self, message: Message) -> Message:
        """The next message."""
        if message.requests and self._was_answered:
            self._waiting.clear()
            self._order.clear()
            self._was_answered = False
        requests = tuple(map(self._ask, message.requests))
        return replace(
            message, requests=requests, results=tuple(map(self._answer, message.results))
        )

    def _ask(self, request: Request) -> Request:
        self._number += 1
        name = request.id
        if name is None or name in self._repeated:
            name = f"#{self._number}"
        self._waiting.setdefault(request.tool, deque()).append(name)
        self._order.append((request.tool, name))
        return replace(request, id=name)

    def _answer(self, result: Result) -> Result:
        self._was_answered = True
        named = self._waiting.get(result.tool or "")
        if named:
            name = named.popleft()
            self._done.add(name)
            return replace(result, call_id=name)
        while self._order and self._order[0][1] in self._done:
            self._order.popleft()
        if not self._order:
            return result
        tool, name = self._order.popleft()
        self._waiting[tool].popleft()
        return replace(result, call_id=name)


def _report_unjoined(session: Session, log: ReadLog) -> None:
    calls = len(session.calls)
    joined = sum(call.result is not None for call in session.calls)
    given = sum(len(message.results) for message in session.messages if message.counts)
    path = Path(session.path or "")
    if not calls:
        return
    if given and joined <= HARDLY_ANY * min(calls, given):
        log.skip(LOST_RESULTS, path, count=given - joined)
    elif not given and _goes_on(session):
        log.skip(NO_RESULTS, path, count=calls)


def _goes_on(session: Session) -> bool:
    """Whether the assistant spoke again after its first call."""
    first = session.calls[0].message
    return any(message.role is Role.ASSISTANT for message in session.messages[first + 1 :])
