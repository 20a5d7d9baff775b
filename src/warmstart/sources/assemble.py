"""Messages to a session: results joined to their calls, each call judged, totals filled in.

A result belongs to a call of its id that has none yet, however far back; without ids, to one of
the same tool. Of several, the latest batch is answered first, in the order it was asked. A call
that never gets a result stays unanswered.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence
from typing import Any

from warmstart.model import Call, Message, Request, Result, Session, Tokens
from warmstart.outcome import judge
from warmstart.sources.warmups import mark_warmups


def build_session(
    origin: str, native_id: str, messages: Sequence[Message], **fields: Any
) -> Session:
    """A session from its messages; ``fields`` are Session fields and win over what is derived."""
    messages = mark_warmups(messages)
    fields.setdefault("agent", origin)
    derived = {
        "model": _main_model(messages),
        "tokens": _sum_tokens(messages),
        "started_at": _first_time(messages),
        "ended_at": _last_time(messages),
    }
    for name, value in derived.items():
        if fields.get(name) is None:
            fields[name] = value
    return Session(
        origin=origin,
        native_id=native_id,
        messages=tuple(messages),
        calls=join_calls(messages, origin),
        **fields,
    )


def join_calls(messages: Sequence[Message], origin: str = "") -> tuple[Call, ...]:
    """The counted calls of a conversation, in order, each with its result and outcome."""
    asked = _open_requests(messages)
    answers = _match_results(messages, asked)
    return tuple(
        Call(
            request=request,
            result=answers.get(index),
            outcome=judge(request, answers.get(index), origin),
            position=index,
            message=where,
        )
        for index, (where, request) in enumerate(asked)
    )


def _open_requests(messages: Sequence[Message]) -> list[tuple[int, Request]]:
    return [
        (where, request)
        for where, message in enumerate(messages)
        if message.requests and message.counts
        for request in message.requests
    ]


class _Waiting:
    """Calls without a result yet: the latest batch is answered first, in its own order.

    A batch is what was asked before anything else was said, so a call that was given up does not
    take the result of one asked after it.
    """

    __slots__ = ("_by_key",)

    def __init__(self) -> None:
        self._by_key: dict[tuple[str, str], list[tuple[int, deque[int]]]] = {}

    def add(self, request: Request, batch: int, index: int) -> None:
        """A call was asked."""
        key = ("tool", request.tool) if request.id is None else ("id", request.id)
        batches = self._by_key.setdefault(key, [])
        if not batches or batches[-1][0] != batch:
            batches.append((batch, deque()))
        batches[-1][1].append(index)

    def take(self, result: Result) -> int | None:
        """The index of the call a result answers."""
        if result.call_id is not None:
            return self._take(("id", result.call_id))
        if result.tool is not None:
            return self._take(("tool", result.tool))
        unnamed = [key for key, batches in self._by_key.items() if key[0] == "tool" and batches]
        latest = max(unnamed, key=lambda key: self._by_key[key][-1][0], default=None)
        return None if latest is None else self._take(latest)

    def _take(self, key: tuple[str, str]) -> int | None:
        batches = self._by_key.get(key)
        if not batches:
            return None
        latest = batches[-1][1]
        index = latest.popleft()
        if not latest:
            batches.pop()
        return index


def _match_results(
    messages: Sequence[Message], asked: Sequence[tuple[int, Request]]
) -> dict[int, Result]:
    waiting = _Waiting()
    answers: dict[int, Result] = {}
    batch = upcoming = 0
    for where, message in enumerate(messages):
        batch += not message.requests
        while upcoming < len(asked) and asked[upcoming][0] <= where:
            waiting.add(asked[upcoming][1], batch, upcoming)
            upcoming += 1
        for result in message.results if message.counts else ():
            match = waiting.take(result)
            if match is not None:
                answers[match] = result
    return answers


def _main_model(messages: Sequence[Message]) -> str | None:
    models = Counter(m.model for m in messages if m.model and m.counts)
    return models.most_common(1)[0][0] if models else None


def _sum_tokens(messages: Sequence[Message]) -> Tokens:
    return sum((m.tokens for m in messages if m.tokens and m.counts), Tokens())


def _first_time(messages: Sequence[Message]) -> float | None:
    return next((m.timestamp for m in messages if m.timestamp is not None), None)


def _last_time(messages: Sequence[Message]) -> float | None:
    return max((m.timestamp for m in messages if m.timestamp is not None), default=None)
