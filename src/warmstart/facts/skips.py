"""What was left out of a unit, remembered so that it is told again from the index."""

from __future__ import annotations

from pathlib import Path

from warmstart.sources import ReadLog, Skip

Skips = dict[str, tuple[int, str, int | None]]
"""Reason to count, and the place of the first case."""


def note_skips(log: ReadLog) -> Skips:
    """Everything a log holds."""
    return {
        reason: (count, str(log.examples[reason].path), log.examples[reason].line)
        for reason, count in log.counts.items()
    }


def tell_skips(skips: Skips, log: ReadLog) -> None:
    """Into a log, as if it had been read just now."""
    for reason, (count, path, line) in skips.items():
        log.counts[reason] += count
        log.examples.setdefault(reason, Skip(reason, Path(path), line))
