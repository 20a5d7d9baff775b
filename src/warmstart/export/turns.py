"""A conversation as providers accept it: every call followed by exactly one result.

What is kept is what happened: archived messages stay, copies, rewound messages and warm-ups do
not. A call without a result is answered with ``NO_RESULT``, because providers refuse an orphan
and dropping the call would change what the agent did. A result without a call is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from warmstart.model import Call, Message, Role, Session, Status

NO_RESULT = "[no result recorded]"
_UNSAFE = re.compile(r"[^a-zA-Z0-9_-]")
MAX_NAME_LENGTH = 64
"""Both providers accept function names of 1 to 64 letters, digits, ``_`` and ``-``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """A call under an id that is unique in its conversation."""

    id: str
    name: str
    call: Call

    @property
    def answer(self) -> str:
        """The result's text, or a note that there is none."""
        return NO_RESULT if self.call.result is None else self.call.result.text

    @property
    def failed(self) -> bool:
        """What the source's own flag says, and only without one what was judged."""
        result = self.call.result
        if result is not None and result.is_error is not None:
            return result.is_error
        return self.call.outcome.status is Status.ERROR


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One message with the exchanges it started."""

    role: Role
    text: str
    exchanges: tuple[Exchange, ...] = ()
    message: int
    """Index into ``Session.messages`` of the message it is."""


def list_turns(session: Session) -> Iterator[Turn]:
    """The turns of a session in order; messages that would be empty are left out."""
    exchanges = _exchanges_by_message(session)
    for index, message in enumerate(session.messages):
        if not message.counts:
            continue
        turn = Turn(
            role=_speaker(message),
            text=message.text,
            exchanges=tuple(exchanges.get(index, ())),
            message=index,
        )
        if turn.text.strip() or turn.exchanges:
            yield turn


def locate_results(session: Session) -> dict[int, tuple[int, int]]:
    """Where each result stands, by its ``id()``: the message, and which of its results."""
    return {
        id(result): (where, index)
        for where, message in enumerate(session.messages)
        for index, result in enumerate(message.results)
    }


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


def _speaker(message: Message) -> Role:
    # Text beside results is the harness speaking to the model: for a provider that is the user.
    return Role.USER if message.role is Role.TOOL else message.role


def _exchanges_by_message(session: Session) -> dict[int, list[Exchange]]:
    used: set[str] = set()
    found: dict[int, list[Exchange]] = {}
    for call in session.calls:
        name = _UNSAFE.sub("_", call.tool)[:MAX_NAME_LENGTH] or "unknown"
        exchange = Exchange(id=_unique_id(call, used), name=name, call=call)
        found.setdefault(call.message, []).append(exchange)
    return found


def _unique_id(call: Call, used: set[str]) -> str:
    native = _UNSAFE.sub("_", call.request.id or "")
    base = native or f"call_{call.position}"
    choice, number = base, 1
    while choice in used:
        number += 1
        choice = f"{base}_{number}"
    used.add(choice)
    return choice
