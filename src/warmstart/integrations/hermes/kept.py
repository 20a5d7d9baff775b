"""The warm-up a session got, kept so that it gets the same bytes when it is resumed.

Templates change, tools come and go, files of a project vanish: building it again later could give
other words, and a prompt cache would be lost. One small file per session in warmstart's own home,
named after a hash of the session's id; what nobody asked for in 90 days is removed.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson

from warmstart.app import Workspace
from warmstart.export.jsonl import encode_json
from warmstart.model import Kind, Message, Request, Result, Role, WarmUp

FOLDER = "hermes"
SCHEMA_VERSION = 1
MAX_AGE_SECONDS = 90 * 86_400


def keep_warmup(workspace: Workspace, session_id: str, warmup: WarmUp) -> None:
    """Write it down, private to its user."""
    path = _find_path(workspace, session_id)
    _remove_old(path.parent)
    workspace.write_file(path, [encode_json(_encode(warmup))], overwrite=True)


def find_warmup(workspace: Workspace, session_id: str) -> WarmUp | None:
    """What a session got; None if it got nothing or the file is none of ours any more."""
    path = _find_path(workspace, session_id)
    try:
        document = orjson.loads(path.read_bytes())
        os.utime(path)
        return _decode(document)
    except (FileNotFoundError, orjson.JSONDecodeError, KeyError, TypeError, ValueError):
        return None


def _find_path(workspace: Workspace, session_id: str) -> Path:
    digest = hashlib.sha256(session_id.encode("utf-8", "surrogatepass")).hexdigest()
    return workspace.home / FOLDER / f"{digest[:32]}.json"


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


__all__ = ["find_warmup", "keep_warmup"]
