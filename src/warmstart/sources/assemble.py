"""Messages to a session: results joined to their calls, each call judged, totals filled in.

A result belongs to a call of its id that has none yet, however far back; without ids, to one of
the same tool. Of several, the latest batch is answered first, in the order it was asked. A call
that never gets a result stays unanswered.
"""

from __future__ import annotations

from collections import deque
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
    for name, value in _derive_fields(messages).items():
        if fields.get(name) is None:
            fields[name] = value
    return Session(
        origin=origin,
        native_id=native_id,
        messages=tuple(messages),
        calls=join_calls(messages, origin),
        **fields,
    )


def _derive_fields(messages: Sequence[Message]) -> dict[str, Any]:
    """What the messages say of their session: its main model, its tokens and its times."""
    models: dict[str, int] = {}
    spent: list[Tokens] = []
    first = last = None
    for message in messages:
        moment = message.timestamp
        if moment is not None:
            if last is None:
                first = last = moment
            elif moment > last:
                last = moment
        if (message.tokens or message.model) and message.counts:
            if message.tokens:
                spent.append(message.tokens)
            if message.model:
                models[message.model] = models.get(message.model, 0) + 1
    return {
        "model": max(models, key=models.__getitem__, default=None),
        "tokens": sum_tokens(spent),
        "started_at": first,
        "ended_at": last,
    }


def join_calls(messages: Sequence[Message], origin: str = "") -> tuple[Call, ...]:
    """The counted calls of a conversation, in order, each with its result and outcome."""
    asked: list[tuple[int, Request]] = []
    answers: dict[int, Result] = {}
    waiting = _Waiting()
    batch = 0
    for where, message in enumerate(messages):
        requests, results = message.requests, message.results
        if not requests:
            batch += 1
            if not results:
                continue
        if not message.counts:
            continue
        for request in requests:
            waiting.add(request, batch, len(asked))
            asked.append((where, request))
        for answer in results:
            match = waiting.take(answer)
            if match is not None:
                answers[match] = answer
    calls = []
    for index, (where, request) in enumerate(asked):
        result = answers.get(index)
        outcome = judge(request, result, origin)
        calls.append(
            Call(request=request, result=result, outcome=outcome, position=index, message=where)
        )
    return tuple(calls)


class _Waiting:
    """Calls without a result yet: the latest batch is answered first, in its own order.

    A batch is what was asked in one go, so a call that was given up does not
    take the result of one asked after it.
    """

    __slots__ = ("_by_key",)

    def __init__(self) -> None:
        self._by_key: dict[tuple[str, str], list[tuple[int, deque[int]]]] = {}

    def add(self, request: Request, batch: int, index: int) -> None:
        """A call was asked."""
        key = ("tool", request.tool) if request.id is None else ("id", request.id)
        batches = self._by_key.get(key)
        if not batches:
            self._by_key[key] = [(batch, deque((index,)))]
        elif batches[-1][0] == batch:
            batches[-1][1].append(index)
        else:
            batches.append((batch, deque((index,))))

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


def sum_tokens(spent: Sequence[Tokens]) -> Tokens:
    """All of them together."""
    return Tokens(
        input=sum([one.input for one in spent]),
        output=sum([one.output for one in spent]),
        cache_read=sum([one.cache_read for one in spent]),
        cache_write=sum([one.cache_write for one in spent]),
        reasoning=sum([one.reasoning for one in spent]),
    )
