"""Where in its session a call stood: at the start, after a failure, near the end, in between."""

from __future__ import annotations

from collections.abc import Sequence

from warmstart.model import Call, PatternType, Status

EDGE_CALLS = 3
"""How many calls count as the first, and as the last."""
RETRY_WITHIN = 6
"""A success this many calls after a failure of the same tool is a retry."""


def find_pattern_types(calls: Sequence[Call]) -> list[PatternType]:
    """One type per call; a retry is one wherever it stands."""
    types: list[PatternType] = []
    failed_at: dict[str, int] = {}
    last = len(calls) - EDGE_CALLS
    for index, call in enumerate(calls):
        failed = failed_at.get(call.tool)
        if call.outcome.status is Status.ERROR:
            failed_at[call.tool] = index
        elif call.outcome.status is Status.OK:
            failed_at.pop(call.tool, None)
        if failed is not None and index - failed <= RETRY_WITHIN:
            types.append(PatternType.RETRY)
        elif index < EDGE_CALLS:
            types.append(PatternType.INIT)
        elif index >= last:
            types.append(PatternType.FINAL)
        else:
            types.append(PatternType.SEQUENCE)
    return types
