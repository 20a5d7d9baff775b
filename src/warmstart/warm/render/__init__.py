"""A warm-up in the form an agent or a provider takes, one file per form.

``RENDERERS`` names them. Forms with a request body give what the call takes as keywords
(``{"messages": [...]}``), forms with a file give its text, and a form of several files gives a
mapping of relative paths to texts. Same warm-up and target, same bytes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from warmstart.errors import UsageError
from warmstart.model import WarmUp
from warmstart.warm.render.anthropic import render_anthropic
from warmstart.warm.render.claude_hook import render_claude_hook
from warmstart.warm.render.claude_session import render_claude_session
from warmstart.warm.render.codex_rollout import render_codex_rollout
from warmstart.warm.render.form import Kind, Rendered, Renderer
from warmstart.warm.render.gemini import render_gemini
from warmstart.warm.render.hermes_prefill import render_hermes_prefill
from warmstart.warm.render.hermes_rows import render_hermes_rows
from warmstart.warm.render.markdown import render_markdown
from warmstart.warm.render.openai import render_openai
from warmstart.warm.render.responses import render_responses
from warmstart.warm.render.skill import render_skill
from warmstart.warm.render.text import render_text
from warmstart.warm.target import ANYWHERE, Target

RENDERERS: dict[str, Renderer] = {
    "openai": render_openai,
    "responses": render_responses,
    "anthropic": render_anthropic,
    "gemini": render_gemini,
    "text": render_text,
    "markdown": render_markdown,
    "skill": render_skill,
    "claude-hook": render_claude_hook,
    "claude-session": render_claude_session,
    "codex-rollout": render_codex_rollout,
    "hermes-prefill": render_hermes_prefill,
    "hermes-rows": render_hermes_rows,
}


def render(
    warmup: WarmUp,
    form: str,
    target: Target = ANYWHERE,
    *,
    messages: Sequence[Mapping[str, Any]] | None = None,
) -> Rendered:
    """A warm-up in one of the forms.

    Args:
        warmup: what to render.
        form: a name from ``RENDERERS``.
        target: where it goes; session files need its ids and clock.
        messages: what the caller would send cold; short for a target with these.

    Raises:
        UsageError: there is no such form, or the target lacks what it needs.
    """
    renderer = RENDERERS.get(form)
    if renderer is None:
        raise UsageError(f"no such form: {form!r}", hint=f"one of {', '.join(RENDERERS)}")
    return renderer(warmup, target if messages is None else replace(target, messages=messages))


__all__ = ["RENDERERS", "Kind", "Rendered", "Renderer", "render"]
