"""``warm_session``: warmstart as one tool that any function-calling agent can be given.

    from warmstart.tool import openai_tool, run_tool

    client.chat.completions.create(tools=[openai_tool()], ...)
    answer = run_tool(call.function.arguments)

Answers are plain JSON objects with ``success``; a request that cannot be met is an answer with
``error`` and, where there is one, ``hint``, never an exception.

The dispatcher is fetched on use: agents that only offer the tool need its schema alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from warmstart.tool.schema import (
    ACTIONS,
    DESCRIPTION,
    TOOL_NAME,
    anthropic_tool,
    openai_tool,
    parameters,
)

if TYPE_CHECKING:
    from warmstart.tool.dispatch import run_tool, run_tool_text

__all__ = [
    "ACTIONS",
    "DESCRIPTION",
    "TOOL_NAME",
    "anthropic_tool",
    "openai_tool",
    "parameters",
    "run_tool",
    "run_tool_text",
]


def __getattr__(name: str) -> Any:
    if name not in ("run_tool", "run_tool_text"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from warmstart.tool import dispatch  # noqa: PLC0415 - opens the workspace; only on use

    return getattr(dispatch, name)
