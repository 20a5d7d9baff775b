"""Secrets taken out of sessions before anything in them is cut, split or abstracted.

No rule finds half a key, yet half a key is a secret: a text is masked whole, and only what is
left of it is mined. What a template says is redacted once more when it is sealed. Of a text too
long to be shown, only the ends are kept here, and so much less of them that no secret cut in two
can be seen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from operator import is_
from typing import Any, Protocol, TypeVar

from msgspec.structs import replace

from warmstart.model import Call, Message, Request, Result, Session, SessionFacts
from warmstart.redact import RedactionError

MAX_WHOLE, MAX_DOCUMENT = 8000, 20_000
"""Longer texts, and longer JSON, are never shown but for their ends."""
HEAD_CHARS, TAIL_CHARS = 5200, 2000
EDGE_CHARS = 600
"""Left out where a text was cut; longer secrets are known by their beginning or their end."""

_Part = TypeVar("_Part", Request, Result)


class Masks(Protocol):
    """What masking needs of a redactor."""

    def text(self, text: str, /) -> str:
        """A text without its secrets."""

    def value(self, value: Any, /) -> Any:
        """A JSON value without its secrets."""


def mask_sessions(sessions: Iterable[Session], redactor: Masks) -> list[Session]:
    """The sessions without a secret in any text that is mined.

    Raises:
        RedactionError: redaction cannot run.
    """
    return [_mask_session(session, redactor) for session in sessions]


def mask_facts(facts: Iterable[SessionFacts], redactor: Masks) -> tuple[SessionFacts, ...]:
    """The facts, with what they quote of their sessions masked."""
    return tuple(_mask_facts(one, redactor) for one in facts)


def mask_long(text: str, mask: Callable[[str], str]) -> str:
    """A text masked whole, or its ends alone where it is longer than anything shown."""
    whole = MAX_DOCUMENT if text.lstrip()[:1] in ("{", "[") else MAX_WHOLE
    if len(text) <= whole:
        return mask(text)
    head, tail = mask(text[:HEAD_CHARS]), mask(text[-TAIL_CHARS:])
    return f"{head[:-EDGE_CHARS]}\n{tail[EDGE_CHARS:]}"


def _mask_session(session: Session, redactor: Masks) -> Session:
    masking = _Masking(redactor)
    return replace(
        session,
        title=session.title and redactor.text(session.title),
        project=session.project and redactor.text(session.project),
        messages=tuple(map(masking.message, session.messages)),
        calls=tuple(map(masking.call, session.calls)),
    )


class _Masking:
    """The parts of one session. Most hold no secret, and those stay the very objects they are.

    A call holds the request and the result of its messages: each is masked once.
    """

    __slots__ = ("_done", "_redactor")

    def __init__(self, redactor: Masks) -> None:
        self._redactor = redactor
        self._done: dict[int, Any] = {}

    def message(self, one: Message) -> Message:
        text = mask_long(one.text, self._redactor.text) if one.text else ""
        requests = _map_parts(self.request, one.requests)
        results = _map_parts(self.result, one.results)
        if (
            text == one.text
            and requests is one.requests
            and results is one.results
            and not one.reasoning
        ):
            return one
        return replace(one, text=text, reasoning="", requests=requests, results=results)

    def call(self, one: Call) -> Call:
        request = self.request(one.request)
        result = None if one.result is None else self.result(one.result)
        if request is one.request and result is one.result:
            return one
        return replace(one, request=request, result=result)

    def request(self, one: Request) -> Request:
        if id(one) not in self._done:
            self._done[id(one)] = _mask_request(one, self._redactor)
        masked: Request = self._done[id(one)]
        return masked

    def result(self, one: Result) -> Result:
        if id(one) not in self._done:
            text = mask_long(one.text, self._redactor.text)
            self._done[id(one)] = one if text == one.text else replace(one, text=text)
        masked: Result = self._done[id(one)]
        return masked


def _map_parts(mask: Callable[[_Part], _Part], parts: tuple[_Part, ...]) -> tuple[_Part, ...]:
    """Each part masked; the same tuple where none of them changed."""
    masked = tuple(map(mask, parts))
    return parts if all(map(is_, masked, parts)) else masked


def _mask_request(request: Request, redactor: Masks) -> Request:
    """Arguments without secrets; none at all where they cannot be looked through."""
    short = {key: _cut_value(value) for key, value in request.arguments.items()}
    try:
        arguments = redactor.value(short)
    except RedactionError:
        arguments = {}
    raw = request.raw and mask_long(request.raw, redactor.text)
    if raw == request.raw and arguments == request.arguments:
        return request
    return replace(request, arguments=arguments, raw=raw)


def _cut_value(value: Any) -> Any:
    """A long text without its middle; nothing of either cut is ever shown of one that long."""
    if isinstance(value, str) and len(value) > MAX_DOCUMENT:
        return f"{value[:HEAD_CHARS]}\n{value[-TAIL_CHARS:]}"
    return value


def _mask_facts(facts: SessionFacts, redactor: Masks) -> SessionFacts:
    return replace(
        facts,
        title=facts.title and redactor.text(facts.title),
        opening=redactor.text(facts.opening),
        project=facts.project and redactor.text(facts.project),
        markers=tuple(
            marker._replace(value=redactor.text(marker.value)) for marker in facts.markers
        ),
    )
