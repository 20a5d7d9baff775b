"""What a listing and a selector need of a template, computed once when it is saved."""

from __future__ import annotations

from typing import Any

from warmstart.model.template import Template
from warmstart.template import canonical_json
from warmstart.template.dataset import list_tools
from warmstart.template.texts import list_texts
from warmstart.warm import estimate_tokens

MAX_MARKERS = 20
SPOKEN = ("system_context", "guidance", "examples", "recoveries")
"""The parts that may be sent to an agent."""


def summarise(template: Template, flags: tuple[str, ...]) -> dict[str, Any]:
    """Counts, and the few texts that are searched."""
    return {
        "task_type": template.task_type,
        "description": template.description,
        "tags": list(template.tags),
        "anchors": list(template.anchors),
        "domains": list(template.domains),
        "tools": list_tools(template),
        "markers": [[str(marker.kind), marker.value] for marker in template.markers[:MAX_MARKERS]],
        "guidance": len(template.guidance),
        "examples": len(template.examples),
        "recoveries": len(template.recoveries),
        "tokens": count_tokens(template),
        "bytes": len(canonical_json(template)),
        "flags": list(flags),
    }


def count_tokens(template: Template) -> int:
    """What all of it would cost, before anything is left out for a budget."""
    return sum(
        estimate_tokens(text) for where, text in list_texts(template) if where.startswith(SPOKEN)
    )
