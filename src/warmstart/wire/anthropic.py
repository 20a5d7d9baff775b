"""Anthropic's messages.

What the API asks for holds in every request: roles alternate (neighbours of one role are merged),
no text block is empty, and the results of calls stand at the start of the next user message.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from warmstart.model import Message, Request, Result, Role, Tokens
from warmstart.wire.codec import (
    Event,
    Prompt,
    Response,
    StopReason,
    StreamBody,
    ToolSpec,
    append_parts,
    drop_unset,
    read_error,
    read_parameters,
    read_stop,
    write_stop,
)
from warmstart.wire.fields import (
    ROLES,
    Body,
    as_dict,
    as_dicts,
    as_id,
    as_int,
    as_object,
    as_text,
    content_text,
    encode_text,
    make_request,
    parse_json,
    read_count,
)
from warmstart.wire.pairing import safe_name

VERSION = "2023-06-01"
MAX_PAGES = 100
"""Found pages that a result's text names."""
_STOPS = {
    "end_turn": StopReason.END,
    "stop_sequence": StopReason.END,
    "tool_use": StopReason.CALLS,
    "max_tokens": StopReason.LENGTH,
    "model_context_window_exceeded": StopReason.LENGTH,
    "refusal": StopReason.REFUSED,
}
_DELTAS = {"text_delta": "text", "thinking_delta": "thinking", "input_json_delta": "partial_json"}


class AnthropicStream:
    """Events of a message: its blocks begin, grow and end."""

    def __init__(self) -> None:
        self._body: Body = {}
        self._blocks: dict[Any, tuple[Body, list[str]]] = {}

    @staticmethod
    def split(body: Mapping[str, Any]) -> Iterator[Event]:
        """Start, the blocks one after the other, the end with its usage."""
        return (Event(data, data["type"]) for data in _split_message(body))

    def add(self, event: Event) -> None:
        """Take one event in."""
        data = as_dict(event.data)
        match data.get("type"):
            case "message_start":
                self._body |= as_dict(data.get("message"))
            case "content_block_start":
                self._blocks[_index(data)] = (as_dict(data.get("content_block")), [])
            case "content_block_delta":
                delta = as_dict(data.get("delta"))
                name = _DELTAS.get(as_text(delta.get("type")), "")
                if _index(data) in self._blocks:
                    self._blocks[_index(data)][1].append(as_text(delta.get(name)))
            case "message_delta":
                self._body |= as_dict(data.get("delta"))
                usage = {k: v for k, v in as_dict(data.get("usage")).items() if v is not None}
                self._body["usage"] = as_dict(self._body.get("usage")) | usage
            case "error":
                self._body["error"] = data.get("error")

    def build(self) -> Body:
        """The message so far."""
        blocks = [_join_block(block, "".join(pieces)) for block, pieces in self._blocks.values()]
        return self._body | ({"content": blocks} if "role" in self._body or blocks else {})


def _index(data: Body) -> int:
    return as_int(data.get("index")) or 0


def _join_block(block: Body, text: str) -> Body:
    kind = as_text(block.get("type"))
    if kind.endswith("tool_use"):
        data = parse_json(text)
        return {**block, "input": data if isinstance(data, dict) else text} if text else block
    name = "thinking" if kind == "thinking" else "text"
    return {**block, name: as_text(block.get(name)) + text} if text else block


def _split_message(body: Mapping[str, Any]) -> Iterator[Body]:
    yield {"type": "message_start", "message": {**body, "content": [], "stop_reason": None}}
    for index, block in enumerate(as_dicts(body.get("content"))):
        empty: Body
        match block["type"]:
            case "text":
                empty, delta = {"text": ""}, {"type": "text_delta", "text": block["text"]}
            case "thinking":
                empty = {"thinking": ""}
                delta = {"type": "thinking_delta", "thinking": block["thinking"]}
            case _:
                empty = {"input": {}}
                delta = {"type": "input_json_delta", "partial_json": encode_text(block["input"])}
        yield {"type": "content_block_start", "index": index, "content_block": {**block, **empty}}
        yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    ending = {"stop_reason": body.get("stop_reason"), "stop_sequence": None}
    yield {"type": "message_delta", "delta": ending, "usage": body.get("usage")}
    yield {"type": "message_stop"}


