"""OpenAI's responses: calls and their outputs are items of their own among the messages.

Items of the assistant that follow each other are one message. The format has no field for failure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import takewhile
from typing import Any

from msgspec.structs import replace

from warmstart.model import Message, Request, Result, Role
from warmstart.wire.chat import CREATED, decode_tool, decode_usage, encode_usage
from warmstart.wire.codec import (
    Event,
    Prompt,
    Response,
    StopReason,
    StreamBody,
    drop_unset,
    read_error,
    read_parameters,
)
from warmstart.wire.fields import (
    ROLES,
    Body,
    as_argument_text,
    as_dict,
    as_dicts,
    as_int,
    as_text,
    content_text,
    encode_text,
    make_request,
)
from warmstart.wire.pairing import safe_name

_INCOMPLETE = {
    "max_output_tokens": StopReason.LENGTH,
    "content_filter": StopReason.REFUSED,
}


class ResponsesStream:
    """Events of a response: its items begin, grow and end, and the last event repeats them all."""

    def __init__(self) -> None:
        self._body: Body = {}
        self._items: dict[int, Body] = {}
        self._pieces: dict[int, list[str]] = {}

    @staticmethod
    def split(body: Mapping[str, Any]) -> Iterator[Event]:
        """The events of a response, numbered."""
        for number, data in enumerate(_split_response(body)):
            yield Event({**data, "sequence_number": number}, data["type"])

    def add(self, event: Event) -> None:
        """Take one event in."""
        data = as_dict(event.data)
        kind, index = as_text(data.get("type")), as_int(data.get("output_index")) or 0
        if kind == "error":
            self._body["error"] = data.get("error") or data
        elif kind.endswith(".delta") and isinstance(data.get("delta"), str):
            self._pieces.setdefault(index, []).append(data["delta"])
        elif kind in ("response.output_item.added", "response.output_item.done"):
            self._items[index] = as_dict(data.get("item"))
            if kind.endswith("done"):
                self._pieces.pop(index, None)
        elif isinstance(data.get("response"), dict):
            self._body |= data["response"]

    def build(self) -> Body:
        """The response so far; a last event without items is completed by those seen."""
        items = [
            _join_item(item, "".join(self._pieces.get(index, ())))
            for index, item in self._items.items()
        ]
        return self._body | ({} if self._body.get("output") else drop_unset(output=items))


def _join_item(item: Body, text: str) -> Body:
    if not text:
        return item
    if item.get("type") == "message":
        return {**item, "content": [{"type": "output_text", "text": text}]}
    if item.get("type") == "reasoning":
        return {**item, "summary": [{"type": "summary_text", "text": text}]}
    return {**item, "input" if item.get("type") == "custom_tool_call" else "arguments": text}


def _split_response(body: Mapping[str, Any]) -> Iterator[Body]:
    begun = {**body, "status": "in_progress", "output": [], "usage": None}
    yield {"type": "response.created", "response": begun}
    for index, item in enumerate(as_dicts(body.get("output"))):
        yield from _split_item(item, index)
    status = as_text(body.get("status")) or "completed"
    yield {"type": f"response.{status}", "response": dict(body)}


def _split_item(item: Body, index: int) -> Iterator[Body]:
    place = {"output_index": index, "item_id": item["id"]}
    bare: dict[str, Body] = {"message": {"content": []}, "function_call": {"arguments": ""}}
    begun = {**item, "status": "in_progress", **bare.get(item["type"], {"summary": []})}
    yield {"type": "response.output_item.added", "output_index": index, "item": begun}
    if item["type"] == "message":
        part = item["content"][0]
        at, text = {**place, "content_index": 0}, {"text": part["text"], "logprobs": []}
        delta = {"delta": part["text"], "logprobs": []}
        yield {"type": "response.content_part.added", **at, "part": {**part, "text": ""}}
        yield {"type": "response.output_text.delta", **at, **delta}
        yield {"type": "response.output_text.done", **at, **text}
        yield {"type": "response.content_part.done", **at, "part": part}
    elif item["type"] == "function_call":
        arguments = {"arguments": item["arguments"], "name": item["name"]}
        delta = {"delta": item["arguments"]}
        yield {"type": "response.function_call_arguments.delta", **place, **delta}
        yield {"type": "response.function_call_arguments.done", **place, **arguments}
    else:
        text = {"text": item["summary"][0]["text"], "summary_index": 0}
        delta = {"delta": item["summary"][0]["text"], "summary_index": 0}
        yield {"type": "response.reasoning_summary_text.delta", **place, **delta}
        yield {"type": "response.reasoning_summary_text.done", **place, **text}
    yield {"type": "response.output_item.done", "output_index": index, "item": item}


class ResponsesCodec:
    """``/v1/responses``."""

    name = "responses"
    key = "input"
    path = "/responses"
    stream: type[StreamBody] = ResponsesStream

    def headers(self, key: str) -> dict[str, str]:
        """A bearer token."""
        return {"Authorization": f"Bearer {key}"} if key else {}

    def encode_request(self, prompt: Prompt) -> Body:
        """The body of a request; this API has no seed."""
        items = [item for message in prompt.messages for item in _encode_items(message)]
        tools = [{"type": "function", **t._asdict(), "strict": False} for t in prompt.tools]
        head = drop_unset(model=prompt.model, instructions=prompt.system)
        return (
            head
            | {"input": items}
            | drop_unset(
                max_output_tokens=prompt.max_tokens,
                temperature=prompt.temperature,
                stream=prompt.stream,
                tools=tools,
            )
        )

    def decode_request(self, body: Mapping[str, Any]) -> Prompt:
        """The prompt; leading system items follow the instructions in its system text."""
        given = body.get("input")
        items = [{"role": "user", "content": given}] if isinstance(given, str) else as_dicts(given)
        messages = _join_items(items)
        leading = [m.text for m in takewhile(lambda m: m.role is Role.SYSTEM, messages)]
        texts = (as_text(body.get("instructions")), *leading)
        return Prompt(
            system="\n\n".join(filter(None, texts)),
            messages=tuple(messages[len(leading) :]),
            tools=tuple(map(decode_tool, as_dicts(body.get("tools")))),
            body=body,
            **read_parameters(body, "max_output_tokens"),
        )

    def encode_response(self, response: Response) -> Body:
        """A response, or an error."""
        answer = response.message
        if answer is None:
            return {"error": {"code": "server_error", "message": response.error}}
        reason = next((n for n, stop in _INCOMPLETE.items() if stop is response.stop), None)
        status = "in_progress" if response.stop is None else "completed"
        error = {"code": "server_error", "message": response.error}
        return {
            "id": answer.native_id or "",
            "object": "response",
            "created_at": CREATED,
            "status": "incomplete" if reason else status,
            "model": answer.model or "",
            "output": list(_encode_output(answer)),
            "parallel_tool_calls": True,
            "tool_choice": "auto",
            "tools": [],
            "error": error if response.error else None,
            "incomplete_details": {"reason": reason} if reason else None,
            **(
                {}
                if answer.tokens is None
                else {"usage": encode_usage(answer.tokens, "input", "output")}
            ),
        }

    def decode_response(self, body: Mapping[str, Any]) -> Response:
        """The items of the output as one message."""
        error = read_error(body.get("error"))
        if not isinstance(body.get("output"), list):
            return Response(error=error)
        answer = _join_items(as_dicts(body["output"]))
        message = Message(
            role=Role.ASSISTANT,
            text="\n".join(one.text for one in answer if one.text),
            reasoning="\n".join(one.reasoning for one in answer if one.reasoning),
            requests=tuple(request for one in answer for request in one.requests),
            native_id=as_text(body.get("id")) or None,
            model=as_text(body.get("model")) or None,
            tokens=decode_usage(body.get("usage"), "input", "output"),
        )
        return Response(message=message, stop=_read_end(body, message), error=error)


def _read_end(body: Mapping[str, Any], message: Message) -> StopReason | None:
    match body.get("status"):
        case "completed":
            return StopReason.CALLS if message.requests else StopReason.END
        case "incomplete":
            reason = as_text(as_dict(body.get("incomplete_details")).get("reason"))
            return _INCOMPLETE.get(reason, StopReason.OTHER)
        case "failed" | "cancelled":
            return StopReason.OTHER
    return None


def _encode_items(message: Message) -> Iterator[Body]:
    for result in message.results:
        call_id = result.call_id or ""
        yield {"type": "function_call_output", "call_id": call_id, "output": result.text}
    if message.text.strip():
        # Text beside results is the harness speaking to the model: for a provider that is the user.
        role = Role.USER if message.role is Role.TOOL else message.role
        yield {"role": role.value, "content": message.text}
    yield from map(_encode_call, message.requests)


def _encode_call(request: Request) -> Body:
    return {
        "type": "function_call",
        "call_id": request.id or "",
        "name": safe_name(request.tool),
        "arguments": as_argument_text(request),
    }


def _encode_output(answer: Message) -> Iterator[Body]:
    place = answer.native_id or ""
    if answer.reasoning:
        summary = [{"type": "summary_text", "text": answer.reasoning}]
        yield {"type": "reasoning", "id": f"rs_{place}", "summary": summary}
    if answer.text or not answer.requests:
        part = {"type": "output_text", "text": answer.text, "annotations": []}
        yield {
            "type": "message",
            "id": f"msg_{place}",
            "role": "assistant",
            "status": "completed",
            "content": [part],
        }
    for request in answer.requests:
        yield {**_encode_call(request), "id": f"fc_{request.id}", "status": "completed"}


def _join_items(items: list[Body]) -> list[Message]:
    """Messages, the assistant's neighbouring items joined until it has spoken or called."""
    messages: list[Message] = []
    for item in items:
        read = _decode_item(item)
        last = messages[-1] if messages else None
        if read is None:
            continue
        if last is None or not _continues(last, read):
            messages.append(read)
            continue
        messages[-1] = replace(
            last,
            text=last.text or read.text,
            reasoning="\n".join(filter(None, (last.reasoning, read.reasoning))),
            requests=last.requests + read.requests,
        )
    return messages


