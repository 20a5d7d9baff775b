"""A warm-up as messages that any provider accepts, and put before a conversation.

What must stay true, wherever the warm-up came from: a call stands with its result or not at all,
the first message is the user's, none is empty, and the last one is text of the assistant, so that
the real task can follow as the next user turn. Nothing is ever put in twice, and the caller's own
list and messages are left as they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Any

from msgspec.structs import replace

from warmstart.model import CALL_ID_PREFIX, Message, Result, Role, WarmUp
from warmstart.warm.build import FRAME
from warmstart.wire import CODECS, Body, Prompt, find_codec, insert_before, pair_calls, with_objects

READY = "Understood. I am ready for the task."
MAX_LOOK = 200
"""Messages looked at; a warm-up stands at the beginning."""
WITHOUT_SYSTEM = ("anthropic", "gemini")
"""Forms whose list of messages has no place for system text."""


def list_messages(warmup: WarmUp, *, with_system: bool = False) -> tuple[Message, ...]:
    """The messages of a warm-up, each call followed by its result.

    Args:
        warmup: what to write.
        with_system: put the frame and guidance before the first user's text, for forms that have
            no place for system text.
    """
    messages = _trim([with_objects(message) for message in pair_calls(warmup.messages)])
    if not (with_system and warmup.system.strip()):
        return tuple(messages)
    if not messages:
        ready = Message(role=Role.ASSISTANT, text=READY)
        return (Message(role=Role.USER, text=warmup.system), ready)
    first = replace(messages[0], text=f"{warmup.system}\n\n{messages[0].text}")
    return (first, *messages[1:])


def list_replies(messages: Sequence[Message]) -> Iterator[tuple[Message, tuple[Result, ...]]]:
    """Each message of the user or the assistant with the results of its calls."""
    for at, message in enumerate(messages):
        if message.role is not Role.TOOL:
            answers = takewhile(lambda one: one.role is Role.TOOL, messages[at + 1 :])
            yield message, tuple(result for one in answers for result in one.results)


def inject(
    messages: Sequence[Mapping[str, Any]],
    warmup: WarmUp,
    *,
    style: str | None = None,
    separate_system: bool = False,
) -> list[Body]:
    """A new list with the warm-up in it; an equal one if it is there already or is empty.

    Args:
        messages: what would be sent cold.
        warmup: what to put in.
        style: how the list is written, a name from ``wire.CODECS``; seen from the messages if not
            given. Lists without a place for system text open with it in the first example.
        separate_system: add a second system message instead of merging into the leading one.
    """
    items = [dict(message) for message in messages]
    if warmup.is_empty or is_warm(items, warmup):
        return items
    codec = CODECS[style] if style else find_codec(items)
    no_system = codec.name in WITHOUT_SYSTEM
    prefix = Prompt(
        system="" if no_system else warmup.system,
        messages=list_messages(warmup, with_system=no_system),
    )
    body = insert_before({codec.key: items}, prefix, codec, separate_system=separate_system)
    warm: list[Body] = body[codec.key]
    return warm


def is_warm(
    conversation: Prompt | Sequence[Mapping[str, Any]], warmup: WarmUp | None = None
) -> bool:
    """Whether a conversation was started warm already, with this warm-up or another."""
    marks = (FRAME, warmup.system) if warmup and warmup.system else (FRAME,)
    prompt = conversation if isinstance(conversation, Prompt) else _read(conversation[:MAX_LOOK])
    texts = (prompt.system, *(message.text for message in prompt.messages[:MAX_LOOK]))
    return any(mark in text for text in texts for mark in marks) or _has_example_call(prompt)


def _has_example_call(prompt: Prompt) -> bool:
    requests = (r for message in prompt.messages[:MAX_LOOK] for r in message.requests)
    return any((request.id or "").startswith(CALL_ID_PREFIX) for request in requests)


def _read(messages: Sequence[Mapping[str, Any]]) -> Prompt:
    items = [dict(message) for message in messages]
    codec = find_codec(items)
    return codec.decode_request({codec.key: items})


def _trim(messages: list[Message]) -> list[Message]:
    """Begin with the user, end with text of the assistant; what hangs over is left out."""
    while messages and messages[0].role is not Role.USER:
        messages.pop(0)
    while messages and (messages[-1].role is not Role.ASSISTANT or messages[-1].requests):
        messages.pop()
    return messages
