"""Gemini's generateContent.

Calls are the model's parts and results the user's. They carry no ids in requests written here, as
the API pairs them by order; decoded calls without one get an id by their place.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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
    read_stop,
    write_stop,
)
from warmstart.wire.fields import (
    Body,
    as_dict,
    as_dicts,
    as_float,
    as_int,
    as_object,
    as_text,
    content_text,
    encode_text,
    make_request,
    read_count,
)
from warmstart.wire.pairing import safe_name, with_ids

_STOPS = {
    "STOP": StopReason.END,
    "MAX_TOKENS": StopReason.LENGTH,
    "SAFETY": StopReason.REFUSED,
    "RECITATION": StopReason.REFUSED,
    "BLOCKLIST": StopReason.REFUSED,
    "PROHIBITED_CONTENT": StopReason.REFUSED,
    "SPII": StopReason.REFUSED,
}


class GeminiStream:
    """Chunks of a response, each with the parts that are new."""

    def __init__(self) -> None:
        self._body: Body = {}
        self._parts: list[tuple[Body, list[str]]] = []
        self._candidate: Body = {}

    @staticmethod
    def split(body: Mapping[str, Any]) -> Iterator[Event]:
        """A chunk per part; the last one has the end and the usage."""
        base = {key: body[key] for key in ("modelVersion", "responseId") if key in body}
        for candidate in as_dicts(body.get("candidates")):
            for part in as_dicts(as_dict(candidate.get("content")).get("parts")):
                content = {"role": "model", "parts": [part]}
                yield Event({**base, "candidates": [{"content": content, "index": 0}]})
            last = {name: value for name, value in candidate.items() if name != "content"}
            yield Event({**body, "candidates": [last]})

    def add(self, event: Event) -> None:
        """Take one chunk in."""
        chunk = _unwrap(as_dict(event.data), "response")
        self._body |= {name: value for name, value in chunk.items() if name != "candidates"}
        for candidate in as_dicts(chunk.get("candidates"))[:1]:
            self._candidate |= {k: v for k, v in candidate.items() if v is not None}
            for part in as_dicts(as_dict(candidate.get("content")).get("parts")):
                self._add_part(part)

    def _add_part(self, part: Body) -> None:
        text = part.get("text")
        if not isinstance(text, str):
            self._parts.append((part, []))
        elif (
            self._parts
            and self._parts[-1][1]
            and _is_thought(self._parts[-1][0]) == _is_thought(part)
        ):
            self._parts[-1][1].append(text)
        else:
            self._parts.append((part, [text]))

    def build(self) -> Body:
        """The response so far."""
        if not self._candidate:
            return dict(self._body)
        parts = [{**part, "text": "".join(t)} if t else part for part, t in self._parts]
        candidate = {**self._candidate, "content": {"role": "model", "parts": parts}}
        return self._body | {"candidates": [candidate]}


def _unwrap(body: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """The body itself; Gemini CLI's own service (Code Assist) wraps it into a field of another."""
    return as_dict(body.get(name)) or body


def _is_answer(part: Body) -> bool:
    return "functionResponse" in part


def _is_thought(part: Body) -> bool:
    return part.get("thought") is True


class GeminiCodec:
    """``/v1beta/models/MODEL:generateContent``."""

    name = "gemini"
    key = "contents"
    path = "/models/{model}:generateContent"
    stream: type[StreamBody] = GeminiStream

    def headers(self, key: str) -> dict[str, str]:
        """The key in a header of its own."""
        return {"x-goog-api-key": key} if key else {}

    def encode_request(self, prompt: Prompt) -> Body:
        """The body of a request; the model is part of the address."""
        contents: list[Body] = []
        tools = {request.id: request.tool for m in prompt.messages for request in m.requests}
        for message in prompt.messages:
            role = "model" if message.role is Role.ASSISTANT or message.requests else "user"
            append_parts(contents, role, "parts", _encode_parts(message, tools))
        system = {"parts": [{"text": prompt.system}]} if prompt.system else None
        config = drop_unset(
            maxOutputTokens=prompt.max_tokens, temperature=prompt.temperature, seed=prompt.seed
        )
        declared = [tool._asdict() for tool in prompt.tools]
        return (
            drop_unset(system_instruction=system)
            | {"contents": contents}
            | drop_unset(
                generationConfig=config or None,
                tools=[{"functionDeclarations": declared}] if declared else None,
            )
        )

    def decode_request(self, body: Mapping[str, Any]) -> Prompt:
        """The prompt; its calls and results get ids by their place where they have none."""
        inner = _unwrap(body, "request")
        system = inner.get("system_instruction") or inner.get("systemInstruction")
        config = as_dict(inner.get("generationConfig"))
        items = as_dicts(inner.get("contents"))
        messages = [message for item in items for message in _decode_content(item)]
        return Prompt(
            system=content_text(as_dict(system).get("parts"), "\n\n"),
            messages=with_ids(messages),
            tools=tuple(t for item in as_dicts(inner.get("tools")) for t in _decode_tools(item)),
            model=as_text(body.get("model")),
            max_tokens=as_int(config.get("maxOutputTokens")),
            temperature=as_float(config.get("temperature")),
            seed=as_int(config.get("seed")),
            body=body,
        )

    def encode_response(self, response: Response) -> Body:
        """A response with one candidate, or an error."""
        answer = response.message
        if answer is None:
            return {"error": {"code": 500, "message": response.error}}
        thoughts = [{"text": answer.reasoning, "thought": True}] if answer.reasoning else []
        texts = [{"text": answer.text}] if answer.text else []
        calls = [{"functionCall": {"id": r.id, "name": safe_name(r.tool), "args": as_object(r)}}
                 for r in answer.requests]  # fmt: skip
        stop = StopReason.END if response.stop is StopReason.CALLS else response.stop
        candidate = {"content": {"role": "model", "parts": [*thoughts, *texts, *calls]}, "index": 0}
        return {
            "candidates": [candidate | drop_unset(finishReason=write_stop(stop, _STOPS))],
            **drop_unset(
                modelVersion=answer.model,
                responseId=answer.native_id,
                usageMetadata=None if answer.tokens is None else _encode_tokens(answer.tokens),
                error=response.error and {"message": response.error},
            ),
        }

    def decode_response(self, body: Mapping[str, Any]) -> Response:
        """The first candidate."""
        body = _unwrap(body, "response")
        error = read_error(body.get("error"))
        blocked = as_text(as_dict(body.get("promptFeedback")).get("blockReason"))
        candidates = as_dicts(body.get("candidates"))
        if not candidates:
            stop = StopReason.REFUSED if blocked else None
            return Response(stop=stop, error=error or blocked)
        parts = as_dicts(as_dict(candidates[0].get("content")).get("parts"))
        message = Message(
            role=Role.ASSISTANT,
            text=_read_texts(parts),
            reasoning=_read_texts(parts, thought=True),
            requests=tuple(_decode_calls(parts)),
            native_id=as_text(body.get("responseId")) or None,
            model=as_text(body.get("modelVersion")) or None,
            tokens=_decode_tokens(as_dict(body.get("usageMetadata"))),
        )
        stop = read_stop(candidates[0].get("finishReason"), _STOPS)
        # The API has no word of its own for waiting on results.
        is_waiting = stop is StopReason.END and message.requests
        return Response(message=message, stop=StopReason.CALLS if is_waiting else stop, error=error)


