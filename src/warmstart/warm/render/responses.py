"""OpenAI Responses: ``{"input": [...]}``, system text as its leading item."""

from __future__ import annotations

from warmstart.model import WarmUp
from warmstart.warm.inject import Style, inject
from warmstart.warm.render.form import Rendered
from warmstart.warm.target import Target


def render_responses(warmup: WarmUp, target: Target) -> Rendered:
    """The caller's items with the warm-up after their leading system item."""
    items = inject(
        target.messages or (), warmup, style=Style.RESPONSES, separate_system=target.separate_system
    )
    return Rendered(body={"input": items})


__all__ = ["render_responses"]
