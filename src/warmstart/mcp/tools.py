"""The tools a client sees: one per action, with its arguments and what it may change."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from warmstart.mcp.sdk import ToolAnnotations
from warmstart.tool import ACTIONS


@dataclass(frozen=True, slots=True, kw_only=True)
class McpTool:
    """One action as a tool of its own."""

    action: str
    function: Callable[..., dict[str, Any]]
    """Takes what the client gives and returns the action's arguments."""
    changes: bool = False
    destroys: bool = False

    @property
    def name(self) -> str:
        """``warm_`` and the action, as names of tools are written."""
        return f"warm_{self.action.replace('-', '_')}"

    @property
    def description(self) -> str:
        """The action in a sentence."""
        what = ACTIONS[self.action]
        return f"{what[0].upper()}{what[1:]}."


def annotate(tool: McpTool) -> Any:
    """What a client may assume of a tool; nothing here reaches beyond this machine."""
    return ToolAnnotations(
        title=tool.description.rstrip("."),
        readOnlyHint=not tool.changes,
        destructiveHint=tool.destroys,
        idempotentHint=True,
        openWorldHint=False,
    )


def build(
    name: str,
    description: str = "",
    min_messages: int = 30,
    max_sessions: int = 30,
    source_filter: str = "",
    tags: list[str] | None = None,
) -> dict[str, Any]:
    """What ``build`` takes."""
    return {
        "name": name,
        "description": description,
        "min_messages": min_messages,
        "max_sessions": max_sessions,
        "source_filter": source_filter,
        "tags": tags or [],
    }


def list_templates() -> dict[str, Any]:
    """What ``list`` takes: nothing."""
    return {}


def load(name: str, message: str = "") -> dict[str, Any]:
    """What ``load`` takes."""
    return {"name": name, "message": message}


def delete(name: str) -> dict[str, Any]:
    """What ``delete`` takes."""
    return {"name": name}


def one_session(session_id: str) -> dict[str, Any]:
    """What the questions about one session take."""
    return {"session_id": session_id}


def compare(session_id: str, compare_with: str, details: bool = False) -> dict[str, Any]:  # noqa: FBT001, FBT002 - named by clients
    """What ``compare`` takes."""
    return {"session_id": session_id, "compare_with": compare_with, "details": details}


def select(message: str) -> dict[str, Any]:
    """What ``select`` takes."""
    return {"message": message}


TOOLS = (
    McpTool(action="build", function=build, changes=True),
    McpTool(action="list", function=list_templates),
    McpTool(action="load", function=load),
    McpTool(action="delete", function=delete, changes=True, destroys=True),
    McpTool(action="profile", function=one_session),
    McpTool(action="compress-check", function=one_session),
    McpTool(action="compare", function=compare),
    McpTool(action="select", function=select),
)
