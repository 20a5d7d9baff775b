"""OpenAI chat completions: ``{"messages": [...]}``, for every endpoint that speaks it."""

from __future__ import annotations

from warmstart.model import WarmUp
from warmstart.warm.inject import Style, inject
from warmstart.warm.render.form import Rendered
from warmstart.warm.target import Target


def render_openai(warmup: WarmUp, target: Target) -> Rendered:
    """The caller's messages with the warm-up after their leading system message."""
    messages = inject(
        target.messages or (), warmup, style=Style.OPENAI, separate_system=target.separate_system
    )
    return Rendered(body={"messages": messages})


__all__ = ["render_openai"]
