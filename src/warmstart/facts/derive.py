"""A session reduced to its facts: what every field means.

Pure: the same session gives the same facts, in every process and on every machine.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from functools import lru_cache, partial
from typing import Any
from zlib import crc32

import orjson

from warmstart.facts.markers import MarkerCounter
from warmstart.facts.user_style import UserStyleCounter
from warmstart.model import CallFact, Fate, Kind, Message, Role, Session, SessionFacts, StatusCounts
from warmstart.wire import encode_text

__all__ = [
    "CUT",
    "OPENING_CHARS",
    "derive_facts",
    "find_first_words",
    "hash_call",
    "hash_signature",
]

OPENING_CHARS = 800
"""What is kept of the user's first words, for listings of sessions that have no title."""
CUT = "…"
"""Ends an opening that is not all of the message."""
_PRINTABLE = "".join(map(chr, range(0x21, 0x7F)))
_LIVE, _ARCHIVED, _WARMUP, _TURN, _USER = (
    Fate.LIVE, Fate.ARCHIVED, Kind.WARMUP, Kind.TURN, Role.USER
)  # fmt: skip
_SIGN = 1 << 63
"""Taken off, because SQLite's integers have a sign."""
_LENGTH_MASK = 0xFFFF_FFFF
_SORTED = orjson.OPT_SORT_KEYS
_KINDS = {
    str: "text", int: "int", float: "float", bool: "bool", list: "list", dict: "object",
    type(None): "null",
}  # fmt: skip
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
        platform=session.platform,
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
    add_marker = markers.add
    asked_at = turn = -1
    for call in session.calls:
        request, outcome = call.request, call.outcome
        tool, arguments = request.tool, request.arguments
        add_marker(tool, arguments)
        if call.message != asked_at:
            asked_at = call.message
            turn = bisect_left(turns_at, asked_at)
        fact = (
            call.position,
            asked_at,
            turn,
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


# Hashes say whether two calls of a tool are alike. They are stable between runs, machines and
# versions, which Python's own ``hash`` is not: a checksum and a length make 64 bits, and there is
# nothing to gain from forging one.


def hash_call(tool: str, arguments: Mapping[str, Any], raw: str | None) -> int:
    """Equal for calls of one tool with the same arguments, in whatever order they were written."""
    if raw is not None:
        data = raw.encode("utf-8", "replace")
    else:
        try:
            data = orjson.dumps(arguments, None, _SORTED)
        except TypeError:  # too deep, or a number beyond 64 bits
            data = encode_text(arguments).encode("utf-8", "replace")
    return (crc32(data, _start_hash(tool)) << 32 | len(data) & _LENGTH_MASK) - _SIGN


def hash_signature(tool: str, arguments: Mapping[str, Any]) -> int:
    """Equal for calls of one tool with the same argument names and kinds of value."""
    return _hash_names(tool, (*arguments, *map(type, arguments.values())))


@lru_cache(maxsize=4096)
def _start_hash(tool: str) -> int:
    """What every hash of a tool's calls begins with."""
    return crc32(tool.encode("utf-8", "replace"))


@lru_cache(maxsize=4096)
def _hash_names(tool: str, described: tuple[Any, ...]) -> int:
    """The hash of argument names, followed by the type of each."""
    size = len(described) // 2
    pairs = zip(described[:size], described[size:], strict=True)
    kinds = sorted((name, _KINDS.get(kind, "other")) for name, kind in pairs)
    data = repr(kinds).encode("utf-8", "replace")
    return (crc32(data, _start_hash(tool)) << 32 | len(data)) - _SIGN
