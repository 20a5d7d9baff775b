"""Gemini: ``{"system_instruction": ..., "contents": [...]}``, as generateContent takes it."""

from __future__ import annotations

from typing import Any

from warmstart.model import WarmUp
from warmstart.warm.render.form import Rendered
from warmstart.warm.target import Target
from warmstart.warm.turns import list_turns
from warmstart.warm.wire import write_gemini


def render_gemini(warmup: WarmUp, target: Target) -> Rendered:
    """The warm-up's contents before the caller's."""
    contents = write_gemini(list_turns(warmup)) + [dict(m) for m in target.messages or ()]
    body: dict[str, Any] = {}
    if warmup.system:
        body["system_instruction"] = {"parts": [{"text": warmup.system}]}
    return Rendered(body=body | {"contents": contents})


__all__ = ["render_gemini"]
