"""Calls and results brought into the order and under the ids that providers accept.

After ``pair_calls`` a call stands with its result or not at all, the result right behind the
message that asked, and ids are unique in the whole conversation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from warmstart.model import Message, Request, Result, Role
from warmstart.wire.fields import as_object

MAX_NAME_LENGTH = 64
_UNSAFE = re.compile(r"[^a-zA-Z0-9_-]")


def safe_name(tool: str) -> str:
    """A tool's name as providers accept it: 1 to 64 letters, digits, ``_`` and ``-``."""
    return _UNSAFE.sub("_", tool)[:MAX_NAME_LENGTH] or "unknown"


class CallIds:
    """Ids that are unique in one conversation."""

    def __init__(self) -> None:
        self._used: set[str] = set()

    def take(self, wanted: str) -> str:
        """The id itself, of letters that providers accept, or with a number behind it."""
        base = _UNSAFE.sub("_", wanted)
        choice, number = base, 1
        while choice in self._used:
            number += 1
            choice = f"{base}_{number}"
        self._used.add(choice)
        return choice


def pair_calls(messages: Sequence[Message]) -> Iterator[Message]:
    """Users' and assistants' messages, each call followed by its result.

    A call is answered by the first result of its id; a call or result without the other half is
    left out, and so is a message that would be empty.
    """
    answers: dict[str, list[Result]] = {}
    for message in messages:
        for result in message.results:
            answers.setdefault(result.call_id or "", []).append(result)
    ids = CallIds()
    for message in messages:
        if message.role not in (Role.USER, Role.ASSISTANT):
            continue
        pairs = list(_pair(message, answers, ids))
        if message.text.strip() or pairs:
            yield replace(message, requests=tuple(request for request, _ in pairs), results=())
            for _, result in pairs:
                yield Message(role=Role.TOOL, results=(result,), kind=message.kind)


def _pair(
    message: Message, answers: dict[str, list[Result]], ids: CallIds
) -> Iterator[tuple[Request, Result]]:
    for request in message.requests if message.role is Role.ASSISTANT else ():
        waiting = answers.get(request.id or "")
        if request.id and waiting:
            call_id = ids.take(request.id)
            result = replace(waiting.pop(0), call_id=call_id, tool=request.tool)
            yield replace(request, id=call_id), result


def with_objects(message: Message) -> Message:
    """A message whose arguments are all JSON objects, as servers that parse them again expect."""
    if all(request.raw is None for request in message.requests):
        return message
    requests = tuple(
        request if request.raw is None else replace(request, arguments=as_object(request), raw=None)
        for request in message.requests
    )
    return replace(message, requests=requests)


def with_ids(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Every call with an id and its result with the same one; those that have one keep it."""
    waiting: list[Request] = []
    done: list[Message] = []
    for place, message in enumerate(messages):
        requests = tuple(
            request if request.id else replace(request, id=f"call_{place}_{number}")
            for number, request in enumerate(message.requests)
        )
        waiting += requests
        results = tuple(_with_id(result, waiting) for result in message.results)
        done.append(replace(message, requests=requests, results=results))
    return tuple(done)


def _with_id(result: Result, waiting: list[Request]) -> Result:
    """A result under the id of the first open call of its tool, else of the first open call."""
    if result.call_id is not None:
        waiting[:] = [request for request in waiting if request.id != result.call_id]
    if result.call_id is not None or not waiting:
        return result
    tools = [request.tool for request in waiting]
    at = tools.index(result.tool) if result.tool in tools else 0
    return replace(result, call_id=waiting.pop(at).id)
