"""Files and rows that agents start warm from: Claude Code, Codex, Hermes.

Sessions to resume are written as the agent itself writes them. Start with
``claude --resume ID --fork-session``, which leaves the file as it was written, or with
``codex exec resume ID``.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator, Sequence

from warmstart.model import Message, Result, Role, WarmUp
from warmstart.store import WARMUP_MARK
from warmstart.warm.conversation import list_messages, list_replies
from warmstart.warm.forms import Rendered, Target
from warmstart.warm.prose import write_text
from warmstart.wire import CODECS, Body, Prompt, encode_json, encode_line, safe_name

_NAMESPACE = uuid.UUID("5f2d7a52-6f0e-5b7e-9a55-0c9b6d2f3e11")
NO_USAGE = {
    "input_tokens": 0,
    "output_tokens": 0,
    "cache_creation_input_tokens": 0,
    "cache_read_input_tokens": 0,
}
_UNSAFE = re.compile(r"[^a-zA-Z0-9]")


def render_claude_hook(warmup: WarmUp, target: Target) -> Rendered:
    """What a Claude Code ``SessionStart`` hook prints to add text; a cold start adds nothing."""
    del target
    context = write_text(warmup)
    output = {"hookEventName": "SessionStart", "additionalContext": context}
    return Rendered(body={"hookSpecificOutput": output} if context else {})


def render_claude_session(warmup: WarmUp, target: Target) -> Rendered:
    """A Claude Code transcript; the ids of its lines follow from the session's id alone."""
    target.need("cwd", "session_id", "version", "now")
    lines = b"".join(map(encode_line, _list_claude_lines(warmup, target)))
    folder = _UNSAFE.sub("-", target.cwd)
    return Rendered(text=lines.decode(), path=f"projects/{folder}/{target.session_id}.jsonl")


def _list_claude_lines(warmup: WarmUp, target: Target) -> Iterator[Body]:
    parent: str | None = None
    number = 0
    for message, results in list_replies(list_messages(warmup, with_system=True)):
        for line in _write_claude(message, results, target):
            number += 1
            own = str(uuid.uuid5(_NAMESPACE, f"{target.session_id}/{number}"))
            if line["type"] == "assistant":
                line["message"]["id"] = f"msg_{own.replace('-', '')[:24]}"
            elif "sourceToolAssistantUUID" in line:
                line["sourceToolAssistantUUID"] = parent
            yield {
                "parentUuid": parent,
                "isSidechain": False,
                "userType": "external",
                "cwd": target.cwd,
                "sessionId": target.session_id,
                "version": target.version,
                "gitBranch": target.git_branch,
                "uuid": own,
                "timestamp": target.stamp,
            } | line
            parent = own


def _write_claude(message: Message, results: Sequence[Result], target: Target) -> Iterator[Body]:
    if message.role is Role.USER:
        yield {"type": "user", "message": {"role": "user", "content": message.text}}
        return
    answered = (message, *(Message(role=Role.TOOL, results=(one,)) for one in results))
    written, *answers = _encode("anthropic", answered)
    yield {
        "type": "assistant",
        "message": {
            "id": "",
            "type": "message",
            "role": "assistant",
            "model": target.model or "unknown",
            "content": written["content"],
            "stop_reason": "tool_use" if message.requests else "end_turn",
            "stop_sequence": None,
            "usage": NO_USAGE,
        },
    }
    for answer in answers:
        text = "\n".join(result.text for result in results)
        failed = any(result.is_error for result in results)
        outcome = {"stdout": text, "stderr": "", "interrupted": False}
        yield {
            "type": "user",
            "message": answer,
            "toolUseResult": f"Error: {text}" if failed else outcome,
            "sourceToolAssistantUUID": None,
        }


def render_codex_rollout(warmup: WarmUp, target: Target) -> Rendered:
    """A Codex session file and its place below Codex' home."""
    target.need("cwd", "session_id", "version", "now")
    meta = {
        "id": target.session_id,
        "timestamp": target.stamp,
        "cwd": target.cwd,
        "originator": "codex_exec",
        "cli_version": target.version,
        "source": "exec",
        "instructions": None,
    }
    payloads = [("session_meta", meta)]
    for item in _encode("responses", list_messages(warmup, with_system=True)):
        payloads += _write_codex(item)
    lines = (
        {"timestamp": target.stamp, "type": kind, "payload": payload} for kind, payload in payloads
    )
    name = f"rollout-{target.moment:%Y-%m-%dT%H-%M-%S}-{target.session_id}.jsonl"
    return Rendered(
        text=b"".join(map(encode_line, lines)).decode(),
        path=f"sessions/{target.moment:%Y/%m/%d}/{name}",
    )


def _write_codex(item: Body) -> Iterator[tuple[str, Body]]:
    """A text stands there twice, as an item and as an event; calls and results once."""
    match item.get("type"), item.get("role"):
        case "function_call", _:
            keys = ("type", "name", "arguments", "call_id")
            yield "response_item", {key: item[key] for key in keys}
        case "function_call_output", _:
            yield "response_item", item
        case _, role:
            text, is_user = item["content"], role == "user"
            content = [{"type": "input_text" if is_user else "output_text", "text": text}]
            yield "response_item", {"type": "message", "role": role, "content": content}
            event: Body = {"type": "user_message" if is_user else "agent_message", "message": text}
            yield "event_msg", event | ({"kind": "plain"} if is_user else {})


def render_hermes_prefill(warmup: WarmUp, target: Target) -> Rendered:
    """Chat messages that Hermes puts after its own system prompt on every call, never saved."""
    del target
    return Rendered(body=_encode("openai", list_messages(warmup, with_system=True)))


def render_hermes_rows(warmup: WarmUp, target: Target) -> Rendered:
    """``{"session": {...}, "messages": [...]}``, values as the columns of ``state.db`` hold them.

    Each row carries the mark of a warm-up in ``effect_disposition``, a column Hermes leaves empty,
    so that no later count takes an example for work.
    """
    target.need("session_id", "now")
    messages = list_messages(warmup, with_system=True)
    rows = _encode("openai", messages)
    names = {r.id: safe_name(r.tool) for message in messages for r in message.requests}
    session = {
        "id": target.session_id,
        "source": "cli",
        "model": target.model or None,
        "started_at": target.now,
        "message_count": len(rows),
        "tool_call_count": len(names),
        "cwd": target.cwd or None,
    }
    written = [_write_row(row, names, target.now) for row in rows]
    return Rendered(body={"session": session, "messages": written})


def _write_row(row: Body, names: dict[str | None, str], now: float | None) -> Body:
    calls = row.get("tool_calls")
    is_assistant = row["role"] == Role.ASSISTANT
    return {
        "role": row["role"],
        "content": row["content"] or "",
        "tool_call_id": row.get("tool_call_id"),
        "tool_calls": encode_json(calls).decode() if calls else None,
        "tool_name": names.get(row.get("tool_call_id")),
        "finish_reason": ("tool_calls" if calls else "stop") if is_assistant else None,
        "effect_disposition": WARMUP_MARK,
        "timestamp": now,
    }


def _encode(style: str, messages: Sequence[Message]) -> list[Body]:
    codec = CODECS[style]
    written: list[Body] = codec.encode_request(Prompt(messages=tuple(messages)))[codec.key]
    return written
