"""What the library hands out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from warmstart.library.listed import Listed, Record
from warmstart.model import TemplateState

if TYPE_CHECKING:
    from warmstart.model import Template
    from warmstart.template.diff import Change

__all__ = [
    "UNSIGNED",
    "ExportReport",
    "ImportReport",
    "Listed",
    "Problem",
    "Record",
    "Retired",
    "Saved",
    "Signature",
    "Stored",
    "list_review_steps",
]


def list_review_steps(spec: str) -> list[str]:
    """The commands that show and approve exactly this version, ``NAME@VERSION``."""
    return [f"warmstart template show {spec}", f"warmstart template approve {spec}"]


class Saved(NamedTuple):
    """A template that is in the library now."""

    name: str
    version: int
    id: str
    path: Path
    state: TemplateState
    is_new: bool
    """False when the same content was there already, and nothing was written."""

    @property
    def spec(self) -> str:
        """The exact version, as commands take it."""
        return f"{self.name}@{self.version}"

    @property
    def next_steps(self) -> list[str]:
        """Commands to go on with: read it, then approve it where that is still to be done."""
        steps = list_review_steps(self.spec)
        return steps[:1] if self.state is TemplateState.APPROVED else steps


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

    @property
    def spec(self) -> str:
        """The exact version, as commands take it."""
        return f"{self.name}@{self.version}"


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
    name: str = ""
    version: int = 0
    state: TemplateState = TemplateState.DRAFT

    @property
    def spec(self) -> str:
        """The exact version, as commands take it."""
        return f"{self.name}@{self.version}"


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
