"""A warm-up put into a request as Hermes is about to send it.

Hermes speaks three APIs that ``wire`` knows. It rebuilds the request from the transcript for every
call to the model, so the warm-up is put into every one of them, always at the same place: after the
leading system messages. Only those are looked at; whatever the conversation itself says later can
not change what stands before it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from warmstart.app import (
    CODECS,
    Body,
    Codec,
    Prompt,
    count_leading,
    insert_before,
    is_warm,
    list_messages,
)
from warmstart.model import Role, WarmUp

API_MODES = {
    "chat_completions": "openai",
    "codex_responses": "responses",
    "anthropic_messages": "anthropic",
}
"""Codecs by Hermes' ``api_mode``."""


def find_form(request: Mapping[str, Any], api_mode: str) -> Codec | None:
    """The codec of a request; None for an API that is not known here."""
    codec = CODECS.get(API_MODES.get(api_mode or "chat_completions", ""))
    return codec if codec and isinstance(request.get(codec.key), list) else None


def place(request: Mapping[str, Any], warmup: WarmUp, codec: Codec) -> Body:
    """A new request with the warm-up in it."""
    items = request[codec.key]
    if is_warm(items[: count_leading(items)], warmup):
        return dict(request)
    if codec.name == "anthropic":
        # The system field holds Hermes' own cache marks; frame and guidance open the examples.
        prefix = Prompt(messages=list_messages(warmup, with_system=True))
        return insert_before(request, prefix, codec)
    prefix = Prompt(system=warmup.system, messages=list_messages(warmup))
    if codec.name == "responses" and (warmup.system or request.get("instructions")):
        # Some servers of this API refuse system messages; instructions are its place for them.
        return insert_before(
            {**request, "instructions": request.get("instructions")}, prefix, codec
        )
    return insert_before(request, prefix, codec)


def find_message(prompt: Prompt) -> str:
    """The first text of the user."""
    texts = (message.text.strip() for message in prompt.messages if message.role is Role.USER)
    return next(filter(None, texts), "")


def has_history(prompt: Prompt) -> bool:
    """Whether the model has answered in it before."""
    return any(message.role in (Role.ASSISTANT, Role.TOOL) for message in prompt.messages)


def list_tools(prompt: Prompt) -> frozenset[str] | None:
    """Names of the tools the model is offered; None where the request does not say."""
    has_tools = isinstance(prompt.body.get("tools"), list)
    return frozenset(prompt.tool_names) if has_tools else None
