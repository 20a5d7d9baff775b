"""What a template is made of: patterns mined from sessions that went well, and where they are from.

Everything here is content: it is redacted before it becomes one of these, hashed as a whole, and
byte-stable. Uses, successes, versions and approval are not content and live in the store.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from warmstart.model.marker import Marker
from warmstart.model.outcome import Certainty, ErrorClass
from warmstart.model.state import TemplateState

__all__ = [
    "ArgumentUse",
    "Example",
    "Guidance",
    "PatternType",
    "Provenance",
    "Recovery",
    "Template",
    "TemplateState",
    "ToolArguments",
    "UserPatterns",
]


class PatternType(StrEnum):
    """Where in a session an example stood."""

    INIT = "init"
    """Among the first calls of its session."""
    SEQUENCE = "sequence"
    RETRY = "retry"
    """It succeeded after a failed call of the same tool."""
    FINAL = "final"
    """Among the last calls before the session's closing answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A call that worked, with the words before and after it."""

    tool: str
    arguments: Mapping[str, Any]
    """Values that differed between sessions are placeholders such as ``<path>``."""
    result: str
    intent: str = ""
    """What the user wanted."""
    closing: str = ""
    """What the agent wrote once it had the result."""
    pattern_type: PatternType = PatternType.SEQUENCE
    certainty: Certainty = Certainty.STRUCTURAL
    """What its success rests on."""
    count: int = 1
    """How many near-identical calls it stands for."""
    sessions: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Recovery:
    """A failed call and the call that put it right; it always ends in success."""

    tool: str
    error_class: ErrorClass
    signature: str
    """The error's text with everything that varies taken out."""
    failed_arguments: Mapping[str, Any]
    error: str
    repaired_by: str
    """The tool whose call succeeded, usually the same one."""
    arguments: Mapping[str, Any]
    result: str
    change: str
    """What was done differently, in words."""
    count: int = 1
    """How often this repair worked."""
    tries: int = 1
    """How often it was tried after this error."""
    sessions: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Guidance:
    """One line of advice on a tool, made from its statistics."""

    tool: str
    text: str
    calls: int
    errors: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ArgumentUse:
    """How one argument of a tool is used."""

    name: str
    uses: int
    """Calls that gave it."""
    shapes: Mapping[str, int] = field(default_factory=dict)
    """Kinds of value and how often: ``path:relative``, ``int``, ``enum:replace``."""
    ok: int = 0
    errors: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolArguments:
    """The arguments a tool is really called with."""

    tool: str
    calls: int
    arguments: tuple[ArgumentUse, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class UserPatterns:
    """How this user works with the agent."""

    style: str = ""
    feedback: str = ""
    sessions: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """Where a template is from, in counts; never a word of a session."""

    sessions: int = 0
    messages: int = 0
    calls: int = 0
    errors: int = 0
    agents: Mapping[str, int] = field(default_factory=dict)
    models: Mapping[str, int] = field(default_factory=dict)
    tasks: tuple[str, ...] = ()
    """Tasks whose sessions it was built from: an experiment must not test it on them."""
    session_hashes: tuple[str, ...] = ()
    """First 16 hex digits of the sha256 of each session's id, sorted."""
    redactions: Mapping[str, int] = field(default_factory=dict)
    """Kinds of secret that were taken out, and how many."""
    flags: tuple[str, ...] = ()
    """What the scan for instruction-like text found; blocks automatic approval."""
    rules: tuple[str, ...] = ()
    """The rules by which its sessions were chosen, as printed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """Patterns and their provenance, under a name."""

    name: str
    """``^[a-z0-9][a-z0-9._-]{0,63}$``; also the name of its folder."""
    description: str = ""
    task_type: str = "mixed"
    tags: tuple[str, ...] = ()
    anchors: tuple[str, ...] = ()
    """Short texts of what its sessions were about; with name and tags, all that is searched."""
    system_context: str = ""
    guidance: tuple[Guidance, ...] = ()
    examples: tuple[Example, ...] = ()
    recoveries: tuple[Recovery, ...] = ()
    arguments: tuple[ToolArguments, ...] = ()
    user: UserPatterns = UserPatterns()
    markers: tuple[Marker, ...] = ()
    preferred_tools: tuple[str, ...] = ()
    domains: tuple[str, ...] = ()
    provenance: Provenance = Provenance()
