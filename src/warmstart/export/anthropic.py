"""Anthropic messages: ``{"system": ..., "messages": [...], "metadata": {...}}``.

What the API asks for holds: the first message is the user's, roles alternate (neighbours of one
role are merged), no text block is empty, and every ``tool_use`` is answered by a ``tool_result``
at the start of the next user message.
"""

from __future__ import annotations

from itertools import takewhile
from typing import Any

from warmstart.export.turns import Exchange, Turn, describe_session, list_turns
from warmstart.model import Role, Session

OPENING = "[start of the session]"
"""Stands for the user where a transcript begins with the assistant."""
Block = dict[str, Any]


def export_anthropic(session: Session) -> dict[str, Any]:
    """A session as one Anthropic conversation."""
    turns = list(list_turns(session))
    system = [turn.text for turn in takewhile(_is_system, turns)]
    messages: list[dict[str, Any]] = []
    for turn in turns[len(system) :]:
        _add_turn(messages, turn)
    if messages and messages[0]["role"] != "user":
        messages.insert(0, {"role": "user", "content": [_text(OPENING)]})
    record: dict[str, Any] = {"system": "\n\n".join(system)} if system else {}
    return record | {"messages": messages, "metadata": describe_session(session)}


def _is_system(turn: Turn) -> bool:
    return turn.role is Role.SYSTEM


def _add_turn(messages: list[dict[str, Any]], turn: Turn) -> None:
    # Only the first system text has a place of its own; a later one speaks through the user.
    role = "assistant" if turn.role is Role.ASSISTANT or turn.exchanges else "user"
    blocks = [_text(turn.text)] if turn.text.strip() else []
    blocks += [_tool_use(exchange) for exchange in turn.exchanges]
    _append(messages, role, blocks)
    _append(messages, "user", [_tool_result(exchange) for exchange in turn.exchanges])


def _append(messages: list[dict[str, Any]], role: str, blocks: list[Block]) -> None:
    if not blocks:
        return
    if messages and messages[-1]["role"] == role:
        messages[-1]["content"].extend(blocks)
    else:
        messages.append({"role": role, "content": blocks})


def _text(text: str) -> Block:
    return {"type": "text", "text": text}


def _tool_use(exchange: Exchange) -> Block:
    request = exchange.call.request
    arguments = dict(request.arguments) if request.raw is None else {"raw": request.raw}
    return {"type": "tool_use", "id": exchange.id, "name": exchange.name, "input": arguments}


def _tool_result(exchange: Exchange) -> Block:
    block: Block = {"type": "tool_result", "tool_use_id": exchange.id, "content": exchange.answer}
    return block | {"is_error": True} if exchange.failed else block
