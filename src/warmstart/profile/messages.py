"""Messages as programs hold them in memory: ours, or the dicts of Hermes and of any provider.

OpenAI chat messages and Responses items, Anthropic messages and Gemini contents are taken, in one
list too. Everything is checked on the way in: what is not a message is left out, tool calls may be
a list or the JSON text of one, a result may stand anywhere after its call. The objects that clients
of these APIs return count as the dicts they dump themselves to.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any

from msgspec.structs import replace

from warmstart.errors import UsageError
from warmstart.model import Kind, Message, Role, Session
from warmstart.sources import (
    ANTHROPIC_USAGE,
    as_bool,
    as_dict,
    as_text,
    build_session,
    parse_time,
    parse_tokens,
)
from warmstart.wire import CODECS, find_codec

__all__ = ["session_from_messages"]

ORIGIN = "memory"
TOGETHER = ("responses", "gemini")
"""Forms in which one entry needs its neighbours: items of one message, calls without ids."""


def session_from_messages(
    messages: Iterable[Message | Mapping[str, Any]], session_id: str = ""
) -> Session:
    """A session of messages in any of the forms; the id may carry its origin before a colon.

    Raises:
        UsageError: ``messages`` is a text or a single object instead of a list of messages.
    """
    if isinstance(messages, str | bytes | Mapping) or not isinstance(messages, Iterable):
        raise UsageError(
            f"messages must be a list of messages, not {type(messages).__name__!r}",
            hint="give Message objects, or dicts as Hermes, OpenAI, Anthropic and Gemini write"
            " them; sessions in files: warmstart profile PATH",
        )
    origin, colon, native = session_id.partition(":")
    if not colon:
        origin, native = ORIGIN, session_id
    entries = [one if isinstance(one, Message) else _as_entry(one) for one in messages]
    return build_session(origin, native, list(_read(entries)))


def _as_entry(value: Any) -> dict[str, Any]:
    """A message and its blocks as dicts; an empty one for what is neither."""
    entry = _as_dict(value)
    for key in ("content", "parts"):
        if isinstance(entry.get(key), list):
            entry[key] = [_as_dict(block) or block for block in entry[key]]
    return entry


def _as_dict(value: Any) -> dict[str, Any]:
    if isinstance(value, Mapping):
        return dict(value)
    dump_model = getattr(value, "model_dump", None)
    return dict(as_dict(dump_model())) if callable(dump_model) else {}


def _read(entries: Iterable[Message | dict[str, Any]]) -> Iterator[Message]:
    """The messages of all entries, in order."""
    for name, group in groupby(entries, _name_form):
        dicts: list[dict[str, Any]] = []
        for one in group:
            if isinstance(one, Message):
                yield one
            else:
                dicts.append(one)
        if name in TOGETHER:
            yield from _decode(name, dicts)
        else:
            for entry in dicts:
                yield from (_complete(message, entry) for message in _decode(name, [entry]))


def _decode(name: str, entries: list[dict[str, Any]]) -> Iterator[Message]:
    codec = CODECS[name]
    prompt = codec.decode_request({codec.key: entries})
    if prompt.system:
        yield Message(role=Role.SYSTEM, text=prompt.system)
    yield from prompt.messages


def _name_form(entry: Message | dict[str, Any]) -> str:
    return ORIGIN if isinstance(entry, Message) else find_codec([entry]).name


def _complete(message: Message, entry: dict[str, Any]) -> Message:
    """A message with what stands beside its content; what a warm start put in is not counted."""
    is_warmup = as_text(entry.get("kind")) == Kind.WARMUP or as_bool(entry.get("warmup"))
    return replace(
        message,
        timestamp=parse_time(entry.get("timestamp")),
        model=as_text(entry.get("model")),
        tokens=parse_tokens(entry.get("usage"), ANTHROPIC_USAGE),
        kind=Kind.WARMUP if is_warmup else Kind.TURN,
    )
