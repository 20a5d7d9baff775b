"""A session reduced to its facts. This is what every field means; faster ways must agree with it.

Pure: the same session gives the same facts, in every process and on every machine.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator

from warmstart.facts.hashes import hash_call, hash_shape
from warmstart.facts.markers import MarkerCounter
from warmstart.facts.voice import VoiceCounter
from warmstart.model import Fate, Kind, Message, Role, Session
from warmstart.model.facts import CallFact, SessionFacts
from warmstart.model.selection import count_messages

OPENING_CHARS = 800
"""What is kept of the user's first words, for listings of sessions that have no title."""
CUT = "…"
"""Ends an opening that is not all of the message."""
_PRINTABLE = "".join(map(chr, range(0x21, 0x7F)))


def derive_facts(session: Session) -> SessionFacts:
    """The facts of one session."""
    voice = VoiceCounter()
    turns_at: list[int] = []
    for index, message in enumerate(session.messages):
        if is_turn(message):
            turns_at.append(index)
            voice.add(message.text)
    markers = MarkerCounter()
    for call in session.calls:
        markers.add(call.tool, call.request.arguments)
    calls = tuple(_call_facts(session, turns_at))
    asked_at = [call.message for call in calls]
    return SessionFacts(
        id=session.id,
        origin=session.origin,
        agent=session.agent,
        agent_version=session.agent_version,
        model=session.model,
        title=session.title,
        opening=find_opening(session),
        project=session.project,
        git_branch=session.git_branch,
        started_at=session.started_at,
        ended_at=session.ended_at,
        end_reason=session.end_reason,
        parent=session.parent,
        task=session.task,
        reward=session.reward,
        cost_usd=session.cost_usd,
        tokens=session.tokens,
        messages=count_messages(session),
        turns=len(turns_at),
        warmups=sum(message.kind is Kind.WARMUP for message in session.messages),
        calls=calls,
        compactions=tuple(bisect_left(asked_at, c.at) for c in session.compactions),
        markers=markers.finish(),
        voice=voice.finish(),
        path=session.path,
    )


def is_turn(message: Message) -> bool:
    """Whether the user spoke: not the harness in their name, not a copy, not taken back."""
    return message.role is Role.USER and message.kind is Kind.TURN and message.counts


def find_opening(session: Session) -> str:
    """What is kept of the user's first words."""
    return cut_opening(find_first_words(session))


def cut_opening(text: str) -> str:
    """A text, or its beginning up to a word's end: half of a word may be half of a key."""
    if len(text) <= OPENING_CHARS:
        return text
    return f"{text[:OPENING_CHARS].rstrip(_PRINTABLE)}{CUT}"


def find_first_words(session: Session) -> str:
    """The user's first message, also where it is a copy of another session's."""
    for message in session.messages:
        is_ask = message.role is Role.USER and message.kind is Kind.TURN
        if is_ask and message.fate is not Fate.REWOUND and message.text.strip():
            return message.text
    return ""


def _call_facts(session: Session, turns_at: list[int]) -> Iterator[CallFact]:
    for call in session.calls:
        request, outcome = call.request, call.outcome
        yield CallFact(
            call.position,
            call.message,
            bisect_left(turns_at, call.message),
            request.tool,
            outcome.status,
            outcome.certainty,
            outcome.error_class,
            outcome.masked,
            hash_call(request.tool, request.arguments, request.raw),
            hash_shape(request.tool, request.arguments),
        )
