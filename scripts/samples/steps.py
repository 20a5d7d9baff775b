"""What happens in a session, in words no format owns; each writer says it in its own dialect.

A scenario is data: who asked what, what the agent said, which tools it called and how each call
ended. Everything here is frozen, so one scenario can be written in any format and twice the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Tool(StrEnum):
    """The tools every coding agent has under some name."""

    SHELL = "shell"
    READ = "read"
    EDIT = "edit"
    WRITE = "write"
    SEARCH = "search"
    CODE = "code"
    WEB = "web"
    TODO = "todo"


class Ending(StrEnum):
    """How a call ended, whatever the format makes of it."""

    OK = "ok"
    EXIT = "exit"
    """A command or script that ran and exited non-zero."""
    TIMEOUT = "timeout"
    MISSING = "missing"
    """The file or path is not there."""
    MISMATCH = "mismatch"
    """An edit whose old text is not in the file."""
    UNREAD = "unread"
    """An edit of a file the agent has not looked at."""
    REFUSED = "refused"
    """The tool itself failed: bad arguments, an upstream service, a limit."""
    REJECTED = "rejected"
    CANCELLED = "cancelled"
    INTERRUPTED = "interrupted"
    UNANSWERED = "unanswered"


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One tool call with what came back."""

    tool: Tool
    arguments: Mapping[str, str]
    text: str = ""
    ending: Ending = Ending.OK
    exit_code: int = 0
    count: int = 0
    """How often the very same call failed just before (for loop warnings)."""


@dataclass(frozen=True, slots=True)
class User:
    """What the person typed."""

    text: str


@dataclass(frozen=True, slots=True)
class Say:
    """A closing answer: text without calls."""

    text: str


@dataclass(frozen=True, slots=True)
class Turn:
    """An assistant message that calls one tool or several at once."""

    calls: tuple[Call, ...]
    text: str = ""


@dataclass(frozen=True, slots=True)
class Interrupt:
    """The person pressed stop."""


@dataclass(frozen=True, slots=True)
class ApiError:
    """The model's endpoint failed; the harness wrote that down."""

    text: str


@dataclass(frozen=True, slots=True)
class Compact:
    """Everything so far is replaced by a summary and the last ``keep`` steps."""

    summary: str
    keep: int = 2


@dataclass(frozen=True, slots=True)
class Delegate:
    """A subagent did a part of the work."""

    prompt: str
    steps: tuple[Step, ...]
    answer: str


Step = User | Say | Turn | Interrupt | ApiError | Compact | Delegate


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """A whole session, ready to be written."""

    key: str
    """Seeds every id and clock of the session, so that it is written the same each time."""
    title: str
    project: str
    branch: str
    model: str
    started: float
    steps: tuple[Step, ...]
    traits: Mapping[str, str] = field(default_factory=dict)
    """What only one format knows: a parent, an end reason, a history mode."""

    @property
    def cwd(self) -> str:
        """The working directory on the invented machine."""
        return f"/home/dev/{self.project}"