class AnthropicCodec:
    """``/v1/messages``."""

    name = "anthropic"
    key = "messages"
    path = "/messages"
    stream: type[StreamBody] = AnthropicStream

    def headers(self, key: str) -> dict[str, str]:
        """The version of the API, and the key."""
        return {"anthropic-version": VERSION} | ({"x-api-key": key} if key else {})

    def encode_request(self, prompt: Prompt) -> Body:
        """The body of a request; this API has no seed."""
        turns: list[Body] = []
        for message in prompt.messages:
            asks = message.role is Role.ASSISTANT or message.requests
            role = "assistant" if asks else "user"
            append_parts(turns, role, "content", _encode_blocks(message))
        tools = [
            {"name": tool.name, "description": tool.description, "input_schema": tool.parameters}
            for tool in prompt.tools
        ]
        return (
            drop_unset(model=prompt.model, system=prompt.system)
            | {"messages": turns}
            | (
                drop_unset(
                    max_tokens=prompt.max_tokens,
                    temperature=prompt.temperature,
                    stream=prompt.stream,
                    tools=tools,
                )
            )
        )

    def decode_request(self, body: Mapping[str, Any]) -> Prompt:
        """The prompt; a user's results come before the text beside them."""
        items = as_dicts(body.get("messages"))
        return Prompt(
            system=content_text(body.get("system"), "\n\n"),
            messages=tuple(message for item in items for message in _decode_message(item)),
            tools=tuple(map(_decode_tool, as_dicts(body.get("tools")))),
            body=body,
            **read_parameters(body, "max_tokens"),
        )

    def encode_response(self, response: Response) -> Body:
        """A message, or an error."""
        answer = response.message
        if answer is None:
            error = {"type": "api_error", "message": response.error}
            return {"type": "error", "error": error}
        blocks: list[Body] = []
        if answer.reasoning:
            blocks.append({"type": "thinking", "thinking": answer.reasoning, "signature": ""})
        if answer.text or not answer.requests:
            blocks.append(_text_block(answer.text))
        blocks += map(_encode_use, answer.requests)
        return drop_unset(error=response.error and {"message": response.error}) | {
            "id": answer.native_id or "",
            "type": "message",
            "role": "assistant",
            "model": answer.model or "",
            "content": blocks,
            "stop_reason": write_stop(response.stop, _STOPS),
            "stop_sequence": None,
            **({} if answer.tokens is None else {"usage": _encode_tokens(answer.tokens)}),
        }

    def decode_response(self, body: Mapping[str, Any]) -> Response:
        """The blocks as one message."""
        error = read_error(body.get("error"))
        if not isinstance(body.get("content"), list):
            return Response(error=error)
        blocks = as_dicts(body["content"])
        message = Message(
            role=Role.ASSISTANT,
            text=_read_texts(blocks),
            reasoning=_read_reasoning(blocks),
            requests=tuple(_decode_uses(blocks)),
            native_id=as_text(body.get("id")) or None,
            model=as_text(body.get("model")) or None,
            tokens=_decode_tokens(as_dict(body.get("usage"))),
        )
        stop = read_stop(body.get("stop_reason"), _STOPS)
        return Response(message=message, stop=stop, error=error)


def _encode_blocks(message: Message) -> list[Body]:
    blocks = list(map(_encode_result, message.results))
    blocks += [_text_block(message.text)] if message.text.strip() else []
    return blocks + list(map(_encode_use, message.requests))


def _text_block(text: str) -> Body:
    return {"type": "text", "text": text}


