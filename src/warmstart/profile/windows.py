"""Two stretches of calls, compared over the tools that occur in both."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

__all__ = ["MIN_SIDE", "Calls", "Window", "compare_windows"]

Calls = Sequence[tuple[str, bool]]
"""Tool and whether the call failed."""
MIN_SIDE = 5
"""Calls of shared tools that each side needs before a difference means anything."""


class Window(NamedTuple):
    """Errors and calls on both sides."""

    before_errors: int
    before_calls: int
    after_errors: int
    after_calls: int

    @property
    def change(self) -> float | None:
        """After minus before; None where a side is too short."""
        if min(self.before_calls, self.after_calls) < MIN_SIDE:
            return None
        return self.after_errors / self.after_calls - self.before_errors / self.before_calls


def compare_windows(before: Calls, after: Calls) -> Window:
    """Count both sides; a tool that only one side used would compare tools, not times."""
    shared = {tool for tool, _ in before} & {tool for tool, _ in after}
    old = [failed for tool, failed in before if tool in shared]
    new = [failed for tool, failed in after if tool in shared]
    return Window(sum(old), len(old), sum(new), len(new))
