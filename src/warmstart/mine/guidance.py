"""One line of advice per tool, written from its counts; it holds nothing that was not counted.

Rates are those of every session looked at, good and bad: the good ones alone would flatter.
"""

from __future__ import annotations

from collections.abc import Mapping

from warmstart.mine.candidates import ToolStat
from warmstart.mine.changes import VAGUE
from warmstart.mine.conditions import Condition
from warmstart.mine.recoveries import SAME, Key, Repairs
from warmstart.mine.signature import WORDS
from warmstart.model import ErrorClass, Guidance

MIN_CALLS = 10
MIN_ERRORS = 3
MAX_TOOLS = 8
MAX_CLASSES = 2
MIN_REPAIRS = 2
MIN_MESSAGES = 2


def write_guidance(
    stats: Mapping[str, ToolStat],
    conditions: Mapping[str, Condition],
    repairs: Mapping[Key, Repairs],
    messages: Mapping[tuple[str, ErrorClass], tuple[str, int]],
) -> tuple[Guidance, ...]:
    """Lines for the tools that fail, those that cost most first."""
    failing = [
        stat for stat in stats.values() if stat.judged >= MIN_CALLS and stat.errors >= MIN_ERRORS
    ]
    failing.sort(key=lambda stat: (-stat.weight, stat.tool))
    return tuple(
        Guidance(
            tool=stat.tool,
            text=" ".join(
                [
                    _rate(stat, messages),
                    *_when(conditions.get(stat.tool)),
                    *_best_repair(stat.tool, repairs),
                ]
            ),
            calls=stat.judged,
            errors=stat.errors,
        )
        for stat in failing[:MAX_TOOLS]
    )


def _rate(stat: ToolStat, messages: Mapping[tuple[str, ErrorClass], tuple[str, int]]) -> str:
    """How often it fails and of what, with the commonest message where one stands out."""
    classes = sorted(stat.classes.items(), key=lambda pair: (-pair[1], pair[0]))[:MAX_CLASSES]
    causes = []
    for name, number in classes:
        message, seen = messages.get((stat.tool, name), ("", 0))
        told = f' ("{message}")' if seen >= MIN_MESSAGES and message != WORDS[name] else ""
        causes.append(f"{WORDS[name]} {number:,}{told}")
    rate = stat.errors / stat.judged
    return (
        f"`{stat.tool}` fails {rate:.1%} ({stat.errors:,} of {stat.judged:,}): {', '.join(causes)}."
    )


def _when(condition: Condition | None) -> list[str]:
    if condition is None:
        return []
    _, errors, calls, other_errors, other_calls = condition
    against = f"{errors} of {calls} against {other_errors} of {other_calls}"
    return [f"More often when {condition.text}: {against}."]


def _best_repair(tool: str, repairs: Mapping[Key, Repairs]) -> list[str]:
    """What put the tool's failures right most often, summed over their texts."""
    worked: dict[tuple[ErrorClass, str], int] = {}
    tries: dict[tuple[ErrorClass, str], int] = {}
    for key, found in repairs.items():
        if key.tool != tool or key.change in (*SAME, *VAGUE):
            continue
        what = (key.error_class, key.change)
        worked[what] = worked.get(what, 0) + len(found.worked)
        tries[what] = tries.get(what, 0) + found.tries
    best = min(worked, key=lambda what: (-worked[what], -worked[what] / tries[what], what),
               default=None)  # fmt: skip
    if best is None or worked[best] < MIN_REPAIRS:
        return []
    error_class, change = best
    # "Other" names nothing: a cause that can be quoted stands in the sentence before this one.
    after = "a failure" if error_class is ErrorClass.OTHER else f'"{WORDS[error_class]}"'
    return [f"After {after}, this worked {worked[best]} of {tries[best]} times: {change}."]