def _continues(last: Message, read: Message) -> bool:
    """Whether an item belongs to the message before it: reasoning, then text, then calls."""
    if not last.role is read.role is Role.ASSISTANT:
        return False
    return bool(read.requests) or not (last.text or last.requests)


def _decode_item(item: Body) -> Message | None:
    kind = as_text(item.get("type")) or "message"
    if kind.endswith("call_output"):
        return Message(role=Role.TOOL, results=(_decode_output(item),))
    if kind.endswith("_call"):
        return Message(role=Role.ASSISTANT, requests=(_decode_call(item, kind),))
    if kind == "reasoning":
        text = content_text(item.get("summary")) or content_text(item.get("content"))
        return Message(role=Role.ASSISTANT, reasoning=text) if text else None
    role = ROLES.get(as_text(item.get("role")))
    if kind != "message" or role is None or role is Role.TOOL:
        return None
    return Message(role=role, text=content_text(item.get("content")))


def _decode_call(item: Body, kind: str) -> Request:
    """A call; those of built-in tools are named by their type."""
    arguments = next((item[k] for k in ("arguments", "input", "action") if k in item), None)
    name = item.get("name") or kind.removesuffix("_call")
    return make_request(name, item.get("call_id") or item.get("id"), arguments)


def _decode_output(item: Body) -> Result:
    output = item.get("output")
    return Result(
        text=encode_text(output) if isinstance(output, dict) else content_text(output),
        call_id=as_text(item.get("call_id")) or None,
    )
