"""Secrets taken out of sessions before anything in them is cut, split or abstracted.

Half a key is no key to any rule, but it is half a key: a text is masked whole, and only what is
left of it is mined. What a template says is redacted once more when it is sealed. Of a text too
long to be shown, only the ends are kept here, and so much less of them that no secret cut in two
can be seen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, Protocol

from warmstart.mine.candidates import Plan
from warmstart.model import Message, Request, Result, Session
from warmstart.model.facts import SessionFacts
from warmstart.redact import RedactionError

MAX_WHOLE, MAX_DOCUMENT = 8000, 20_000
"""Longer texts, and longer JSON, are never shown but for their ends."""
HEAD_CHARS, TAIL_CHARS = 5200, 2000
EDGE_CHARS = 600
"""Left out where a text was cut; longer secrets are known by their beginning or their end."""
OPENING_CHARS = 800
"""From this length on, the opening words that facts keep were cut."""


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


def mask_plan(plan: Plan, redactor: Masks) -> Plan:
    """The plan, with what its facts quote masked."""

    def mask(facts: Iterable[SessionFacts]) -> tuple[SessionFacts, ...]:
        return tuple(_mask_facts(one, redactor) for one in facts)

    return replace(plan, qualified=mask(plan.qualified), repairs=mask(plan.repairs))


def mask_long(text: str, mask: Callable[[str], str]) -> str:
    """A text masked whole, or its ends alone where it is longer than anything shown."""
    whole = MAX_DOCUMENT if text.lstrip()[:1] in ("{", "[") else MAX_WHOLE
    if len(text) <= whole:
        return mask(text)
    head, tail = mask(text[:HEAD_CHARS]), mask(text[-TAIL_CHARS:])
    return f"{head[:-EDGE_CHARS]}\n{tail[EDGE_CHARS:]}"


def _mask_session(session: Session, redactor: Masks) -> Session:
    # A call holds the very request and result of its messages: each is masked once.
    done: dict[int, Any] = {}

    def request(one: Request) -> Request:
        if id(one) not in done:
            done[id(one)] = _mask_request(one, redactor)
        masked: Request = done[id(one)]
        return masked

    def result(one: Result) -> Result:
        if id(one) not in done:
            done[id(one)] = replace(one, text=mask_long(one.text, redactor.text))
        masked: Result = done[id(one)]
        return masked

    def message(one: Message) -> Message:
        return replace(
            one,
            text=mask_long(one.text, redactor.text),
            reasoning="",
            requests=tuple(map(request, one.requests)),
            results=tuple(map(result, one.results)),
        )

    return replace(
        session,
        title=session.title and redactor.text(session.title),
        project=session.project and redactor.text(session.project),
        messages=tuple(map(message, session.messages)),
        calls=tuple(
            replace(
                call,
                request=request(call.request),
                result=None if call.result is None else result(call.result),
            )
            for call in session.calls
        ),
    )


def _mask_request(request: Request, redactor: Masks) -> Request:
    """Arguments without secrets; none at all where they cannot be looked through."""
    short = {key: _cut_value(value) for key, value in request.arguments.items()}
    try:
        arguments = redactor.value(short)
    except RedactionError:
        arguments = {}
    raw = request.raw
    return replace(
        request, arguments=arguments, raw=raw and mask_long(raw, redactor.text)
    )  # fmt: skip


def _cut_value(value: Any) -> Any:
    """A long text without its middle; nothing of either cut is ever shown of one that long."""
    if isinstance(value, str) and len(value) > MAX_DOCUMENT:
        return f"{value[:HEAD_CHARS]}\n{value[-TAIL_CHARS:]}"
    return value


def _mask_facts(facts: SessionFacts, redactor: Masks) -> SessionFacts:
    opening = facts.opening
    if len(opening) >= OPENING_CHARS:
        opening = opening.rsplit(None, 1)[0] if len(opening.split(None, 1)) > 1 else ""
    return replace(
        facts,
        title=facts.title and redactor.text(facts.title),
        opening=redactor.text(opening),
        project=facts.project and redactor.text(facts.project),
        markers=tuple(
            marker._replace(value=redactor.text(marker.value)) for marker in facts.markers
        ),
    )
