"""What the library hands out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from warmstart.model.template import Template, TemplateState

if TYPE_CHECKING:
    from warmstart.template.diff import Change


class Saved(NamedTuple):
    """A template that is in the library now."""

    name: str
    version: int
    id: str
    path: Path
    state: TemplateState
    is_new: bool
    """False when the same content was there already, and nothing was written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """A template of the library with its contents."""

    template: Template
    id: str
    version: int
    state: TemplateState
    path: Path
    created_at: float
    reason: str = ""
    current: bool = False

    @property
    def name(self) -> str:
        """The template's name."""
        return self.template.name


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """How sessions with a template went, all models together."""

    uses: int = 0
    successes: int = 0
    failures: int = 0
    calls: int = 0
    errors: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """A template of the library without its contents."""

    name: str
    version: int
    id: str
    state: TemplateState
    created_at: float
    reason: str = ""
    current: bool = False
    versions: int = 1
    newest: int = 1
    """The highest version there is of this name."""
    summary: Mapping[str, Any] = field(default_factory=dict)
    """task_type, description, tags, anchors, examples, recoveries, guidance, tokens, flags."""
    record: Record = Record()


class Problem(NamedTuple):
    """One thing in the library that is not as it should be."""

    name: str
    version: int | None
    text: str


class Retired(NamedTuple):
    """A template that was taken out of use by its record."""

    name: str
    version: int
    reason: str


class Signature(NamedTuple):
    """What is known of who made a file."""

    state: str
    """``none``, ``good``, ``unknown`` (by a key that is not trusted here)."""
    signer: str = ""


UNSIGNED = Signature("none")


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportReport:
    """What was written for others."""

    path: Path
    id: str
    """Of the content as exported; another one than in the library if redaction found more."""
    redactions: Mapping[str, int] = field(default_factory=dict)
    """What redaction found only now."""
    signature: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportReport:
    """What became of a file from elsewhere."""

    saved: Saved
    shape: str
    """``bundle``, ``template``, or the older shape it had."""
    notes: tuple[str, ...] = ()
    redactions: Mapping[str, int] = field(default_factory=dict)
    flags: tuple[str, ...] = ()
    signature: Signature = UNSIGNED
    compared_with: int | None = None
    """The version the changes are counted from; None when nothing of that name was there."""
    changes: tuple[Change, ...] = ()
