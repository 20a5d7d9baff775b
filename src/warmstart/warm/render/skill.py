"""Agent Skill: a folder with a ``SKILL.md``, which agents load when a task fits its description."""

from __future__ import annotations

import json
import re

from warmstart.model import WarmUp
from warmstart.warm.render.form import Rendered
from warmstart.warm.render.markdown import write_markdown
from warmstart.warm.target import Target

MAX_NAME_LENGTH = 64
_UNSAFE = re.compile(r"[^a-z0-9]+")


def render_skill(warmup: WarmUp, target: Target) -> Rendered:
    """The one file a skill needs; its name may hold small letters, digits and hyphens."""
    del target
    name = _UNSAFE.sub("-", warmup.template.lower()).strip("-")[:MAX_NAME_LENGTH] or "warm-start"
    tools = sorted({request.tool for m in warmup.messages for request in m.requests})
    about = f" with {', '.join(tools[:8])}" if tools else ""
    description = (
        f"What worked in earlier {warmup.template} sessions{about}. Read before such work."
    )
    head = f"---\nname: {name}\ndescription: {json.dumps(description[:1000])}\n---\n\n"
    return Rendered(files={f"{name}/SKILL.md": head + write_markdown(warmup)}, path="skills")


__all__ = ["render_skill"]
