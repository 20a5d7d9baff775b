"""Plain text, for any prompt."""

from __future__ import annotations

from warmstart.model import WarmUp
from warmstart.warm.render.form import Rendered
from warmstart.warm.render.prose import write_examples, write_notes
from warmstart.warm.target import Target


def render_text(warmup: WarmUp, target: Target) -> Rendered:
    """Notes, then the examples."""
    del target
    blocks = [write_notes(warmup), *write_examples(warmup, heading="Example")]
    return Rendered(text="\n\n".join(filter(None, blocks)) + "\n" if any(blocks) else "")


__all__ = ["render_text"]
