"""The schema of ``warm_session`` in the two forms that providers take."""

from __future__ import annotations

from typing import Any

TOOL_NAME = "warm_session"
ACTIONS = {
    "build": "mine past sessions that went well into a template and save it as a draft",
    "list": "list the templates there are, with their state and record",
    "load": "show the messages an approved template would put in front of a session",
    "delete": "remove a draft; nothing that a person approved, imported or retired",
    "profile": "say how reliable one session was, tool by tool",
    "compress-check": "say whether errors rose after a session's context was compacted",
    "compare": "set two sessions side by side, with intervals",
    "select": "say which template fits a task, and why",
}
DESCRIPTION = (
    "Templates of what worked in past sessions, and measurements of how sessions went. "
    "A template built here is a draft until a person approves it.\n\nActions:\n"
    + "\n".join(f"  {name}: {what}" for name, what in ACTIONS.items())
)


def _text(description: str) -> dict[str, Any]:
    return {"type": "string", "description": description}


def parameters() -> dict[str, Any]:
    """The arguments as JSON Schema; a new object each time, since callers change theirs."""
    return {
        "type": "object",
        "properties": {
            "action": {
                "type": "string",
                "enum": list(ACTIONS),
                "description": "What to do.",
            },
            "name": _text("Template name, or name@version. Needed by build, load and delete."),
            "description": _text("What the template is for. Used by build."),
            "min_messages": {
                "type": "integer",
                "minimum": 1,
                "description": "Shortest session that build considers (default 30).",
            },
            "max_sessions": {
                "type": "integer",
                "minimum": 1,
                "description": "How many sessions build reads at most (default 30).",
            },
            "source_filter": _text("Only sessions of this format or agent. Used by build."),
            "tags": {
                "type": "array",
                "items": {"type": "string"},
                "description": "Words to find the template by. Used by build.",
            },
            "session_id": _text("Session for profile, compress-check and compare."),
            "compare_with": _text("Second session for compare."),
            "details": {
                "type": "boolean",
                "description": "Every figure instead of the few that matter. Used by compare.",
            },
            "message": _text("The task, in the user's words. Used by select and load."),
        },
        "required": ["action"],
    }


def openai_tool() -> dict[str, Any]:
    """As an entry of ``tools`` for OpenAI-compatible chat completions."""
    return {
        "type": "function",
        "function": {
            "name": TOOL_NAME,
            "description": DESCRIPTION,
            "parameters": parameters(),
        },
    }


def anthropic_tool() -> dict[str, Any]:
    """As an entry of ``tools`` for Anthropic messages."""
    return {"name": TOOL_NAME, "description": DESCRIPTION, "input_schema": parameters()}
