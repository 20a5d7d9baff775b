"""What a read left out. Every skip is counted and keeps one example; none is silent."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple


class Skip(NamedTuple):
    """One thing that could not be read, and where."""

    reason: str
    path: Path
    line: int | None


@dataclass(slots=True)
class ReadLog:
    """Collects skips over one scan; also where an append-only file can be taken up again."""

    counts: Counter[str] = field(default_factory=Counter)
    examples: dict[str, Skip] = field(default_factory=dict)
    resume_at: int = 0
    """Byte offset (uncompressed) just behind the last complete line that was read."""
    seen: set[tuple[str, str]] = field(default_factory=set)
    """(origin, native message or call id) met so far, for formats whose files repeat each other."""

    def skip(self, reason: str, path: Path, line: int | None = None, *, count: int = 1) -> None:
        """Count something left out. ``reason`` is a short phrase without any of its content."""
        self.counts[reason] += count
        self.examples.setdefault(reason, Skip(reason, path, line))

    def first_sight(self, origin: str, native_id: str) -> bool:
        """True the first time an id is met in this scan."""
        key = (origin, native_id)
        if key in self.seen:
            return False
        self.seen.add(key)
        return True

    @property
    def total(self) -> int:
        """How many things were left out."""
        return self.counts.total()

    def sentences(self) -> list[str]:
        """One line per reason, most frequent first, with the place of the first case."""
        lines = []
        for reason, count in self.counts.most_common():
            where = self.examples[reason]
            place = f"{where.path}:{where.line}" if where.line else f"{where.path}"
            lines.append(f"skipped {count:,}: {reason} (first: {place})")
        return lines
