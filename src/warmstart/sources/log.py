"""What a read left out. Every skip is counted and keeps one example; none is silent."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple


class Skip(NamedTuple):
    """One thing that could not be read, and where."""

    reason: str
    path: Path
    line: int | None


def identify(origin: str, native_id: str) -> int:
    """A number for an id, the same in every run; 64 bits, so that no two ids share one."""
    data = f"{origin}\0{native_id}".encode("utf-8", "replace")
    return int.from_bytes(blake2b(data, digest_size=8).digest(), "little", signed=True)


@dataclass(slots=True)
class ReadLog:
    """Collects skips over one scan."""

    counts: Counter[str] = field(default_factory=Counter)
    examples: dict[str, Skip] = field(default_factory=dict)
    seen: set[int] = field(default_factory=set)
    """Message and session ids met so far, as ``identify`` numbers them, for formats whose files
    repeat each other."""
    asked: list[int] = field(default_factory=list)
    """The ids in the order they were asked about, whether they were new or not."""
    notes: list[str] = field(default_factory=list)
    """What else a person should know; nothing was left out for it."""

    def skip(self, reason: str, path: Path, line: int | None = None, *, count: int = 1) -> None:
        """Count something left out. ``reason`` is a short phrase without any of its content."""
        self.counts[reason] += count
        self.examples.setdefault(reason, Skip(reason, path, line))

    def first_sight(self, origin: str, native_id: str) -> bool:
        """True the first time an id is met in this scan."""
        key = identify(origin, native_id)
        self.asked.append(key)
        if key in self.seen:
            return False
        self.seen.add(key)
        return True

    def absorb(self, other: ReadLog) -> None:
        """Add what another log counted."""
        self.counts.update(other.counts)
        for reason, example in other.examples.items():
            self.examples.setdefault(reason, example)
        self.notes += other.notes

    @property
    def total(self) -> int:
        """How many things were left out."""
        return self.counts.total()

    def sentences(self) -> list[str]:
        """The notes, then a line per reason, most frequent first, with the first case's place."""
        lines = list(self.notes)
        for reason, count in self.counts.most_common():
            where = self.examples[reason]
            place = f"{where.path}:{where.line}" if where.line else f"{where.path}"
            lines.append(f"skipped {count:,}: {reason} (first: {place})")
        return lines
