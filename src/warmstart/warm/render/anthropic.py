"""Anthropic messages: ``{"system": ..., "messages": [...]}``.

System text is a field of its own there. Leading messages of role ``system`` among the caller's
move into it, the warm-up's text after them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import Any

from warmstart.model import WarmUp
from warmstart.warm.inject import SYSTEM_ROLES, is_warm, merge_text
from warmstart.warm.render.form import Rendered
from warmstart.warm.target import Target
from warmstart.warm.turns import list_turns
from warmstart.warm.wire import write_anthropic


def render_anthropic(warmup: WarmUp, target: Target) -> Rendered:
    """Keywords for ``messages.create``."""
    given = target.messages or ()
    leading = list(takewhile(_is_system, given))
    messages = [dict(message) for message in given[len(leading) :]]
    system = "\n\n".join(filter(None, map(_text, leading)))
    if not is_warm(given, warmup):
        system = merge_text(system, warmup.system)
        messages = write_anthropic(list_turns(warmup)) + messages
    body: dict[str, Any] = {"system": system} if system else {}
    return Rendered(body=body | {"messages": messages})


def _is_system(message: Mapping[str, Any]) -> bool:
    return message.get("role") in SYSTEM_ROLES


def _text(message: Mapping[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, str):
        return content
    blocks: Sequence[Any] = content if isinstance(content, list) else ()
    return "\n\n".join(b["text"] for b in blocks if isinstance(b, dict) and "text" in b)


__all__ = ["render_anthropic"]
