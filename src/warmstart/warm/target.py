"""Where a rendered warm-up goes: what the caller knows and a template cannot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from warmstart.errors import UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """The conversation or session to start warm. Clocks and ids come from here alone."""

    messages: Sequence[Mapping[str, Any]] | None = None
    """What the caller would send cold: the warm-up is put in front of it."""
    separate_system: bool = False
    """Give the warm-up a system message of its own instead of merging it into the leading one."""
    cwd: str = ""
    session_id: str = ""
    version: str = ""
    """The agent's version."""
    now: float | None = None
    """Seconds since the epoch."""
    model: str = ""
    git_branch: str = ""

    def need(self, *names: str) -> None:
        """Refuse to write a session file without what makes it one.

        Raises:
            UsageError: a field is missing.
        """
        missing = [name for name in names if not getattr(self, name) and name != "now"]
        missing += ["now"] if "now" in names and self.now is None else []
        if missing:
            raise UsageError(f"a session to resume needs {', '.join(missing)}")

    @property
    def moment(self) -> datetime:
        """``now`` as a date in UTC."""
        return datetime.fromtimestamp(self.now or 0.0, UTC)

    @property
    def stamp(self) -> str:
        """``now`` as agents write it: ``2026-01-31T10:20:30.000Z``."""
        return self.moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


ANYWHERE = Target()

__all__ = ["ANYWHERE", "Target"]
