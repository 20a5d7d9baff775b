"""A session as a conversation that providers accept, and the formats a person can ask for.

What is kept is what happened: archived messages stay; copies, rewound messages and warm-ups do
not. A call without a result is answered with ``NO_RESULT``, because providers refuse an orphan
and dropping the call would change what the agent did. A result without a call is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import takewhile
from typing import Any

from msgspec.structs import replace

from warmstart.export.warmstart import export_warmstart, locate_results
from warmstart.model import Call, Message, Request, Result, Role, Session, Status
from warmstart.wire import CODECS, CallIds, Prompt

NO_RESULT = "[no result recorded]"
OPENING = "[start of the session]"
"""Stands for the user where a transcript begins with the assistant; Anthropic refuses it bare."""


def export_openai(session: Session) -> dict[str, Any]:
    """A session as one OpenAI chat conversation, as fine-tuning files have it.

    The format has no field for failure, so outcomes are not in it; the ``warmstart`` format keeps
    them.
    """
    body = CODECS["openai"].encode_request(Prompt(messages=tuple(list_messages(session))))
    return body | {"metadata": describe_session(session)}


def export_anthropic(session: Session) -> dict[str, Any]:
    """A session as one Anthropic conversation; leading system texts are its system field."""
    messages = list(list_messages(session, judged=True))
    system = [m.text for m in takewhile(lambda m: m.role is Role.SYSTEM, messages)]
    messages = messages[len(system) :]
    if messages and (messages[0].role is Role.ASSISTANT or messages[0].requests):
        messages.insert(0, Message(role=Role.USER, text=OPENING))
    prompt = Prompt(system="\n\n".join(system), messages=tuple(messages))
    body = CODECS["anthropic"].encode_request(prompt)
    return body | {"metadata": describe_session(session)}


EXPORTERS: dict[str, Callable[[Session], dict[str, Any]]] = {
    "openai": export_openai,
    "anthropic": export_anthropic,
    "warmstart": export_warmstart,
}


def list_messages(session: Session, *, judged: bool = False) -> Iterator[Message]:
    """The messages of a session, each call followed by a message with its result.

    Args:
        session: what to export.
        judged: mark a result as failed by the outcome of its call where the source has no flag.
    """
    places = locate_results(session)
    calls = _name_calls(session)
    for index, message in enumerate(session.messages):
        asked = calls.get(index, ())
        if not message.counts or not (message.text.strip() or asked):
            continue
        # Text beside results is the harness speaking to the model: for a provider that is the user.
        role = Role.USER if message.role is Role.TOOL else message.role
        requests = tuple(request for request, _ in asked)
        yield replace(message, role=role, requests=requests, results=())
        for request, call in asked:
            place = places.get(id(call.result))
            source = None if place is None else session.messages[place[0]]
            yield _answer(request, call, source, judged=judged)


def _answer(request: Request, call: Call, source: Message | None, *, judged: bool) -> Message:
    """The message of a result, with the time and fate of the one it stood in."""
    result = call.result or Result(text=NO_RESULT, status=Status.UNANSWERED)
    failed = result.is_error
    if judged and failed is None:
        failed = call.outcome.status is Status.ERROR
    answer = replace(result, call_id=request.id, is_error=failed)
    if source is None:
        return Message(role=Role.TOOL, results=(answer,))
    return Message(role=Role.TOOL, results=(answer,), timestamp=source.timestamp, fate=source.fate)


def _name_calls(session: Session) -> dict[int, list[tuple[Request, Call]]]:
    """The calls of each message, under ids that are unique in the conversation."""
    ids = CallIds()
    found: dict[int, list[tuple[Request, Call]]] = {}
    for call in session.calls:
        named = ids.take(call.request.id or f"call_{call.position}")
        found.setdefault(call.message, []).append((replace(call.request, id=named), call))
    return found


def describe_session(session: Session) -> dict[str, str]:
    """Where a conversation came from, as the flat strings both providers allow as metadata."""
    facts = {
        "session": session.id,
        "agent": session.agent,
        "model": session.model,
        "project": session.project,
        "task": session.task,
        "reward": None if session.reward is None else str(session.reward),
    }
    return {name: value for name, value in facts.items() if value is not None}
