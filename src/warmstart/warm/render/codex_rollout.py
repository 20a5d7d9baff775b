"""Codex rollout to resume: the lines of a session file of the Codex CLI.

Start with ``codex exec resume ID``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from warmstart.export.jsonl import encode_line
from warmstart.model import Role, WarmUp
from warmstart.warm.render.form import Rendered
from warmstart.warm.target import Target
from warmstart.warm.turns import Turn, list_turns


def render_codex_rollout(warmup: WarmUp, target: Target) -> Rendered:
    """The file and its place below Codex' home."""
    target.need("cwd", "session_id", "version", "now")
    payloads = [("session_meta", _meta(target))]
    for turn in list_turns(warmup, with_system=True):
        payloads += _list_payloads(turn)
    lines = (
        {"timestamp": target.stamp, "type": kind, "payload": payload} for kind, payload in payloads
    )
    name = f"rollout-{target.moment:%Y-%m-%dT%H-%M-%S}-{target.session_id}.jsonl"
    return Rendered(
        text=b"".join(map(encode_line, lines)).decode(),
        path=f"sessions/{target.moment:%Y/%m/%d}/{name}",
    )


def _meta(target: Target) -> dict[str, Any]:
    return {
        "id": target.session_id,
        "timestamp": target.stamp,
        "cwd": target.cwd,
        "originator": "codex_exec",
        "cli_version": target.version,
        "source": "exec",
        "instructions": None,
    }


def _list_payloads(turn: Turn) -> Iterator[tuple[str, dict[str, Any]]]:
    if turn.role is Role.USER:
        yield "response_item", _message("user", "input_text", turn.text)
        yield "event_msg", {"type": "user_message", "message": turn.text, "kind": "plain"}
        return
    if turn.text.strip():
        yield "response_item", _message("assistant", "output_text", turn.text)
        yield "event_msg", {"type": "agent_message", "message": turn.text}
    for pair in turn.pairs:
        yield (
            "response_item",
            {
                "type": "function_call",
                "name": pair.name,
                "arguments": pair.arguments_text,
                "call_id": pair.id,
            },
        )
    for pair in turn.pairs:
        output = {"type": "function_call_output", "call_id": pair.id, "output": pair.result.text}
        yield "response_item", output


def _message(role: str, kind: str, text: str) -> dict[str, Any]:
    return {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}


__all__ = ["render_codex_rollout"]
