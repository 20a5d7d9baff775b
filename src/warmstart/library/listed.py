"""A template as a listing shows it: what the store says, never its contents."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from warmstart.model import TemplateState

NO_SUMMARY: Mapping[str, Any] = MappingProxyType({})


class Record(NamedTuple):
    """How sessions with a template went, all models together."""

    uses: int = 0
    successes: int = 0
    failures: int = 0
    calls: int = 0
    errors: int = 0


class Listed(NamedTuple):
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
    summary: Mapping[str, Any] = NO_SUMMARY
    """task_type, description, tags, anchors, examples, recoveries, guidance, tokens, flags."""
    record: Record = Record()
    verdict: str = ""
    """What the latest experiment said, in a word or two."""
