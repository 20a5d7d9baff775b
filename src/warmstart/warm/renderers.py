"""A warm-up in the form an agent or a provider takes.

``RENDERERS`` names the forms. Those with a request body give what the call takes as keywords
(``{"messages": [...]}``), those with a file give its text, and a form of several files gives a
mapping of relative paths to texts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from warmstart.errors import UsageError
from warmstart.model import WarmUp
from warmstart.warm.agent_files import (
    render_claude_hook,
    render_claude_session,
    render_codex_rollout,
    render_hermes_prefill,
    render_hermes_rows,
)
from warmstart.warm.conversation import inject, is_warm, list_messages
from warmstart.warm.forms import ANYWHERE, Rendered, Renderer, Target
from warmstart.warm.prose import write_markdown, write_text
from warmstart.wire import CODECS, Body, Prompt, count_leading, insert_before

MAX_SKILL_NAME = 64
_UNSAFE = re.compile(r"[^a-z0-9]+")


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


def render_openai(warmup: WarmUp, target: Target) -> Rendered:
    """Chat completions, ``{"messages": [...]}``: after the caller's leading system message."""
    return _render_list(warmup, target, "openai")


def render_responses(warmup: WarmUp, target: Target) -> Rendered:
    """OpenAI Responses, ``{"input": [...]}``: after the caller's leading system item."""
    return _render_list(warmup, target, "responses")


def _render_list(warmup: WarmUp, target: Target, style: str) -> Rendered:
    separate = target.separate_system
    items = inject(target.messages or (), warmup, style=style, separate_system=separate)
    return Rendered(body={CODECS[style].key: items})


def render_anthropic(warmup: WarmUp, target: Target) -> Rendered:
    """Keywords for Anthropic's ``messages.create``.

    System text is a field of its own there: leading system messages of the caller move into it,
    the warm-up's text after them.
    """
    codec, given = CODECS["anthropic"], [dict(message) for message in target.messages or ()]
    leading = CODECS["openai"].decode_request({"messages": given[: count_leading(given)]})
    body = drop_empty(system=leading.system) | {"messages": given[count_leading(given) :]}
    if is_warm(given, warmup):
        return Rendered(body=body)
    prefix = Prompt(system=warmup.system, messages=list_messages(warmup))
    return Rendered(body=insert_before(body, prefix, codec))


def render_gemini(warmup: WarmUp, target: Target) -> Rendered:
    """Fields for Gemini's ``generateContent``; the warm-up's contents come first."""
    prefix = Prompt(system=warmup.system, messages=list_messages(warmup))
    contents = [dict(message) for message in target.messages or ()]
    body = insert_before({"contents": contents}, prefix, CODECS["gemini"])
    return Rendered(body=body)


def render_text(warmup: WarmUp, target: Target) -> Rendered:
    """Plain text, for any prompt."""
    del target
    return Rendered(text=write_text(warmup))


def render_markdown(warmup: WarmUp, target: Target) -> Rendered:
    """Markdown, for ``AGENTS.md``, ``CLAUDE.md`` and people."""
    del target
    return Rendered(text=write_markdown(warmup))


def render_skill(warmup: WarmUp, target: Target) -> Rendered:
    """A folder with a ``SKILL.md``, which agents load when a task fits its description."""
    del target
    name = _UNSAFE.sub("-", warmup.template.lower()).strip("-")[:MAX_SKILL_NAME] or "warm-start"
    tools = sorted({request.tool for m in warmup.messages for request in m.requests})
    about = f" with {', '.join(tools[:8])}" if tools else ""
    description = (
        f"What worked in earlier {warmup.template} sessions{about}. Read before such work."
    )
    head = f"---\nname: {name}\ndescription: {json.dumps(description[:1000])}\n---\n\n"
    return Rendered(files={f"{name}/SKILL.md": head + write_markdown(warmup)}, path="skills")


def drop_empty(**fields: str) -> Body:
    """The fields that hold text."""
    return {name: value for name, value in fields.items() if value}


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
