"""Turns in the words of three providers. Pure writing: what may be written is settled before."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from warmstart.model import Role
from warmstart.warm.turns import Pair, Turn

Item = dict[str, Any]


def write_openai(turns: Sequence[Turn]) -> list[Item]:
    """Chat messages: each assistant message with calls is followed by one tool message per call."""
    return [message for turn in turns for message in _openai(turn)]


def _openai(turn: Turn) -> Iterator[Item]:
    message: Item = {"role": str(turn.role), "content": turn.text}
    if turn.pairs:
        message["content"] = turn.text or None
        message["tool_calls"] = [
            {
                "id": pair.id,
                "type": "function",
                "function": {"name": pair.name, "arguments": pair.arguments_text},
            }
            for pair in turn.pairs
        ]
    yield message
    for pair in turn.pairs:
        yield {"role": "tool", "tool_call_id": pair.id, "content": pair.result.text}


def write_responses(turns: Sequence[Turn]) -> list[Item]:
    """Items of the Responses API: calls and their outputs are items of their own."""
    return [item for turn in turns for item in _responses(turn)]


def _responses(turn: Turn) -> Iterator[Item]:
    if turn.text.strip():
        yield {"role": str(turn.role), "content": turn.text}
    for pair in turn.pairs:
        yield {
            "type": "function_call",
            "call_id": pair.id,
            "name": pair.name,
            "arguments": pair.arguments_text,
        }
    for pair in turn.pairs:
        yield {"type": "function_call_output", "call_id": pair.id, "output": pair.result.text}


def write_anthropic(turns: Sequence[Turn]) -> list[Item]:
    """Messages in which roles alternate and each call is answered at the start of the next one."""
    messages: list[Item] = []
    for turn in turns:
        blocks: list[Item] = [{"type": "text", "text": turn.text}] if turn.text.strip() else []
        blocks += [
            {"type": "tool_use", "id": pair.id, "name": pair.name, "input": pair.arguments}
            for pair in turn.pairs
        ]
        _append(messages, str(turn.role), blocks)
        _append(messages, "user", [_answer(pair) for pair in turn.pairs])
    return messages


def _answer(pair: Pair) -> Item:
    block: Item = {"type": "tool_result", "tool_use_id": pair.id, "content": pair.result.text}
    return block | {"is_error": True} if pair.result.is_error else block


def _append(messages: list[Item], role: str, blocks: list[Item]) -> None:
    if not blocks:
        return
    if messages and messages[-1]["role"] == role:
        messages[-1]["content"].extend(blocks)
    else:
        messages.append({"role": role, "content": blocks})


def write_gemini(turns: Sequence[Turn]) -> list[Item]:
    """Contents: calls are the model's parts, results are the user's."""
    contents: list[Item] = []
    for turn in turns:
        role = "model" if turn.role is Role.ASSISTANT else "user"
        parts: list[Item] = [{"text": turn.text}] if turn.text.strip() else []
        parts += [{"functionCall": {"name": p.name, "args": p.arguments}} for p in turn.pairs]
        _extend(contents, role, parts)
        _extend(contents, "user", [_gemini_answer(pair) for pair in turn.pairs])
    return contents


def _gemini_answer(pair: Pair) -> Item:
    key = "error" if pair.result.is_error else "output"
    return {"functionResponse": {"name": pair.name, "response": {key: pair.result.text}}}


def _extend(contents: list[Item], role: str, parts: list[Item]) -> None:
    if not parts:
        return
    if contents and contents[-1]["role"] == role:
        contents[-1]["parts"].extend(parts)
    else:
        contents.append({"role": role, "parts": parts})


__all__ = ["write_anthropic", "write_gemini", "write_openai", "write_responses"]
