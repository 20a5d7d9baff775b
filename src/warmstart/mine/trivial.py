"""Tools that teach nothing about getting a task done, and tools whose results are not ours.

A template never spends an example on bookkeeping. What web, mail, browser and MCP tools returned
was written by strangers: the call may be shown, its result may not.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from warmstart.outcome import ToolKind, command_of, kind_of
from warmstart.profile import ToolType, classify_tool

_ALSO_TRIVIAL = frozenset({
    "skill", "schedulewakeup", "taskstop", "send_message", "task_complete",
    "attempt_completion", "ask_followup_question",
})  # fmt: skip
_DELEGATES = frozenset({
    "task", "agent", "delegate_task", "spawn_agent", "spawn_task", "subagent", "new_task",
})  # fmt: skip
"""Another agent's words are not evidence of how this one should work."""
_OUTSIDE_TYPES = frozenset({ToolType.RESEARCH, ToolType.BROWSER})
_OUTSIDE_WORDS = re.compile(
    r"(?:^|[^a-z])(?:web|browser|fetch|http|url|e?mails?|inbox|slack|discord|telegram|tweets?"
    r"|calendar|crawl|scrape|webpage|messages?|channel)(?:[^a-z]|$)"
)
_OUTSIDE_COMMAND = re.compile(
    r"(?:^|[|;&(\s])(?:curl|wget|http|https|lynx|w3m|xh|gh\s+(?:api|pr|issue|release|search|run)"
    r"|glab|jira|mail|mutt|himalaya)\s"
)
"""Commands that print what strangers wrote: pages, comments, mail."""
_NAME = re.compile(r"[A-Za-z0-9_][\w.:/-]{0,99}")


@lru_cache(maxsize=4096)
def is_trivial(tool: str) -> bool:
    """Whether a tool only keeps books (plans, notes, questions to the user) or has no real name."""
    if not _NAME.fullmatch(tool):
        return True
    return tool.casefold() in _ALSO_TRIVIAL or classify_tool(tool) == ToolType.META


@lru_cache(maxsize=4096)
def is_outside(tool: str) -> bool:
    """Whether a tool's results come from outside the user's own machine."""
    name = tool.casefold()
    return (
        name.startswith("mcp_")
        or name in _DELEGATES
        or classify_tool(tool) in _OUTSIDE_TYPES
        or _OUTSIDE_WORDS.search(name) is not None
    )


def is_outside_call(tool: str, arguments: Mapping[str, Any]) -> bool:
    """Whether one call reaches outside; a shell does so with some commands only."""
    if is_outside(tool):
        return True
    if kind_of(tool) is not ToolKind.SHELL:
        return False
    return _OUTSIDE_COMMAND.search(command_of(arguments)[:2000]) is not None
