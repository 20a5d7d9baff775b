r"""Messages as OpenAI's APIs write them, which half of all formats repeat in part.

A chat message, as far as readers look at it::

    {"role": "assistant", "content": "Looking.", "tool_calls": [
        {"id": "call_1", "type": "function",
         "function": {"name": "read_file", "arguments": "{\"path\": \"a.txt\"}"}}]}
    {"role": "tool", "tool_call_id": "call_1", "name": "read_file", "content": "1|hello"}

Usage comes in two spellings (chat completions and Responses). In both, tokens served from a cache
are part of the prompt; in ours they stand apart.
"""

from __future__ import annotations

from typing import Any

from warmstart.model import Request, Result, Role, Tokens
from warmstart.sources.fields import as_count, as_text
from warmstart.wire import ROLES, as_dict, as_id, content_text, make_request


def find_role(entry: dict[str, Any]) -> Role | None:
    """Who speaks in a message; None where that is not one of OpenAI's roles."""
    role = entry.get("role")
    return ROLES.get(role) if isinstance(role, str) else None


def read_requests(tool_calls: Any, unnamed: str = "unknown") -> tuple[Request, ...]:
    """The calls of an assistant's message, named in ``function``, ``custom`` or beside the id."""
    if tool_calls.__class__ is not list:
        return ()
    return tuple([read_request(call, unnamed) for call in tool_calls if call.__class__ is dict])


def read_request(call: dict[str, Any], unnamed: str = "unknown") -> Request:
    """One item of ``tool_calls``."""
    function = call.get("function")
    if not function or function.__class__ is not dict:
        function = as_dict(call.get("custom")) or call
    written = function.get("arguments")
    if written is None and "arguments" not in function:
        written = function.get("input")
    call_id = call.get("id") or call.get("call_id")
    return make_request(function.get("name") or call.get("name"), call_id, written, unnamed)


def read_tool_message(entry: dict[str, Any], *, is_error: bool | None = None) -> Result:
    """The result that a message of the role ``tool`` carries."""
    return Result(
        text=content_text(entry.get("content")),
        call_id=as_id(entry.get("tool_call_id")),
        tool=as_text(entry.get("name")),
        is_error=is_error,
    )


def read_usage(value: Any) -> Tokens | None:
    """Tokens of one response, in either spelling; None where nothing was counted."""
    usage = as_dict(value)
    if not usage:
        return None
    sent = as_count(usage.get("prompt_tokens")) or as_count(usage.get("input_tokens"))
    details = as_dict(usage.get("prompt_tokens_details") or usage.get("input_tokens_details"))
    more = as_dict(usage.get("completion_tokens_details") or usage.get("output_tokens_details"))
    read = as_count(details.get("cached_tokens")) or as_count(usage.get("cache_read_input_tokens"))
    written = as_count(usage.get("cache_creation_input_tokens"))
    if details or "prompt_tokens" in usage:
        # Servers that speak Anthropic's names beside these count the cache apart.
        read = min(read, sent)
        sent = max(sent - read - written, 0)
    tokens = Tokens(
        input=sent,
        output=as_count(usage.get("completion_tokens")) or as_count(usage.get("output_tokens")),
        cache_read=read,
        cache_write=written,
        reasoning=as_count(more.get("reasoning_tokens")),
    )
    return tokens if tokens.total else None
