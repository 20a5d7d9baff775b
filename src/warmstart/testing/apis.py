"""Three APIs spoken by a scripted model: OpenAI chat and responses, Anthropic messages.

``read_*`` turns a request's body into a Prompt, ``write_*`` a Reply into a response's body, and
``stream_*`` the same response into the events of its stream. Ids follow from the place in the
conversation, so the same request gets the same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from warmstart.testing.script import Prompt, Reply, ToolCall, Turn

CREATED = 1_700_000_000
CHARS_PER_TOKEN = 4


class Event(NamedTuple):
    """One event of a stream."""

    data: Any
    name: str | None = None


def read_chat(body: Mapping[str, Any]) -> Prompt:
    """A request to ``/chat/completions``."""
    turns, system = [], []
    for item in _dicts(body.get("messages")):
        role, text = str(item.get("role")), _text(item.get("content"))
        if role in ("system", "developer"):
            system.append(text)
            continue
        calls = tuple(_call(_dict(one.get("function")), "arguments")
                      for one in _dicts(item.get("tool_calls")))  # fmt: skip
        turns.append(Turn(role, text, calls))
    return _prompt("chat", body, "\n".join(system), turns)


def read_responses(body: Mapping[str, Any]) -> Prompt:
    """A request to ``/responses``."""
    given = body.get("input")
    items = [{"role": "user", "content": given}] if isinstance(given, str) else _dicts(given)
    turns, system = [], [_text(body.get("instructions"))]
    for item in items:
        kind, role = str(item.get("type", "message")), str(item.get("role", "user"))
        if kind.endswith("call_output"):
            turns.append(Turn("tool", _text(item.get("output"))))
        elif kind.endswith("_call"):
            turns.append(Turn("assistant", "", (_call(item, "arguments"),)))
        elif role in ("system", "developer"):
            system.append(_text(item.get("content")))
        elif kind == "message":
            turns.append(Turn(role, _text(item.get("content"))))
    return _prompt("responses", body, "\n".join(filter(None, system)), turns)


def read_messages(body: Mapping[str, Any]) -> Prompt:
    """A request to ``/messages``."""
    turns: list[Turn] = []
    for item in _dicts(body.get("messages")):
        role, content = str(item.get("role")), item.get("content")
        blocks = _dicts(content)
        turns += [
            Turn("tool", _text(block.get("content")))
            for block in blocks
            if block.get("type") == "tool_result"
        ]
        calls = tuple(_call(b, "input") for b in blocks if b.get("type") == "tool_use")
        text = content if isinstance(content, str) else _text(_only_texts(blocks))
        if text or calls:
            turns.append(Turn(role, text, calls))
    return _prompt("messages", body, _text(body.get("system")), turns)


def write_chat(prompt: Prompt, reply: Reply) -> dict[str, Any]:
    """A completion."""
    message: dict[str, Any] = {"role": "assistant", "content": reply.text or None}
    if reply.calls:
        message["tool_calls"] = [
            {"id": call_id, "type": "function",
             "function": {"name": call.name, "arguments": _arguments(call)}}
            for call_id, call in _with_ids(prompt, reply)
        ]  # fmt: skip
    given, written = count_tokens(prompt, reply)
    return {
        "id": f"chatcmpl-{len(prompt.turns)}",
        "object": "chat.completion",
        "created": CREATED,
        "model": prompt.model,
        "choices": [{"index": 0, "message": message,
                     "finish_reason": "tool_calls" if reply.calls else "stop"}],
        "usage": {"prompt_tokens": given, "completion_tokens": written,
                  "total_tokens": given + written},
    }  # fmt: skip


def stream_chat(whole: Mapping[str, Any]) -> Iterator[Event]:
    """A completion in chunks."""
    choice = whole["choices"][0]
    base = {key: whole[key] for key in ("id", "created", "model")}
    base["object"] = "chat.completion.chunk"
    delta = dict(choice["message"])
    calls = delta.pop("tool_calls", [])
    yield Event({**base, "choices": [_delta({**delta, "content": delta["content"] or ""})]})
    for number, call in enumerate(calls):
        yield Event({**base, "choices": [_delta({"tool_calls": [{"index": number, **call}]})]})
    yield Event({**base, "choices": [_delta({}, choice["finish_reason"])]})
    yield Event({**base, "choices": [], "usage": whole["usage"]})
    yield Event("[DONE]")


def _delta(delta: Mapping[str, Any], finish: str | None = None) -> dict[str, Any]:
    return {"index": 0, "delta": delta, "finish_reason": finish}


def write_responses(prompt: Prompt, reply: Reply) -> dict[str, Any]:
    """A response."""
    place = len(prompt.turns)
    output: list[dict[str, Any]] = []
    if reply.text or not reply.calls:
        part = {"type": "output_text", "text": reply.text, "annotations": []}
        output.append({"type": "message", "id": f"msg_{place}", "role": "assistant",
                       "status": "completed", "content": [part]})  # fmt: skip
    output += [
        {"type": "function_call", "id": f"fc_{call_id}", "call_id": call_id, "name": call.name,
         "arguments": _arguments(call), "status": "completed"}
        for call_id, call in _with_ids(prompt, reply)
    ]  # fmt: skip
    given, written = count_tokens(prompt, reply)
    return {
        "id": f"resp_{place}", "object": "response", "created_at": CREATED, "status": "completed",
        "model": prompt.model, "output": output, "parallel_tool_calls": True,
        "tool_choice": "auto", "tools": [], "error": None, "incomplete_details": None,
        "usage": {"input_tokens": given, "input_tokens_details": {"cached_tokens": 0},
                  "output_tokens": written, "output_tokens_details": {"reasoning_tokens": 0},
                  "total_tokens": given + written},
    }  # fmt: skip


def stream_responses(whole: Mapping[str, Any]) -> Iterator[Event]:
    """A response as its events, numbered."""
    for number, data in enumerate(_response_events(whole)):
        yield Event({**data, "sequence_number": number}, data["type"])


def _response_events(whole: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    begun = {**whole, "status": "in_progress", "output": [], "usage": None}
    yield {"type": "response.created", "response": begun}
    for index, item in enumerate(whole["output"]):
        place = {"output_index": index, "item_id": item["id"]}
        bare = "content" if item["type"] == "message" else "arguments"
        empty = {**item, "status": "in_progress", bare: [] if bare == "content" else ""}
        yield {"type": "response.output_item.added", "output_index": index, "item": empty}
        if item["type"] == "message":
            part = item["content"][0]
            at = {**place, "content_index": 0}
            yield {"type": "response.content_part.added", **at, "part": {**part, "text": ""}}
            yield {"type": "response.output_text.delta", **at, "delta": part["text"],
                   "logprobs": []}  # fmt: skip
            yield {"type": "response.output_text.done", **at, "text": part["text"],
                   "logprobs": []}  # fmt: skip
            yield {"type": "response.content_part.done", **at, "part": part}
        else:
            words = item["arguments"]
            yield {"type": "response.function_call_arguments.delta", **place, "delta": words}
            yield {"type": "response.function_call_arguments.done", **place, "arguments": words}
        yield {"type": "response.output_item.done", "output_index": index, "item": item}
    yield {"type": "response.completed", "response": whole}


def write_messages(prompt: Prompt, reply: Reply) -> dict[str, Any]:
    """A message."""
    blocks: list[dict[str, Any]] = []
    if reply.text or not reply.calls:
        blocks.append({"type": "text", "text": reply.text})
    blocks += [
        {"type": "tool_use", "id": f"toolu_{call_id}", "name": call.name,
         "input": dict(call.arguments)}
        for call_id, call in _with_ids(prompt, reply)
    ]  # fmt: skip
    given, written = count_tokens(prompt, reply)
    return {
        "id": f"msg_{len(prompt.turns)}", "type": "message", "role": "assistant",
        "model": prompt.model, "content": blocks,
        "stop_reason": "tool_use" if reply.calls else "end_turn", "stop_sequence": None,
        "usage": {"input_tokens": given, "output_tokens": written,
                  "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0},
    }  # fmt: skip


def stream_messages(whole: Mapping[str, Any]) -> Iterator[Event]:
    """A message as its events."""
    return (Event(data, data["type"]) for data in _message_events(whole))


def _message_events(whole: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    begun = {**whole, "content": [], "stop_reason": None}
    yield {"type": "message_start", "message": begun}
    for index, block in enumerate(whole["content"]):
        if block["type"] == "text":
            empty, delta = {"text": ""}, {"type": "text_delta", "text": block["text"]}
        else:
            empty = {"input": {}}  # type: ignore[dict-item] # blocks differ by their type
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        yield {"type": "content_block_start", "index": index, "content_block": {**block, **empty}}
        yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    ending = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": ending, "usage": whole["usage"]}
    yield {"type": "message_stop"}


def count_tokens(prompt: Prompt, reply: Reply) -> tuple[int, int]:
    """Tokens in and out, by length where the reply does not say."""
    given, written = reply.input_tokens, reply.output_tokens
    if given is None:
        texts = [prompt.system, *(turn.text for turn in prompt.turns)]
        texts += [_arguments(call) for turn in prompt.turns for call in turn.calls]
        given = sum(map(len, texts)) // CHARS_PER_TOKEN
    if written is None:
        said = len(reply.text) + sum(len(_arguments(call)) for call in reply.calls)
        written = 1 + said // CHARS_PER_TOKEN
    return given, written


def _prompt(api: str, body: Mapping[str, Any], system: str, turns: list[Turn]) -> Prompt:
    tools = [str(_dict(tool.get("function")).get("name") or tool.get("name") or tool.get("type"))
             for tool in _dicts(body.get("tools"))]  # fmt: skip
    seed = body.get("seed")
    return Prompt(
        api=api, model=str(body.get("model", "")), system=system, turns=tuple(turns),
        tools=tuple(tools), seed=seed if isinstance(seed, int) else None, body=body,
    )  # fmt: skip


def _with_ids(prompt: Prompt, reply: Reply) -> list[tuple[str, ToolCall]]:
    place = len(prompt.turns)
    return [(f"call_{place}_{number}", call) for number, call in enumerate(reply.calls)]


def _arguments(call: ToolCall) -> str:
    return call.raw if call.raw is not None else json.dumps(dict(call.arguments))


def _call(data: Mapping[str, Any], field: str) -> ToolCall:
    value = data.get(field)
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            return ToolCall(str(data.get("name")), {}, str(value))
    return ToolCall(str(data.get("name")), _dict(value))


def _only_texts(blocks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [block for block in blocks if block.get("type") == "text"]


def _text(content: Any) -> str:
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in _dicts(content))
    return content if isinstance(content, str) else ""


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _dicts(value: Any) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
