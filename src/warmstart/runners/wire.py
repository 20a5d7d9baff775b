"""What is said to an endpoint and what it answers: OpenAI's chat API and Anthropic's messages.

Messages in, a request body out; a response body in, a message out. Nothing here opens a
connection. Whatever an endpoint answers is checked field by field.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any, Protocol

from msgspec.structs import replace

from warmstart.model import Message, Request, Result, Role, Tokens
from warmstart.runners.tools import Tool
from warmstart.sources import (
    as_dict,
    as_dicts,
    as_int,
    as_list,
    as_text,
    content_text,
    parse_arguments,
)

INVALID_CALL = "invalid_call"
"""The tool of a call that the endpoint or the protocol could not read."""
ANTHROPIC_VERSION = "2023-06-01"
NOTHING = "(nothing)"
"""Providers refuse empty messages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """One request, before it has a provider's form."""

    model: str
    system: str
    messages: Sequence[Message]
    tools: Sequence[Tool] = ()
    temperature: float | None = None
    max_tokens: int = 1024
    seed: int | None = None


class Wire(Protocol):
    """One provider's form."""

    path: str

    def headers(self, key: str) -> dict[str, str]:
        """How the key is sent."""
        ...

    def encode(self, prompt: Prompt) -> dict[str, Any]:
        """The request's body."""
        ...

    def decode(self, body: Mapping[str, Any]) -> Message | None:
        """The answer, None where the body holds none."""
        ...


class OpenAIChat:
    """``/v1/chat/completions``."""

    path = "/chat/completions"

    def headers(self, key: str) -> dict[str, str]:
        """A bearer token, where there is a key."""
        return {"Authorization": f"Bearer {key}"} if key else {}

    def encode(self, prompt: Prompt) -> dict[str, Any]:
        """The request's body."""
        body: dict[str, Any] = {
            "model": prompt.model,
            "messages": [
                {"role": "system", "content": prompt.system},
                *(turn for message in prompt.messages for turn in _openai_turns(message)),
            ],
            "max_tokens": prompt.max_tokens,
            "stream": False,
        }
        if prompt.tools:
            body["tools"] = [{"type": "function", "function": _describe(t)} for t in prompt.tools]
        optional = {"temperature": prompt.temperature, "seed": prompt.seed}
        return body | {name: value for name, value in optional.items() if value is not None}

    def decode(self, body: Mapping[str, Any]) -> Message | None:
        """The first choice."""
        choices = list(as_dicts(body.get("choices")))
        if not choices:
            return None
        said = as_dict(choices[0].get("message"))
        return Message(
            role=Role.ASSISTANT,
            text=content_text(said.get("content")) or "",
            reasoning=as_text(said.get("reasoning_content")) or "",
            requests=tuple(_openai_requests(said.get("tool_calls"))),
            model=as_text(body.get("model")),
            tokens=_openai_tokens(as_dict(body.get("usage"))),
        )


class AnthropicMessages:
    """``/v1/messages``."""

    path = "/messages"

    def headers(self, key: str) -> dict[str, str]:
        """The version, and the key where there is one."""
        named = {"anthropic-version": ANTHROPIC_VERSION}
        return named | ({"x-api-key": key} if key else {})

    def encode(self, prompt: Prompt) -> dict[str, Any]:
        """The request's body; this API has no seed."""
        body: dict[str, Any] = {
            "model": prompt.model,
            "system": prompt.system,
            "messages": _alternate(prompt.messages),
            "max_tokens": prompt.max_tokens,
        }
        if prompt.tools:
            body["tools"] = [
                {"name": t.name, "description": t.description, "input_schema": dict(t.parameters)}
                for t in prompt.tools
            ]
        if prompt.temperature is not None:
            body["temperature"] = prompt.temperature
        return body

    def decode(self, body: Mapping[str, Any]) -> Message | None:
        """The content blocks as one message."""
        if not isinstance(body.get("content"), list):
            return None
        blocks = list(as_dicts(body["content"]))
        spoken = [block for block in blocks if block.get("type") == "text"]
        return Message(
            role=Role.ASSISTANT,
            text="".join(as_text(block.get("text")) or "" for block in spoken),
            requests=tuple(
                Request(
                    tool=as_text(block.get("name")) or INVALID_CALL,
                    id=as_text(block.get("id")),
                    arguments=as_dict(block.get("input")),
                )
                for block in blocks
                if block.get("type") == "tool_use"
            ),
            model=as_text(body.get("model")),
            tokens=_anthropic_tokens(as_dict(body.get("usage"))),
        )


WIRES: dict[str, Wire] = {"openai": OpenAIChat(), "anthropic": AnthropicMessages()}


def build_url(base: str, wire: Wire) -> str:
    """The address requests go to, from a server's address in any of the usual forms."""
    base = base.rstrip("/")
    if base.endswith(wire.path):
        return base
    return base + (wire.path if base.endswith("/v1") else f"/v1{wire.path}")


