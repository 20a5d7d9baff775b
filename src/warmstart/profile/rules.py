"""The choices a profile depends on, in one object that can be compared and stored with figures.

Figures made under different rules are never added up.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field

from warmstart.errors import UsageError
from warmstart.profile.tool_types import DOMINANCE, TRIVIAL_TOOLS, ToolType

__all__ = ["DEFAULT_RULES", "ToolRules", "parse_tool_types"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRules:
    """What counts, and as what."""

    trivial: frozenset[str] = TRIVIAL_TOOLS
    """Tools left out of rates; lower case."""
    types: Mapping[str, str] = field(default_factory=dict)
    """Tool types that differ from the built-in table; names in lower case."""
    dominance: float = DOMINANCE

    @property
    def fingerprint(self) -> str:
        """Equal for equal rules, whatever the order they were given in."""
        text = repr((sorted(self.trivial), sorted(self.types.items()), self.dominance))
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def is_trivial(self, tool: str) -> bool:
        """Whether a tool is left out of rates; an MCP tool never is unless it is named in full."""
        return tool.lower() in self.trivial


DEFAULT_RULES = ToolRules()


def parse_tool_types(pairs: Mapping[str, str]) -> dict[str, str]:
    """Tool types as a user wrote them.

    Raises:
        UsageError: a type does not exist.
    """
    for name, kind in pairs.items():
        if kind not in list(ToolType):
            raise UsageError(
                f"tool {name!r} has the unknown type {kind!r}",
                hint=f"types are {', '.join(ToolType)}",
            )
    return {name.lower(): kind for name, kind in pairs.items()}
