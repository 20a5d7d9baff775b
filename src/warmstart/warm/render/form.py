"""What every form is: a function from a warm-up and a target to content of one of three kinds."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from warmstart.export.jsonl import encode_json
from warmstart.model import WarmUp
from warmstart.warm.target import Target


class Kind(StrEnum):
    """How a form is handed over."""

    BODY = "body"
    """JSON: part of a request, or a file of one value."""
    TEXT = "text"
    """A file's text, or words for a prompt."""
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
    def kind(self) -> Kind:
        """Which of the three it is."""
        if self.files:
            return Kind.FILES
        return Kind.TEXT if self.body is None else Kind.BODY

    def to_bytes(self) -> bytes:
        """The content as it is written to a file or sent."""
        if self.kind is Kind.TEXT:
            return self.text.encode("utf-8", "replace")
        return encode_json(self.files or self.body) + b"\n"


class Renderer(Protocol):
    """A form."""

    def __call__(self, warmup: WarmUp, target: Target, /) -> Rendered:
        """The warm-up in this form."""


__all__ = ["Kind", "Rendered", "Renderer"]
