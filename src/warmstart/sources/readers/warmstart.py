"""warmstart export: reader to be written."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from warmstart.model import Session
from warmstart.sources.log import ReadLog
from warmstart.sources.reader import Probe, Unit


class Warmstart:
    """warmstart export."""

    name = "warmstart"
    title = "warmstart export"

    def recognises(self, probe: Probe) -> bool:
        """Whether the path holds this format."""
        del probe
        return False

    def units(self, path: Path, log: ReadLog) -> Iterator[Unit]:
        """List what is there."""
        del path, log
        return iter(())

    def read(self, unit: Unit, log: ReadLog) -> Iterator[Session]:
        """Read a unit's sessions."""
        del unit, log
        return iter(())