def speak_invalid(messages: Sequence[Message]) -> list[Message]:
    """Calls nobody could read, as plain text: no provider takes them back as calls.

    Other calls of the same message are told as text with them, or their results would be orphans.
    """
    told = {
        request.id
        for message in messages
        if _is_unreadable(message)
        for request in message.requests
    }
    return [spoken for message in messages for spoken in _speak(message, told)]


def _is_unreadable(message: Message) -> bool:
    return any(request.tool == INVALID_CALL for request in message.requests)


def _speak(message: Message, told: AbstractSet[str | None]) -> Iterator[Message]:
    if _is_unreadable(message):
        text = _tell(message)
        # What the server kept to itself cannot be shown, and a small model would copy any words
        # put in its place.
        if text:
            yield Message(role=Role.ASSISTANT, text=text)
    elif message.results and all(result.call_id in told for result in message.results):
        texts = [result.text for result in message.results]
        yield Message(role=Role.USER, text="\n".join(texts) or NOTHING)
    else:
        yield message


def _tell(message: Message) -> str:
    calls = [
        request.raw or json.dumps({"tool": request.tool, "arguments": dict(request.arguments)})
        for request in message.requests
        if request.raw or request.tool != INVALID_CALL
    ]
    return "\n".join(filter(None, (message.text, *calls)))


def with_ids(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Every call with an id and its result with the same one; what has them is left alone."""
    waiting: list[Request] = []
    done: list[Message] = []
    for place, message in enumerate(messages):
        requests = tuple(
            request if request.id else replace(request, id=f"call_{place}_{number}")
            for number, request in enumerate(message.requests)
        )
        waiting += requests
        results = tuple(_with_id(result, waiting) for result in message.results)
        done.append(replace(message, requests=requests, results=results))
    return tuple(done)


def _with_id(result: Result, waiting: list[Request]) -> Result:
    """A result under the id of the first open call of its tool, else of the first open call."""
    if result.call_id is not None or not waiting:
        return result
    tools = [request.tool for request in waiting]
    at = tools.index(result.tool) if result.tool in tools else 0
    return replace(result, call_id=waiting.pop(at).id)


def _describe(tool: Tool) -> dict[str, Any]:
    return {
        "name": tool.name,
        "description": tool.description,
        "parameters": dict(tool.parameters),
    }


def _openai_turns(message: Message) -> Iterator[dict[str, Any]]:
    for result in message.results:
        yield {"role": "tool", "tool_call_id": result.call_id or "", "content": result.text}
    if message.role is Role.TOOL:
        return
    turn: dict[str, Any] = {"role": message.role.value, "content": message.text}
    if message.requests:
        turn["tool_calls"] = [
            {
                "id": request.id,
                "type": "function",
                "function": {"name": request.tool, "arguments": _arguments_text(request)},
            }
            for request in message.requests
        ]
    yield turn


def _arguments_text(request: Request) -> str:
    # Some servers parse what they are sent back, and fail on text that is no JSON.
    return json.dumps({"invalid": request.raw} if request.raw else dict(request.arguments))


def _openai_requests(value: Any) -> Iterator[Request]:
    for call in as_dicts(value):
        function = as_dict(call.get("function"))
        arguments = parse_arguments(function.get("arguments"))
        yield Request(
            tool=as_text(function.get("name")) or INVALID_CALL,
            id=as_text(call.get("id")),
            arguments=arguments.data,
            raw=arguments.raw,
        )


def _openai_tokens(usage: Mapping[str, Any]) -> Tokens:
    cached = _count(as_dict(usage.get("prompt_tokens_details")), "cached_tokens")
    return Tokens(
        input=max(_count(usage, "prompt_tokens") - cached, 0),
        output=_count(usage, "completion_tokens"),
        cache_read=cached,
        reasoning=_count(as_dict(usage.get("completion_tokens_details")), "reasoning_tokens"),
    )


def _anthropic_tokens(usage: Mapping[str, Any]) -> Tokens:
    return Tokens(
        input=_count(usage, "input_tokens"),
        output=_count(usage, "output_tokens"),
        cache_read=_count(usage, "cache_read_input_tokens"),
        cache_write=_count(usage, "cache_creation_input_tokens"),
    )


def _count(usage: Mapping[str, Any], name: str) -> int:
    return max(as_int(usage.get(name)) or 0, 0)


def _alternate(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """Blocks under alternating roles: neighbours of one role become one message."""
    turns: list[dict[str, Any]] = []
    for message in messages:
        role = "assistant" if message.role is Role.ASSISTANT else "user"
        blocks = _anthropic_blocks(message)
        if turns and turns[-1]["role"] == role:
            turns[-1]["content"] += blocks
        else:
            turns.append({"role": role, "content": blocks})
    return turns


def _anthropic_blocks(message: Message) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = [
        {
            "type": "tool_result",
            "tool_use_id": result.call_id or "",
            "content": result.text or NOTHING,
            **({"is_error": True} if result.is_error else {}),
        }
        for result in message.results
    ]
    if message.text.strip():
        blocks.append({"type": "text", "text": message.text})
    blocks += [
        {"type": "tool_use", "id": r.id, "name": r.tool, "input": dict(r.arguments)}
        for r in message.requests
    ]
    return as_list(blocks) or [{"type": "text", "text": NOTHING}]
