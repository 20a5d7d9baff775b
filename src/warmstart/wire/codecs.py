"""The codecs by name, how to recognise a conversation's form, and how to put another before it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from warmstart.wire.anthropic import AnthropicCodec
from warmstart.wire.chat import ChatCodec
from warmstart.wire.codec import Codec, Prompt
from warmstart.wire.fields import Body, as_dict, as_dicts, as_list, as_text
from warmstart.wire.gemini import GeminiCodec
from warmstart.wire.responses import ResponsesCodec

CODECS: dict[str, Codec] = {
    codec.name: codec for codec in (ChatCodec(), ResponsesCodec(), AnthropicCodec(), GeminiCodec())
}
SYSTEM_ROLES = ("system", "developer")


def find_codec(messages: Sequence[Mapping[str, Any]]) -> Codec:
    """The codec of a list of messages; plain text turns are the same in all and taken as chat."""
    name = next(filter(None, map(_name_form, messages)), "openai")
    if name == "anthropic" and any(m.get("role") in SYSTEM_ROLES for m in messages):
        name = "openai"  # only there are system messages part of the list
    return CODECS[name]


def _name_form(message: Mapping[str, Any]) -> str:
    """The provider that a message gives away by its shape; empty for plain text."""
    if "parts" in message:
        return "gemini"
    if "tool_calls" in message or message.get("role") == "tool":
        return "openai"
    if "role" not in message or message.get("type") == "message":
        return "responses"
    kinds = (as_text(block.get("type")) for block in as_dicts(message.get("content")))
    return "anthropic" if any(k.endswith(("tool_use", "tool_result")) for k in kinds) else ""


def find_codec_at(path: str) -> Codec | None:
    """The codec of requests to a path such as ``/v1/messages``; None for any other page."""
    bare = path.partition("?")[0].replace(":streamGenerateContent", ":generateContent")
    ends = ((codec.path.rpartition("{model}")[2], codec) for codec in CODECS.values())
    return next((codec for end, codec in ends if bare.endswith(end)), None)


def build_url(base: str, codec: Codec, model: str = "") -> str:
    """The address requests go to, from a server's address in any of the usual forms."""
    base, path = base.rstrip("/"), codec.path.format(model=model)
    if base.endswith(path):
        return base
    version = "/v1beta" if codec.name == "gemini" else "/v1"
    return base + (path if base.endswith(version) else f"{version}{path}")


def insert_before(
    body: Mapping[str, Any], prompt: Prompt, codec: Codec, *, separate_system: bool = False
) -> Body:
    """A request with the system text and messages of a prompt before its own conversation.

    Everything of the request stays as it is, value by value. System text follows the request's own.

    Args:
        body: the request.
        prompt: what to put in.
        codec: how the request is written.
        separate_system: add a system message of its own instead of merging into the leading one.
    """
    given = body.get(codec.key)
    items = [{"role": "user", "content": given}] if isinstance(given, str) else as_list(given)
    written = codec.encode_request(Prompt(messages=prompt.messages))[codec.key]
    match codec.name:
        case "anthropic":
            system = _join_system(body.get("system"), prompt.system)
            return _put(body, "system", system) | {codec.key: written + items}
        case "gemini":
            name = "systemInstruction" if "systemInstruction" in body else "system_instruction"
            parts = as_dicts(as_dict(body.get(name)).get("parts"))
            parts += [{"text": prompt.system}] if prompt.system else []
            system = {**as_dict(body.get(name)), "parts": parts} if parts else None
            return _put(body, name, system) | {codec.key: written + items}
    if "instructions" in body:
        text = _join_system(body["instructions"], prompt.system)
        return {**body, "instructions": text, codec.key: written + items}
    leading = count_leading(items)
    system = _merge_system(items[:leading], prompt.system, separate=separate_system)
    return {**body, codec.key: system + written + items[leading:]}


def _put(body: Mapping[str, Any], name: str, value: Any) -> Body:
    """A body with a field that has a value: in its place, or first where it is new."""
    return {**({} if name in body else {name: None}), **body, name: value} if value else dict(body)


def count_leading(items: Sequence[Any]) -> int:
    """How many system messages a conversation begins with."""
    places = (at for at, item in enumerate(items) if as_dict(item).get("role") not in SYSTEM_ROLES)
    return next(places, len(items))


def _join_system(given: Any, addition: str) -> Any:
    """System text, given as text or as blocks, with more behind it."""
    if isinstance(given, list):
        return [*given, {"type": "text", "text": addition}] if addition else given
    text = as_text(given)
    return f"{text}\n\n{addition}" if text.strip() and addition else text or addition


def _merge_system(leading: list[Body], addition: str, *, separate: bool) -> list[Body]:
    if not addition.strip():
        return leading
    if not leading or separate:
        return [*leading, {"role": "system", "content": addition}]
    content = leading[0].get("content")
    if isinstance(content, list):
        kind = next((as_text(b.get("type")) for b in as_dicts(content)), "") or "text"
        merged: Any = [*content, {"type": kind, "text": addition}]
    else:
        merged = _join_system(content, addition)
    return [{**leading[0], "content": merged}, *leading[1:]]
