"""Claude Code's hooks: the first message of a session gets its warm-up, every later one nothing.

A session that has a history when the hook first meets it began without warmstart and is not a
start. A hook must never stand in the way: whatever it cannot do, the session goes on cold. Which
template and arm the session got is written down under the session's own id, so that what came of it
can be found later.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from warmstart.app import Workspace, find_start
from warmstart.integrations.tools import CLAUDE_CODE, list_tools

AGENT = CLAUDE_CODE
EVENTS = ("UserPromptSubmit", "SessionStart")
MAX_LOOK_BYTES = 4_000_000
"""An answer further down than that is missed; a first message this long is not typed."""
_ANSWER = re.compile(rb'"type"\s*:\s*"assistant"')


def answer_hook(workspace: Workspace, event: Mapping[str, Any]) -> dict[str, Any]:
    """What the hook prints; an empty object adds nothing.

    Raises:
        WarmstartError: the library or the store cannot be used.
    """
    name = event.get("hook_event_name")
    session_id = event.get("session_id")
    message = event.get("prompt")
    if name not in EVENTS or not isinstance(session_id, str) or not session_id:
        return {}
    if not isinstance(message, str) or not message.strip():
        return {}  # nothing is known of the task yet
    if find_start(workspace, AGENT, session_id) is not None or _has_history(event):
        return {}
    from warmstart.app import StartRequest, prepare_start  # noqa: PLC0415 - once per session

    cwd = event.get("cwd")
    prepared = prepare_start(
        workspace,
        StartRequest(
            message=message,
            agent=AGENT,
            tools=list_tools(AGENT),
            cwd=cwd if isinstance(cwd, str) else "",
            seed=session_id,
            form="claude-hook",
            native_id=session_id,
        ),
    )
    text = prepared.render("text").text if prepared.is_warm else ""
    if not text:
        return {}
    return {"hookSpecificOutput": {"hookEventName": name, "additionalContext": text}}


def _has_history(event: Mapping[str, Any]) -> bool:
    """Whether the model has answered in this session before: it began without us and goes on so."""
    path = event.get("transcript_path")
    if not isinstance(path, str) or not path:
        return False
    try:
        with Path(path).expanduser().open("rb") as file:
            return _ANSWER.search(file.read(MAX_LOOK_BYTES)) is not None
    except (OSError, ValueError, RuntimeError):
        return False  # there is no transcript yet
