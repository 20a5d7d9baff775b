"""Messages to a session: results joined to their calls, each call judged, totals filled in.

A result belongs to the latest call of its id that has none yet, however far back; without ids,
to the earliest open call of the same tool. A call that never gets one stays unanswered.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Sequence
from typing import Any

from warmstart.model import Call, Message, Request, Result, Session, Tokens
from warmstart.outcome import judge


def build_session(
    origin: str, native_id: str, messages: Sequence[Message], **fields: Any
) -> Session:
    """A session from its messages; ``fields`` are Session fields and win over what is derived."""
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


def _match_results(
    messages: Sequence[Message], asked: Sequence[tuple[int, Request]]
) -> dict[int, Result]:
    waiting = iter(asked)
    upcoming = next(waiting, None)
    index = 0
    by_id: dict[str, list[int]] = defaultdict(list)
    without_id: deque[int] = deque()
    answers: dict[int, Result] = {}
    for where, message in enumerate(messages):
        while upcoming is not None and upcoming[0] <= where:
            request = upcoming[1]
            if request.id is None:
                without_id.append(index)
            else:
                by_id[request.id].append(index)
            index += 1
            upcoming = next(waiting, None)
        if not message.counts:
            continue
        for result in message.results:
            match = _take(result, by_id, without_id, asked)
            if match is not None:
                answers[match] = result
    return answers


def _take(
    result: Result,
    by_id: dict[str, list[int]],
    without_id: deque[int],
    asked: Sequence[tuple[int, Request]],
) -> int | None:
    if result.call_id is not None:
        waiting = by_id.get(result.call_id)
        return waiting.pop() if waiting else None
    for index in without_id:
        if result.tool is None or asked[index][1].tool == result.tool:
            without_id.remove(index)
            return index
    return None


def _main_model(messages: Sequence[Message]) -> str | None:
    models = Counter(m.model for m in messages if m.model and m.counts)
    return models.most_common(1)[0][0] if models else None


def _sum_tokens(messages: Sequence[Message]) -> Tokens:
    return sum((m.tokens for m in messages if m.tokens and m.counts), Tokens())


def _first_time(messages: Sequence[Message]) -> float | None:
    return next((m.timestamp for m in messages if m.timestamp is not None), None)


def _last_time(messages: Sequence[Message]) -> float | None:
    return max((m.timestamp for m in messages if m.timestamp is not None), default=None)
