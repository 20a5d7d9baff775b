"""Which messages of a transcript a warm start put there; they count in no rate.

Example calls have ids of their own making, and agents keep the ids of calls. So the warm-up is
everything from the first user's turn to the words that close the last example call. Whatever
stands before (a system prompt, the harness' notes) is the session's own.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from warmstart.model import CALL_ID_PREFIX, Kind, Message, Role


def mark_warmups(messages: Sequence[Message]) -> Sequence[Message]:
    """The messages, those of a warm-up marked; the same object where there is none."""
    first = next((at for at, message in enumerate(messages) if message.requests), None)
    if first is None or not _is_example(messages[first]):
        return messages
    last = max(at for at, message in enumerate(messages) if _is_example(message))
    end = next((at for at in range(last + 1, len(messages)) if _closes(messages[at])), last) + 1
    start = _find_start(messages, first)
    return [
        replace(message, kind=Kind.WARMUP) if start <= at < end and _is_ours(message) else message
        for at, message in enumerate(messages)
    ]


def _is_example(message: Message) -> bool:
    return any((request.id or "").startswith(CALL_ID_PREFIX) for request in message.requests)


def _closes(message: Message) -> bool:
    return message.role is Role.ASSISTANT and not message.requests


def _find_start(messages: Sequence[Message], first: int) -> int:
    """The first example's question: the user's turn before its call, and no earlier one."""
    before = (at for at in range(first - 1, -1, -1) if messages[at].role is Role.USER)
    return next(before, first)


def _is_ours(message: Message) -> bool:
    return message.kind is Kind.TURN and message.role is not Role.SYSTEM


__all__ = ["mark_warmups"]
