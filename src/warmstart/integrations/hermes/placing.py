"""A warm-up put into a request as Hermes is about to send it.

Hermes speaks three APIs we know the form of. The request is built anew from the transcript for
every call to the model, so the warm-up is put into every one of them, always at the same place:
after the leading system messages. Only those are looked at; whatever the conversation itself says
later can not change what stands before it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from warmstart.model import WarmUp
from warmstart.warm.inject import Style, inject, merge_text

STYLES = {
    "chat_completions": Style.OPENAI,
    "codex_responses": Style.RESPONSES,
    "anthropic_messages": Style.ANTHROPIC,
}
"""By Hermes' ``api_mode``."""
SYSTEM_ROLES = ("system", "developer")
Body = dict[str, Any]


def find_form(request: Mapping[str, Any], api_mode: str) -> Style | None:
    """How a request is written; None for an API that is not known here."""
    style = STYLES.get(api_mode or "chat_completions")
    if style is None or not isinstance(request.get(_key(style)), list):
        return None
    return style


def place(request: Mapping[str, Any], warmup: WarmUp, style: Style) -> Body:
    """A new request with the warm-up in it."""
    messages = request[_key(style)]
    if style is Style.RESPONSES:
        # Some servers of this API refuse system messages; instructions are its place for them.
        said = request.get("instructions")
        body = {**request, "input": _prefix((), replace(warmup, system=""), style) + messages}
        text = merge_text(said if isinstance(said, str) else "", warmup.system)
        return {**body, "instructions": text} if text else body
    count = 0
    while count < len(messages) and _role(messages[count]) in SYSTEM_ROLES:
        count += 1
    return {
        **request,
        "messages": _prefix(messages[:count], warmup, style) + messages[count:],
    }


def list_messages(request: Mapping[str, Any], style: Style) -> list[Mapping[str, Any]]:
    """The conversation in a request, without anything that is no message."""
    return [one for one in request[_key(style)] if isinstance(one, Mapping)]


def list_tools(request: Mapping[str, Any]) -> frozenset[str] | None:
    """Names of the tools the model is offered; None where the request does not say."""
    tools = request.get("tools")
    return frozenset(_list_names(tools)) if isinstance(tools, list) else None


def find_message(messages: Sequence[Mapping[str, Any]]) -> str:
    """The first words of the user."""
    return next((text for one in messages if _role(one) == "user" if (text := read_text(one))), "")


def has_history(messages: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the model has spoken in it before."""
    return any(_role(one) not in (*SYSTEM_ROLES, "user") for one in messages)


def read_text(message: Mapping[str, Any]) -> str:
    """What a message says, its blocks joined."""
    content = message.get("content")
    if isinstance(content, str):
        return content.strip()
    blocks = content if isinstance(content, list) else ()
    texts = (one.get("text") for one in blocks if isinstance(one, Mapping))
    return "\n".join(text for text in texts if isinstance(text, str)).strip()


def _prefix(leading: Sequence[Mapping[str, Any]], warmup: WarmUp, style: Style) -> list[Body]:
    return inject(leading, warmup, style=style)


def _key(style: Style) -> str:
    return "input" if style is Style.RESPONSES else "messages"


def _role(message: Any) -> Any:
    return message.get("role") if isinstance(message, Mapping) else None


def _list_names(tools: Sequence[Any]) -> Iterator[str]:
    for tool in tools:
        inner = tool.get("function", tool) if isinstance(tool, Mapping) else None
        name = inner.get("name") if isinstance(inner, Mapping) else None
        if isinstance(name, str):
            yield name


__all__ = [
    "find_form",
    "find_message",
    "has_history",
    "list_messages",
    "list_tools",
    "place",
    "read_text",
]
