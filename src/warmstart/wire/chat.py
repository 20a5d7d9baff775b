"""OpenAI's chat completions, also spoken by most other servers.

Each assistant message with calls is followed at once by one ``tool`` message per call. The format
has no field for failure, so a decoded result has none, unless a program added ``is_error``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import takewhile
from typing import Any

from warmstart.model import Message, Request, Result, Role, Tokens
from warmstart.wire.codec import (
    Event,
    Prompt,
    Response,
    StopReason,
    StreamBody,
    ToolSpec,
    drop_unset,
    read_error,
    read_parameters,
    read_stop,
    write_stop,
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
    parse_json,
    read_count,
)
from warmstart.wire.pairing import safe_name

CREATED = 1_700_000_000
"""The time in encoded responses: the same response has the same bytes."""
_STOPS = {
    "stop": StopReason.END,
    "tool_calls": StopReason.CALLS,
    "function_call": StopReason.CALLS,
    "length": StopReason.LENGTH,
    "content_filter": StopReason.REFUSED,
}


class ChatStream:
    """Chunks of a completion; of several choices the first is kept."""

    def __init__(self) -> None:
        self._body: Body = {}
        self._pieces: dict[str, list[str]] = {}
        self._calls: list[Body] = []
        self._open: dict[int, Body] = {}
        self._stop: Any = None
        self._has_choice = False

    @staticmethod
    def split(body: Mapping[str, Any]) -> Iterator[Event]:
        """A chunk for the text, one per call, one for the end, one for the usage."""
        base = {name: body.get(name) for name in ("id", "created", "model")}
        base["object"] = "chat.completion.chunk"
        for choice in as_dicts(body.get("choices")):
            delta = as_dict(choice.get("message"))
            calls = delta.get("tool_calls")
            delta = {name: value for name, value in delta.items() if name != "tool_calls"}
            yield Event({**base, "choices": [_delta({**delta, "content": delta["content"] or ""})]})
            for number, call in enumerate(as_dicts(calls)):
                yield Event(
                    {**base, "choices": [_delta({"tool_calls": [{"index": number, **call}]})]}
                )
            yield Event({**base, "choices": [_delta({}, choice.get("finish_reason"))]})
        if "usage" in body:
            yield Event({**base, "choices": [], "usage": body["usage"]})
        yield Event("[DONE]")

    def add(self, event: Event) -> None:
        """Take one chunk in."""
        chunk = as_dict(event.data)
        for name in ("id", "model", "usage", "error"):
            if chunk.get(name):
                self._body[name] = chunk[name]
        for choice in as_dicts(chunk.get("choices")):
            if choice.get("index", 0) == 0:
                self._has_choice = True
                self._stop = choice.get("finish_reason") or self._stop
                self._add_delta(as_dict(choice.get("delta")))

    def _add_delta(self, delta: Body) -> None:
        for name in ("content", "refusal", "reasoning_content", "reasoning"):
            if isinstance(delta.get(name), str):
                self._pieces.setdefault(name, []).append(delta[name])
        for call in as_dicts(delta.get("tool_calls")):
            function = as_dict(call.get("function"))
            known = self._find_call(call)
            known["id"] = known["id"] or call.get("id")
            known["name"] = known["name"] or function.get("name")
            known["arguments"].append(as_text(function.get("arguments")))

    def _find_call(self, call: Body) -> Body:
        """The call a piece belongs to; some servers give no index, or the same one to all calls."""
        index = as_int(call.get("index"))
        known = None if index is None else self._open.get(index)
        if known is None or (call.get("id") and known["id"] not in (None, call["id"])):
            known = {"id": None, "name": None, "arguments": []}
            self._calls.append(known)
            self._open[len(self._calls) if index is None else index] = known
        return known

    def build(self) -> Body:
        """The completion so far."""
        message: Body = {name: "".join(pieces) for name, pieces in self._pieces.items()}
        message["tool_calls"] = [
            {
                "id": call["id"],
                "function": {"name": call["name"], "arguments": "".join(call["arguments"])},
            }
            for call in self._calls
        ]
        choices = [{"message": message, "finish_reason": self._stop}] if self._has_choice else []
        return self._body | {"choices": choices}


def _delta(delta: Body, finish: str | None = None) -> Body:
    return {"index": 0, "delta": delta, "finish_reason": finish}


class ChatCodec:
    """``/v1/chat/completions``."""

    name = "openai"
    key = "messages"
    path = "/chat/completions"
    stream: type[StreamBody] = ChatStream

    def headers(self, key: str) -> dict[str, str]:
        """A bearer token."""
        return {"Authorization": f"Bearer {key}"} if key else {}

    def encode_request(self, prompt: Prompt) -> Body:
        """The body of a request; system text is the first message."""
        system = [{"role": "system", "content": prompt.system}] if prompt.system else []
        turns = [turn for message in prompt.messages for turn in _encode_message(message)]
        return (
            drop_unset(model=prompt.model)
            | {"messages": system + turns}
            | drop_unset(
                max_tokens=prompt.max_tokens,
                temperature=prompt.temperature,
                seed=prompt.seed,
                stream=prompt.stream,
                stream_options={"include_usage": True} if prompt.stream else None,
                tools=[{"type": "function", "function": tool._asdict()} for tool in prompt.tools],
            )
        )

    def decode_request(self, body: Mapping[str, Any]) -> Prompt:
        """The prompt; leading system messages are its system text."""
        read = [_decode_message(item) for item in as_dicts(body.get("messages"))]
        messages = [message for message in read if message is not None]
        leading = [m.text for m in takewhile(lambda m: m.role is Role.SYSTEM, messages)]
        return Prompt(
            system="\n\n".join(filter(None, leading)),
            messages=tuple(messages[len(leading) :]),
            tools=tuple(map(decode_tool, as_dicts(body.get("tools")))),
            seed=as_int(body.get("seed")),
            body=body,
            **read_parameters(body, "max_tokens", "max_completion_tokens"),
        )

    def encode_response(self, response: Response) -> Body:
        """A completion with one choice, or an error."""
        answer = response.message
        if answer is None:
            return {"error": {"message": response.error}}
        message = {"role": "assistant", "content": answer.text or None}
        message |= drop_unset(
            reasoning_content=answer.reasoning, tool_calls=list(map(encode_call, answer.requests))
        )
        stop = write_stop(response.stop, _STOPS)
        return drop_unset(error=response.error and {"message": response.error}) | {
            "id": answer.native_id or "",
            "object": "chat.completion",
            "created": CREATED,
            "model": answer.model or "",
            "choices": [{"index": 0, "message": message, "finish_reason": stop}],
            **(
                {}
                if answer.tokens is None
                else {"usage": encode_usage(answer.tokens, "prompt", "completion")}
            ),
        }

    def decode_response(self, body: Mapping[str, Any]) -> Response:
        """The first choice."""
        error = read_error(body.get("error"))
        choices = as_dicts(body.get("choices"))
        if not choices:
            return Response(error=error)
        answer = as_dict(choices[0].get("message"))
        reasoning = as_text(answer.get("reasoning_content")) or as_text(answer.get("reasoning"))
        message = Message(
            role=Role.ASSISTANT,
            text=content_text(answer.get("content")) or as_text(answer.get("refusal")),
            reasoning=reasoning,
            requests=tuple(decode_calls(answer)),
            native_id=as_text(body.get("id")) or None,
            model=as_text(body.get("model")) or None,
            tokens=decode_usage(body.get("usage"), "prompt", "completion"),
        )
        stop = read_stop(choices[0].get("finish_reason"), _STOPS)
        return Response(message=message, stop=stop, error=error)


def encode_call(request: Request) -> Body:
    """A call as an assistant message holds it."""
    function = {"name": safe_name(request.tool), "arguments": as_argument_text(request)}
    return {"id": request.id, "type": "function", "function": function}


def _encode_message(message: Message) -> Iterator[Body]:
    for result in message.results:
        yield {"role": "tool", "tool_call_id": result.call_id or "", "content": result.text}
    if message.role is Role.TOOL and not message.text:
        return
    # Text beside results is the harness speaking to the model: for a provider that is the user.
    role = Role.USER if message.role is Role.TOOL else message.role
    turn: Body = {"role": role.value, "content": message.text}
    if message.requests:
        turn["content"] = message.text or None
        turn["tool_calls"] = list(map(encode_call, message.requests))
    yield turn


def _decode_message(item: Body) -> Message | None:
    role = ROLES.get(as_text(item.get("role")))
    if role is Role.TOOL:
        return Message(role=role, results=(_decode_result(item),))
    if role is None:
        return None
    reasoning = as_text(item.get("reasoning_content"))
    text = content_text(item.get("content"))
    return Message(role=role, text=text, reasoning=reasoning, requests=tuple(decode_calls(item)))


def _decode_result(item: Body) -> Result:
    content = item.get("content")
    is_error = item.get("is_error")
    return Result(
        text=encode_text(content) if isinstance(content, dict) else content_text(content),
        call_id=as_text(item.get("tool_call_id")) or None,
        tool=as_text(item.get("tool_name")) or as_text(item.get("name")) or None,
        is_error=is_error if isinstance(is_error, bool) else None,
    )


def decode_calls(item: Body) -> Iterator[Request]:
    """The calls of an assistant message, in any form that clients and servers write them."""
    calls = item.get("tool_calls")
    calls = parse_json(calls) if isinstance(calls, str) else calls
    for call in as_dicts(calls):
        function = as_dict(call.get("function")) or as_dict(call.get("custom")) or call
        arguments = function.get("arguments", function.get("input"))
        yield make_request(function.get("name"), call.get("id") or call.get("call_id"), arguments)
    legacy = as_dict(item.get("function_call"))
    if legacy:
        yield make_request(legacy.get("name"), None, legacy.get("arguments"))


def decode_tool(item: Body) -> ToolSpec:
    """A tool offered; one without a name of its own is named by its type."""
    tool = as_dict(item.get("function")) or item
    name = as_text(tool.get("name")) or as_text(item.get("type"))
    return ToolSpec(name, as_text(tool.get("description")), as_dict(tool.get("parameters")))


def encode_usage(tokens: Tokens, given: str, written: str) -> Body:
    """Tokens as OpenAI counts them; its two APIs differ in the names of what goes in and out."""
    total = tokens.input + tokens.cache_read + tokens.cache_write
    cached = {"cached_tokens": tokens.cache_read, "cache_write_tokens": tokens.cache_write}
    return {
        f"{given}_tokens": total,
        f"{given}_tokens_details": cached,
        f"{written}_tokens": tokens.output,
        f"{written}_tokens_details": {"reasoning_tokens": tokens.reasoning},
        "total_tokens": total + tokens.output,
    }


def decode_usage(value: Any, given: str, written: str) -> Tokens | None:
    """The tokens of a response, those from the cache apart; None where it does not say."""
    usage = as_dict(value)
    if not usage:
        return None
    cached = as_dict(usage.get(f"{given}_tokens_details"))
    details = as_dict(usage.get(f"{written}_tokens_details"))
    read, stored = read_count(cached, "cached_tokens"), read_count(cached, "cache_write_tokens")
    return Tokens(
        input=max(read_count(usage, f"{given}_tokens") - read - stored, 0),
        output=read_count(usage, f"{written}_tokens"),
        cache_read=read,
        cache_write=stored,
        reasoning=read_count(details, "reasoning_tokens"),
    )
