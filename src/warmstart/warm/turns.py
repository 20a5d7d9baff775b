"""A warm-up as turns that any provider accepts, whoever made it.

What must stay true, for every form: a call stands with its result or not at all, the first turn is
the user's, no turn is empty, and the last one is words of the assistant, so that the real task can
follow as the next user turn.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from warmstart.export.jsonl import encode_json
from warmstart.model import Message, Request, Result, Role, WarmUp

READY = "Understood. I am ready for the task."
_UNSAFE = re.compile(r"[^a-zA-Z0-9_-]")
MAX_NAME_LENGTH = 64
"""Providers accept names of 1 to 64 letters, digits, ``_`` and ``-``."""


class Pair(NamedTuple):
    """A call and its result under one id."""

    id: str
    name: str
    request: Request
    result: Result

    @property
    def arguments(self) -> dict[str, object]:
        """What the tool was called with, as an object."""
        request = self.request
        return dict(request.arguments) if request.raw is None else {"raw": request.raw}

    @property
    def arguments_text(self) -> str:
        """The same as JSON text."""
        return encode_json(self.arguments).decode()


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One message of the user or the assistant; pairs are the assistant's."""

    role: Role
    text: str = ""
    pairs: tuple[Pair, ...] = ()


def list_turns(warmup: WarmUp, *, with_system: bool = False) -> list[Turn]:
    """The turns of a warm-up.

    Args:
        warmup: what to write.
        with_system: put the frame and guidance before the first user's words, for forms that have
            no place for system text.
    """
    turns = _trim(list(_join(warmup.messages)))
    if not (with_system and warmup.system.strip()):
        return turns
    if not turns:
        return [
            Turn(role=Role.USER, text=warmup.system),
            Turn(role=Role.ASSISTANT, text=READY),
        ]
    first = replace(turns[0], text=f"{warmup.system}\n\n{turns[0].text}")
    return [first, *turns[1:]]


def _join(messages: Sequence[Message]) -> Iterator[Turn]:
    """Each message with the results of its calls; ids are unique in the whole."""
    answers: dict[str, list[Result]] = {}
    for message in messages:
        for result in message.results:
            answers.setdefault(result.call_id or "", []).append(result)
    used: set[str] = set()
    for message in messages:
        if message.role not in (Role.USER, Role.ASSISTANT):
            continue
        pairs = tuple(_pair(message, answers, used))
        if message.text.strip() or pairs:
            yield Turn(role=message.role, text=message.text, pairs=pairs)


def _pair(message: Message, answers: dict[str, list[Result]], used: set[str]) -> Iterator[Pair]:
    if message.role is not Role.ASSISTANT:
        return
    for request in message.requests:
        waiting = answers.get(request.id or "")
        if not request.id or not waiting:
            continue
        name = _UNSAFE.sub("_", request.tool)[:MAX_NAME_LENGTH] or "unknown"
        yield Pair(_unique(_UNSAFE.sub("_", request.id), used), name, request, waiting.pop(0))


def _unique(base: str, used: set[str]) -> str:
    choice, number = base, 1
    while choice in used:
        number += 1
        choice = f"{base}_{number}"
    used.add(choice)
    return choice


def _trim(turns: list[Turn]) -> list[Turn]:
    """Begin with the user, end with words of the assistant; what hangs over is left out."""
    while turns and turns[0].role is not Role.USER:
        turns.pop(0)
    while turns and (turns[-1].role is not Role.ASSISTANT or turns[-1].pairs):
        turns.pop()
    return turns


__all__ = ["READY", "Pair", "Turn", "list_turns"]
