"""Hermes prefill file: chat messages that Hermes puts after its own system prompt on every call.

Never saved in its database. There is no system message among them, because Hermes sends its own.
"""

from __future__ import annotations

from warmstart.model import WarmUp
from warmstart.warm.render.form import Rendered
from warmstart.warm.target import Target
from warmstart.warm.turns import list_turns
from warmstart.warm.wire import write_openai


def render_hermes_prefill(warmup: WarmUp, target: Target) -> Rendered:
    """The messages, frame and guidance before the first of them."""
    del target
    return Rendered(body=write_openai(list_turns(warmup, with_system=True)))


__all__ = ["render_hermes_prefill"]
