"""OpenAI chat: ``{"messages": [...], "metadata": {...}}``, as fine-tuning files have it.

Each assistant message with ``tool_calls`` is followed at once by one ``tool`` message per call.
The format has no field for failure, so outcomes are not in it; the ``warmstart`` format keeps them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from warmstart.export.jsonl import encode_json
from warmstart.export.turns import Exchange, Turn, describe_session, list_turns
from warmstart.model import Request, Session


def export_openai(session: Session) -> dict[str, Any]:
    """A session as one OpenAI chat conversation."""
    return {"messages": list_messages(session), "metadata": describe_session(session)}


def list_messages(session: Session) -> list[dict[str, Any]]:
    """The messages of a session, each call followed by its result."""
    return [message for turn in list_turns(session) for message in write_turn(turn)]


def write_turn(turn: Turn) -> Iterator[dict[str, Any]]:
    """The message of a turn, then one ``tool`` message for each of its exchanges."""
    message: dict[str, Any] = {"role": str(turn.role), "content": turn.text or None}
    if turn.exchanges:
        message["tool_calls"] = [_tool_call(exchange) for exchange in turn.exchanges]
    yield message
    for exchange in turn.exchanges:
        yield {"role": "tool", "tool_call_id": exchange.id, "content": exchange.answer}


def _tool_call(exchange: Exchange) -> dict[str, Any]:
    function = {"name": exchange.name, "arguments": _arguments(exchange.call.request)}
    return {"id": exchange.id, "type": "function", "function": function}


def _arguments(request: Request) -> str:
    return request.raw if request.raw is not None else encode_json(request.arguments).decode()
