"""Markdown, for ``AGENTS.md``, ``CLAUDE.md`` and people."""

from __future__ import annotations

from warmstart.model import WarmUp
from warmstart.warm.render.form import Rendered
from warmstart.warm.render.prose import write_examples, write_notes
from warmstart.warm.target import Target


def render_markdown(warmup: WarmUp, target: Target) -> Rendered:
    """A section of its own, under the template's name."""
    del target
    return Rendered(text=write_markdown(warmup))


def write_markdown(warmup: WarmUp) -> str:
    """The same for other forms."""
    blocks = [f"# Warm start: {warmup.template}", write_notes(warmup)]
    blocks += write_examples(warmup, heading="## Example")
    return "\n\n".join(filter(None, blocks)) + "\n"


__all__ = ["render_markdown", "write_markdown"]
