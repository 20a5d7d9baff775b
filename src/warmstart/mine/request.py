"""What a person asks a template to be."""

from __future__ import annotations

from dataclasses import dataclass, field

from warmstart.mine.rules import MiningRules

MAX_BYTES = 60_000
"""Below the 64 KB a template file may have, leaving room for what the library adds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildRequest:
    """One template to be mined."""

    name: str
    description: str = ""
    task_type: str = "auto"
    """A task type to restrict sessions to, or ``auto`` for all of them."""
    tags: tuple[str, ...] = ()
    rules: MiningRules = field(default_factory=MiningRules)
    max_sessions: int = 40
    """Sessions whose contents are read."""
    max_examples: int = 12
    max_recoveries: int = 8
    textual: bool = False
    """Also take successes that rest on words alone."""
    keep_outside: bool = False
    """Also keep results of web, mail, browser and MCP tools."""
    max_bytes: int = MAX_BYTES
