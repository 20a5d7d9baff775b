"""What every form of a warm-up is: content of one of three kinds, made for a target.

Clocks and ids come from the target alone, so that the same warm-up and target give the same bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from warmstart.errors import UsageError
from warmstart.model import WarmUp
from warmstart.wire import encode_json


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """The conversation or session to start warm: what the caller knows and a template cannot."""

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


class FormKind(StrEnum):
    """How a form is handed over."""

    BODY = "body"
    """JSON: part of a request, or a file of one value."""
    TEXT = "text"
    """A file's text, or text for a prompt."""
    FILES = "files"
    """Several files, by relative path."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rendered:
    """A warm-up in its form; exactly one of the three is filled."""

    body: Any = None
    text: str = ""
    files: dict[str, str] = field(default_factory=dict)
    path: str = ""
    """Where the agent looks for it, below its own home; empty where there is no such place."""

    @property
    def kind(self) -> FormKind:
        """Which of the three it is."""
        if self.files:
            return FormKind.FILES
        return FormKind.TEXT if self.body is None else FormKind.BODY

    def to_bytes(self) -> bytes:
        """The content as it is written to a file or sent."""
        if self.kind is FormKind.TEXT:
            return self.text.encode("utf-8", "replace")
        return encode_json(self.files or self.body) + b"\n"


Renderer = Callable[[WarmUp, Target], Rendered]
