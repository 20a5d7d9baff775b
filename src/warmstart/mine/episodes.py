"""A call with the words around it: what the user wanted, what came back, what the agent said then.

Intent is the last turn of the user before the call, never what a harness put in their name.
Closing words are the agent's next ones after the call, before the user speaks again.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from warmstart.mine.trivial import is_trivial
from warmstart.model import Call, Certainty, Kind, PatternType, Role, Session, Status

MAX_WORDS = 280
EDGE_CALLS = 3
"""How many calls count as the first, and as the last."""
RETRY_WITHIN = 6
"""A success this many calls after a failure of the same tool is a retry."""
_SENSITIVE = re.compile(
    r"(?:^|[/\\\s])\.env(?:\b|[./])|id_(?:rsa|ed25519|ecdsa)|credential|secrets?\b|\.pem\b|\.key\b"
    r"|\.netrc|\.aws[/\\]|\.ssh[/\\]|keychain|\bpasswd\b",
    re.IGNORECASE,
)
"""Files no example is taken from, redacted or not."""
_SENSITIVE_WORDS = (
    ".env", "id_", "credential", "secret", ".pem", ".key", ".netrc", ".aws", ".ssh", "keychain",
    "passwd",
)  # fmt: skip
"""Without one of these the expression cannot match, and it costs twenty times as much."""
_MASKED = re.compile(r"<SECRET:[a-z0-9_]{1,40}:\d{1,9}>")
_TAGGED = re.compile(r"<([a-z][\w-]{2,40})>.*?</\1>", re.DOTALL)
_SPACES = re.compile(r"\s+")
_SENTENCE_END = re.compile(r"[.!?:](?=\s)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Episode:
    """A successful call of one session, contents as they were."""

    session: str
    project: str | None
    call: Call
    result: str
    intent: str
    closing: str
    pattern_type: PatternType


class _Turns(NamedTuple):
    """Where the user spoke, and where the agent did anything, by message index."""

    user: list[int]
    agent: list[int]
    short: dict[int, str]
    """The text of that message, shortened once for all the calls around it."""


def find_episodes(session: Session, *, textual: bool = False) -> Iterator[Episode]:
    """Every verified success of a session that has a result."""
    said = _find_words(session)
    types = find_pattern_types(session.calls)
    for call, pattern_type in zip(session.calls, types, strict=True):
        if call.result is None or not _is_verified(call, textual=textual):
            continue
        if _is_sensitive(call):
            continue
        yield Episode(
            session=session.id,
            project=session.project,
            call=call,
            result=call.result.text,
            intent=_intent(session, said, call.message),
            closing=_closing(session, said, call),
            pattern_type=pattern_type,
        )


def shorten(text: str, limit: int = MAX_WORDS) -> str:
    """The beginning of a text as one line, cut at the end of a sentence or word."""
    flat = _SPACES.sub(" ", _TAGGED.sub(" ", text[: 8 * limit])).strip()
    if len(flat) <= limit:
        return flat
    ends = [match.end() for match in _SENTENCE_END.finditer(flat[:limit])]
    if ends and ends[-1] >= limit // 2:
        return flat[: ends[-1]]
    return flat[:limit].rpartition(" ")[0] + " …"


def _is_sensitive(call: Call) -> bool:
    said = " ".join(map(str, call.request.arguments.values()))[:2000]
    folded = said.casefold()
    if not any(word in folded for word in _SENSITIVE_WORDS):
        return False
    # What was masked says "secret" itself and is none any more.
    return _SENSITIVE.search(_MASKED.sub(" ", said)) is not None


def _is_verified(call: Call, *, textual: bool) -> bool:
    outcome = call.outcome
    if outcome.status is not Status.OK or is_trivial(call.tool) or call.request.raw:
        return False
    return textual or (outcome.certainty is not Certainty.TEXTUAL and not outcome.masked)


def _find_words(session: Session) -> _Turns:
    said = _Turns([], [], {})
    for index, message in enumerate(session.messages):
        if not message.counts or message.kind is not Kind.TURN:
            continue
        if message.role is Role.USER and message.text.strip():
            said.user.append(index)
        elif message.role is Role.ASSISTANT and (message.text.strip() or message.requests):
            said.agent.append(index)
    return said


def _intent(session: Session, said: _Turns, message: int) -> str:
    at = bisect_left(said.user, message)
    return _shorten_message(session, said, said.user[at - 1]) if at else ""


def _closing(session: Session, said: _Turns, call: Call) -> str:
    """What the agent said next, if it said anything before doing the next thing."""
    at = bisect_left(said.agent, call.message + 1)
    while at < len(said.agent) and _is_same_batch(session, call, said.agent[at]):
        at += 1
    if at == len(said.agent):
        return ""
    following = bisect_left(said.user, call.message)
    if following < len(said.user) and said.user[following] < said.agent[at]:
        return ""
    return _shorten_message(session, said, said.agent[at])


def _shorten_message(session: Session, said: _Turns, index: int) -> str:
    text = said.short.get(index)
    if text is None:
        text = said.short[index] = shorten(session.messages[index].text)
    return text


def _is_same_batch(session: Session, call: Call, index: int) -> bool:
    """Whether the message only asks for more before the call was answered."""
    if session.messages[index].text.strip():
        return False
    between = session.messages[call.message + 1 : index]
    return not any(message.results for message in between)


def find_pattern_types(calls: Sequence[Call]) -> list[PatternType]:
    """One type per call; a retry is one wherever it stands."""
    types: list[PatternType] = []
    failed_at: dict[str, int] = {}
    last = len(calls) - EDGE_CALLS
    for index, call in enumerate(calls):
        failed = failed_at.get(call.tool)
        if call.outcome.status is Status.ERROR:
            failed_at[call.tool] = index
        elif call.outcome.status is Status.OK:
            failed_at.pop(call.tool, None)
        if failed is not None and index - failed <= RETRY_WITHIN:
            types.append(PatternType.RETRY)
        elif index < EDGE_CALLS:
            types.append(PatternType.INIT)
        elif index >= last:
            types.append(PatternType.FINAL)
        else:
            types.append(PatternType.SEQUENCE)
    return types
