"""Claude Code ``SessionStart`` hook: what the hook prints to add words to a session's context."""

from __future__ import annotations

from warmstart.model import WarmUp
from warmstart.warm.render.form import Rendered
from warmstart.warm.render.text import render_text
from warmstart.warm.target import Target


def render_claude_hook(warmup: WarmUp, target: Target) -> Rendered:
    """The hook's JSON; a cold start adds nothing."""
    context = render_text(warmup, target).text
    output = {"hookEventName": "SessionStart", "additionalContext": context}
    return Rendered(body={"hookSpecificOutput": output} if context else {})


__all__ = ["render_claude_hook"]