def _encode_parts(message: Message, tools: Mapping[str | None, str]) -> list[Body]:
    parts: list[Body] = []
    for result in message.results:
        name = safe_name(tools.get(result.call_id) or result.tool or "")
        answer = {"error" if result.is_error else "output": result.text}
        parts.append({"functionResponse": {"name": name, "response": answer}})
    parts += [{"text": message.text}] if message.text.strip() else []
    calls = ({"name": safe_name(r.tool), "args": as_object(r)} for r in message.requests)
    return parts + [{"functionCall": call} for call in calls]


def _decode_content(item: Body) -> Iterator[Message]:
    parts = as_dicts(item.get("parts"))
    results = [_decode_result(part["functionResponse"]) for part in parts if _is_answer(part)]
    if results:
        yield Message(role=Role.TOOL, results=tuple(results))
    text, calls = _read_texts(parts), tuple(_decode_calls(parts))
    reasoning = _read_texts(parts, thought=True)
    if text or calls or reasoning:
        role = Role.ASSISTANT if item.get("role") == "model" else Role.USER
        yield Message(role=role, text=text, requests=calls, reasoning=reasoning)


def _read_texts(parts: list[Body], *, thought: bool = False) -> str:
    chosen = (part for part in parts if _is_thought(part) is thought)
    return "".join(as_text(part.get("text")) or _name_media(part) for part in chosen)


def _name_media(part: Body) -> str:
    kinds = ("inlineData", "inline_data", "fileData", "file_data")
    return next((f"[{kind}]" for kind in kinds if kind in part), "")


def _decode_calls(parts: list[Body]) -> Iterator[Request]:
    for part in parts:
        if "functionCall" in part:
            call = as_dict(part["functionCall"])
            yield make_request(call.get("name"), call.get("id"), call.get("args"))


def _decode_result(value: Any) -> Result:
    answer = as_dict(value)
    response = answer.get("response")
    inner = as_dict(response)
    key = next((key for key in ("error", "output") if key in inner), None)
    text = inner.get(key) if key else response
    return Result(
        text=text if isinstance(text, str) else encode_text(text),
        call_id=as_text(answer.get("id")) or None,
        tool=as_text(answer.get("name")) or None,
        is_error=None if key is None else key == "error",
    )


def _decode_tools(item: Body) -> Iterator[ToolSpec]:
    declared = item.get("functionDeclarations", item.get("function_declarations"))
    if declared is None:
        yield from map(ToolSpec, item)
    for tool in as_dicts(declared):
        schema = as_dict(tool.get("parameters")) or as_dict(tool.get("parametersJsonSchema"))
        yield ToolSpec(as_text(tool.get("name")), as_text(tool.get("description")), schema)


def _encode_tokens(tokens: Tokens) -> Body:
    given = tokens.input + tokens.cache_read
    return {
        "promptTokenCount": given,
        "candidatesTokenCount": max(tokens.output - tokens.reasoning, 0),
        "totalTokenCount": given + tokens.output,
        "cachedContentTokenCount": tokens.cache_read,
        "thoughtsTokenCount": tokens.reasoning,
    }


def _decode_tokens(usage: Body) -> Tokens | None:
    if not usage:
        return None
    cached, thoughts = (
        read_count(usage, name) for name in ("cachedContentTokenCount", "thoughtsTokenCount")
    )
    given = read_count(usage, "promptTokenCount") + read_count(usage, "toolUsePromptTokenCount")
    return Tokens(
        input=max(given - cached, 0),
        output=read_count(usage, "candidatesTokenCount") + thoughts,
        cache_read=cached,
        reasoning=thoughts,
    )