def _encode_use(request: Request) -> Body:
    name, used = safe_name(request.tool), as_object(request)
    return {"type": "tool_use", "id": request.id or "", "name": name, "input": used}


def _encode_result(result: Result) -> Body:
    block = {"type": "tool_result", "tool_use_id": result.call_id or "", "content": result.text}
    return {**block, "is_error": True} if result.is_error else block


def _decode_message(item: Body) -> Iterator[Message]:
    content, role = item.get("content"), ROLES.get(as_text(item.get("role")))
    blocks = as_dicts(content)
    results = tuple(read_result(block) for block in blocks if is_result(block))
    if role is Role.ASSISTANT:
        # Results of tools that run on the server stand beside their calls.
        yield Message(
            role=role,
            text=content if isinstance(content, str) else _read_texts(blocks),
            requests=tuple(_decode_uses(blocks)),
            results=results,
            reasoning=_read_reasoning(blocks),
        )
    elif role is not None:
        if results:
            yield Message(role=Role.TOOL, results=results)
        given = content if isinstance(content, str) else [b for b in blocks if not is_result(b)]
        text = content_text(given)
        if text or not results:
            yield Message(role=role, text=text)


def _read_texts(blocks: list[Body]) -> str:
    """A model's text: citations cut it into blocks, so nothing stands between them."""
    return "".join(as_text(block.get("text")) for block in blocks if block.get("type") == "text")


def _read_reasoning(blocks: list[Body]) -> str:
    return "".join(as_text(b.get("thinking")) for b in blocks if b.get("type") == "thinking")


def _decode_uses(blocks: list[Body]) -> Iterator[Request]:
    """Calls, of tools of the program and of those that run on the server."""
    for block in blocks:
        if is_use(block):
            yield make_request(block.get("name"), block.get("id"), block.get("input"))


def is_use(block: Body) -> bool:
    """Whether a block is a call, of a tool of the program or of one that runs on the server."""
    return as_text(block.get("type")).endswith("tool_use")


def is_result(block: Body) -> bool:
    """Whether a block is the result of a call."""
    return as_text(block.get("type")).endswith("tool_result")


def read_result(block: Body) -> Result:
    """A result; those of server tools report failure by an ``error_code`` inside."""
    inner = as_dict(block.get("content"))
    error_code = as_text(inner.get("error_code"))
    return Result(
        text=error_code or _read_result(block.get("content")),
        call_id=as_id(block.get("tool_use_id")),
        # The API documents the field's default as false.
        is_error=block.get("is_error") is True or bool(error_code),
        exit_code=as_int(inner.get("return_code")),
    )


def _read_result(content: Any) -> str:
    """What the model saw: text, found pages, or a program's output."""
    if isinstance(content, dict) and "stdout" in content:
        streams = (as_text(content.get("stdout")), as_text(content.get("stderr")))
        return "\n".join(filter(None, streams))
    pages = [page for page in as_dicts(content) if "url" in page]
    if pages:
        named = (f"{page.get('title')} {page.get('url')}" for page in islice(pages, MAX_PAGES))
        return "\n".join(named)
    return content_text(content) or ("" if content in (None, "", []) else encode_text(content))


def _decode_tool(item: Body) -> ToolSpec:
    name = as_text(item.get("name")) or as_text(item.get("type"))
    return ToolSpec(name, as_text(item.get("description")), as_dict(item.get("input_schema")))


def _encode_tokens(tokens: Tokens) -> Body:
    return {
        "input_tokens": tokens.input,
        "output_tokens": tokens.output,
        "cache_creation_input_tokens": tokens.cache_write,
        "cache_read_input_tokens": tokens.cache_read,
    }


def _decode_tokens(usage: Body) -> Tokens | None:
    if not usage:
        return None
    return Tokens(
        input=read_count(usage, "input_tokens"),
        output=read_count(usage, "output_tokens"),
        cache_read=read_count(usage, "cache_read_input_tokens"),
        cache_write=read_count(usage, "cache_creation_input_tokens"),
    )
