"""A session reduced to its facts: what every field means.

Pure: the same session gives the same facts, in every process and on every machine.
"""

from __future__ import annotations

from bisect import bisect_left
from functools import partial

from warmstart.facts.hashes import hash_call, hash_signature
from warmstart.facts.markers import MarkerCounter
from warmstart.facts.user_style import UserStyleCounter
from warmstart.model import CallFact, Fate, Kind, Message, Role, Session, SessionFacts, StatusCounts

__all__ = ["CUT", "OPENING_CHARS", "derive_facts", "find_first_words"]

OPENING_CHARS = 800
"""What is kept of the user's first words, for listings of sessions that have no title."""
CUT = "…"
"""Ends an opening that is not all of the message."""
_PRINTABLE = "".join(map(chr, range(0x21, 0x7F)))
_LIVE, _ARCHIVED, _WARMUP, _TURN, _USER = (
    Fate.LIVE, Fate.ARCHIVED, Kind.WARMUP, Kind.TURN, Role.USER
)  # fmt: skip
_make_call = partial(tuple.__new__, CallFact)
"""From a tuple of all fields; a named tuple's own constructor takes three times as long."""


def derive_facts(session: Session) -> SessionFacts:
    """The facts of one session."""
    style = UserStyleCounter()
    turns_at: list[int] = []
    messages = warmups = 0
    for index, message in enumerate(session.messages):
        if message.kind is _WARMUP:
            warmups += 1
        elif message.fate is _LIVE or message.fate is _ARCHIVED:
            messages += 1
            if message.role is _USER and message.kind is _TURN:
                turns_at.append(index)
                style.add(message.text)
    markers = MarkerCounter()
    calls = _list_calls(session, turns_at, markers)
    asked_at = [call.message for call in calls] if session.compactions else []
    return SessionFacts(
        id=session.id,
        origin=session.origin,
        agent=session.agent,
        agent_version=session.agent_version,
        model=session.model,
        title=session.title,
        opening=_cut_opening(find_first_words(session)),
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
        messages=messages,
        turns=len(turns_at),
        warmups=warmups,
        calls=calls,
        compactions=tuple(bisect_left(asked_at, c.at) for c in session.compactions),
        markers=markers.finish(),
        user_style=style.finish(),
        statuses=StatusCounts.of(calls),
        path=session.path,
    )


def _cut_opening(text: str) -> str:
    """A text, or its beginning up to a word's end: half of a word may be half of a key."""
    if len(text) <= OPENING_CHARS:
        return text
    return f"{text[:OPENING_CHARS].rstrip(_PRINTABLE)}{CUT}"


def find_first_words(session: Session) -> str:
    """The user's first message, also where it is a copy of another session's."""
    return next((one.text for one in session.messages if _is_request(one)), "")


def _is_request(message: Message) -> bool:
    if message.role is not Role.USER or message.kind is not Kind.TURN:
        return False
    return message.fate is not Fate.REWOUND and bool(message.text.strip())


def _list_calls(
    session: Session, turns_at: list[int], markers: MarkerCounter
) -> tuple[CallFact, ...]:
    """The facts of each call; what it points to goes to ``markers``."""
    calls = []
    for call in session.calls:
        request, outcome = call.request, call.outcome
        tool, arguments = request.tool, request.arguments
        markers.add(tool, arguments)
        fact = (
            call.position,
            call.message,
            bisect_left(turns_at, call.message),
            tool,
            outcome.status,
            outcome.certainty,
            outcome.error_class,
            outcome.masked,
            hash_call(tool, arguments, request.raw),
            hash_signature(tool, arguments),
            outcome.evidence,
            outcome.exit_code,
        )
        calls.append(_make_call(fact))
    return tuple(calls)
