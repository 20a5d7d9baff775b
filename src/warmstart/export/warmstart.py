"""warmstart's own format: everything a Session holds but the file it was read from.

One JSON object per line, ``schema`` first. A field that has its default is left out. Calls point
into the messages instead of repeating them: ``request`` is an index into the requests of message
``message``, ``result`` a pair (message, index). ``judged_by`` is the version whose rules gave the
outcomes; a reader of another version judges them again.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from msgspec import NODEFAULT, Struct
from msgspec.structs import fields

from warmstart._version import __version__
from warmstart.model import Call, Message, Session

SCHEMA = "warmstart.session/1"
_SEPARATE = frozenset({"messages", "calls", "path"})


def export_warmstart(session: Session) -> dict[str, Any]:
    """A session as one object of the lossless format."""
    return {
        "schema": SCHEMA,
        "judged_by": __version__,
        **_pack(session),
        "messages": [_pack(message) for message in session.messages],
        "calls": _pack_calls(session),
    }


def locate_results(session: Session) -> dict[int, tuple[int, int]]:
    """Where each result stands, by its ``id()``: the message, and which of its results."""
    return {
        id(result): (where, index)
        for where, message in enumerate(session.messages)
        for index, result in enumerate(message.results)
    }


def _pack(item: Any) -> dict[str, Any]:
    """The fields of a record that differ from their default."""
    packed: dict[str, Any] = {}
    for name, default in _list_defaults(item.__class__):
        value = getattr(item, name)
        if value is not default and value != default:
            packed[name] = _pack_value(value)
    return packed


@cache
def _list_defaults(kind: Any) -> tuple[tuple[str, Any], ...]:
    """The fields of a record to write, each with its default (``NODEFAULT`` if it has none)."""
    return tuple(
        (
            field.name,
            field.default if field.default_factory is NODEFAULT else field.default_factory(),
        )
        for field in fields(kind)
        if field.name not in _SEPARATE
    )


def _pack_value(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_pack(item) for item in value]
    return _pack(value) if isinstance(value, Struct) else value


def _pack_calls(session: Session) -> list[dict[str, Any]]:
    places = locate_results(session)
    return [_pack_call(call, session.messages, places) for call in session.calls]


def _pack_call(
    call: Call, messages: tuple[Message, ...], places: dict[int, tuple[int, int]]
) -> dict[str, Any]:
    requests = messages[call.message].requests
    packed: dict[str, Any] = {
        "message": call.message,
        "request": requests.index(call.request),
        "outcome": _pack(call.outcome),
    }
    if call.result is not None:
        # A reader may have completed a result from elsewhere; such a one is written out.
        packed["result"] = places.get(id(call.result)) or _pack(call.result)
    return packed
