"""Claude Code session to resume: the lines of a transcript, chained as Claude Code chains them.

Start with ``claude --resume ID --fork-session``, so that the file stays as it was written. The ids
of its lines follow from the session's id alone.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator
from typing import Any

from warmstart.export.jsonl import encode_line
from warmstart.model import Role, WarmUp
from warmstart.warm.render.form import Rendered
from warmstart.warm.target import Target
from warmstart.warm.turns import Turn, list_turns
from warmstart.warm.wire import write_anthropic

_NAMESPACE = uuid.UUID("5f2d7a52-6f0e-5b7e-9a55-0c9b6d2f3e11")
NO_USAGE = {
    "input_tokens": 0,
    "output_tokens": 0,
    "cache_creation_input_tokens": 0,
    "cache_read_input_tokens": 0,
}
_UNSAFE = re.compile(r"[^a-zA-Z0-9]")


def render_claude_session(warmup: WarmUp, target: Target) -> Rendered:
    """The file and its place below Claude Code's configuration folder."""
    target.need("cwd", "session_id", "version", "now")
    lines = b"".join(map(encode_line, _list_lines(warmup, target)))
    folder = _UNSAFE.sub("-", target.cwd)
    return Rendered(text=lines.decode(), path=f"projects/{folder}/{target.session_id}.jsonl")


def _list_lines(warmup: WarmUp, target: Target) -> Iterator[dict[str, Any]]:
    parent: str | None = None
    number = 0
    for turn in list_turns(warmup, with_system=True):
        for message in _list_messages(turn, target):
            number += 1
            own = str(uuid.uuid5(_NAMESPACE, f"{target.session_id}/{number}"))
            if message["type"] == "assistant":
                message["message"]["id"] = f"msg_{own.replace('-', '')[:24]}"
            elif "sourceToolAssistantUUID" in message:
                message["sourceToolAssistantUUID"] = parent
            yield _frame_line(parent, own, target) | message
            parent = own


def _frame_line(parent: str | None, own: str, target: Target) -> dict[str, Any]:
    return {
        "parentUuid": parent,
        "isSidechain": False,
        "userType": "external",
        "cwd": target.cwd,
        "sessionId": target.session_id,
        "version": target.version,
        "gitBranch": target.git_branch,
        "uuid": own,
        "timestamp": target.stamp,
    }


def _list_messages(turn: Turn, target: Target) -> Iterator[dict[str, Any]]:
    if turn.role is Role.USER:
        yield {"type": "user", "message": {"role": "user", "content": turn.text}}
        return
    said, *answers = write_anthropic([turn])
    yield {
        "type": "assistant",
        "message": {
            "id": "",
            "type": "message",
            "role": "assistant",
            "model": target.model or "unknown",
            "content": said["content"],
            "stop_reason": "tool_use" if turn.pairs else "end_turn",
            "stop_sequence": None,
            "usage": NO_USAGE,
        },
    }
    for answer in answers:
        text = "\n".join(pair.result.text for pair in turn.pairs)
        failed = any(pair.result.is_error for pair in turn.pairs)
        outcome = {"stdout": text, "stderr": "", "interrupted": False}
        yield {
            "type": "user",
            "message": answer,
            "toolUseResult": f"Error: {text}" if failed else outcome,
            "sourceToolAssistantUUID": None,
        }


__all__ = ["render_claude_session"]
