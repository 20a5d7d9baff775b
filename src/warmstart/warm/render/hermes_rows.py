"""Hermes rows: a session and its messages as Hermes' ``state.db`` keeps them, to be resumed.

Each row carries the mark of a warm-up in ``effect_disposition``, a column Hermes leaves empty, so
that no later count takes an example for work.
"""

from __future__ import annotations

from typing import Any

from warmstart.export.jsonl import encode_json
from warmstart.model import Role
from warmstart.model.warmup import WarmUp
from warmstart.store import WARMUP_MARK
from warmstart.warm.render.form import Rendered
from warmstart.warm.target import Target
from warmstart.warm.turns import list_turns
from warmstart.warm.wire import write_openai


def render_hermes_rows(warmup: WarmUp, target: Target) -> Rendered:
    """``{"session": {...}, "messages": [...]}``, values as the columns hold them."""
    target.need("session_id", "now")
    messages = write_openai(list_turns(warmup, with_system=True))
    names = {p.id: p.name for turn in list_turns(warmup) for p in turn.pairs}
    session = {
        "id": target.session_id,
        "source": "cli",
        "model": target.model or None,
        "started_at": target.now,
        "message_count": len(messages),
        "tool_call_count": len(names),
        "cwd": target.cwd or None,
    }
    rows = [_row(message, names, target.now) for message in messages]
    return Rendered(body={"session": session, "messages": rows})


def _row(message: dict[str, Any], names: dict[str, str], now: float | None) -> dict[str, Any]:
    calls = message.get("tool_calls")
    is_assistant = message["role"] == Role.ASSISTANT
    return {
        "role": message["role"],
        "content": message["content"] or "",
        "tool_call_id": message.get("tool_call_id"),
        "tool_calls": encode_json(calls).decode() if calls else None,
        "tool_name": names.get(message.get("tool_call_id") or ""),
        "finish_reason": ("tool_calls" if calls else "stop") if is_assistant else None,
        "effect_disposition": WARMUP_MARK,
        "timestamp": now,
    }


__all__ = ["render_hermes_rows"]
