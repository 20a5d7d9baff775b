"""What a summary says of each tool: how often it fails, what that costs, and what puts it right."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import orjson

from warmstart.profile.summary import TOOL_COLUMNS, Summary
from warmstart.profile.sums import Rate, rate_of, zero

__all__ = ["RecoveryCount", "ToolProfile", "list_recoveries", "list_tools", "total_classes"]

MAX_RECOVERIES = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolProfile:
    """One tool over all sessions."""

    tool: str
    calls: int
    rate: Rate
    classes: Mapping[str, int]
    masked: int
    """Calls whose command hides its own exit code: their success is not certain."""
    repaired: int
    works_again: float | None
    """Beside ``repair_rate``: how often the tool works again as soon after a call that worked."""
    detours: int
    """Calls that worked between a failure and its repair."""
    usual_detours: float
    """As many lie between calls of the tool that work, where nothing has to be repaired."""
    repeats: int
    """Calls identical to an earlier one of their session."""
    unanswered: int
    rejected: int
    evidence: tuple[str, int] | None
    """Session with the most failures of this tool, and the position of the first there."""

    @property
    def waste(self) -> int:
        """What fixing the tool would save: failed calls and what detours go beyond the usual."""
        return self.rate.errors + round(max(0.0, self.detours - self.usual_detours))

    @property
    def repair_rate(self) -> float | None:
        """Failures repaired within the next calls; None without failures."""
        return self.repaired / self.rate.errors if self.rate.errors else None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecoveryCount:
    """How often one kind of failure was repaired in one way."""

    tool: str
    error_class: str
    how: str
    by: str
    count: int
    mean_calls: float


def list_tools(summary: Summary) -> tuple[ToolProfile, ...]:
    """Tools that count, the costliest first."""
    made = [
        _tool(summary, tool, dict(zip(TOOL_COLUMNS, row, strict=True)))
        for tool, row in summary.tools.items()
        if row[0] > row[-1]
    ]
    return tuple(sorted(made, key=lambda one: (-one.waste, -one.calls, one.tool)))


def _tool(summary: Summary, tool: str, row: Mapping[str, int]) -> ToolProfile:
    case = summary.evidence.get(tool)
    return ToolProfile(
        tool=tool,
        calls=row["calls"],
        rate=rate_of(summary.clusters.get("tool", {}).get(tool, zero())),
        classes=sort_counts(summary.classes.get(tool, {})),
        masked=row["masked"],
        repaired=row["repaired"],
        works_again=row["again"] / row["worked"] if row["worked"] else None,
        detours=row["detours"],
        usual_detours=row["repairs"] * row["between"] / row["pairs"] if row["pairs"] else 0.0,
        repeats=row["repeats"],
        unanswered=row["unanswered"],
        rejected=row["rejected"],
        evidence=(str(case[1]), int(case[2])) if case else None,
    )


def total_classes(summary: Summary) -> dict[str, int]:
    """Failed calls by error class, all tools together."""
    total: dict[str, int] = {}
    for classes in summary.classes.values():
        for name, number in classes.items():
            total[name] = total.get(name, 0) + number
    return total


def list_recoveries(summary: Summary) -> tuple[RecoveryCount, ...]:
    """What repaired which failure, the most frequent first."""
    made = []
    for key, (number, calls) in summary.recoveries.items():
        tool, error_class, how, by = orjson.loads(key)
        made.append(
            RecoveryCount(tool=tool, error_class=error_class, how=how, by=by, count=number,
                          mean_calls=calls / number)
        )  # fmt: skip
    made.sort(key=lambda one: (-one.count, one.tool, one.error_class, one.how, one.by))
    return tuple(made[:MAX_RECOVERIES])


def sort_counts(counts: Mapping[str, int]) -> dict[str, int]:
    """The largest first."""
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
