"""The JSON protocol: tools for models that have no tool calls of their own.

The model is told the tools in the system text and answers with one JSON object, either
``{"tool": …, "arguments": {…}}`` or ``{"answer": …}``. Examples of a warm-up are spelled in the
same form, because the form of an example is half of what it teaches.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from warmstart.model import Message, Request, Role
from warmstart.runners.tools import Tool
from warmstart.runners.wire import INVALID_CALL

_FENCE = re.compile(r"\A```(?:json)?\s*\n?(.*?)\n?```\s*\Z", re.DOTALL)


def describe_tools(tools: Sequence[Tool]) -> str:
    """The system text that teaches the protocol; the same in every arm."""
    lines = [
        "Answer with exactly one JSON object and nothing else.",
        'To use a tool: {"tool": "NAME", "arguments": {...}}',
        'When you are done: {"answer": "..."}',
        "Tools:",
    ]
    for tool in tools:
        names = tool.parameters.get("properties", {})
        arguments = ", ".join(f"{name}: {_kind(schema)}" for name, schema in names.items())
        lines.append(f"- {tool.name}({arguments}): {tool.description}")
    return "\n".join(lines)


def spell_messages(messages: Sequence[Message]) -> list[Message]:
    """Calls and results as plain turns of the conversation."""
    return [_spell(message) for message in messages]


def read_answer(message: Message, number: int) -> Message:
    """What the model meant: a call, an answer, or a call that cannot be read.

    Text without any JSON is an answer; text that tries to be JSON and is not is a failed call.
    """
    text = message.text.strip()
    fenced = _FENCE.match(text)
    inner = (fenced[1] if fenced else text).strip()
    if not inner.startswith("{"):
        return message
    data = _parse(inner)
    call_id = f"call_{number}"
    if isinstance(data, dict) and isinstance(data.get("tool"), str):
        arguments = data.get("arguments", {})
        given = arguments if isinstance(arguments, dict) else {}
        raw = None if isinstance(arguments, dict) else json.dumps(arguments)
        request = Request(tool=data["tool"], id=call_id, arguments=given, raw=raw)
        return replace(message, text="", requests=(request,))
    if isinstance(data, dict) and "answer" in data:
        return replace(message, text=_as_text(data["answer"]))
    return replace(
        message, text="", requests=(Request(tool=INVALID_CALL, id=call_id, raw=message.text),)
    )


def _parse(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _kind(schema: Any) -> str:
    return str(schema.get("type", "any")) if isinstance(schema, dict) else "any"


def _spell(message: Message) -> Message:
    if message.results:
        texts = [f"Result of {result.tool or 'the tool'}: {result.text}"
                 for result in message.results]  # fmt: skip
        return Message(role=Role.USER, text="\n".join([*texts, message.text]).strip())
    if message.role is not Role.ASSISTANT:
        return message
    if message.requests:
        calls = [
            request.raw or json.dumps({"tool": request.tool, "arguments": dict(request.arguments)})
            for request in message.requests
        ]
        return Message(role=Role.ASSISTANT, text="\n".join(calls))
    return Message(role=Role.ASSISTANT, text=json.dumps({"answer": message.text}))
