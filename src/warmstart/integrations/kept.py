"""The warm-up a session got, kept so that it gets the same bytes when it is resumed.

Needed where the warm-up is not part of the agent's own transcript: Hermes' prefilled messages, text
appended to a system prompt. Templates change, tools come and go, files of a project vanish:
building it again later could give other words, and a prompt cache would be lost. One small file per
session in a folder of warmstart's home named after the agent; what was not used for 90 days is
removed.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
from msgspec import structs

from warmstart.app import READY, Workspace, encode_json
from warmstart.model import Kind, Message, Request, Result, Role, WarmUp

SCHEMA_VERSION = 1
MAX_AGE_SECONDS = 90 * 86_400


def keep_warmup(workspace: Workspace, agent: str, session_id: str, warmup: WarmUp) -> None:
    """Write a session's warm-up to a file that only its user can read."""
    path = _find_path(workspace, agent, session_id)
    _remove_old(path.parent)
    workspace.write_file(path, [encode_json(_encode(warmup))], overwrite=True)


def find_warmup(workspace: Workspace, agent: str, session_id: str) -> WarmUp | None:
    """What a session got; None if it got nothing or its file cannot be read."""
    path = _find_path(workspace, agent, session_id)
    try:
        document = orjson.loads(path.read_bytes())
        os.utime(path)
        return _decode(document)
    except (OSError, orjson.JSONDecodeError, KeyError, TypeError, ValueError):
        return None


def name_start(start: int) -> str:
    """The key of a session whose own id is not known yet: the row of its start."""
    return f"start:{start}"


def merge_system(warmup: WarmUp) -> WarmUp:
    """The same warm-up with its system text before the first message, as Hermes' prefill has it."""
    if not warmup.system.strip():
        return warmup
    first = warmup.messages[0] if warmup.messages else _make_message(Role.USER, "")
    rest = warmup.messages[1:] or (_make_message(Role.ASSISTANT, READY),)
    text = f"{warmup.system}\n\n{first.text}" if warmup.messages else warmup.system
    return replace(warmup, system="", messages=(structs.replace(first, text=text), *rest))


def _make_message(role: Role, text: str) -> Message:
    return Message(role=role, kind=Kind.WARMUP, text=text)


def _find_path(workspace: Workspace, agent: str, session_id: str) -> Path:
    digest = hashlib.sha256(session_id.encode("utf-8", "surrogatepass")).hexdigest()
    return workspace.home / agent / f"{digest[:32]}.json"


def _remove_old(folder: Path) -> None:
    if not folder.is_dir():
        return
    oldest = time.time() - MAX_AGE_SECONDS
    for path in folder.glob("*.json"):
        try:
            if path.stat().st_mtime < oldest:
                path.unlink()
        except FileNotFoundError:  # another process was first
            continue


def _encode(warmup: WarmUp) -> dict[str, Any]:
    return {
        "schema_version": SCHEMA_VERSION,
        "template": warmup.template,
        "template_id": warmup.template_id,
        "system": warmup.system,
        "messages": [_encode_message(message) for message in warmup.messages],
    }


def _encode_message(message: Message) -> dict[str, Any]:
    return {
        "role": str(message.role),
        "text": message.text,
        "requests": [
            {"id": one.id, "tool": one.tool, "arguments": dict(one.arguments), "raw": one.raw}
            for one in message.requests
        ],
        "results": [
            {"call_id": one.call_id, "tool": one.tool, "text": one.text, "is_error": one.is_error}
            for one in message.results
        ],
    }


def _decode(document: Mapping[str, Any]) -> WarmUp:
    if document["schema_version"] != SCHEMA_VERSION:
        raise ValueError(document["schema_version"])
    return WarmUp(
        template=document["template"],
        template_id=document["template_id"],
        system=document["system"],
        messages=tuple(map(_decode_message, document["messages"])),
    )


def _decode_message(row: Mapping[str, Any]) -> Message:
    return Message(
        role=Role(row["role"]),
        kind=Kind.WARMUP,
        text=row["text"],
        requests=tuple(Request(**one) for one in row["requests"]),
        results=tuple(Result(**one) for one in row["results"]),
    )


__all__ = ["find_warmup", "keep_warmup", "merge_system", "name_start"]
