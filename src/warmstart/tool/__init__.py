"""``warm_session``: warmstart as one tool that any function-calling agent can be given.

    from warmstart.tool import openai_tool, run_tool

    client.chat.completions.create(tools=[openai_tool()], ...)
    answer = run_tool(call.function.arguments)

Answers are plain JSON objects with ``success``; a request that cannot be met is an answer with
``error`` and, where there is one, ``hint``, never an exception.
"""

from warmstart.tool.dispatch import run_tool, run_tool_text
from warmstart.tool.schema import ACTIONS, TOOL_NAME, anthropic_tool, openai_tool, parameters

__all__ = [
    "ACTIONS",
    "TOOL_NAME",
    "anthropic_tool",
    "openai_tool",
    "parameters",
    "run_tool",
    "run_tool_text",
]
